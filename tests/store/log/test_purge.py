"""What was purged is in no file any more, and the chains of all logs still hold."""

import contextlib
import json
import os
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sightline.base.sha256 import sha256_hex
from sightline.log import log
from sightline.log.log_index import list_views
from sightline.log.retention import purge_gone, remove_session
from sightline.store import Store
from tests.fork_server import ForkServer

HALVES = "mark", "8d2f7"
MARK = "".join(HALVES)


def files_with(root: Path, *words: str) -> dict[str, list[str]]:
    """The files below a folder that have one of these words in their bytes."""
    found: dict[str, list[str]] = {}
    for path in filter(Path.is_file, root.rglob("*")):
        data = path.read_bytes()
        if here := [word for word in words if word.encode() in data]:
            found[str(path.relative_to(root))] = here
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


@pytest.fixture
def cli(root: Path, tmp_path: Path, fork_server: ForkServer) -> Any:
    def cli(*words: str, agent: str = "", stdin: bytes = b"") -> Any:
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(root)}
        if agent:
            environment["CLAUDE_CODE_SESSION_ID"] = agent
        return fork_server.run(words, input=stdin, env=environment, cwd=tmp_path, timeout=60)

    return cli


def captured(cli: Any) -> str:
    """Capture an output, have it shown, listed, searched, noted, nearly run again; its ref."""
    command = f"echo {MARK}; echo out {MARK} $((6*7)); rm -rf no-{MARK}"
    cli("run", "-c", command, agent="one")
    cli("run", "--acknowledge-risk", "--label", f"label {MARK}", "-c", command, agent="one")
    ref = json.loads(cli("list", "--json", "--limit", "1").stdout)[0]["ref"]
    cli("run", "-c", "seq 5", agent="one")
    for agent in ("one", "two", ""):
        cli("show", ref, agent=agent)
        cli("show", ref, "--search", MARK, agent=agent)
        cli("query", f"grep {MARK} {ref}", agent=agent)
        cli("list", agent=agent)
    cli("note", ref, f"a note on {MARK}")
    return str(ref)


def chains_hold(root: Path) -> None:
    for path in (root / "audit").glob("*.jsonl"):
        assert log.verify(str(path)) > 1


def test_nothing_of_a_purged_output_is_left_in_any_file(cli: Any, root: Path) -> None:
    ref = captured(cli)
    (root / "hooks").mkdir(mode=0o700)
    pending = {"use": "u1", "command": f"make {MARK}", "kept": f"echo {MARK}"}
    (root / "hooks" / "u2.json").write_text(json.dumps(pending))
    (root / "index.sqlite.broken-1").write_text(MARK)
    (root / "queries").write_text(f"grep x {ref}\ngrep {MARK} {ref}\nother\n")
    content = sha256_hex(f"{MARK}\nout {MARK} 42\n".encode())
    assert {"index.sqlite-wal", f"buffers/{ref[1:]}/out"} <= files_with(root, MARK).keys()
    assert files_with(root, content)
    (root / "hooks" / "u2.json").write_text(json.dumps({**pending, "command": command_of(root, ref)}))
    done = cli("rm", "--purge", ref)
    assert done.returncode == 0, done.stderr
    assert files_with(root, MARK, content) == {}
    assert (root / "queries").read_text() == "other\n"
    chains_hold(root)
    doctor = cli("doctor")
    assert doctor.returncode == 0, doctor.stdout
    assert "expired" in cli("show", ref).stderr.decode()
    assert "seq 5" in cli("list").stdout.decode()
    assert files_with(root, MARK) == {}


def command_of(root: Path, ref: str) -> str:
    with Store(str(root)) as store:
        return store.resolve(ref).buffer.command


def test_nothing_of_a_removed_session_is_left_in_any_file(cli: Any, root: Path) -> None:
    captured(cli)
    content = sha256_hex(f"{MARK}\nout {MARK} 42\n".encode())
    assert "pending_ack" in cli("run", "--json", "-c", f"rm -rf {MARK}", agent="one").stdout.decode()
    done = cli("sessions", "rm", "claude-code-one")
    assert done.returncode == 0, done.stderr
    assert files_with(root, MARK, content) == {}
    chains_hold(root)
    assert cli("doctor").returncode == 0


def test_what_had_expired_is_purged_from_its_tombstone_and_the_index(cli: Any, root: Path) -> None:
    ref = captured(cli)
    with Store(str(root)) as store:
        from sightline.log.retention import evict

        assert evict(store, store.resolve(ref).buffer)
    assert f"tombstones/{ref[1:]}.json" in files_with(root, MARK)
    with Store(str(root)) as store:
        purge_gone(store, [ref[1:]])
    assert files_with(root, MARK) == {}
    chains_hold(root)


def test_a_purge_leaves_no_hash_that_tells_a_short_secret(cli: Any, root: Path) -> None:
    """Whoever guesses the secret cannot confirm it: of all that the log holds, nothing is a hash of it alone."""
    cli("run", "-c", "printf 1234", agent="one")
    ref = json.loads(cli("list", "--json").stdout)[0]["ref"]
    reply = "1234"
    guesses = [reply, f"{reply}\n", json.dumps([reply]), json.dumps([f"{reply}\n"]), "printf 1234"]
    guesses += [json.dumps({"command": "printf 1234"}, separators=(",", ":"))]
    hashes = [sha256_hex(guess.encode()) for guess in guesses]
    assert files_with(root, *hashes)
    cli("rm", "--purge", ref)
    assert files_with(root, *hashes) == {}
    (entry,) = [one for one in entries(root, "claude-code-one") if one.get("verb") == "run_command"]
    assert (entry["salt"], entry["text"], entry["request"], entry["text_sha256"]) == (None, None, {}, "")


