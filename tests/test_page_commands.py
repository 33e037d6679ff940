"""What pages tell one to type, typed: each page in a folder, a home and a store of its own.

A block of ``sh`` runs as a whole. In one of ``console`` each ``$`` is a command, and what follows is what it prints:
``…`` stands for anything; refs and durations are those of the run. A comment right above a block has a
word for this test: ``not run: REASON``, ``before: COMMANDS`` or ``on a terminal``.
"""

import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sightline.settings.config import load_settings

REPOSITORY = Path(__file__).parent.parent
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
SECONDS = 120

pytestmark = pytest.mark.skipif(not PAGES[0].is_file(), reason="the tests lie outside a checkout")

BLOCK = re.compile(r"((?:^<!-- [^\n]* -->\n)*)^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DIFFERS = (
    (r"\s*…\s*", ".*"),
    (r"@(?:cmd|file|tool)_[0-9a-f]{6,}", r"@(?:cmd|file|tool)_[0-9a-f]{6,}"),
    (r"\b[\d.]+ m?s\b", r"[\d.]+ m?s"),
)
"""What differs from run to run, as pages have it, and the pattern of what it stands for."""


class Block(NamedTuple):
    """A block of a page, with the words above it."""

    language: str
    text: str
    before: list[str]
    not_run: str
    terminal: bool


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that have commands or settings."""
    found = BLOCK.findall(page.read_text())
    assert 2 * len(found) == len(re.findall(r"^ *```", page.read_text(), re.MULTILINE)), "each block names its language"
    for comments, language, text in found:
        told = re.findall(r"<!-- (.*) -->", comments)
        before = [one.removeprefix("before: ") for one in told if one.startswith("before: ")]
        not_run = next((one.removeprefix("not run: ") for one in told if one.startswith("not run: ")), "")
        yield Block(language, text, before, not_run, "on a terminal" in told)


def pattern(printed: str) -> str:
    """What a command may print, where a page says that it prints this."""
    parts = re.split("(" + "|".join(shown for shown, _ in DIFFERS) + ")", printed.strip())
    made = (next((by for shown, by in DIFFERS if re.fullmatch(shown, part)), re.escape(part)) for part in parts)
    return "".join(made)


class Shell:
    """A person's shell, in a folder with a home and a store of its own. Variables last from block to block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        programs = folder / "bin"
        for made in (self.folder, programs, folder / "home"):
            made.mkdir()
        for name, words in (("sightline", "-m sightline.doors.cli.main"), ("python", ""), ("python3", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
            program.chmod(0o755)
        ours = ("SIGHTLINE_", "CLAUDE", "PYTEST_", "XDG_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self.environment = {
            **kept,
            "HOME": str(folder / "home"),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "SIGHTLINE_HOME": str(folder / "root"),
            "SIGHTLINE_SESSION": "shell-4711-a1b2c3",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # those of this environment take longer than what pages have it test
        }
        self._set = ""

    def run(self, text: str, *, terminal: bool = False) -> tuple[int, str]:
        """The exit code, and what is printed."""
        if terminal:
            return self._on_a_terminal(text)
        done = subprocess.run(
            ["bash", "-c", self._set + text],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        return done.returncode, done.stdout

    def prepare(self, text: str) -> None:
        """Run what a page does not show; its variables stay."""
        code, printed = self.run(text)
        assert "sightline" in text or code == 0, printed
        self._set += "".join(f"{one}\n" for one in re.findall(r"PATH=[^;\n]+", text))

    def _on_a_terminal(self, text: str) -> tuple[int, str]:
        main, other = pty.openpty()
        with subprocess.Popen(
            ["bash", "-c", text], cwd=self.folder, env=self.environment, stdin=other, stdout=other, stderr=other
        ) as process:
            os.close(other)
            printed = b""
            while True:
                try:
                    data = os.read(main, 1 << 16)
                except OSError:  # Linux' way to say that nobody has it open any more
                    break
                if not data:
                    break
                printed += data
            os.close(main)
        return process.returncode, printed.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_tells_one_to_type_does_what_it_says(page: Path, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    for block in blocks(page):
        for command in block.before:
            shell.prepare(command)
        if block.not_run:
            assert len(block.not_run) > 10, "say why"
        elif block.language == "sh":
            code, printed = shell.run("set -e\n" + block.text)
            assert code == 0, f"{block.text}\n{printed[-2000:]}"
        elif block.language == "console":
            for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, flags=re.MULTILINE):
                _, printed = shell.run(command, terminal=block.terminal)
                plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed).strip()
                as_told = re.fullmatch(pattern(expected), plain, flags=re.DOTALL)
                assert as_told is not None, f"$ {command}\n{printed[-2000:]}"


def test_the_settings_of_the_page_are_settings(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    found = 0
    for page in (REPOSITORY / "docs/configuration.md", REPOSITORY / "docs/inspector.md"):
        for block in blocks(page):
            if block.language == "toml":
                file.write_text(block.text)
                load_settings(str(file), {})
                found += 1
    assert found == 3


def test_pages_name_every_variable_of_ours() -> None:
    page = (REPOSITORY / "docs/configuration.md").read_text()
    code = "".join(path.read_text() for room in ("store", "tui") for path in (REPOSITORY / room).rglob("*.py"))
    assert {name for name in re.findall(r"\bSIGHTLINE_[A-Z_]*[A-Z]\b", code) if f"`{name}`" not in page} == set()
