"""Every rule keeps what its own examples promise."""

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.failure.catalogue import FOLDER, built_in
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.rule_check import Example, examples_in
from sightline.shape.failure.tool_rules import KnownTool, LatePattern
from sightline.shape.memory_stream import BytesSource
from sightline.shape.summary import summary
from tests.each import each
from tests.store.verbs.views_kit import check_names

FILES = sorted(Path(FOLDER).glob("*.toml"))
TABLES: dict[str, dict[str, Any]] = {
    name: table for file in FILES for name, table in tomllib.loads(file.read_text()).items()
}
OUTPUTS = {tool: examples for file in FILES for tool, examples in examples_in(file.read_text()).items()}
EXAMPLES = [(tool, one) for tool, examples in OUTPUTS.items() for one in examples]
WRAPPERS = {"make"}  # speak at the end of what others say


def patterns_of(part: object) -> Iterator[LatePattern]:
    if isinstance(part, LatePattern):
        yield part
    elif isinstance(part, tuple | dict):
        for one in part.values() if isinstance(part, dict) else part:
            yield from patterns_of(one)


@each("tool", TABLES)
def test_every_tool_has_an_example(tool: str) -> None:
    assert OUTPUTS[tool]


@each("tool", TABLES)
def test_every_tool_is_in_the_catalogue_and_its_rule_loads(tool: str) -> None:
    (known,) = [known for known in built_in().known if known.name == tool]
    assert known.programs == tuple(TABLES[tool]["programs"])
    assert [[part.decode() for part in mark] for mark in known.marks] == [
        mark if isinstance(mark, list) else [mark] for mark in TABLES[tool]["marks"]
    ]
    rule = built_in().rule(tool)
    assert rule
    assert rule.name == tool
    for pattern in patterns_of(rule):
        re.compile(pattern.text)


@each("file", FILES)
def test_examples_come_last_in_a_file(file: Path) -> None:
    heads = re.findall(r"^(\[+[\w.+-]+\]+)(?:[ \t]+#.*)?$", file.read_text(), re.MULTILINE)
    first = min(at for at, head in enumerate(heads) if head.endswith(".example]]"))
    assert all(head.endswith(".example]]") for head in heads[first:])


@each(("tool", "example"), EXAMPLES)
def test_example_is_recognised_as_its_tool_and_no_other(tool: str, example: Example) -> None:
    found = set(built_in().recognise("", example.output.encode())) - {tool, *example.also, *WRAPPERS}
    assert {tool for tool in found if TABLES[tool]["programs"]} == set()
    assert {tool, *example.also} <= set(built_in().recognise(example.command, example.output.encode()))


MARKS = [(known, parts) for known in built_in().known for parts in known.marks]


@given(st.sampled_from(MARKS), st.binary(max_size=9), st.binary(max_size=9))
def test_a_mark_is_found_whatever_stands_around_it(
    mark: tuple[KnownTool, tuple[bytes, ...]], before: bytes, after: bytes
) -> None:
    known, parts = mark
    assert known.name in built_in().recognise("", b"\n".join([before + part + after for part in parts]))


@each("tool", [tool for tool in TABLES if TABLES[tool]["marks"]])
def test_some_example_is_recognised_by_its_text_alone(tool: str) -> None:
    assert any(tool in built_in().recognise("make check", one.output.encode()) for one in OUTPUTS[tool])


@each(("tool", "example"), EXAMPLES)
def test_example_has_the_failure_lines_it_promises(tool: str, example: Example) -> None:
    examination, out = example.examine()
    hits = examination.failures(out).hits
    known = {hit.line for hit in hits if hit.verdict.rule}
    own = {hit.line for hit in hits if hit.verdict.rule and hit.verdict.rule.name == tool}
    assert own <= set(example.failures) <= known


@each(("tool", "example"), EXAMPLES)
def test_example_counts_what_it_promises(tool: str, example: Example) -> None:
    examination, _ = example.examine()
    (tally,) = [tally for tally in examination.tallies if tally.rule.name == tool]
    assert {noun: number for noun, number in tally.numbers.items() if number} == example.counts


