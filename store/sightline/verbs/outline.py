"""Sums up a source file in a sentence: its language, its lines, and where its definitions begin."""

import os
from collections.abc import Iterable

from sightline.light.late_pattern import late_pattern
from sightline.light.named_tuple import NamedTuple
from sightline.shape.source import Line

_LANGUAGES = {
    ".py": "Python", ".pyi": "Python", ".js": "JavaScript", ".mjs": "JavaScript", ".jsx": "JavaScript",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".go": "Go", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin",
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP",
    ".swift": "Swift", ".scala": "Scala", ".sh": "shell", ".lua": "Lua", ".md": "Markdown", ".rst": "reStructuredText",
    ".toml": "TOML", ".yml": "YAML", ".yaml": "YAML", ".ini": "INI", ".json": "JSON", ".html": "HTML", ".css": "CSS",
    ".sql": "SQL",
}  # fmt: skip
_DEFINED = late_pattern(
    r"(?P<indent>\s*)(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|pub(?:\(\w+\))?|"
    r"unsafe|open|override|suspend)\s+)*"
    r"(?P<kind>class|def|function\*?|func|fn|struct|enum|trait|interface|impl|module|namespace|object|type|protocol)\s+"
    r"(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_$][\w$.]*(?:::[\w$]+)*)"
)
_HEADING = late_pattern(r"(?P<kind>#{1,3}) (?P<name>\S.*)")
_SECTION = late_pattern(r"(?P<kind>\[+)(?P<name>[^\[\]][^\]]*)\]+\s*$")
_PATTERNS = {"Markdown": _HEADING, "TOML": _SECTION, "INI": _SECTION}
_NONE = ("JSON", "HTML", "CSS", "YAML", "")
_NAMED = 12
_LINE_CHARACTERS = 300


class Definition(NamedTuple):
    """A place where something is defined.

    Attributes:
        line: number of the line, from 1.
        name: name, such as ``class Reader``.
        depth: its indentation.
    """

    line: int
    name: str
    depth: int


def language_of(path: str) -> str:
    """Return the language by a file's name; empty for none."""
    return _LANGUAGES.get(os.path.splitext(path)[1].lower(), "")


def definitions(path: str, lines: Iterable[Line]) -> list[Definition]:
    """Return what a file defines, in order, by the words at the beginnings of its lines; nothing is parsed."""
    language = language_of(path)
    if language in _NONE:
        return []
    pattern = _PATTERNS.get(language, _DEFINED)
    found = []
    for line in lines:
        if match := pattern.match(line.data[:_LINE_CHARACTERS].decode(errors="replace")):
            kind, name = match["kind"], match["name"].strip()
            named = name if pattern is not _DEFINED else f"{kind} {name}"
            depth = len(match["indent"].expandtabs(4)) if pattern is _DEFINED else len(kind) - 1
            found.append(Definition(line.number, named, depth))
    return found


def summary_of(path: str, total: int, found: list[Definition], at_most: int | None = None) -> str:
    """Write ``Python, 812 lines: class Reader (4), def main (120) and 3 more``, the outermost first.

    Args:
        path: the file.
        total: number of its lines.
        found: its definitions.
        at_most: most bytes; with little room fewer definitions are named, or none.
    """
    counted = f"{total:,} line{'' if total == 1 else 's'}"
    head = ", ".join(filter(None, (language_of(path), counted)))
    least = min((one.depth for one in found), default=0)
    outer = [one for one in found if one.depth == least]
    if not outer:
        return head
    for named in range(_NAMED, 0, -1):
        rest = f" and {len(outer) - named:,} more" if len(outer) > named else ""
        told = f"{head}: {', '.join(f'{one.name} ({one.line})' for one in outer[:named])}{rest}"
        if at_most is None or len(told.encode()) <= at_most:
            return told
    return head


def place_of(found: list[Definition], line: int) -> str:
    """Return the definitions around a line, the outermost first: ``class Reader, def read``; empty for none."""
    inside: list[Definition] = []
    for one in found:
        if one.line > line:
            break
        inside = [outer for outer in inside if outer.depth < one.depth] + [one]
    return ", ".join(one.name for one in inside)
