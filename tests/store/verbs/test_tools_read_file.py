"""read_file: files as immutable versions, shown whole, in part or as a view."""

import os
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import BadRange, UsageError
from sightline.capture.file import FileNotReadable
from sightline.settings.config import Settings
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.store import Store
from sightline.verbs.query import query
from sightline.verbs.read_file import read_file
from sightline.verbs.reply import Reply
from sightline.verbs.requests import FileRequest, QueryRequest


def _read(caller: Any, path: object, first: int = 0, last: int = 0) -> Reply:
    return caller.deliver(read_file(caller.asking, FileRequest(str(path), first, last)))  # type: ignore[no-any-return]


def test_small_file_comes_whole_and_without_a_ref(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo")
    reply = _read(agent, tmp_path / "a.txt")
    assert reply.fields == {}
    assert reply.text == agent.told == "one\ntwo"
    assert agent.views()[-1].refs == (agent.store.listed(1)[0].buffer.name,)


def test_large_file_is_a_view_with_its_id_and_the_next_call(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 3001)))
    reply = _read(agent, tmp_path / "a.txt")
    assert list(reply.fields) == ["file_id", "summary", "truncated", "lines", "total_lines", "total_bytes", "next"]
    assert reply.fields["file_id"].startswith("@file_")
    assert reply.fields["total_lines"] == 3000
    assert len(reply.text.encode()) <= 8192
    following = agent.follow(reply.fields["next"])
    assert following.fields["output_id"] == reply.fields["file_id"], "the next call names the same ref"
    assert following.text.splitlines()[0] not in reply.text.splitlines()


def test_lines_of_a_file_come_in_full(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{number}\n" for number in range(1, 3001)))
    reply = _read(agent, tmp_path / "a.txt", 100, 102)
    assert reply.text == agent.told == "100\n101\n102\n"
    assert reply.fields["lines"] == "100-102"
    assert _read(agent, tmp_path / "a.txt", 2999).text == "2999\n3000\n"
    assert _read(agent, tmp_path / "a.txt", 0, 2).text == "1\n2\n"


def test_long_part_names_the_rest(agent: Any, tmp_path: Path) -> None:
    text = "".join(f"{number:0100}\n" for number in range(1, 3001))
    (tmp_path / "a.txt").write_text(text)
    reply = _read(agent, tmp_path / "a.txt", 1, 3000)
    pages = [reply.text]
    while "next" in reply.fields:
        reply = agent.follow(reply.fields["next"])
        pages.append(reply.text)
    assert "".join(pages) == text


@pytest.mark.parametrize(("first", "last"), [(5, 2), (-1, 0), (3, 1), (4, 9)])
def test_wrong_lines_are_an_error(agent: Any, tmp_path: Path, first: int, last: int) -> None:
    (tmp_path / "a.txt").write_text("a\nb\nc\n")
    with pytest.raises(BadRange):
        _read(agent, tmp_path / "a.txt", first, last)


def test_unchanged_file_keeps_its_ref_and_a_changed_one_gets_another(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    _read(agent, path)
    _read(agent, path)
    [first] = agent.store.listed(10)
    os.utime(path)
    _read(agent, path)
    assert len(agent.store.listed(10)) == 1, "touched is not changed"
    path.write_text("two\n")
    assert _read(agent, path).text == "two\n"
    assert len(agent.store.listed(10)) == 2
    assert agent.read(first.buffer.ref).text == "one\n", "what was seen stays readable"
    path.unlink()
    assert agent.read(first.buffer.ref).text == "one\n"


def test_binary_file_is_kept_and_not_shown(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\xff\x00\xfe")
    reply = _read(agent, tmp_path / "a.bin")
    assert reply.text == ""
    assert reply.fields["total_bytes"] == 3
    assert "binary" in reply.fields["note"]
    assert "xxd" in reply.fields["next"]


def test_empty_file_is_empty(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    assert _read(agent, tmp_path / "empty").text == ""


def test_one_enormous_line_stays_within_the_limit(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 1_000_000)
    assert "[… " in _read(agent, tmp_path / "a.txt").text
    reply = _read(agent, tmp_path / "a.txt", 1, 1)
    assert reply.fields["truncated"] is True
    assert len(agent.told.encode()) <= HARD_LIMIT_BYTES


@pytest.mark.parametrize("name", ["missing", ".", "fifo"])
def test_what_is_no_readable_file_is_an_error(agent: Any, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FileNotReadable):
        _read(agent, tmp_path / name)


def test_nothing_is_read_where_nothing_may_be_kept(caller: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("secret\n")
    with Store(settings=Settings(capture_off=(str(tmp_path),))) as store, pytest.raises(UsageError, match="capture"):
        _read(caller(store, "a", "claude-code"), tmp_path / "a.txt")


def test_reads_and_queries_of_an_older_version_say_that_the_file_has_changed(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("one\ntwo\n")
    agent.deliver(read_file(agent.asking, FileRequest(str(path))))
    old = agent.store.listed(1)[0].buffer
    assert "note" not in agent.read(old.ref, lines="1").fields
    path.write_text("one\nTWO\n")
    agent.deliver(read_file(agent.asking, FileRequest(str(path))))
    new = agent.store.listed(1)[0].buffer
    told = f"the file has changed since; newer: {new.ref}"
    asked = ({"lines": "1"}, {"search": "t"}, {"offset": 0})
    assert [agent.read(old.ref, **one).fields["note"] for one in asked] == [told] * 3
    assert told in agent.told
    reply = agent.deliver(query(agent.asking, QueryRequest(f"cat {old.ref}")))
    assert (reply.fields["note"], reply.text) == (told, "one\ntwo\n")
    assert "note" not in agent.read(new.ref, offset=0).fields
    reply = agent.deliver(query(agent.asking, QueryRequest(f"diff {old.ref} {new.ref}")))
    assert reply.fields["note"] == told
    assert agent.run(f"grep -c one {old.ref}; true").fields["note"] == told  # as a query that is one pipeline
    assert "note" not in agent.run(f"grep -c one {new.ref}; true").fields
