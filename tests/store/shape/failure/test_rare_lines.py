"""A line whose shape is rare in its output is shown, though none of its words says that something failed."""

import tracemalloc

from benchmarks.failure_recall import Case, view
from sightline.shape.failure.failure_scan import find_failures
from sightline.shape.failure.judge import Judge
from sightline.shape.failure.prefilter import MOST_RARE, Prefilter
from sightline.shape.failure.rare_lines import rare_lines
from sightline.shape.memory_stream import BytesSource
from tests.each import each

_NOISE = {
    "counter": [f"[{at}/4000] packed parcel {at} into /var/depot/{at}.bin" for at in range(4000)],
    "quoted": [f"sorted '{'abcdefgh'[at % 8]}x{'ijklmnop'[at % 7]}' into \"bin {at}\"" for at in range(4000)],
    "hexadecimal": [f"0x{at * 7919:08x} weighed, 12 kg, {at * 31:x}" for at in range(4000)],
    "paths": [f"copied src/{'abcdefgh'[at % 8]}/{at}.c to out/{'ijkl'[at % 4]}/{at}.c" for at in range(4000)],
    "dots": ["." * 60 for _ in range(4000)],
}


def _with_rare(name: str) -> list[str]:
    lines = list(_NOISE[name])
    lines[2000] = "crate seven weighs more than its belt can carry"
    return lines


def _rare(data: bytes) -> list[int]:
    source = BytesSource(data)
    return rare_lines(source, find_failures(source, Judge()).rare)


@each("name", _NOISE)
def test_rare_line_is_found_among_repeated_ones(name: str) -> None:
    assert _rare("\n".join(_with_rare(name)).encode()) == [2001]


@each("name", _NOISE)
def test_rare_line_of_an_unknown_tool_stands_in_a_small_view(name: str) -> None:
    data = ("\n".join(_with_rare(name)) + "\n").encode()
    case = Case({"exit_code": 1, "command": "./belt", "kind": "fail", "id": name}, data, b"")
    assert "crate seven weighs more than its belt can carry" in view(case, "concise").reply


def test_text_without_repeated_lines_has_no_rare_ones() -> None:
    words = ["depot", "ledger", "kiln", "saddle", "quarry", "beacon", "route", "stamp", "crate"]
    lines = [" ".join((a, b, c)) for a in words for b in words for c in words]
    assert _rare("\n".join(lines).encode()) == []


def test_rare_line_is_found_in_many_blocks_with_the_memory_of_a_few() -> None:
    block = "\n".join(f"packed parcel {at} of {at % 7} into /var/depot" for at in range(6000)).encode() + b"\n"
    lines, said = block.count(b"\n"), b"crate seven weighs more than its belt can carry\n"
    prefilter = Prefilter((b"error",) * 9, ())
    blocks = ((1 + at * lines, block if at != 150 else said + block) for at in range(200))
    tracemalloc.start()
    assert list(prefilter.lines(blocks)) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * len(block)
    assert [place for place, _ in (prefilter.rare or {}).values()] == [1 + 150 * lines]


def test_stream_of_which_most_lines_differ_has_no_rare_ones() -> None:
    words = [f"{a}{b}{c}" for a in "ghijklmnop" for b in "ghijklmnopqrst" for c in "qrstuvwxyzghijkl"]
    lines = "".join(f"{a} {b}\n" for a in words[:200] for b in words[:60]).encode()
    prefilter = Prefilter((b"error",) * 9, ())
    list(prefilter.lines([(1, lines)]))
    assert lines.count(b"\n") > MOST_RARE
    assert prefilter.rare is None


def test_rare_line_stands_beside_a_flood_of_failures_that_a_rule_explains() -> None:
    flood = [f"src/till{at % 50}.c:{at}:3: error: expected ‘;’ before ‘coin{at % 70}’" for at in range(2000)]
    flood[1200:1200] = ["crate seven weighs more than its belt can carry"]
    data = ("\n".join(flood) + "\n").encode()
    case = Case({"exit_code": 1, "command": "gcc src/till.c", "kind": "fail", "id": "flood"}, data, b"")
    assert "crate seven weighs more than its belt can carry" in view(case, "normal").reply
