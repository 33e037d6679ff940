"""The chain of an audit file: what was written stays, or is missed."""

import contextlib
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sightline.log import log

HEADER = {"kind": "session", "session": {"name": "s"}}
TEXTS = ["short\n", 'é \udcff \ud800 \u2028 \\ " \x00\n', "last"]


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with a header and three views."""
    path = str(tmp_path / "s.jsonl")
    for number, text in enumerate(TEXTS):
        log.append(path, HEADER, {"kind": "view", "time": 1.5 * number, "refs": [f"cmd_{number}"], "text": [text]})
    return path


def _entry(path: str, place: log.LinePlace) -> dict[str, Any]:
    with open(path, "rb") as file:
        return log.read_entry(file, place.number, place.offset, place.length)


def test_a_chain_that_nobody_touched_verifies(path: str) -> None:
    assert log.verify(path) == 4
    assert [entry.get("text") for _, entry in log.read_all(path)] == [None, *([text] for text in TEXTS)]
    for place, entry in log.read_all(path):
        assert _entry(path, place) == entry
        assert _entry(path, place._replace(offset=0, length=1)) == entry


unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@unhurried
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_any_changed_byte_is_found(path: str, place: float, byte: int) -> None:
    data = Path(path).read_bytes()
    at = int(place * (len(data) - 1))  # without the last newline, the last line would be one that was never finished
    assume(data[at] != byte)
    changed = Path(path + ".changed")
    changed.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
    with pytest.raises(log.BrokenChain):
        log.verify(str(changed))


@pytest.mark.parametrize(
    "edit",
    [
        lambda lines: lines[1:],
        lambda lines: lines[:1] + lines[2:],
        lambda lines: lines[:2] + lines[1:],
        lambda lines: [*lines, lines[-1]],
        lambda lines: [*lines, b"\n"],
        lambda lines: [lines[0], lines[2], lines[1], lines[3]],
        lambda lines: [lines[0] + b" ", *lines[1:]],
        lambda lines: [lines[0], lines[1].replace(b'"kind"', b'"kind":1,"kind"'), *lines[2:]],
        lambda lines: [lines[0], lines[1].replace(b"short", b"SHORT"), *lines[2:]],
        lambda lines: [lines[0][:1] + b'"text":["added"],' + lines[0][1:], *lines[1:]],
    ],
)
def test_lines_that_were_removed_added_or_moved_are_found(
    path: str, edit: Callable[[list[bytes]], list[bytes]]
) -> None:
    lines = Path(path).read_bytes().splitlines(keepends=True)
    lines = [line if line.endswith(b"\n") else line + b"\n" for line in edit(lines)]
    Path(path).write_bytes(b"".join(lines))
    with pytest.raises(log.BrokenChain):
        log.verify(path)


@pytest.mark.parametrize("torn", [b'{"half', b"x" * 200_000])
def test_a_torn_last_line_is_cut_off_by_the_next_writer(path: str, torn: bytes) -> None:
    with open(path, "ab") as file:
        file.write(torn)
    assert log.verify(path) == 4
    place = log.append(path, HEADER, {"kind": "view", "text": ["next"]})
    assert place.number == 4
    assert _entry(path, place)["text"] == ["next"]
    assert log.verify(path) == 5


def test_a_file_that_is_torn_from_its_start_begins_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"half a header')
    place = log.append(str(path), HEADER, {"kind": "view"})
    header, view = path.read_bytes().splitlines(keepends=True)
    assert place == (1, len(header), len(view))
    assert log.verify(str(path)) == 2


def test_a_write_that_fails_leaves_nothing_of_the_line(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, write, room = Path(path).read_bytes(), os.write, [7]

    def full(fd: int, data: bytes) -> int:
        if not room:
            raise OSError(28, "No space left on device")
        return write(fd, bytes(data)[: room.pop()])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            log.append(path, HEADER, {"kind": "view", "text": ["x"]})
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("content", [b"{}\n", b'7,"hash":"%s"}\n' % (b"0" * 64)], ids=["JSON", "digits"])
def test_a_file_of_another_kind_is_not_appended_to(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.jsonl").write_bytes(content)
    with pytest.raises(OSError, match="ours"):
        log.append(str(tmp_path / "s.jsonl"), HEADER, {"kind": "view"})


def test_blanked_texts_keep_their_hashes_and_the_chain(path: str) -> None:
    hashes = [entry["hash"] for _, entry in log.read_all(path)]
    assert log.blank(path, lambda entry: "cmd_1" in entry["refs"]) == 1
    assert log.verify(path) == 4
    assert [entry.get("text") for _, entry in log.read_all(path)] == [None, [TEXTS[0]], None, [TEXTS[2]]]
    assert [entry["hash"] for _, entry in log.read_all(path)] == hashes
    assert log.blank(path, lambda entry: "cmd_1" in entry["refs"]) == 0
    log.append(path, HEADER, {"kind": "view", "text": ["after"]})
    assert log.verify(path) == 5


def _append(path: str) -> None:
    log.append(path, HEADER, {"kind": "view", "refs": [], "text": ["between"]})


def _blank(path: str) -> None:
    log.blank(path, lambda entry: True)


def _tear(path: str) -> None:
    with open(path, "ab") as file:
        file.write(b'{"half')


@pytest.mark.parametrize("others", [[], [_append], [_blank], [_tear], [os.unlink], [_blank, _append, _tear]])
def test_a_file_kept_open_goes_on_where_it_ends_now(path: str, others: list[Callable[[str], None]]) -> None:
    with contextlib.closing(log.LogWriter(path, HEADER)) as file:
        for turn in range(3):
            place = file.append({"kind": "view", "refs": [], "text": [f"mine {turn}"]})
            assert _entry(path, place)["text"] == [f"mine {turn}"]
            assert log.verify(path) == place.number + 1
            for other in others:
                other(path)


def test_a_file_kept_open_in_a_folder_that_is_gone_says_so_and_goes_on_in_one_that_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    folder.mkdir()
    entry = {"kind": "view", "refs": [], "text": ["mine"]}
    with contextlib.closing(log.LogWriter(str(folder / "s.jsonl"), HEADER)) as file:
        file.append(entry)
        folder.rename(tmp_path / "elsewhere")
        for _ in range(2):
            with pytest.raises(FileNotFoundError):
                file.append(entry)
        folder.mkdir()
        file.append(entry)
        assert log.verify(file.path) == 2


def test_a_file_that_is_no_longer_kept_open_is_opened_for_each_entry(path: str) -> None:
    file = log.LogWriter(path, HEADER)
    opened = set(os.listdir("/dev/fd"))
    for turn in range(3):
        file.append({"kind": "view", "refs": [], "text": [f"mine {turn}"]})
        file.close()
        assert set(os.listdir("/dev/fd")) <= opened
    assert log.verify(path) == 7


def test_threads_that_share_a_file_keep_one_chain(path: str) -> None:
    with contextlib.closing(log.LogWriter(path, HEADER)) as file, ThreadPoolExecutor(8) as pool:
        places = list(pool.map(lambda turn: file.append({"kind": "view", "refs": [], "text": [str(turn)]}), range(200)))
    assert log.verify(path) == 204
    assert [_entry(path, place)["text"] for place in places] == [[str(turn)] for turn in range(200)]


APPEND_MANY = """
import sys
from sightline.log import log
sys.stdin.read(1)
file = log.LogWriter(sys.argv[1], {"kind": "session"})
for number in range(40):
    view = {"kind": "view", "who": sys.argv[2], "which": number, "text": ["x" * 500]}
    if number % 2:
        log.append(sys.argv[1], {"kind": "session"}, view)
    else:
        file.append(view)
"""


def test_writers_of_one_session_keep_one_chain(
    tmp_path: Path, python: Callable[..., "subprocess.Popen[bytes]"]
) -> None:
    path = str(tmp_path / "s.jsonl")
    writers = [python(APPEND_MANY, path, str(number)) for number in range(6)]
    for writer in writers:
        assert writer.stdin
        writer.stdin.write(b"x")
        writer.stdin.flush()
    while any(writer.poll() is None for writer in writers):
        if os.path.exists(path):
            log.blank(path, lambda entry: entry.get("which") == 3)
    assert log.verify(path) == 241
    entries = [entry for _, entry in log.read_all(path)][1:]
    assert {(entry["who"], entry["which"]) for entry in entries} == {(str(w), n) for w in range(6) for n in range(40)}
