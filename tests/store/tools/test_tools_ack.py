"""Destructive commands wait for a confirmation, harmless ones that look alike do not."""

import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from sightline.store.config import Settings
from sightline.store.errors import ExpiredRef, SettingError, UnknownRef
from sightline.store.store import Store
from sightline.store.tools import run_command as running
from sightline.store.tools.safety import KINDS, reason_to_confirm

DESTRUCTIVE = {
    "rm -rf": [
        "rm -rf build",
        "rm -fr build",
        "rm -r build",
        "rm build -rf",
        "rm --recursive --force build",
        "/bin/rm -rf build",
        "\\rm -rf build",
        "sudo rm -rf /",
        "sudo -u root rm -rf /",
        "cd x && rm -rf y",
        "cd x; rm -rf y",
        "FORCE=1 rm -rf x",
        "if true; then rm -rf x; fi",
        "! rm -rf x",
        "while true; do rm -rf x; done",
        "(rm -rf x)",
        "echo $(rm -rf x)",
        "echo `rm -rf x`",
        'echo "$(rm -rf x)"',
        "find . -name x -exec rm -rf {} +",
        "ls | xargs rm -rf",
        "ls | xargs -n 1 rm -rf",
        "timeout 5 rm -rf x",
        "bash -c 'rm -rf x'",
        "bash -c 'cd x; rm -rf y'",
        "true\nrm -rf x",
    ],
    "git push --force": [
        "git push --force",
        "git push -f origin main",
        "git push origin +main",
        "git push --force-with-lease",
        "git -C folder push --force",
        "git -c a.b=c push -f",
    ],
    "git reset --hard": ["git reset --hard", "git reset --hard HEAD~1", "git fetch && git reset --hard origin/main"],
    "git clean -f": ["git clean -fdx", "git clean -d -f", "git clean --force"],
    "git branch -D": ["git branch -D x", "git branch --delete --force x", "git branch -d -f x"],
    "git checkout -- .": ["git checkout -- .", "git checkout .", "git restore ."],
    "DROP TABLE": ["psql -c 'DROP TABLE users'", "echo 'drop database x' | mysql", "sqlite3 a.db 'drop table t;'"],
    "chmod 777": ["chmod 777 x", "chmod -R 0777 x", "chmod a+rwx x"],
    "kill -9": ["kill -9 1", "kill -KILL 1", "kill -s KILL 1", "kill -s 9 1", "pkill -9 x", "killall -9 x"],
    "mkfs": ["mkfs.ext4 /dev/sda", "/sbin/mkfs /dev/sda"],
    "dd of=": ["dd if=/dev/zero of=/dev/sda", "sudo dd of=/dev/sda if=x"],
}
HARMLESS = [
    "rm file.txt",
    "rm -f file.txt",
    "rm -i x",
    "rm a.txt; ls -lr",
    "rm a.txt && grep -r foo .",
    "rm a | sort -r",
    "rmdir x",
    "farm -rf x",
    "ls -R",
    "npm run format",
    "cargo rm --dev x",
    "docker run --rm -it x",
    "git rm -r --cached x",
    "echo 'rm -rf /'",
    'echo "rm -rf /"',
    "grep -r 'rm -rf' .",
    "git log --grep='reset --hard'",
    "git commit -m 'fix; rm -rf of folders'",
    'git commit -m "say (rm -rf) less; git push --force never"',
    "git push",
    "git push -u origin feature-f",
    "git push --follow-tags",
    "git clean -n",
    "git clean --dry-run",
    "git reset --soft HEAD~1",
    "git reset",
    "git branch -d x",
    "git branch --delete x",
    "git checkout main",
    "git checkout -b x",
    "git checkout -- file.txt",
    "git restore --staged .",
    "git add .",
    "git diff -- .",
    "grep -ri 'drop table' migrations/",
    "rg 'DROP TABLE|DROP DATABASE' schema.sql",
    "cat droptable.sql",
    "chmod 755 x",
    "chmod 7770 x",
    "kill 1",
    "kill -15 1",
    "kill -99 1",
    "man mkfs",
    "dd --help",
    "add of=x",
]


@pytest.mark.parametrize(("kind", "command"), [(kind, one) for kind, many in DESTRUCTIVE.items() for one in many])
def test_destructive_command_waits(kind: str, command: str) -> None:
    assert reason_to_confirm(command, None).startswith(f"{kind}: ")


@pytest.mark.parametrize("command", HARMLESS)
def test_harmless_command_does_not_wait(command: str) -> None:
    assert reason_to_confirm(command, None) == ""


def test_every_kind_has_its_commands_here() -> None:
    assert {kind.name for kind in KINDS} == set(DESTRUCTIVE)


@pytest.mark.parametrize(
    "part", ["sudo ", "a=1 ", "git -a b ", "(", "; ", "rm -f ", "'", "drop ", "if ", "/x", '"', "\\"]
)
def test_no_command_is_long_to_judge(part: str) -> None:
    began = time.process_time()
    reason_to_confirm(part * 3000, None)
    assert time.process_time() - began < 5


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


def test_empty_list_of_kinds_asks_for_nothing(caller: Any) -> None:
    with Store(settings=Settings(confirm=())) as store:
        assert caller(store, "a", "claude-code").run("rm -rf folder").fields == {"exit_code": 0}


def test_own_kinds_are_names_and_regular_expressions(caller: Any) -> None:
    with Store(settings=Settings(confirm=("mkfs", r"^terraform\s+apply"))) as store:
        agent = caller(store, "a", "claude-code")
        assert "settings" in agent.run("terraform  apply -auto-approve").fields["reason"]
        assert "pending_ack" in agent.run("mkfs /dev/null").fields
        assert agent.run("rm -rf folder").fields == {"exit_code": 0}


def test_own_kind_that_is_no_regular_expression_is_an_error() -> None:
    with pytest.raises(SettingError, match="regular expression"):
        reason_to_confirm("ls", ("(",))
