"""Where a pattern matches, as bytes, whichever engine this machine has."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import UsageError
from sightline.search.engine import ENGINES, SearchPattern, engine_of, pattern_of
from sightline.search.errors import Cancelled, SearchFailed
from sightline.search.hits import Hits, Near, offset_in, places_in, scan
from sightline.search.processes import Cancel

LOG = b"starting\nERROR: disk\nok test42 test43\nan error [x\n\x00binary error\xff\xfe\ncaf\xc3\xa9 test\r\nlast"


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine that this machine has."""
    try:
        return engine_of((request.param,))
    except SearchFailed:
        pytest.skip(f"no {request.param} here")


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A stream with odd bytes."""
    path = tmp_path / "out"
    path.write_bytes(LOG)
    return str(path)


def found(path: str, pattern: SearchPattern, engine: str, **options: object) -> list[int]:
    offsets: list[int] = []

    def take(heads: list[bytes]) -> bool:
        offsets.extend(map(offset_in, heads))
        return True

    scan(path, pattern, take, engines=[engine], **options)  # type: ignore[arg-type]
    return offsets


def test_lines_that_match_begin_where_they_do(log: str, engine: str) -> None:
    starts = [LOG.index(b"ERROR"), LOG.index(b"an error"), LOG.index(b"\x00binary")]
    assert found(log, SearchPattern("error", ignore_case=True), engine) == starts
    assert found(log, SearchPattern("error"), engine) == starts[1:]
    assert found(log, SearchPattern("error", ignore_case=True), engine, first=2) == starts[:2]
    assert found(log, SearchPattern("[x", literal=True), engine) == [starts[1]]
    assert found(log, SearchPattern("error"), engine, offset=starts[2]) == [0]


def test_each_match_is_found_where_bytes_are_shown(log: str, engine: str) -> None:
    assert found(log, SearchPattern("test"), engine, matches=True) == [
        match.start() for match in re.finditer(b"test", LOG)
    ]


def test_a_long_line_takes_no_room(tmp_path: Path, engine: str) -> None:
    (tmp_path / "out").write_bytes(b"x" * 300_000 + b"hit:1\n" + b"hit\n")
    assert found(str(tmp_path / "out"), SearchPattern("hit"), engine) == [0, 300_006]


def test_enough_is_enough(log: str, engine: str) -> None:
    taken: list[bytes] = []
    scan(log, SearchPattern("."), lambda heads: bool(taken.extend(heads)), engines=[engine])
    assert taken


def test_what_was_cancelled_finds_nothing(log: str, engine: str) -> None:
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        found(log, SearchPattern("error"), engine, cancel=cancel)


@pytest.mark.parametrize(("text", "literal"), [("plain text_1", True), ("a|b", False), ("[x", True), ("(", True)])
def test_what_is_no_regular_expression_is_taken_literally(text: str, literal: bool, engine: str) -> None:
    assert pattern_of(text, ignore_case=False, engines=[engine]) == SearchPattern(text, False, literal)


def test_nothing_cannot_be_looked_for() -> None:
    with pytest.raises(UsageError):
        pattern_of("", ignore_case=False)


def test_places_are_counted_in_characters(engine: str) -> None:
    texts = ["añb ab AB", "", "日本 ab", "none", "ab:ab"]
    found = places_in(texts, SearchPattern("AB", ignore_case=True), engines=[engine])
    assert found == [[(4, 6), (7, 9)], [], [(3, 5)], [], [(0, 2), (3, 5)]]
    assert places_in(["aaa", "xyz"], SearchPattern("x*"), engines=[engine]) == [[], [(0, 1)]]


def heads_of(offsets: list[int], base: int = 0) -> list[bytes]:
    return [b"%d:" % (offset - base) for offset in offsets]


@given(st.lists(st.integers(0, 10_000), unique=True).map(sorted), st.integers(1, 40), st.integers(0, 10_000), st.data())
def test_hits_are_kept_in_bounded_memory(offsets: list[int], kept: int, place: int, data: st.DataObject) -> None:
    hits = Hits(kept)
    at = 0
    while at < len(offsets):
        step = data.draw(st.integers(1, len(offsets)))
        assert hits.add(0, heads_of(offsets[at : at + step]))
        at += step
    assert hits.total == len(offsets)
    assert len(hits._kept) <= kept
    below = [offset for offset in offsets if offset < place]
    above = offsets[len(below) :]
    near = hits.around(place)
    if not hits.thinned:
        assert near == Near(below[-1] if below else None, above[0] if above else None, len(below))
    else:
        assert near.before in below if below else near.before is None
        assert near.after is None or near.after in above
        assert abs(near.rank - len(below)) < hits._stride


def test_hits_of_a_part_end_where_it_does() -> None:
    hits = Hits()
    assert not hits.add(100, heads_of([110, 120, 130, 140], 100), until=130)
    assert (hits.total, hits.last) == (2, 120)
