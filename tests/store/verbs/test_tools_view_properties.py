"""What holds of every view of a command's output: with the rules of tools, for both streams, at every budget."""

import gzip
import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.base.profile import load_profile
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.failure.catalogue import FOLDER
from sightline.shape.failure.failure_scan import find_failures
from tests.store.verbs.views_kit import Output, check, check_failures, check_lines

unhurried = settings(deadline=None)  # a busy machine is no defect
REAL = Path(__file__).parents[3] / "benchmarks" / "failures"
EXAMPLES = [
    (one.get("command", ""), one["output"].encode().splitlines(keepends=True))
    for file in sorted(Path(FOLDER).glob("*.toml"))
    for table in tomllib.loads(file.read_text(encoding="utf-8")).values()
    for one in table["example"]
]
BUDGETS = st.one_of(
    st.sampled_from([200, 1024, 2048, 8192, 16_384, 65_536, None]), st.integers(200, 4000), st.integers(4000, 65_536)
)
PLAIN = st.sampled_from(
    [b"", b"ok\n", b"compiling one of many modules\n", b"\xff\xfe\n", b"1%\r2%\rdone\n", b"y" * 3000]
)
REWRITTEN = st.sampled_from(
    [b"\x1b[1A\x1b[2Kfetching 2 of 9\n", b"\x1b[2A", b"\x1b[31mFAILED\x1b[0m a::b\n", b"\x1b[H"]
)


@st.composite
def fragments(draw: st.DrawFn) -> tuple[str, bytes]:
    """Some lines of a tool's output, as a rule's example has it, whole or in part, once or often."""
    command, lines = draw(st.sampled_from(EXAMPLES))
    first = draw(st.integers(0, len(lines) - 1))
    part = b"".join(lines[first : first + draw(st.integers(1, 40))])
    return command, part * draw(st.sampled_from([1, 1, 1, 3, 40]))


