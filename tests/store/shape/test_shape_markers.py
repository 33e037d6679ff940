"""The grammar of markers."""

import re

import pytest

from sightline.shape import markers
from sightline.shape.markers import CLIPPED, CUTS, MARKER
from sightline.shape.whole_body import STDERR
from tests.each import each

REF = "@cmd_a1b2c3"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (markers.elision(REF, 121, 1324), "[… 1,204 lines elided: @cmd_a1b2c3:121-1324 …]"),
        (markers.elision(REF + ".err", 7, 7), "[… 1 line elided: @cmd_a1b2c3.err:7 …]"),
        (markers.elision(REF, 1, 9, 3), "[… 9 lines elided, 3 error lines among them: @cmd_a1b2c3:1-9 …]"),
        (markers.elision("", 1, 9), "[… 9 lines elided: lines 1-9 …]"),
        (markers.fold(REF, 5, 103), "[… previous line ×99 more: @cmd_a1b2c3:5-103 …]"),
        (
            markers.more_errors(REF, 12, [(44, 44), (97, 97), (131, 140)], 100),
            "[… 12 more error lines: @cmd_a1b2c3:44, 97, 131-140 …]",
        ),
        (
            markers.more_errors(REF, 31, [(44, 44), (97, 97)], 100),
            "[… 31 more error lines: @cmd_a1b2c3:44, 97 and others …]",
        ),
        (markers.more_errors(REF, 31, [(44, 44), (97, 97)], 0), "[… 31 more error lines: @cmd_a1b2c3 …]"),
        (markers.more_errors("", 1, [(44, 44)], 100), "[… 1 more error line: 44 …]"),
        (markers.more_errors("", 1, [], 0), "[… 1 more error line …]"),
        (markers.elision(REF, 3, 345, short=True), "[… 3-345]"),
        (markers.elision(REF + ".err", 7, 7, short=True), "[… .err:7]"),
        (markers.elision(REF, 1, 2004, 31, short=True), "[… 1-2004, 31 error lines]"),
        (markers.fold(REF, 5, 103, short=True), "[… ×99 more: 5-103]"),
        (
            markers.more_errors(REF, 31, [(44, 44), (97, 98)], 100, short=True),
            "[… 31 more error lines: 44, 97-98 and others]",
        ),
        (
            markers.more_errors(REF + ".err", 2, [(44, 45)], 100, short=True),
            "[… 2 more error lines: .err:44-45]",
        ),
        (markers.more_errors(REF, 31, [(44, 44)], 0, short=True), "[… 31 more error lines]"),
    ],
)
def test_markers_follow_their_grammar(written: str, text: str) -> None:
    assert written == text
    assert re.fullmatch(MARKER, written)


def test_places_of_errors_are_one_of_each_file_before_two_of_any() -> None:
    places = {"src/a.c": [12, 40, 77], "src/b.c": [3]}
    assert markers.error_places(places, 200) == "[… at src/a.c:12 :40 :77, src/b.c:3]"
    assert markers.error_places(places, 44) == "[… at src/a.c:12, src/b.c:3 and others]"
    assert markers.error_places(places, 30) == ""
    for room in (44, 60, 200):
        assert re.fullmatch(MARKER, markers.error_places(places, room))


def test_the_cut_in_a_line_tells_its_bytes() -> None:
    written = markers.clipping(REF, 1, 49_990_000)
    assert written == "[… 49,990,000 bytes of this line elided: @cmd_a1b2c3:1 …]"
    assert re.search(CLIPPED, f"a{written}b")
    short = markers.clipping(REF, 1, 49_990_000, short=True)
    assert short == "[… 49,990,000 bytes of line 1 …]"
    assert re.search(CLIPPED, f"a{short}b") and re.search(CUTS, f"a{short}b")


def test_the_stream_separator_is_a_marker_and_prose_is_not() -> None:
    assert re.fullmatch(MARKER, STDERR)
    assert not re.fullmatch(MARKER, "[… some lines elided …]")


@each("room", range(0, 200, 7))
def test_numbers_are_listed_only_as_far_as_there_is_room(room: int) -> None:
    written = markers.more_errors(REF, 500, ((n, n) for n in range(1, 1000, 2)), room)
    assert len(written.encode()) <= max(room, len(markers.more_errors(REF, 500, (), 0).encode()))
    assert re.fullmatch(MARKER, written)
