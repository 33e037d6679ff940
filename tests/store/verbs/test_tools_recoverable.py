"""What is announced is stored; what cannot be stored is given as it is, with a warning."""

import re
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import BadRange, StoreFailed
from sightline.base.records import Buffer
from sightline.capture.result import ResultBlock, capture_result
from sightline.disk.buffer_writer import BufferWriter
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.verbs import query, read_file
from sightline.verbs.result_view import result_reply
from sightline.verbs.run_command import Doorway

_REF = re.compile(r"@(?:cmd|file|tool)_[0-9a-f]+(?:\.(?:out|err|\d+))?")
MANY = "seq -f 'out line %g of a longer text' 1 3000"


def announced(agent: Any) -> list[str]:
    """The refs in what was told last, each of which leads to all the bytes that its record tells of."""
    refs = list(dict.fromkeys(_REF.findall(agent.told)))
    for ref in refs:
        target = agent.store.resolve(ref)
        with agent.store.open(target) as source:
            info = target.buffer.stream(target.stream)
            assert len(source.read(0, info.bytes + 1)) == info.bytes <= target.buffer.bytes
        assert target.buffer.bytes
    return refs


@pytest.mark.parametrize(
    ("command", "count"),
    [
        (MANY, 1),
        (f"{MANY}; {MANY} >&2", 1),
        (f"{MANY}; echo 'error: it broke'; {MANY} >&2; echo 'a.c:1: error: bad' >&2; exit 1", 2),
        (f"{MANY} >&2; exit 3", 2),
        (f"{MANY} | tail -2", 1),
        (f"{MANY} | sed s/out/OUT/", 2),
        ("yes 'the same line again' | head -1", 1),
        (f"{MANY}; kill -TERM $$", 1),
        ("head -c 70000 /dev/zero | tr '\\0' x", 2),
        ("""python3 -c 'print([{"id": n} for n in range(3000)])' | tr "'" '"'""", 2),
    ],
)
def test_every_ref_that_a_reply_announces_leads_to_its_bytes(agent: Any, command: str, count: int) -> None:
    agent.run(command)
    assert len(announced(agent)) == count


def test_so_does_every_ref_of_a_timeout_a_file_and_a_result(agent: Any, tmp_path: Path, limit: Any) -> None:
    doorway = Doorway(started=limit.started, echo=limit.echo)
    agent.run("echo first; sleep 60", doorway, timeout_secs=limit.seconds)
    assert announced(agent)
    (tmp_path / "a").write_text("a line of the file\n" * 9 + "".join(f"{number}\n" for number in range(3000)))
    agent.deliver(read_file.read_file(agent.asking, read_file.FileRequest(str(tmp_path / "a"))))
    assert announced(agent)
    data = b'{"one": "%s", "two": "%s", "three": [1, 2, 3]}' % (b"x" * 9000, b"y" * 9000)
    kept = capture_result(
        agent.store, [ResultBlock([data]), ResultBlock([b"\x00"], "image/png")], command="t", cwd="/", session="s"
    )
    assert isinstance(kept, Buffer)
    agent.deliver(result_reply(agent.asking, kept, verb="capture", request={}))
    assert len(announced(agent)) == 4


def test_one_output_is_one_buffer_however_it_is_looked_at(agent: Any, tmp_path: Path) -> None:
    ref = agent.run(MANY).fields["output_id"]
    path = tmp_path / "a"
    path.write_text("one\n" * 3)
    for _ in range(2):
        agent.deliver(read_file.read_file(agent.asking, read_file.FileRequest(str(path))))
        agent.read(ref, search="line 7")
        agent.deliver(query.query(agent.asking, query.QueryRequest(f"cat {ref} | sort | head -500")))
    assert sorted(item.buffer.kind for item in agent.store.listed(9)) == ["cmd", "file"]


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that takes nothing."""

    def append(self: BufferWriter, *_: object) -> None:
        raise StoreFailed("storing failed: no space left on device", "make room")

    monkeypatch.setattr(BufferWriter, "append", append)


def nothing_was_kept(agent: Any) -> None:
    assert "nothing was kept" in agent.told
    assert _REF.findall(agent.told) == []
    assert agent.views()[-1].refs == ()
    assert agent.store.listed(9) == []


def _read(agent: Any, path: Path, first: int = 0, last: int = 0) -> Any:
    return agent.deliver(read_file.read_file(agent.asking, read_file.FileRequest(str(path), first, last)))


@pytest.mark.usefixtures("full")
def test_both_streams_come_as_they_are_where_they_cannot_be_kept(agent: Any) -> None:
    reply = agent.run("echo out; echo oh >&2; exit 3")
    assert (reply.text, reply.exit_code) == ("out\n[stderr]\noh\n", 3)
    nothing_was_kept(agent)


@pytest.mark.usefixtures("full")
def test_a_file_that_cannot_be_kept_is_read_all_the_same(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_text("".join(f"{number}\n" for number in range(1, 100_001)))
    reply = _read(agent, path, 5, 7)
    assert (reply.text, reply.fields["lines"]) == ("5\n6\n7\n", "5-7")
    assert "truncated" not in reply.fields
    nothing_was_kept(agent)
    reply = _read(agent, path)
    last = int(reply.text.splitlines()[-1])
    assert reply.text == "".join(f"{number}\n" for number in range(1, last + 1))
    assert (reply.fields["truncated"], reply.fields["lines"]) == (True, f"1-{last}")
    assert reply.fields["total_lines"] == 100_000
    assert 40_000 < len(agent.told.encode()) <= HARD_LIMIT_BYTES
    with pytest.raises(BadRange, match="no line 100,001"):
        _read(agent, path, 100_001)


@pytest.mark.usefixtures("full")
def test_bytes_that_are_no_text_are_not_shown_even_where_they_cannot_be_kept(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\1")
    reply = _read(agent, tmp_path / "binary")
    assert (reply.text, reply.fields["total_bytes"]) == ("", 6)
    assert "binary" in reply.fields["note"]