@st.composite
def streams(draw: st.DrawFn, extra: st.SearchStrategy[bytes] = PLAIN) -> tuple[str, bytes]:
    """A stream that several tools write to, and the command of the last of them."""
    pieces = draw(st.lists(st.one_of(fragments(), st.tuples(st.just(""), extra)), max_size=9))
    numbered = draw(st.sampled_from([0, 0, 30, 900]))
    noise = b"".join(b"step %d of many that went well\n" % number for number in range(numbered))
    data = noise[: len(noise) // 2] + b"".join(text for _, text in pieces) + noise[len(noise) // 2 :]
    commands = [command for command, _ in pieces if command]
    return (commands or [""])[-1], data.removesuffix(b"\n") if draw(st.booleans()) else data


@st.composite
def outputs(draw: st.DrawFn, extra: st.SearchStrategy[bytes] = PLAIN, failed: bool | None = None) -> Output:
    (command, out), (_, err) = draw(streams(extra)), draw(st.one_of(st.just(("", b"")), streams(extra)))
    return Output(command, out, err, draw(st.booleans()) if failed is None else failed)


@unhurried
@given(outputs(), BUDGETS)
def test_every_view_keeps_what_is_promised_of_views(output: Output, budget: int | None) -> None:
    check(output.view(budget))


@unhurried
@given(outputs(st.one_of(PLAIN, REWRITTEN)), BUDGETS)
def test_so_does_the_view_of_a_display_that_rewrites_its_lines(output: Output, budget: int | None) -> None:
    check(output.view(budget))


@st.composite
def json_with_failures(draw: st.DrawFn) -> bytes:
    words = ["ok", "error: it broke", "FAILED tests/a.py::b", "x" * 3000, "ValueError: bad", "panic: now\n\tat a.go:3"]
    values = draw(st.lists(st.one_of(st.sampled_from(words), st.integers(0, 999)), min_size=1, max_size=12))
    value = [{"id": number, "said": values} for number in range(draw(st.sampled_from([1, 4, 60])))]
    named = {"results": value, **{f"key {number}": said for number, said in enumerate(values)}}
    return json.dumps(draw(st.sampled_from([value, named])), indent=draw(st.sampled_from([None, 1, 2]))).encode()


@unhurried
@given(json_with_failures(), st.one_of(st.just(("", b"")), streams()), BUDGETS, st.booleans())
def test_so_does_the_view_of_json(out: bytes, err: tuple[str, bytes], budget: int | None, failed: bool) -> None:
    check(Output(err[0], out, err[1], failed).view(budget))


@st.composite
def diffs(draw: st.DrawFn) -> bytes:
    text = b""
    for number in range(draw(st.integers(1, 40))):
        added = draw(st.integers(1, 30))
        text += b"diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n@@ -1 +1,%d @@\n-old\n" % (*(number,) * 4, added)
        text += draw(st.sampled_from([b"+error: new\n", b"+a longer line that is new in this file\n"])) * added
    return text


@unhurried
@given(diffs(), st.one_of(st.just(("", b"")), streams()), BUDGETS, st.booleans())
def test_so_does_the_view_of_a_diff(out: bytes, err: tuple[str, bytes], budget: int | None, failed: bool) -> None:
    check(Output("git diff", out, err[1], failed).view(budget))


@unhurried
@given(outputs(), BUDGETS)
def test_the_same_output_makes_the_same_view(output: Output, budget: int | None) -> None:
    assert output.view(budget).shaped == output.view(budget).shaped


@unhurried
@given(outputs())
def test_a_scan_finds_the_very_lines_that_are_judged_failures_one_by_one(output: Output) -> None:
    viewed = output.view(8192)
    judge = viewed.examination.judge
    one_by_one = sum(judge.verdict(line) is not None for line in output.out.split(b"\n"))
    assert find_failures(viewed.out, judge).total == one_by_one


@pytest.mark.parametrize("name", ["codescout", "everruns", "roo", "gh-aw"])
@unhurried
@given(outputs(failed=True), BUDGETS)
def test_other_profiles_count_every_failure_too(name: str, output: Output, budget: int | None) -> None:
    viewed = output.view(budget, load_profile(name))
    check_failures(viewed)
    assert len(viewed.body.encode()) <= max(budget or HARD_LIMIT_BYTES, len(output.view(0).body.encode()))


@pytest.mark.parametrize("name", ["codescout", "everruns", "roo", "gh-aw"])
@unhurried
@given(outputs(failed=False), st.integers(200, HARD_LIMIT_BYTES))
def test_other_profiles_keep_to_the_budget_of_a_success(name: str, output: Output, budget: int) -> None:
    profile = load_profile(name)
    viewed = output.view(budget, profile)
    markers = 0 if profile.cut.marker_bytes else 2 * (len(profile.cut.bytes_marker) + 8)  # are not counted there
    assert len(viewed.body.encode()) <= max(budget + markers, len(output.view(0).body.encode()))
    assert viewed.shaped.out_shown <= viewed.out.line_count
    assert viewed.shaped.err_shown <= viewed.err.line_count
    assert viewed.shaped == output.view(budget, profile).shaped


def _real() -> list[tuple[str, Output]]:
    found = []
    for text in (REAL / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(text)
        files = {name: _bytes(REAL / path) for name, path in entry["files"].items()}
        out, err = files.get("stdout", files.get("combined", b"")), files.get("stderr", b"")
        found.append((entry["id"], Output(entry["command"], out, err, entry["kind"] == "fail")))
    return found


def _bytes(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.mark.parametrize(("name", "output"), _real(), ids=lambda one: one if isinstance(one, str) else "")
def test_views_of_real_outputs_keep_it_at_the_least_the_usual_and_the_largest_budget(name: str, output: Output) -> None:
    assert name
    for budget in (200, 8192, None):
        check(output.view(budget))


def test_a_line_of_a_view_that_is_no_line_of_the_output_is_noticed() -> None:
    viewed = Output("", b"a\n" * 9 + b"b\n", b"", True).view(200)
    with pytest.raises(AssertionError):
        check_lines(viewed._replace(output=Output("", b"other\n", b"", True)))
