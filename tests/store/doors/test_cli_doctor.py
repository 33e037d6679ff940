"""``sightline doctor`` finds what is wrong, mends what can be mended, and says which."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks.hook_session import session_of
from sightline.doors.cli import main
from sightline.doors.doctor import command as doctor
from sightline.doors.doctor.doctor import examine
from sightline.doors.terminal.progress_line import ProgressLine
from sightline.harnesses import find
from sightline.search import executables
from sightline.search.sandbox import NO_BACKING
from sightline.store import Store

Until = Callable[[Callable[[], object]], None]

IN_PROCESS = True


def _levels(cli: Any, level: str) -> list[str]:
    return [finding["text"] for finding in cli("doctor", "--json").data if finding["level"] == level]


def _record(cli: Any) -> dict[str, Any]:
    """The newest buffer, without when it was used."""
    return {name: value for name, value in cli("list", "--json").data[0].items() if name != "accessed"}


@pytest.fixture
def folder(cli: Any, numbers: str) -> Path:
    """The folder of a sound buffer."""
    return Path(cli.home) / "buffers" / numbers.lstrip("@")


def _age(path: Path) -> None:
    os.utime(path, (0, 0))


def test_sound_store_is_sound(cli: Any, numbers: str) -> None:
    ran = cli("doctor")
    assert ran.code == 0
    assert "✓" in ran.out
    assert "queries:" in ran.out, "what holds queries on this machine"
    assert not _levels(cli, "problem")
    assert not _levels(cli, "mended")


def test_a_distribution_of_the_former_name_is_found(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It owns the same files as ours, so removing it later would break ours."""
    (tmp_path / "site" / "sightline-0.2.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path / "site")
    first = next(iter(examine(store)))
    assert first.level == "problem"
    assert "sightline 0.2.0 is installed beside sightline-inspector" in first.text
    assert "`python -m pip uninstall -y sightline sightline-inspector`" in first.text


def test_programs_that_no_query_can_use_here_are_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    here = executables.find
    monkeypatch.setattr(executables, "find", lambda name: "" if name in ("jq", "gawk") else here(name))
    monkeypatch.setattr(executables, "is_gnu", lambda path: "awk" not in path)
    monkeypatch.setattr("sightline.doors.doctor.doctor.find", executables.find)
    monkeypatch.setattr("sightline.doors.doctor.doctor.describe", lambda: NO_BACKING)
    notes = [finding.text for finding in examine(store) if finding.level == "note"]
    assert "awk cannot be held to reading here: it is not gawk, and the kernel has no Landlock" in notes[0]
    assert "not installed" in notes[1]
    assert " jq" in notes[1]


def test_changed_byte_is_found(cli: Any, folder: Path) -> None:
    (folder / "out").chmod(0o600)
    data = bytearray((folder / "out").read_bytes())
    data[5000] ^= 1
    (folder / "out").write_bytes(data)
    assert cli("doctor").code == 1
    assert any("was changed after its capture" in text for text in _levels(cli, "problem"))


@pytest.mark.parametrize("change", ["shorter", "gone", "link"])
def test_stream_that_is_not_what_it_was_is_found(cli: Any, folder: Path, change: str) -> None:
    (folder / "out").chmod(0o600)
    if change == "shorter":
        (folder / "out").write_bytes(b"1\n")
    else:
        (folder / "out").unlink()
        if change == "link":
            (folder / "out").symlink_to("/etc/passwd")
    assert cli("doctor").code == 1
    assert _levels(cli, "problem")


def test_folder_that_is_gone_is_told_once_and_no_longer_listed(cli: Any, folder: Path) -> None:
    shutil.rmtree(folder)
    ran = cli("doctor")
    assert ran.code == 1
    assert "folder is gone" in ran.out
    assert cli("list", "--json").data == []
    assert cli("doctor").code == 0


def test_lost_record_is_written_again_from_the_index(cli: Any, numbers: str, folder: Path) -> None:
    before = _record(cli)
    (folder / "meta.json").unlink()
    _age(folder)
    ran = cli("doctor")
    assert ran.code == 0
    assert "written again" in ran.out
    assert _record(cli) == before
    assert cli("show", numbers, "--lines", "3").out == "3\n"
    assert not _levels(cli, "mended")


def test_bytes_without_any_record_get_one(cli: Any, numbers: str, folder: Path) -> None:
    (folder / "meta.json").unlink()
    _age(folder)
    for index in Path(cli.home).glob("index.sqlite*"):
        index.unlink()
    ran = cli("doctor")
    assert ran.code == 0
    assert cli("show", numbers, "--lines", "2999-").out.endswith("2999\n3000\n")
    assert cli("list", "--json").data[0]["state"] == "interrupted"
    assert not _levels(cli, "problem")


@pytest.mark.parametrize("damage", ["gone", "garbage"])
def test_index_is_made_anew_from_the_folders(cli: Any, numbers: str, damage: str) -> None:
    cli("show", numbers, "--lines", "1-3")
    before, views = cli("list", "--json").data, cli("views", "--json").data
    index = Path(cli.home) / "index.sqlite"
    for other in Path(cli.home).glob("index.sqlite?*"):
        other.unlink()
    if damage == "gone":
        index.unlink()
    else:
        index.write_bytes(b"garbage" * 1000)
    assert cli("doctor").code == 0
    assert cli("views", "--json").data == views
    after = cli("list", "--json").data
    assert [one["ref"] for one in after] == [one["ref"] for one in before]


def test_index_that_turns_out_damaged_while_it_is_read_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def damaged(_: object) -> int:
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr("sightline.doors.cli.list.main", damaged)
    assert main.main(["list"]) == 1
    assert "malformed\n  `sightline doctor` makes it anew" in capfd.readouterr().err


def test_rebuilding_is_done_when_asked(cli: Any, numbers: str) -> None:
    ran = cli("doctor", "--rebuild")
    assert ran.code == 0
    assert "made anew, as asked: 1 buffers, 1 views" in ran.out
    assert cli("show", numbers, "--lines", "1").out == "1\n"


def test_changed_log_is_found(cli: Any, numbers: str) -> None:
    log = Path(cli.home) / "audit" / "a-test.jsonl"
    log.write_text(log.read_text().replace('"verb":"run_command"', '"verb":"Run_command"', 1))
    ran = cli("doctor")
    assert ran.code == 1
    assert "is not what was written" in ran.out
    assert not _levels(cli, "mended"), "the views of a changed log are still known"


def test_removed_view_is_found(cli: Any, numbers: str) -> None:
    cli("list")
    log = Path(cli.home) / "audit" / "a-test.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join([lines[0], *lines[2:]]))
    assert cli("doctor").code == 1


def test_dead_writer_s_buffer_is_marked(cli: Any, tmp_path: Path, until: Until) -> None:
    os.mkfifo(tmp_path / "fifo")
    process = cli.start("run", "-c", "echo kept; echo $$ > fifo; exec sleep 60")
    pid = int((tmp_path / "fifo").read_text())
    until(lambda: cli("list", "--json").data)  # the command may write before its buffer is made
    process.kill()
    process.wait()
    os.kill(pid, 9)
    ran = cli("doctor")
    assert ran.code == 0
    assert "its writer is dead: marked interrupted" in ran.out
    assert cli("doctor").out.count("mended") == 0


def test_open_root_is_closed(cli: Any, numbers: str) -> None:
    Path(cli.home).chmod(0o755)
    assert cli("doctor").code == 0
    assert Path(cli.home).stat().st_mode & 0o777 == 0o700


def test_link_in_the_store_is_a_problem(cli: Any, folder: Path) -> None:
    (folder / "part.0").symlink_to("/etc/passwd")
    assert cli("doctor").code == 1


@pytest.mark.parametrize("known", [True, False])
def test_nothing_is_removed_behind_a_link_that_stands_for_a_folder(
    cli: Any, folder: Path, tmp_path: Path, known: bool
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "out.tmp").write_bytes(b"x")
    _age(theirs / "out.tmp")
    if known:
        shutil.rmtree(folder)
    (folder if known else folder.with_name("cmd_abcdef")).symlink_to(theirs)
    problems = _levels(cli, "problem")
    assert any("is a symbolic link" in text for text in problems)
    assert any("move it away" in text for text in problems)
    assert (theirs / "out.tmp").exists()


def test_leftovers_of_dead_writers_go(cli: Any, folder: Path) -> None:
    (folder / "meta.json.1.tmp").write_text("")
    _age(folder / "meta.json.1.tmp")
    (Path(cli.home) / "buffers" / "cmd_0dd000").mkdir(mode=0o700)
    _age(Path(cli.home) / "buffers" / "cmd_0dd000")
    assert cli("doctor").code == 0
    assert not (folder / "meta.json.1.tmp").exists()
    assert not (Path(cli.home) / "buffers" / "cmd_0dd000").exists()


def test_buffer_that_is_not_what_a_view_showed_is_found_even_where_its_record_was_changed_along(
    cli: Any, folder: Path
) -> None:
    stream, meta = folder / "out", folder / "meta.json"
    sha256 = hashlib.sha256(stream.read_bytes()).hexdigest()
    stream.chmod(0o600)
    stream.write_bytes(stream.read_bytes().replace(b"17", b"71"))
    meta.write_text(meta.read_text().replace(sha256, hashlib.sha256(stream.read_bytes()).hexdigest()))
    cli("doctor", "--rebuild")
    assert any("a-test:1 showed" in text for text in _levels(cli, "problem"))


def test_views_of_what_has_gone_are_told_as_such(cli: Any, numbers: str) -> None:
    cli("run", "-c", "seq 1 9")
    cli("rm", numbers)
    cli("rm", "--purge", "@last")
    ran = cli("doctor")
    assert ran.code == 0
    assert "2 removed, 1 blanked" in ran.out
    assert f"gone: {numbers}" in cli("views").out
    assert cli("views", "--json").data[0]["gone"] == [numbers]


def test_a_lost_folder_is_a_problem_once_and_noted_from_then_on(cli: Any, folder: Path) -> None:
    shutil.rmtree(folder)
    assert cli("doctor").code == 1
    again = cli("doctor")
    assert again.code == 0
    assert "1 lost" in again.out


@pytest.mark.parametrize("change", ["gone", "cut"])
def test_views_that_were_taken_out_of_the_log_are_found(cli: Any, numbers: str, change: str) -> None:
    for line in ("1", "2"):
        cli("show", numbers, "--lines", line)
    path = Path(cli.home) / "audit" / "a-test.jsonl"
    if change == "gone":
        path.unlink()
    else:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert cli("doctor").code == 1
    (told,) = _levels(cli, "problem")
    assert ("is gone" if change == "gone" else "ends before its view 3") in told
    audit = cli("audit", "--json", "--fail-on", "broken-log", SIGHTLINE_SESSION="looker")
    assert (audit.code, audit.data["counts"]["broken-log"]) == (1, 1)


def test_how_far_the_check_has_come_stands_on_a_terminal_and_goes_again(
    store: Store, keep: Any, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for data in (b"1\n", b"2\n2\n", b"three\n"):
        keep(data)
    for seen in (False, True):
        monkeypatch.setattr(os, "isatty", lambda fd, seen=seen: seen and fd == 2)
        line = ProgressLine(seconds=-1)
        found = list(examine(store, advance=doctor.CheckProgress(line)))
        line.remove()
        assert [finding for finding in found if finding.level == "problem"] == []
        drawn = capfd.readouterr().err
        if not seen:
            assert drawn == ""
            continue
        assert "\r  3 records checked\x1b[K" in drawn
        assert "\r  60 B checked\x1b[K" in drawn  # the streams and the three orders
        assert drawn.endswith("\r\x1b[K")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("codex", "since it has loops, conditions or groups"),
        ("claude-code", "and nothing read the file that its shell wrote into"),
    ],
)
def test_how_many_of_an_agents_own_commands_were_kept_whole_is_told_with_the_reasons(
    name: str, why: str, cli: Any
) -> None:
    with Store(cli.home) as store:
        harness = find(name)
        assert harness is not None
        store.index.put_session(session_of(name, "s", "/"))
        kept = {
            "make": "",
            "cd x && make": "",
            "for i in 1 2; do make; done": harness.cut,
            "make; nvm use 20": harness.cut,
        }
        for number, (command, partial) in enumerate(kept.items()):
            recording = store.begin("cmd", command, "/", f"{name}-s", artifact=f"{name}-s:use-{number}")
            recording.append("out", b"a\n")
            recording.seal(exit_code=number % 2, partial=partial)
    told = "\n".join(_levels(cli, "note") + _levels(cli, "ok"))
    assert f"{harness.title}: of the last 4 commands 2 are kept whole (50%), of 2 that failed 1" in told
    assert f"(cut by {harness.title}, {why})" in told
