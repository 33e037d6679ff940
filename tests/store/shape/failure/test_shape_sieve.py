"""The lines worth judging: exactly those that hold what is looked for, however often lines repeat."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.failure import prefilter as sieve
from sightline.shape.failure.classes import STEMS
from sightline.shape.failure.prefilter import FEW, Prefilter
from sightline.shape.memory_stream import BytesSource

LITERALS = (b"E9", b"0) ", b"\xc3\x97", b"FAIL:", b"*** ", b"x1a")
LINES = st.one_of(
    st.sampled_from(
        [b"", b"ok", b"an Error", b"bail", b"x9f", b"E4", b"3) a", b"\xc3\x97 no", b"\x1b[1mfail\x1b[0med"]
    ),
    st.sampled_from([*STEMS, *LITERALS]).map(lambda text: b"before " + text + b" after"),
    st.integers(0, 1 << 32).map(lambda number: b"request %08x took %d ms" % (number, number % 97)),
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"").replace(b"\x1b", b"")),
)


def naive(data: bytes, stems: tuple[bytes, ...], literals: tuple[bytes, ...]) -> list[tuple[int, bytes]]:
    plain = data.replace(b"\x1b[1m", b"").replace(b"\x1b[0m", b"")
    return [
        (number, line)
        for number, line in enumerate(plain.removesuffix(b"\n").split(b"\n"), 1)
        if any(stem in line.lower() for stem in stems) or any(literal in line for literal in literals)
    ]


@pytest.mark.parametrize("skipped", [0, 16])
@pytest.mark.parametrize("few", [FEW, 0])
@given(st.lists(st.tuples(LINES, st.sampled_from([1, 1, 2, 30])), max_size=40))
def test_exactly_the_lines_that_hold_what_is_looked_for_are_found(
    skipped: int, few: int, lines: list[tuple[bytes, int]]
) -> None:
    data = b"".join((line + b"\n") * count for line, count in lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sieve, "FEW", few)
        patch.setattr(sieve, "SKIPPED_BLOCKS", skipped)
        patch.setattr("sightline.shape.memory_stream.BLOCK_BYTES", 400)
        for stems, literals in ((STEMS, LITERALS), ((), LITERALS), ((b"error",), ())):
            assert list(Prefilter(stems, literals).lines(BytesSource(data).blocks())) == naive(data, stems, literals)


def test_what_is_remembered_of_a_stream_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieve, "KNOWN_LINES", 10)
    monkeypatch.setattr("sightline.shape.memory_stream.BLOCK_BYTES", 400)
    words = [b"%s %s" % (a, b) for a in (b"go", b"on", b"to", b"so") for b in (b"in", b"up", b"my", b"it")]
    made = Prefilter(STEMS, LITERALS)
    assert list(made.lines(BytesSource(b"\n".join([b"error here", *words * 40, b"and an error"])).blocks())) == [
        (1, b"error here"),
        (642, b"and an error"),
    ]
    assert len(made._known) <= 10 + 16


def test_without_anything_to_look_for_nothing_is_read() -> None:
    def blocks() -> Iterator[tuple[int, bytes]]:
        raise AssertionError("nothing is looked for")
        yield

    assert list(Prefilter((), ()).lines(blocks())) == []
