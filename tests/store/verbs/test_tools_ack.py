"""A command that waits for a confirmation runs when it is confirmed, as it was asked for."""

import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import ExpiredRef, UnknownRef, UsageError
from sightline.settings.config import Settings
from sightline.store import Store
from sightline.verbs import run_command as running


def test_command_is_run_when_its_ack_is(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    reply = agent.run("rm -rf folder; echo gone; exit 3")
    token = reply.fields["pending_ack"]
    assert list(reply.fields) == ["pending_ack", "reason", "next", "hint"]
    assert token.startswith("@ack_")
    assert token in reply.fields["next"]
    assert (tmp_path / "folder").exists(), "it was not run"
    assert reply.exit_code == 1
    assert agent.store.listed(10) == []
    confirmed = agent.run(shlex.split(reply.fields["next"])[-1])
    assert confirmed.text == "gone\n"
    assert confirmed.exit_code == 3
    assert not (tmp_path / "folder").exists()
    assert agent.newest().command == "rm -rf folder; echo gone; exit 3"


def test_ack_confirms_once(agent: Any) -> None:
    token = agent.run("rm -rf folder").fields["pending_ack"]
    agent.run(token)
    with pytest.raises(ExpiredRef, match="was used already"):
        agent.run(token)


def test_ack_expires(agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    token = agent.run("rm -rf folder").fields["pending_ack"]
    now = time.time()
    monkeypatch.setattr(running.time, "time", lambda: now + running.ACK_KEPT_SECONDS + 1)
    with pytest.raises(ExpiredRef, match="expired"):
        agent.run(token)
    assert (tmp_path / "folder").exists()


def test_unknown_ack_is_an_error_that_mentions_expiry(agent: Any) -> None:
    with pytest.raises(ExpiredRef, match="expired"):
        agent.run("@ack_deadbeef")


def test_folder_arguments_and_options_are_those_of_the_first_call(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "sub" / "a b").mkdir(parents=True)
    reply = agent.run(argv=("rm", "-rv", "a b"), cwd="sub", label="tidy", timeout_secs=20)
    agent.run(reply.fields["pending_ack"])
    assert not (tmp_path / "sub" / "a b").exists()
    buffer = agent.newest()
    assert (buffer.cwd, buffer.label) == (f"{tmp_path}/sub", "tidy")


def test_acknowledged_risk_runs_at_once(agent: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert agent.run("rm -rf folder", acknowledge_risk=True).fields == {"exit_code": 0}
    assert not (tmp_path / "folder").exists()


def test_error_in_a_ref_comes_before_the_question(agent: Any) -> None:
    with pytest.raises(UnknownRef):
        agent.run("rm -rf folder; cat @cmd_deadbeef")


def test_a_command_with_a_secret_waits_for_no_ack_that_would_keep_it(agent: Any, tmp_path: Path) -> None:
    agent.store.access.settings = Settings(redact_patterns=("pin-[0-9]{4}",))
    secret = "pin-" + "1234"
    with pytest.raises(UsageError, match="not run, because rm -rf"):
        agent.run(f"rm -rf {secret}")
    assert "pending_ack" in agent.run("rm -rf folder").fields
    agent.store.close()
    files = [path for path in Path(agent.store.root).rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_the_settings_add_to_what_waits_and_take_from_it(caller: Any) -> None:
    with Store(settings=Settings(confirm=(r"^terraform\s+apply",), confirm_not=("rm -rf",))) as store:
        agent = caller(store, "a", "claude-code")
        assert "settings" in agent.run("terraform  apply -auto-approve").fields["reason"]
        assert "pending_ack" in agent.run("mkfs /dev/null").fields
        assert agent.run("rm -rf folder").fields == {"exit_code": 0}
