"""A line whose shape is rare in its output is shown, though none of its words says that something failed."""

from benchmarks.failure_recall import Case, view
from sightline.shape.failure.rare_lines import RARE_BYTES, rare_lines
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


@each("name", _NOISE)
def test_rare_line_is_found_among_repeated_ones(name: str) -> None:
    source = BytesSource("\n".join(_with_rare(name)).encode())
    assert rare_lines(source) == [2001]


@each("name", _NOISE)
def test_rare_line_of_an_unknown_tool_stands_in_a_small_view(name: str) -> None:
    data = ("\n".join(_with_rare(name)) + "\n").encode()
    case = Case({"exit_code": 1, "command": "./belt", "kind": "fail", "id": name}, data, b"")
    assert "crate seven weighs more than its belt can carry" in view(case, "concise").reply


def test_text_without_repeated_lines_has_no_rare_ones() -> None:
    words = ["depot", "ledger", "kiln", "saddle", "quarry", "beacon", "route", "stamp", "crate"]
    lines = [" ".join((a, b, c)) for a in words for b in words for c in words]
    assert rare_lines(BytesSource("\n".join(lines).encode())) == []


def test_large_stream_is_not_searched() -> None:
    assert rare_lines(BytesSource(b"packed\n" * (RARE_BYTES // 7 + 1) + b"one line alone\n")) == []