@each(("tool", "example"), EXAMPLES)
def test_example_names_what_it_promises(tool: str, example: Example) -> None:
    examination, _ = example.examine()
    assert [one.text for one in examination.failed if one.rule.name == tool] == list(example.named)


@each(("tool", "example"), [one for one in EXAMPLES if one[0] != "turbo"])  # it counts only the tasks that succeeded
def test_no_rule_names_more_failures_than_its_tool_counts(tool: str, example: Example) -> None:
    examination, _ = example.examine()
    check_names(examination)


@each(("tool", "example"), EXAMPLES)
def test_summary_of_an_example_never_contradicts_its_exit_code(tool: str, example: Example) -> None:
    examination, out = example.examine()
    text = summary(out, BytesSource(b""), exit_code=example.exit, examination=examination)
    if example.summary:
        assert text == example.summary
    bad = any(tally.bad for tally in examination.tallies)
    assert ("failed" in text or bad) if example.exit else (text.startswith("exit 0, though") == bad or not bad)


def test_no_rule_is_parsed_to_recognise_a_tool() -> None:
    assert os.path.isdir(FOLDER)
    assert len(built_in().known) == len(TABLES)


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn 'error: |x' src",
        "cd src && rg error | head -50",
        "git log -p -3",
        "git --no-pager diff HEAD~1",
        "find . -name '*.c' 2>/dev/null | sort",
    ],
)
def test_what_a_search_or_a_list_of_changes_quotes_is_no_tools_output(command: str) -> None:
    quoted = b"src/a.c:3:1: error: expected ';'\n=== short test summary info ===\nFAILED a.py::b\n"
    assert {"gcc", "pytest"}.isdisjoint(built_in().recognise(command, quoted))
    for other in ("make check", "./build.sh | grep -v ok", "cat build.log", "git commit -m x", command + "; make"):
        assert "pytest" in built_in().recognise(other, quoted)


def test_a_success_is_not_said_to_count_what_it_only_speaks_of() -> None:
    out = BytesSource(b"= short test summary info =\n" * 9)
    told = summary(out, BytesSource(b""), exit_code=0, examination=Examination(out, BytesSource(b""), "cat notes"))
    assert "recognised" not in told
    told = summary(out, BytesSource(b""), exit_code=0, examination=Examination(out, BytesSource(b""), "pytest -qq"))
    assert told.endswith("what pytest counts was not recognised")


def test_a_manual_that_speaks_of_every_tool_is_nobodys_output() -> None:
    programs = [program for known in built_in().known for program in known.programs]
    manual = "".join(
        f"To check it, run `{program}`. Where {program} fails with an error, it says why and exits with 1.\n"
        f"  {program} --help\n\n"
        for program in programs
    )
    assert len(programs) > 200
    assert built_in().recognise("", manual.encode()) == []


def test_what_installs_tools_is_none_of_their_outputs() -> None:
    names = sorted(known.name for known in built_in().known)
    log = [
        "added 231 packages, and audited 232 packages in 5s",
        "found 0 vulnerabilities",
        "Installing collected packages: " + ", ".join(names),
        "Successfully installed " + " ".join(f"{name}-1.2.{at}" for at, name in enumerate(names)),
    ]
    for name in names:
        log += [
            f"Collecting {name}>=1.0 (from -r requirements.txt (line 3))",
            f"  Downloading {name}-1.2.0.tar.gz (4.1 MB)",
        ]
        log += [f"Setting up {name} (1.2.0-1) ...", f"Unpacking {name} (1.2.0-1) over (1.1.9-2) ...", f"+ {name}@1.2.0"]
        log += [f"==> Pouring {name}--1.2.0.bottle.tar.gz"]
    assert built_in().recognise("", "\n".join(log).encode()) == []


@each(
    "command",
    [
        "git diff",
        "git -C /srv/till diff",
        "git --no-pager log -p",
        "git -c color.ui=always --git-dir=/srv/till show HEAD",
    ],
)
def test_what_git_shows_of_a_history_is_no_output_of_a_tool(command: str) -> None:
    shown = b" = test session starts =\n= short test summary info =\nFAILED till.py::test_sums\n= 1 failed in 0.10s =\n"
    assert "pytest" in built_in().recognise("./check", shown)
    assert "pytest" not in built_in().recognise(command, shown)
