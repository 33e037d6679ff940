#!/usr/bin/env python3
"""Writes the parts of the pages that come from the code: settings, profiles, keys, commands, the drawing of the floors.

``python docs/generate.py`` brings them up to date, in the environment that CONTRIBUTING.md makes. With ``--check`` it
writes nothing, and ends with 1 where one is not. A page holds such a part between ``<!-- made: NAME -->`` and
``<!-- end -->``.
"""

import importlib
import os
import pkgutil
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PROJECT = DOCS.parent
PART = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

IN_TABLES = {
    "capture_off": ('[directories."FOLDER"] capture', '`"on"`'),
    "ship_off": ('[directories."FOLDER"] ship', '`"on"`'),
    "evidence": ("[evidence] messages, remind, ask", "`true`, `false`, `false`"),
    "trusted_stores": ("[trust] stores", "`[]`"),
    "index_folder": ("[store] index", "the store's folder"),
    "prices": ('[prices."MODEL"] input, output, …', "list prices"),
    "fleet": ("[fleet] db, objects, …", "[all](fleet.md#settings)"),
    "confirm": ("[safety] confirm", "`[]`"),
    "confirm_not": ("[safety] confirm_not", "`[]`"),
    "keys": ("[keys.PANE] ACTION", "[below](#keys-of-the-inspector)"),
    "starts_with": ("[inspector] start", '`"list"`'),
    "redact_known": ("[redact] known", "`false`"),
    "redact_patterns": ("[redact] patterns", "`[]`"),
}
"""Where a setting stands that is in a table of the file, and its default as the file would have it. Others are keys at
the top, each with a variable."""


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def attributes(owner: type) -> dict[str, str]:
    """What the docstring of a class says of its attributes, by their names."""
    text = re.split(r"^ *Attributes:\n", textwrap.dedent(owner.__doc__ or ""), maxsplit=1, flags=re.MULTILINE)[-1]
    found = re.findall(r"^ {4,8}(\w[\w, ]*): (.*(?:\n {9,}.*)*)", text, flags=re.MULTILINE)
    told = {}
    for names, words in found:
        plain = re.sub(r"\s+", " ", words).replace("``", "`")
        told.update({name.strip(): plain for name in names.split(",")})
    return told


