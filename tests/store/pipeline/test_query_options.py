"""No option in the tables takes what stands behind it for a file, with this machine's programs and without the kernel.

Where a table and a program disagree on which options take a value, a text becomes a file: this is what would show it.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import SightlineError
from sightline.pipeline.argument_check import options_of
from sightline.pipeline.options import GRAMMARS
from sightline.pipeline.query_words import quoted
from sightline.pipeline.run import run
from sightline.search.errors import ProgramMissing
from sightline.search.sandbox import NO_BACKING

Buffers = Any
TEXTS = {"sed": "p", "awk": "1", "jq": ".", "tr": "a b"}


def queries(program: str, value: str) -> list[str]:
    """The program with each of its options that takes a value, given this one."""
    grammar = GRAMMARS[program]
    known = options_of(grammar)
    options = {"-" + char: takes for char, takes in known.short.items()}
    options |= {name[1:] if grammar.single_dash else name: takes for name, takes in known.long.items()}
    written = {":": " {}", "=": " {}", "==": " name {}", "[=]": "={}", "::": "{}"}
    rest = " ".join([TEXTS.get(program, "e" * grammar.texts), *["@last"] * max(grammar.least_files, 1)])
    begin = "cat @last | tr" if program == "tr" else program
    rest = rest.replace("@last", "") if program == "tr" else rest
    return [f"{begin} {name}{written[takes].format(quoted(value))} {rest}" for name, takes in options.items() if takes]


@pytest.mark.parametrize("program", GRAMMARS)
def test_no_value_is_read_as_a_file(
    buffers: Buffers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    (tmp_path / "secret").write_text("not for you\n")
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir())
    for value in ("secret", str(tmp_path / "secret")):
        for query in queries(program, value):
            try:
                result = run(buffers.parse(query), backing=NO_BACKING)
            except ProgramMissing as missing:
                pytest.skip(missing.message)
            except SightlineError:
                continue
            assert b"not for you" not in result.stdout + result.stderr, query
            assert sorted(os.listdir()) == before, query
