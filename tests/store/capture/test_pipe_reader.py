"""What moves bytes from pipes: until the streams, their writers or whoever reads on have ended."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from sightline.capture.child import PIPE_BYTES
from sightline.capture.pipe_reader import LINGER_BYTES, PipeReader


class Got:
    """What a reader gave, by stream."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def __call__(self, stream: str, data: memoryview) -> None:
        self.data[stream] = self.data.get(stream, b"") + data


@pytest.fixture
def pipes() -> Iterator[list[tuple[int, int]]]:
    """Three pipes."""
    made = [os.pipe() for _ in range(3)]
    yield made
    for fd in (fd for pipe in made for fd in pipe):
        try:
            os.close(fd)
        except OSError:
            pass  # the test has closed it


def test_streams_are_read_to_their_ends(pipes: list[tuple[int, int]]) -> None:
    (out, to_out), (err, to_err), _ = pipes
    os.write(to_out, b"a\nb")
    os.write(to_err, b"\n\n")
    os.close(to_out)
    os.close(to_err)
    got = Got()
    reader = PipeReader({out: "out", err: "err"}, got)
    reader.run()
    assert got.data == {"out": b"a\nb", "err": b"\n\n"}
    assert (reader.at_end, reader.writers_ended, reader.reader_left) == (True, False, False)


def test_what_ended_writers_left_is_read_though_the_pipe_stays_open(pipes: list[tuple[int, int]]) -> None:
    out, into = pipes[0]
    with subprocess.Popen(["echo", "hello"], stdout=into) as writer:
        ended = os.pidfd_open(writer.pid)
        got = Got()
        reader = PipeReader({out: "out"}, got, writers=[ended])
        reader.run()
        os.close(ended)
    assert got.data == {"out": b"hello\n"}
    assert (reader.at_end, reader.writers_ended) == (False, True)


def test_whoever_writes_without_end_does_not_hold_it_up(pipes: list[tuple[int, int]]) -> None:
    out, into = pipes[0]
    with subprocess.Popen(["yes"], stdout=into) as endless:
        got = Got()
        PipeReader({out: "out"}, got, writers=[]).run()
        endless.kill()
    assert len(got.data.get("out", b"")) < 2 * PIPE_BYTES + LINGER_BYTES


def test_what_is_passed_on_is_kept_too_until_its_reader_leaves(pipes: list[tuple[int, int]]) -> None:
    (out, into), (onward, to_reader), _ = pipes
    got = Got()
    reader = PipeReader({out: "out"}, got, pass_to=to_reader)
    os.write(into, b"one\n")
    reader.turn()
    assert os.read(onward, 100) == b"one\n"
    os.close(onward)
    os.write(into, b"two\n")
    reader.run()
    assert reader.reader_left
    assert got.data == {"out": b"one\ntwo\n"}


def test_streams_that_have_ended_are_no_end_of_their_writers(pipes: list[tuple[int, int]]) -> None:
    (out, into), (ended, ending), _ = pipes
    os.close(into)
    reader = PipeReader({out: "out"}, Got(), writers=[ended])
    reader.turn(0)
    assert (reader.at_end, reader.writers_ended) == (True, False)
    os.close(ending)
    reader.turn()
    assert reader.writers_ended