def entries(root: Path, session: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "audit" / f"{session}.jsonl").read_text().splitlines()]


def test_equal_replies_have_different_hashes_in_the_log(cli: Any, root: Path) -> None:
    for _ in range(2):
        cli("run", "-c", "printf 1234", agent="one")
    one, two = (one for one in entries(root, "claude-code-one") if one["kind"] == "view")
    assert one["text"] == two["text"]
    for name in ("salt", "pieces_sha256", "rest_sha256"):
        assert one[name] != two[name]


@pytest.mark.parametrize("member", ["text", "request", "text_sha256", "sealed", "verb", "salt", "pieces_sha256"])
def test_a_changed_member_breaks_the_chain(member: str, cli: Any, root: Path) -> None:
    cli("run", "-c", "printf 1234", agent="one")
    path = root / "audit" / "claude-code-one.jsonl"
    log.verify(str(path))
    header, line, *rest = path.read_text().splitlines(keepends=True)
    changed = {"text": ["12345"], "request": {}, "sealed": {"x": {}}}.get(member, "0" * 32)
    value = json.loads(line)[member]
    made = line.replace(
        f'"{member}":{json.dumps(value, separators=(",", ":"))}',
        f'"{member}":{json.dumps(changed, separators=(",", ":"))}',
    )
    assert made != line
    path.write_text(header + made + "".join(rest))
    with pytest.raises(log.BrokenChain):
        log.verify(str(path))


def former_lines(session: str, count: int) -> str:
    """A log as 0.2.0 wrote it: the hash covers all but the text, whose hash has no salt."""
    header = {
        "kind": "session",
        "session": {"name": session, "harness": "x", "harness_id": "", "client": "", "cwd": "/"},
    }
    header["session"]["started"] = 1.0
    views = [
        {
            "kind": "view", "time": 2.0 + number, "verb": "run_command", "request": {"command": f"echo {MARK}"},
            "refs": ["cmd_aaaaaa"] if number else [], "shown": [], "lines_shown": 0, "lines_total": 1,
            "bytes_shown": 6, "bytes_total": 6, "exit_code": 0, "truncated": False, "parts": [],
            "text_sha256": sha256_hex(f"{MARK}\n".encode()), "sealed": {}, "text": [f"{MARK}\n"],
            "pieces_sha256": sha256_hex(json.dumps([f"{MARK}\n"]).encode()),
        }
        for number in range(count)
    ]  # fmt: skip
    lines, previous = [], "0" * 64
    for number, entry in enumerate([header, *views]):
        written = json.dumps({**entry, "v": 1}, sort_keys=True, separators=(",", ":"))
        covered = {name: value for name, value in entry.items() if name != "text"}
        data = json.dumps(covered, sort_keys=True, separators=(",", ":"))
        digest = sha256_hex(f"1\n{number}\n{previous}\n{data}".encode())
        lines.append(f'{written[:-1]},"prev":"{previous}","n":{number},"hash":"{digest}"}}\n')
        previous = digest
    return "".join(lines)


def test_entries_of_0_2_0_stay_verifiable_and_can_be_purged(root: Path) -> None:
    with Store(str(root)) as store:
        path = root / "audit" / "old.jsonl"
        path.write_text(former_lines("old", 3))
        assert log.verify(str(path)) == 4
        recording = store.begin("cmd", f"echo {MARK}", "/", "old")
        recording.append("out", f"{MARK}\n".encode())
        buffer = recording.seal(exit_code=0)
        path.write_text(path.read_text().replace("cmd_aaaaaa", buffer.name))
        with pytest.raises(log.BrokenChain):
            log.verify(str(path))
        path.write_text(former_lines("old", 3))
        assert len(list_views(store)) == 3
        assert remove_session(store, store.index.session("old")).views_blanked == 3  # type: ignore[arg-type]
        assert files_with(root, MARK, sha256_hex(f"{MARK}\n".encode())) == {}
        assert log.verify(str(path)) == 5
        first, second, *_ = path.read_text().splitlines()
        assert re.findall(r'"v":(\d)', first + second) == ["1", "2"]  # 0.2.0 says of the second that it is newer
        path.write_text(path.read_text().replace(MARK, "x").replace('"emptied":true,', "", 1))
        with pytest.raises(log.BrokenChain):
            log.verify(str(path))


def _count_of_views(root: Path) -> int:
    with contextlib.closing(sqlite3.connect(root / "index.sqlite")) as index:
        return int(index.execute("SELECT count(*) FROM views").fetchone()[0])


def test_the_index_keeps_its_rows_through_a_purge(cli: Any, root: Path) -> None:
    ref = captured(cli)
    before = _count_of_views(root)
    cli("rm", "--purge", ref)
    assert _count_of_views(root) == before
    assert (root / "index.sqlite-wal").stat().st_size == 0 if (root / "index.sqlite-wal").exists() else True


def test_without_purge_the_log_keeps_what_was_shown(cli: Any, root: Path) -> None:
    ref = captured(cli)
    cli("rm", ref)
    assert MARK in (root / "audit" / "claude-code-one.jsonl").read_text()
    chains_hold(root)
