"""What transcripts of recorded sessions state of requests is read when somebody asks, each request once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.past_sessions import usage_intake
from sightline.agents.past_sessions.importer import Importer
from sightline.agents.past_sessions.usage_intake import take_in_usage
from sightline.harnesses.formats import find_sources
from sightline.log.log import entry_of
from sightline.store import Store
from tests.store.agents.hooks.hook_kit import Harness
from tests.store.audit.usage_kit import Requests
from tests.store.harnesses.past_kit import LONG_AGO, Rollout, line, write_lines


def _logged(store: Store, session: str) -> int:
    """How many entries the log has on requests."""
    lines = Path(store.layout.audit_file(session)).read_bytes().splitlines(keepends=True)
    return sum(entry_of(one).get("kind") == "usage" for one in lines)


def _sums(store: Store) -> dict[str, tuple[int, ...]]:
    return {one.group: tuple(one[5:11]) for one in store.index.requests.sums("session")}


def _imported(store: Store, path: Path) -> None:
    Importer(store).run(find_sources(str(path)))


def _session(folder: Path, requests: int = 3) -> tuple[Requests, Path]:
    session = Requests("s1")
    for number in range(requests):
        session.reply("out", read=1000 * number, written=1000)
    return session, write_lines(folder / "s1.jsonl", *session.lines)


def test_usage_comes_from_the_transcript_that_hooks_name(root: Path, tmp_path: Path) -> None:
    session, path = _session(tmp_path)
    claude = Harness("claude-code", root, tmp_path)
    claude.tell("SessionStart", source="startup", transcript_path=str(path))
    with Store(str(root)) as store:
        take_in_usage(store)
        assert _sums(store) == {"claude-code-s1": (3, 0, 3000, 3000, 0, 300)}
        take_in_usage(store)
        assert _logged(store, "claude-code-s1") == 3
    session.reply(read=3000, written=500)
    write_lines(path, *session.lines)
    with Store(str(root)) as store:
        take_in_usage(store)
        assert _sums(store) == {"claude-code-s1": (4, 0, 6000, 3500, 0, 400)}
        assert _logged(store, "claude-code-s1") == 4


@pytest.mark.parametrize("first", ["live", "import"])
def test_an_import_before_or_after_changes_nothing(root: Path, tmp_path: Path, first: str) -> None:
    _, path = _session(tmp_path)
    Harness("claude-code", root, tmp_path).tell("SessionStart", source="startup", transcript_path=str(path))
    orders: dict[str, list[Callable[[Store], None]]] = {
        "live": [take_in_usage, lambda store: _imported(store, path)],
        "import": [lambda store: _imported(store, path), take_in_usage],
    }
    found = []
    for take in orders[first]:
        with Store(str(root)) as store:
            take(store)
            found.append((_sums(store), _logged(store, "claude-code-s1")))
    assert found[0] == found[1] == ({"claude-code-s1": (3, 0, 3000, 3000, 0, 300)}, 3)


def test_only_new_lines_are_read_of_a_long_transcript(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage_intake, "OVERLAP_BYTES", 1000)
    session, path = _session(tmp_path, requests=50)
    Harness("claude-code", root, tmp_path).tell("SessionStart", source="startup", transcript_path=str(path))
    with Store(str(root)) as store:
        take_in_usage(store)
        session.reply(read=1, written=2)
        lost = b"x" * (len(line(session.lines[0])) - 1) + b"\n"  # if it were read, it could not be
        path.write_bytes(lost + b"".join(map(line, session.lines[1:])))
        take_in_usage(store)
        assert _sums(store)["claude-code-s1"][0] == 51


def test_helpers_have_their_own_files_and_sessions(root: Path, tmp_path: Path) -> None:
    _, path = _session(tmp_path)
    helper = Requests("s1")
    helper.claude.common |= {"agentId": "abc", "isSidechain": True}
    helper.number = 10
    helper.reply("out", written=700)
    write_lines(tmp_path / "s1" / "subagents" / "agent-abc.jsonl", *helper.lines)
    Harness("claude-code", root, tmp_path).tell("SessionStart", source="startup", transcript_path=str(path))
    with Store(str(root)) as store:
        take_in_usage(store)
        assert {name: sums[0] for name, sums in _sums(store).items()} == {"claude-code-s1": 3, "claude-code-s1-abc": 1}
        assert store.index.origins()["claude-code-s1-abc"]["parent"] == "s1"


def test_a_rollout_that_goes_on_is_counted_once(root: Path, tmp_path: Path) -> None:
    """Codex states running totals, so what a request took follows from the events before it."""
    rollout, name = Rollout("5e551011-0000-4000-8000-000000000001", since=LONG_AGO), "rollout.jsonl"
    codex = Harness("codex", root, tmp_path)
    given: dict[str, Any] = {"session_id": rollout.session, "transcript_path": str(tmp_path / name)}
    codex.tell("SessionStart", source="startup", **given)
    rollout.lines.append(rollout.line("turn_context", model="gpt-5"))
    with Store(str(root)) as store:
        for number in (1, 2, 3):
            rollout.said("So.")
            stated = {"input_tokens": 100 * number, "output_tokens": 10 * number}
            rollout.lines.append(rollout.line("event_msg", type="token_count", info={"total_token_usage": stated}))
            write_lines(tmp_path / name, *rollout.lines)
            take_in_usage(store)
        own = f"codex-{rollout.session}"
        before = _sums(store), _logged(store, own)
        _imported(store, tmp_path / name)
        assert before == (_sums(store), _logged(store, own)) == ({own: (3, 300, 0, 0, 0, 30)}, 3)
        assert store.index.requests.models() == ["gpt-5"]


@pytest.mark.parametrize("off", ["[evidence]\nmessages = false\n", '[directories."{cwd}"]\ncapture = "off"\n'])
def test_what_may_not_be_kept_is_neither_noted_nor_read(root: Path, tmp_path: Path, off: str) -> None:
    _, path = _session(tmp_path)
    root.mkdir(mode=0o700, exist_ok=True)
    settings = root / "config.toml"
    claude = Harness("claude-code", root, Path("/home/user/project"))
    settings.write_text(off.format(cwd="/home/user/project"))
    claude.tell("SessionStart", source="startup", transcript_path=str(path))
    assert not (root / "hooks" / "transcripts").exists()
    settings.unlink()
    claude.tell("SessionStart", source="startup", transcript_path=str(path))
    settings.write_text(off.format(cwd="/home/user/project"))
    with Store(str(root)) as store:
        take_in_usage(store)
        assert _sums(store) == {}


def test_a_note_goes_when_its_transcript_is_gone(root: Path, tmp_path: Path) -> None:
    _, path = _session(tmp_path)
    Harness("claude-code", root, tmp_path).tell("SessionStart", source="startup", transcript_path=str(path))
    (note,) = (root / "hooks" / "transcripts").iterdir()
    assert (note.name, note.read_text()) == ("claude-code-s1", str(path))
    path.unlink()
    with Store(str(root)) as store:
        take_in_usage(store)
    assert not note.exists()


def test_a_damaged_record_of_what_was_read_has_all_read_again(root: Path, tmp_path: Path) -> None:
    _, path = _session(tmp_path)
    Harness("claude-code", root, tmp_path).tell("SessionStart", source="startup", transcript_path=str(path))
    for damaged in ("", "[]", "{", json.dumps({str(path): "no stamp"}), json.dumps({str(path): [1]})):
        (root / "hooks" / "transcripts.read").write_text(damaged)
        with Store(str(root)) as store:
            take_in_usage(store)
            assert _sums(store)["claude-code-s1"][0] == 3
