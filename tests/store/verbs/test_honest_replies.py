"""What holds of the reply to every case, recorded and made, at any budget: it fits, and all it says is so."""

import ast
import re
import shlex
from collections.abc import Iterator

import pytest

from benchmarks.failure_recall import DEFAULT as RECORDED
from benchmarks.failure_recall import Case, load, made
from benchmarks.failures.made import CASES
from sightline.base.profile import DEFAULT
from sightline.shape.failure.examination import Examination
from sightline.shape.memory_stream import BytesSource
from sightline.verbs.command_view import Ending, cut_view
from sightline.verbs.head_line import head_line
from sightline.verbs.next_call import TOOLS, calls_in, cli_call
from tests.examples import examples
from tests.store.verbs.views_kit import ERR, OUT, Output, Viewed, check_failures, check_lines, check_names, check_ranges

BUDGETS = {"silent": 200, "auto": 1024, "concise": 2048, "normal": 8192, "verbose": 16_384}
DOORS = (cli_call, calls_in(TOOLS))
_NUMBER = re.compile(
    r"(?<![\w.])(\d[\d,]*) (passed|failed|errors?|failures?|skipped|warnings?|tests)\b(?! \(counted\))"
)


def _cases(name: str) -> Iterator[Case]:
    yield from load(RECORDED) if name == "recorded" else made(name)


@pytest.mark.parametrize("name", ["recorded", *CASES])
def test_each_reply_fits_and_is_honest(name: str) -> None:
    for number, case in enumerate(_cases(name)):
        _check_reply(case, number)


def _verbosities(case: Case, number: int) -> list[str]:
    """Two for each case, all of them in turn; all for each where many examples are asked for."""
    known = [one for one in BUDGETS if one != "auto" or not case.failed]  # it is `normal` after a failure
    first = number % len(known)
    return [*known[first:], *known[:first]][: examples(2)]


def _check_reply(case: Case, number: int) -> None:
    output = Output(case.entry["command"], case.out, case.err, case.failed)
    out, err = BytesSource(case.out, OUT), BytesSource(case.err, ERR)
    examination = Examination(out, err, output.command)
    ending = Ending(case.entry["exit_code"])
    check_names(examination)
    for verbosity in _verbosities(case, number):
        budget = BUDGETS[verbosity]
        shaped, fields = cut_view(
            DOORS[number % 2],
            DEFAULT,
            (out, err),
            ending,
            {"output_id": OUT, "exit_code": ending.exit_code},
            verbosity=verbosity,
            examination=lambda: examination,
        )
        viewed = Viewed(output, out, err, examination, budget, shaped)
        head = head_line(fields) if shaped.truncated else ""
        assert len((head + viewed.body).encode()) <= budget, (case.entry["id"], verbosity)
        check_lines(viewed)
        check_ranges(viewed)
        if case.failed:
            check_failures(viewed)
        _check_next(str(fields.get("next", "")), viewed)
        _check_numbers(str(fields["summary"]), (case.out + case.err).decode("utf-8", "replace"))


def _check_next(call: str, viewed: Viewed) -> None:
    """A next call survives being written into JSON, and reads lines that are there and not shown yet."""
    assert not set(call) & set('\\"')
    given = _arguments(call)
    source = viewed.err if given.get("ref") == ERR else viewed.out
    if "search" in given:
        found = re.compile(given["search"], re.IGNORECASE)
        assert any(
            found.search(text.decode("utf-8", "replace"))
            for text in (viewed.output.out + viewed.output.err).split(b"\n")
        )
    if "lines" in given:
        first, last = map(int, given["lines"].split("-"))
        shown = {line for start, end in viewed.spans(source.ref) for line in range(start, end + 1)}
        assert 1 <= first <= last <= source.line_count
        assert not shown & set(range(first, last + 1)) or viewed.shaped.truncated


def _arguments(call: str) -> dict[str, str]:
    """The ref and the options of a next call of either door."""
    if not call.startswith("sightline "):
        called = ast.parse(call or "nothing()", mode="eval").body
        assert isinstance(called, ast.Call)
        return {str(one.arg): str(ast.literal_eval(one.value)) for one in called.keywords}
    words = shlex.split(call)[2:]
    return {
        "ref": words[0],
        **{name.removeprefix("--"): text for name, text in zip(words[1::2], words[2::2], strict=True)},
    }


def _check_numbers(summary: str, text: str) -> None:
    """Every number that a summary gives of what was counted stands in the output, or is said to be counted."""
    for part in re.split(r", |; | — ", summary):
        told = _NUMBER.match(part)
        if told and "(counted)" not in part:
            digits = told[1].replace(",", "")
            assert re.search(rf"(?<!\d){digits}(?!\d)", text.replace(",", "")), (part, summary)
