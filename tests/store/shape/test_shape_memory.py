"""The stream that lies in memory keeps to the protocol."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.memory_stream import BytesSource
from sightline.shape.source import BLOCK_BYTES


@given(st.lists(st.sampled_from([b"a", b"\n", b"bc\n", b"\r"])).map(b"".join))
def test_lines_are_those_split_at_newlines(data: bytes) -> None:
    source = BytesSource(data)
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    lines = list(source.lines(1, source.line_count + 5))
    assert [line.data for line in lines] == expected
    assert [line.number for line in lines] == list(range(1, len(expected) + 1))
    assert source.line_count == len(expected)
    assert source.read(0, source.byte_count) == data
    assert b"".join(block for _, block in source.blocks()) == data


def test_of_a_long_line_both_ends_are_given() -> None:
    (line,) = BytesSource(b"abcdefgh\n").lines(1, 1, 4)
    assert (line.data, line.length, line.whole) == (b"abgh", 8, False)


def test_blocks_end_at_lines_and_cut_enormous_ones() -> None:
    data = b"x" * BLOCK_BYTES + b"end" + b"\n" + b"short\n" * (BLOCK_BYTES // 3)
    blocks = list(BytesSource(data).blocks())
    assert blocks[0] == (1, b"x" * (BLOCK_BYTES - 3) + b"end\n")
    assert blocks[1][0] == 2
    assert all(block.endswith(b"\n") for _, block in blocks)
    assert sum(block.count(b"\n") for _, block in blocks) == 1 + BLOCK_BYTES // 3
    assert next(BytesSource(data).blocks(3))[0] == 3