def written(name: str, value: object) -> str:
    """A value as a TOML file has it; sizes in the largest unit that they are whole in."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\n", "\\n") + '"'
    if name.endswith("_bytes") and isinstance(value, int) and value >= 1 << 20:
        return next(f'"{value >> by} {unit}"' for by, unit in ((30, "GiB"), (20, "MiB")) if value % (1 << by) == 0)
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings() -> str:
    """All keys of ``config.toml``."""
    from sightline.settings.config import ENVIRONMENT_PREFIX, Settings

    told = attributes(Settings)
    rows = []
    for name, default in Settings()._asdict().items():
        variable = "–" if name in IN_TABLES else f"`{ENVIRONMENT_PREFIX}{name.upper()}`"
        key, text = IN_TABLES.get(name, (name, f"`{written(name, default)}`"))
        rows.append((f"`{key}`", text, variable, told[name]))
    return table(("key", "default", "variable", "what it sets"), rows)


def profiles() -> str:
    """All keys of a profile, with the value that each profile gives them."""
    from sightline.base.profile import load_profile, profile_names

    names = profile_names()
    loaded = [load_profile(name) for name in names]

    def rows(path: tuple[str, ...], values: list[Any]) -> Iterator[tuple[str, ...]]:
        told = attributes(type(values[0]))
        for name in values[0]._fields:
            inner = [getattr(value, name) for value in values]
            if isinstance(inner[0], tuple):
                yield from rows((*path, name), inner)
            elif name not in ("name", "about"):
                cells = [f"`{written('', value)}`" for value in inner]
                same = [cells[0], *("" if cell == cells[0] else cell for cell in cells[1:])]
                yield (f"`{'.'.join((*path, name))}`", *same, told[name])

    about = table(("profile", "what it is"), [(f"`{one.name}`", one.about) for one in loaded])
    return about + "\n" + table(("key", *names, "what it sets"), list(rows((), loaded)))


def keys() -> str:
    """All actions of the inspector that have a key, by the table of ``config.toml`` that they stand in."""
    from textual.binding import Binding
    from textual.keys import format_key

    package = importlib.import_module("sightline_tui")
    found: dict[str, tuple[list[str], str]] = {}
    for module in sorted(one.name for one in pkgutil.walk_packages(package.__path__, "sightline_tui.")):
        if module.endswith("__main__"):
            continue
        for owner in vars(importlib.import_module(module)).values():
            if isinstance(owner, type) and owner.__module__ == module and "BINDINGS" in vars(owner):
                for binding in Binding.make_bindings(vars(owner)["BINDINGS"]):
                    if binding.id:
                        found.setdefault(binding.id, ([], binding.description))[0].append(format_key(binding.key))
    rows = [
        (f"`{pane}`", f"`{action}`", " ".join(f"`{key}`" for key in dict.fromkeys(pressed)), description)
        for name, (pressed, description) in sorted(found.items())
        for pane, _, action in [name.partition(".")]
    ]
    return table(("pane", "action", "keys", "what it does"), rows)


def commands() -> str:
    """The help of each command, as it prints it, by who asks for it."""
    from sightline.doors.cli.commands import GROUPS, command_of

    os.environ.update(COLUMNS="80", PYTHON_COLORS="0")  # as it is printed where no terminal is
    helps = {name: command_of(name)[0].whole().format_help() for group in GROUPS.values() for name in group}
    overview = [
        (title, ", ".join(f"[{name}](#{name.replace(' ', '-')})" for name in group)) for title, group in GROUPS.items()
    ]
    return (
        table(("", ""), overview)
        + "\n"
        + "".join(
            f"## {title}\n\n" + "".join(f"### {name}\n\n{as_page(helps[name])}\n\n" for name in group)
            for title, group in GROUPS.items()
        )
    )


def as_page(text: str) -> str:
    """A command's help: what it does as paragraphs, indented lines of it as a list, the rest as it is."""
    usage, about, rest = text.rstrip().split("\n\n", 2)
    blocks = groupby(escape(about, quote=False).splitlines(), lambda line: line.startswith("  "))
    about = "\n\n".join(
        re.sub(r"^  (?=\S)", "- " if is_list else "", "\n".join(lines), flags=re.MULTILINE) for is_list, lines in blocks
    )
    return f"{about}\n\n```text\n{usage}\n\n{rest}\n```"


