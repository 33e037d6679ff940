"""Labels of real sessions: what was found is held against what somebody says that is so."""

import json
from pathlib import Path

import pytest

from benchmarks.evidence.__main__ import main
from benchmarks.evidence.labels import Labels, Mark, compared, read_labels, session_key
from benchmarks.evidence.sessions import FAILED
from benchmarks.evidence.transcripts import Edited, Ran, Read, Said, write_transcript
from sightline.base.records import Session


def mark(kind: str, *places: str) -> Mark:
    return Mark(kind, frozenset(places))


def test_a_finding_is_right_where_a_label_of_its_kind_stands_at_one_of_its_places() -> None:
    labels = Labels([mark("masked-exit", "a"), mark("stale-claim", "m")], [mark("failed", "x")])
    found = [mark("masked-exit", "b", "a"), mark("failing-check", "a"), mark("failed", "x")]
    right, wrong, missed = compared(found, labels)
    assert (dict(right), dict(wrong), dict(missed)) == ({"masked-exit": 1}, {"failing-check": 1}, {"stale-claim": 1})


def test_sessions_that_were_not_read_whole_have_no_labels(tmp_path: Path) -> None:
    lines = [{"session": "s", "kind": "failed", "at": "a"}, {"session": "t", "kind": "read"}]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_labels(str(path)) == {"t": Labels([], [])}


def test_a_helper_has_a_hash_of_its_own_though_it_shares_the_id_of_its_session() -> None:
    own = Session(name="claude-code-5e55", harness="claude-code", harness_id="5e55", client="", cwd="", started=0.0)
    assert session_key(own) == session_key(own._replace(harness="other", name="other-5e55"))
    assert session_key(own) != session_key(own._replace(name="claude-code-5e55-a1"))


def test_labels_made_from_the_text_of_a_session_are_found_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [Read("cart.py"), Edited("cart.py"), Ran("pytest -q", FAILED, 1), Said("All tests pass.")]
    write_transcript("claude-code", "5e55", steps, str(tmp_path))
    sessions, texts = str(tmp_path / "claude-code"), str(tmp_path / "texts")
    monkeypatch.setattr("sys.argv", ["evidence", "--transcripts", sessions, "--to-read", texts])
    assert main() == 0
    [text] = Path(texts).iterdir()
    lines = text.read_text().splitlines()
    [ran] = [one.split()[2] for one in lines if one.startswith("=== call") and "exit 1" in one]
    [said] = [one.split()[2] for one in lines if one.startswith("=== said")]
    kinds = [("failed", ran), ("failing-check", ran), ("contradicted", said)]
    made = [{"session": text.stem, "kind": kind, "at": at} for kind, at in kinds]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [*made, {"session": text.stem, "kind": "read"}]))
    monkeypatch.setattr("benchmarks.evidence.__main__.SESSIONS", ())
    monkeypatch.setattr("benchmarks.evidence.__main__.UNSEEN_SESSIONS", ())
    monkeypatch.setattr("sys.argv", ["evidence", "--transcripts", sessions, "--labels", str(path), "--show"])
    capsys.readouterr()
    assert main() == 0
    said_by_it = capsys.readouterr().out
    assert "1 labelled sessions; 0 of them" in said_by_it
    assert "wrong " not in said_by_it.replace("right wrong", "")
