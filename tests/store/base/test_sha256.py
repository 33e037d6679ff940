"""SHA-256 comes out the same whatever way it is made."""

import hashlib
import subprocess
import sys
from tempfile import TemporaryFile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.base.sha256 import INLINE_BYTES, SMALL_BYTES, STEP_BYTES, Hasher
from sightline.disk.line_index import newlines_in

SIZES = (0, 1, SMALL_BYTES - 1, SMALL_BYTES, SMALL_BYTES + 1, INLINE_BYTES, INLINE_BYTES + 1)


@pytest.mark.parametrize("size", [*SIZES, STEP_BYTES, INLINE_BYTES + 3 * STEP_BYTES + 7])
def test_a_stream_hashes_as_hashlib_has_it_on_every_side_of_every_limit(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    with TemporaryFile(buffering=0) as file:
        hasher = Hasher(file.fileno())
        for start in range(0, size, 300_007):
            piece = memoryview(data)[start : min(start + 300_007, size)]
            file.write(piece)
            hasher.update(piece)
        found = hasher.hexdigest()
    assert found == hashlib.sha256(data[:size]).hexdigest()


@given(st.lists(st.binary(max_size=SMALL_BYTES // 4), max_size=8))
def test_pieces_of_any_size_make_one_hash(pieces: list[bytes]) -> None:
    with TemporaryFile(buffering=0) as file:
        hasher = Hasher(file.fileno())
        for piece in pieces:
            file.write(piece)
            hasher.update(piece)
        found = hasher.hexdigest()
    assert found == hashlib.sha256(b"".join(pieces)).hexdigest()


HASHES = """
import sys
sys.modules |= dict.fromkeys(sys.argv[1].split())
from sightline.base.sha256 import sha256_hex
print(*(sha256_hex(b"x" * int(size)) for size in sys.argv[2:]), "hashlib" in sys.modules)
"""


@pytest.mark.parametrize("lacks", ["", "_sha2 _sha256"], ids=["with", "without"])
def test_short_texts_hash_alike_with_and_without_the_interpreters_own(lacks: str) -> None:
    sizes = [size for size in SIZES if size <= SMALL_BYTES]
    words = [sys.executable, "-c", HASHES, lacks, *map(str, sizes)]
    told = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    assert told == [*(hashlib.sha256(b"x" * size).hexdigest() for size in sizes), str(bool(lacks))]


def test_a_stream_that_is_given_up_leaves_no_thread() -> None:
    import threading

    with TemporaryFile(buffering=0) as file:
        hasher = Hasher(file.fileno())
        hasher.update(b"x" * (INLINE_BYTES + 1))
        hasher.stop()
    assert not [thread for thread in threading.enumerate() if thread.name == "sightline-sha256"]


def test_bytes_that_cannot_be_read_back_are_no_hash() -> None:
    with TemporaryFile(buffering=0) as file:
        hasher = Hasher(file.fileno())
        hasher.update(b"x" * (INLINE_BYTES + 1))
        with pytest.raises(OSError, match="cannot be read back"):
            hasher.hexdigest()


@given(st.binary(max_size=300), st.integers(1, 400))
@example(b"x" * 300, 400)
def test_newlines_are_counted_whatever_the_lines(line: bytes, times: int) -> None:
    block = (line + b"\n") * times + line
    assert newlines_in(memoryview(block)) == newlines_in(block) == block.count(b"\n")