def destructive() -> str:
    """The kinds of commands that wait, with their programs."""
    from sightline.verbs.command_forms import read_kinds
    from sightline.verbs.safety import known_text

    known = read_kinds(known_text())
    rows = [
        (
            f"`{kind.name}`",
            kind.does,
            ", ".join(f"`{name}`" for name in known.programs_of(kind) if name != "fork-bomb") or "any",
        )
        for kind in known.kinds
    ]
    return table(("kind", "what it does", "programs"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "settings": settings,
    "profiles": profiles,
    "keys": keys,
    "commands": commands,
    "destructive": destructive,
}


def page(path: Path) -> str:
    """A page with its made parts as they ought to be."""
    return PART.sub(
        lambda part: f"{part[1]}\n{PARTS[part[2]]().strip()}\n\n{part[3]}", path.read_text(encoding="utf-8")
    )


# The functions of Python


FUNCTIONS = PROJECT / "store/sightline/doors/python.py"
_FUNCTIONS = re.compile(r"(# made: functions\n).*?(# end\n)", re.DOTALL)


def python_door() -> str:
    """The module with the functions of Python, as it ought to be."""
    from python_functions import functions

    from sightline.doors.python import VERBS

    return _FUNCTIONS.sub(
        lambda part: f"{part[1]}\n\n{functions(VERBS)}\n\n{part[2]}", FUNCTIONS.read_text(encoding="utf-8")
    )


# The drawing


def contracts() -> dict[str, dict[str, Any]]:
    """The contracts that ``lint-imports`` holds, by the packages whose floors they are."""
    with open(PROJECT / "pyproject.toml", "rb") as file:
        found = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return {one["containers"][0]: one for one in found if one["type"] == "layers"}


def floor_words() -> dict[str, tuple[str, str]]:
    """Of each module or package of the store: the names of its row in CONTRIBUTING.md's table, and what it knows."""
    rows = re.findall(
        r"^\| (`.*?) \| (.*?) \|$", (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    told = {}
    for names, words in rows:
        plain = [name.strip("/") for name in re.findall(r"`([\w.]+/?)`", names)]
        shown = ", ".join(re.findall(r"`([\w./]+)`", names))
        told.update({name.removesuffix(".py"): (shown, words.replace("`", "")) for name in plain})
    return told


WIDTH, LEFT, NAME_WIDTH, LINE, PAD = 960, 60, 190, 18, 10
"""Of the drawing, in pixels: its width, where floors begin, the room for a name, a line of text, and around it."""
GAP = 8
BESIDE = "sightline_tui: beside the doors, never on one"
STYLE = """
  text { font: 13px sans-serif; fill: #1d2733 } .name { font: bold 13px monospace } .dim { fill: #5b6775 }
  .floor { fill: #eef3f8; stroke: #9db2c6 } .tui { fill: #fdf3e1; stroke: #d9b36c }
"""


class Drawing:
    """Boxes from top to bottom, as SVG."""

    def __init__(self) -> None:
        self.y = 40
        self._parts: list[str] = []

    def text(self, x: int, y: int, words: str, kind: str = "") -> None:
        """Write a line."""
        self._parts.append(f'<text x="{x}" y="{y}"{f" class={kind!r}" if kind else ""}>{escape(words)}</text>')

    def box(self, x: int, width: int, name: str, told: list[str], *, kind: str, name_width: int) -> int:
        """Draw a box with a name, and lines beside it, or below where the name has no room of its own; its height."""
        names = textwrap.wrap(name, name_width // 8) if name_width else [name]
        lines = [row for text in told for row in textwrap.wrap(text, (width - name_width - 2 * PAD) // 7)]
        below = 0 if name_width else 1
        height = max(len(names), len(lines) + below) * LINE + 2 * PAD - 4
        self._parts.append(f'<rect x="{x}" y="{self.y}" width="{width}" height="{height}" rx="5" class="{kind}"/>')
        for number, text in enumerate(names):
            self.text(x + PAD, self.y + PAD + 11 + number * LINE, text, "name")
        for number, text in enumerate(lines, below):
            self.text(x + PAD + name_width, self.y + PAD + 11 + number * LINE, text)
        return height

    def svg(self) -> str:
        """All of it."""
        height = self.y + 14
        arrow = f'<path d="M30 60 V{height - 40} m-7 -12 l7 12 l7 -12" fill="none" stroke="#5b6775" stroke-width="2"/>'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>The floors of both packages: what stands higher may import what stands lower</title>",
            f"<style>{STYLE}</style>",
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            '<text x="14" y="24" class="dim">An import only goes down.</text>',
            arrow,
            *self._parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def drawing() -> str:
    """The floors as the contracts have them, in the words of CONTRIBUTING.md."""
    layers, words = contracts(), floor_words()
    inner = [", ".join(re.findall(r"\w+", layer)) for layer in layers["sightline_tui"]["layers"]]
    picture = Drawing()
    done: list[str] = []
    for layer in layers["sightline"]["layers"]:
        names = [name for name in re.findall(r"\w+", layer) if name != "tui"]
        if missing := [name for name in names if name not in words]:
            sys.exit(f"CONTRIBUTING.md's table of floors lacks {', '.join(missing)}")
        shown, knows = words[names[0]]
        if shown in done:
            continue
        done.append(shown)
        if names == ["doors"]:
            half = (WIDTH - LEFT - 30) // 2
            left = picture.box(LEFT, half, shown, [knows], kind="floor", name_width=0)
            right = picture.box(LEFT + half + 10, half, BESIDE, inner, kind="tui", name_width=0)
            picture.y += max(left, right) + GAP
        else:
            picture.y += picture.box(LEFT, WIDTH - LEFT - 20, shown, [knows], kind="floor", name_width=NAME_WIDTH) + GAP
    return picture.svg()


def made() -> dict[Path, str]:
    """Each file that has something to do with this, as it ought to be."""
    pages = [path for path in sorted(DOCS.glob("*.md")) if PART.search(path.read_text(encoding="utf-8"))]
    return {**{path: page(path) for path in pages}, DOCS / "architecture.svg": drawing(), FUNCTIONS: python_door()}


def main() -> int:
    """Write what is not up to date, or say so."""
    from sightline.settings import entry_points

    entry_points.entry_points = lambda **_: []  # what this environment's other packages add stands on none of the pages
    check = "--check" in sys.argv[1:]
    stale = {
        path: text for path, text in made().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        if check:
            print(f"{path.relative_to(PROJECT)} is not up to date: run python docs/generate.py", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
