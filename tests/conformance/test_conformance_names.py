"""Cases of codescout's handles, references and files (A to C), in the default profile."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import BadRef, ExpiredRef, SightlineError, UnknownRef
from sightline.base.records import Buffer
from sightline.capture.result import ResultBlock, capture_result
from sightline.log.retention import enforce_limits
from sightline.store import Store, Target

Keep = Callable[..., str]


@pytest.fixture
def tool(agent: Any) -> Callable[[str, bytes], Buffer]:
    """Keeps a tool's result."""

    def keep(name: str, data: bytes) -> Buffer:
        kept = capture_result(agent.store, [ResultBlock([data])], command=name, cwd="/", session="agent-1")
        assert isinstance(kept, Buffer)
        return kept

    return keep


# A: names


def test_a02_unknown_name(agent: Any) -> None:
    with pytest.raises(UnknownRef):
        agent.store.resolve("@cmd_deadbeef")


def test_a04_reading_refreshes(agent: Any, keep: Keep) -> None:
    agent.store.access.settings = agent.store.settings._replace(max_buffers=3)
    a, b, c = (keep(name) for name in (b"a\n", b"b\n", b"c\n"))
    agent.tell(agent.read(a))
    d = keep(b"d\n")
    enforce_limits(agent.store)
    assert [agent.read(ref).text for ref in (a, c, d)] == ["a\n", "c\n", "d\n"]
    with pytest.raises(ExpiredRef):
        agent.read(b)


def test_a05_err_names_the_other_stream_of_the_same_buffer(agent: Any, keep: Keep) -> None:
    ref = keep(b"out\n", b"error msg\n")
    assert agent.store.resolve(ref + ".err").buffer == agent.store.resolve(ref).buffer
    assert agent.read(ref + ".err").text == "error msg\n"


def test_a07_a_tools_result_is_kept_as_it_came(agent: Any, tool: Any) -> None:
    data = json.dumps({"symbols": [1, 2]}).encode()
    buffer = tool("symbols", data)
    assert (buffer.ref[:6], buffer.command) == ("@tool_", "symbols")
    assert (set(buffer.streams), buffer.stream("err").bytes) == ({"part.0"}, 0)
    assert Path(agent.store.path(Target(buffer, "part.0"))).read_bytes() == data


def test_a08_only_a_file_has_where_it_came_from(agent: Any, keep: Keep, tool: Any, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("text\n")
    os.utime(source, (1_000_000, 1_000_000))
    agent.file(source)
    (file,) = (item.buffer for item in agent.store.listed(1))
    assert (file.command, bool(file.origin)) == (str(source), True)
    assert agent.store.resolve(keep(b"x\n")).buffer.origin == tool("t", b"{}").origin == ""


def test_a13_writers_of_one_moment_have_names_of_their_own(python: Any, agent: Any) -> None:
    code = (
        "import sys\n"
        "from sightline.store import Store\n"
        "sys.stdin.readline()\n"
        "with Store(sys.argv[1]) as store:\n"
        "    for number in range(20):\n"
        "        recording = store.begin('cmd', 'true', '/', 's')\n"
        "        recording.register()\n"
        "        recording.append('out', b'%d' % number)\n"
        "        print(recording.seal(exit_code=0).name)\n"
    )
    processes = [python(code, agent.store.root) for _ in range(3)]
    for process in processes:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    names = [process.stdout.readline().decode().strip() for process in processes for _ in range(20)]
    assert len(set(names)) == 60
    assert [agent.read("@" + name).text for name in names] == [str(number) for number in range(20)] * 3


def test_a16_what_is_gone_is_not_what_never_was(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\n")
    agent.store.remove(agent.store.resolve(ref).buffer, "evicted")
    with pytest.raises(ExpiredRef, match=r"evicted|expired") as raised:
        agent.read(ref)
    assert "cat out" in raised.value.message + raised.value.hint
    with pytest.raises(UnknownRef):
        agent.read("@cmd_ffffffff")


def test_a17_names_survive_a_restart(agent: Any, keep: Keep) -> None:
    ref = keep(b"a\xff\x00\n")
    with Store(agent.store.root) as again, again.open(again.resolve(ref)) as stream:
        assert stream.read(0, 9) == b"a\xff\x00\n"


# B: refs in commands


def test_b10_refs_of_files_and_of_tools(agent: Any, tool: Any, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("1\n2\n3\n")
    agent.file(tmp_path / "source")
    (file,) = (item.buffer for item in agent.store.listed(1))
    assert agent.run(f"wc -l < {file.ref}").text.strip() == "3"
    result = tool("t", b'{"symbols": 1}').ref
    assert agent.run(f"grep -o symbols {result}").text == "symbols\n"


# C: files that change


def test_c01_c10_an_unchanged_file_has_one_name_even_when_touched(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("same\n")
    names = []
    for _ in range(3):
        agent.tell(agent.file(path))
        names.append(agent.store.listed(1)[0].buffer.name)
        os.utime(path)
    assert len(set(names)) == 1


def test_c05_what_a_command_wrote_never_changes(agent: Any, keep: Keep, tmp_path: Path) -> None:
    ref = keep(b"first\n")
    (tmp_path / "out").write_bytes(b"second\n")
    assert agent.read(ref).text == "first\n"


def test_c07_what_was_seen_first_stays_after_change_and_deletion(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("first\n")
    agent.tell(agent.file(path))
    seen = agent.store.listed(1)[0].buffer.ref
    path.write_text("second, longer\n")
    assert agent.file(path).text == "second, longer\n"
    path.unlink()
    assert agent.read(seen).text == "first\n"
    with pytest.raises(SightlineError):
        agent.file(path)


def test_c08_a_range_never_becomes_the_whole_file(agent: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1\n2\n3\n")
    assert agent.file(path, start_line=2, end_line=2).text == "2\n"
    seen = agent.store.listed(1)[0].buffer.ref
    path.write_text("one\ntwo\nthree\n")
    agent.file(path)
    assert agent.read(f"{seen}:2").text == "2\n"


# I, Q: what a name may be


def test_i16_search_gives_lines_with_their_numbers(agent: Any, tool: Any) -> None:
    ref = tool("symbols", b'{\n  "name": "alpha",\n  "body": "beta"\n}\n').ref
    assert agent.read(ref, search="beta").text == '3:  "body": "beta"\n'


def test_q05_ids_with_separators_are_refused(agent: Any) -> None:
    for ref in ("../../../etc/passwd", "cmd-123/../other.txt"):
        with pytest.raises(BadRef):
            agent.read(ref)
