"""What is shown of a line that is too long to be read whole."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.source import Line
from sightline_tui.common.long_line import MIDDLE_BYTES, middle_of, pieces_of

HALF = 8 << 10


@given(st.integers(0, 4), st.integers(0, 3 * HALF))
def test_pieces_follow_each_other_or_leave_out_what_was_not_read(shift: int, offset: int) -> None:
    data = b"a" * shift + "日本".encode() * HALF
    line = Line(1, data[:HALF] + data[-HALF:], len(data))
    middle = middle_of(line, HALF + offset, lambda at, size: data[at : at + size])
    assert middle is not None
    assert data[middle.at :].startswith(middle.data)
    assert 0 < len(middle.data) <= MIDDLE_BYTES
    if offset <= 1 << 10:  # what stands between was read, so that nothing is left out
        assert middle.at == HALF
    else:
        assert middle.data[0] not in range(0x80, 0xC0)
    assert [at for at, _ in pieces_of(line, middle)] == [0, middle.at, len(data) - HALF]
