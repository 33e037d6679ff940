"""What a command wrote is shown whatever goes wrong after it has run."""

import json
import os
from pathlib import Path

import pytest

from sightline.base.errors import UnknownRef
from sightline.doors.cli.main import main
from sightline.verbs import delivery

AFTER_THE_COMMAND = (
    "sightline.verbs.run_command.command_reply",
    "sightline.verbs.command_view.cut_view",
    "sightline.verbs.command_view.clean",
    "sightline.verbs.delivery.append_view",
    "sightline.verbs.delivery.render",
    "sightline.verbs.reply.Reply.about",
    "sightline.store.Store.checked",
    "sightline.store.Store.open",
    "sightline.disk.index_access.IndexAccess.take_in_sealed",
    "sightline.doors.terminal.output._files",
)
"""Functions that are called once a command has run."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "root"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("where", [one for one in AFTER_THE_COMMAND if not one.endswith(("render", "about"))])
@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("error", [RuntimeError("odd"), UnknownRef("odd", "")])
def test_an_error_after_the_command_loses_neither_its_output_nor_its_exit_code(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    where: str,
    form: tuple[str, ...],
    error: Exception,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(where, fails)
    assert main(["run", *form, "-c", "echo words of it; echo more >&2; exit 7"]) == 7
    shown = capfd.readouterr().out
    assert "words of it" in shown and "more" in shown
    if form:
        assert json.loads(shown)["exit_code"] == 7


def test_an_output_without_a_view_is_shown_from_its_beginning_and_counted(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("sightline.verbs.run_command.command_reply", fails)
    assert main(["run", "--json", "-c", "seq 100000; exit 3"]) == 3
    reply = json.loads(capfd.readouterr().out)
    ref = reply["output_id"]
    assert "RuntimeError: odd" in reply["warning"] and "is kept" in reply["warning"]
    assert (reply["truncated"], reply["stdout_total"], reply["total_bytes"]) == (True, 100_000, 588_895)
    lines = reply["stdout"].splitlines()
    assert lines[:-1] == [str(number) for number in range(1, reply["stdout_shown"] + 1)]
    assert lines[-1].endswith(f"{ref}:{reply['stdout_shown'] + 1}-100000 …]")


def test_a_captured_pipe_without_a_view_is_shown(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("sightline.doors.cli.capture_input.command_reply", fails)
    read, write = os.pipe()
    os.write(write, b"words of it\n")
    os.close(write)
    held = os.dup(0)
    try:
        os.dup2(read, 0)
        assert main(["capture"]) == 0
    finally:
        os.dup2(held, 0)
    assert "words of it" in capfd.readouterr().out


def test_a_wrong_ref_to_compare_with_is_an_error_before_anything_runs(home: Path) -> None:
    assert main(["run", "--compare", "@cmd_000000", "-c", "touch ran"]) != 0
    assert not (home / "ran").exists()


def test_an_output_is_compared_with_the_last_one_before_it(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(["run", "-c", "cat file || echo before"])
    (home / "file").write_text("after\n")
    capfd.readouterr()
    main(["run", "--compare", "@last", "-c", "cat file || echo before"])
    assert "after" in capfd.readouterr().out


def test_no_text_is_shown_where_secrets_could_not_be_looked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (home / "root").mkdir(mode=0o700)
    (home / "root" / "config.toml").write_text("[redact]\nknown = true\n")

    def fails(*_: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr(delivery, "_without_secrets", fails)
    assert main(["run", "-c", "echo words of it; exit 7"]) == 7
    shown = capfd.readouterr().out
    assert "words of it" not in shown and "RuntimeError: odd" in shown
