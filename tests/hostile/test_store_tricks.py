"""A store that was tampered with, and names that lead elsewhere: said so, never followed, never waited for."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.agents.hooks.error_log import last_errors
from sightline.agents.past_sessions.importer import ImportLedger
from sightline.base.errors import SettingError, SightlineError, UnsafeStore
from sightline.base.private_files import open_private
from sightline.base.records import Buffer, Session
from sightline.base.refs import parse_ref
from sightline.capture.file import FileNotReadable, capture_file, open_exactly
from sightline.disk.index_filling import rebuild_buffers
from sightline.disk.recovery import adopt_dead
from sightline.doors.doctor.doctor import examine
from sightline.log.log_index import list_views, rebuild_views
from sightline.log.notes import list_notes, write_note
from sightline.log.sessions import current_session, safe_name
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store, Target
from tests.examples import examples

Keep = Callable[..., Buffer]
ME = Session("s", "shell", "", "", "/", 1.0)


def _link(path: Path, other: Path) -> None:
    path.symlink_to(other)


def _dangling(path: Path, other: Path) -> None:
    path.symlink_to(other.with_name("nowhere"))


def _fifo(path: Path, other: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path, other: Path) -> None:
    path.mkdir()


def _socket(path: Path, other: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


TRICKS = [_link, _dangling, _fifo, _folder, _socket]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A file that is none of ours: it must stay as it is, and unread."""
    file = tmp_path / "other"
    file.write_bytes(b"not ours\n")
    file.chmod(0o640)
    return file


def _untouched(other: Path) -> bool:
    return other.read_bytes() == b"not ours\n" and other.stat().st_mode & 0o777 == 0o640


def _soon(action: Callable[[], object]) -> object:
    """What an action comes to: its value, or its error; it must not wait for anything."""
    came: list[object] = []

    def work() -> None:
        try:
            came.append(action())
        except (SightlineError, OSError) as error:
            came.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert came, "it waits"
    return came[0]


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("file", ["out", "err", "lines", "order", "meta.json"])
def test_a_file_of_a_buffer_that_is_something_else_is_said_to_be_and_never_followed(
    store: Store, keep: Keep, other: Path, trick: Any, file: str
) -> None:
    buffer = keep(b"a\n" * 40_000, b"e\n" * 10)
    path = Path(store.layout.folder(buffer.name)) / file
    path.unlink(missing_ok=True)
    trick(path, other)
    for stream in ("out", "err"):
        for action in (store.open, store.path):
            came = _soon(lambda action=action, stream=stream: action(Target(buffer, stream)))
            if file == stream:
                assert isinstance(came, UnsafeStore), came
            if hasattr(came, "close"):
                came.close()
    findings = _soon(lambda: list(examine(store)))
    assert isinstance(findings, list)
    if file in ("out", "err"):
        assert any(finding.level == "problem" for finding in findings)
    _soon(lambda: rebuild_buffers(store.layout, store.index))
    assert _untouched(other)


@pytest.mark.parametrize("trick", TRICKS)
def test_a_log_or_an_index_that_is_something_else_is_refused(store: Store, keep: Keep, other: Path, trick: Any) -> None:
    keep(b"x\n")
    path = Path(store.layout.audit_file("s"))
    trick(path, other)
    came = _soon(lambda: record_view(store, ME, Shows("v", {}), (Segment("x"),)))
    assert isinstance(came, SightlineError), came
    _soon(lambda: rebuild_views(store))
    assert _untouched(other)


@pytest.mark.parametrize("trick", [_link, _fifo, _socket])
@pytest.mark.parametrize("file", ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal"])
def test_an_index_or_a_file_beside_it_that_is_something_else_is_refused_and_doctor_says_so(
    store: Store, keep: Keep, other: Path, trick: Any, file: str
) -> None:
    keep(b"x\n")
    store.close()
    path = Path(store.root) / file
    path.unlink(missing_ok=True)
    trick(path, other)
    with Store(store.root, store.settings) as opened:
        came = _soon(lambda: opened.index)
        assert isinstance(came, UnsafeStore), came
        assert str(path) in came.message
        findings = _soon(lambda: list(examine(opened)))
        assert isinstance(findings, list)
        assert any(one.level == "problem" and str(path) in one.text for one in findings)
    assert _untouched(other)


@pytest.mark.parametrize("trick", [_fifo, _folder, _socket])
def test_settings_that_are_no_file_are_said_to_be(store: Store, other: Path, trick: Any) -> None:
    trick(Path(store.layout.config), other)
    came = _soon(lambda: Store(store.root))
    assert isinstance(came, SettingError)
    assert store.layout.config in came.message


def test_settings_may_be_a_link_to_a_file(store: Store, tmp_path: Path) -> None:
    (tmp_path / "dotfiles").write_text("max_buffers = 7\n")
    Path(store.layout.config).symlink_to(tmp_path / "dotfiles")
    with Store(store.root) as opened:
        assert opened.settings.max_buffers == 7


@pytest.mark.parametrize(
    "file",
    [
        *("hooks.log", "imports.json", "http-token", "inspector.json"),
        *("tombstones/cmd_00000a.json", "live/cmd_00000a", "audit/s.jsonl", "audit/odd"),
    ],
)
def test_nothing_below_the_root_is_waited_for_and_doctor_names_it(store: Store, keep: Keep, file: str) -> None:
    from sightline.doors.mcp.http import token_of  # with the official SDK, for which no other unit test waits

    keep(b"x\n")
    path = os.path.join(store.root, file)
    os.mkfifo(path)

    def all_of_it() -> list[object]:
        return [
            last_errors(store.root, 5), ImportLedger(store.layout).save(), store.tombstone("cmd_00000a"),
            list_views(store), list_notes(store), adopt_dead(store.layout, store.index), list(examine(store)),
        ]  # fmt: skip

    _soon(lambda: token_of(store.layout))
    _soon(all_of_it)
    findings = _soon(lambda: list(examine(store)))
    assert isinstance(findings, list)
    assert any(one.level == "problem" and path in one.text for one in findings)


@pytest.mark.parametrize("file", ["index.sqlite", "index.sqlite-wal", "config.toml"])
def test_a_run_in_a_store_with_a_pipe_in_a_files_place_ends(tmp_path: Path, file: str) -> None:
    root = tmp_path / "root"
    Store(str(root)).close()
    os.mkfifo(root / file)
    words = [sys.executable, "-m", "sightline.doors.cli.main", "run", "-c", "echo it ran"]
    done = subprocess.run(
        words, env={**os.environ, "SIGHTLINE_HOME": str(root)}, capture_output=True, text=True, timeout=60
    )
    assert file in done.stderr
    assert file == "config.toml" or done.stdout == "it ran\n"


def test_a_hard_link_in_the_place_of_a_stream_is_found_and_what_it_leads_to_stays(
    store: Store, keep: Keep, other: Path
) -> None:
    buffer = keep(b"a\n" * 10)
    path = Path(store.layout.stream(buffer.name, "out"))
    path.unlink()
    os.link(other, path)
    assert any("was changed after its capture" in finding.text for finding in examine(store))
    store.remove(store.index.buffer(buffer.name) or buffer, "removed")
    assert _untouched(other)


@pytest.mark.parametrize(
    "lie",
    [
        {"name": "../../other-folder"},
        {"name": "cmd_ffffff"},
        {"name": "cmd_a1b2c3/../../x"},
        {"name": ""},
        {"name": 5},
        {"kind": "file"},
        {"kind": "../x"},
        {"state": "gone"},
        {"streams": {"../../other": {"bytes": 9, "lines": 1}}},
        {"streams": {"/etc/passwd": {"bytes": 9, "lines": 1}}},
        {"streams": {"meta.json": {"bytes": 9, "lines": 1}}},
        {"streams": []},
        {"streams": {"out": 7}},
        {"created": None, "ended": None, "streams": {"part.-1": {"bytes": 1, "lines": 1}}},
    ],
    ids=json.dumps,
)
def test_a_record_that_lies_about_names_is_no_record(
    store: Store, keep: Keep, other: Path, tmp_path: Path, lie: dict[str, Any]
) -> None:
    outside = tmp_path / "other-folder"
    outside.mkdir()
    (outside / "precious").write_text("x")
    buffer = keep(b"x\n")
    path = Path(store.layout.meta(buffer.name))
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **lie}))
    store.access.start_anew()
    assert buffer.name in rebuild_buffers(store.layout, store.index).unreadable
    for listed in store.listed(10):
        store.remove(listed.buffer, "removed")
    with contextlib.suppress(SightlineError):
        store.resolve(buffer.ref)
    assert (outside / "precious").exists()
    assert _untouched(other)


@pytest.mark.parametrize("trick", [_link, _dangling, _fifo])
def test_a_folder_that_is_something_else_is_neither_written_nor_removed(
    store: Store, keep: Keep, tmp_path: Path, trick: Any
) -> None:
    outside = tmp_path / "other-folder"
    outside.mkdir()
    (outside / "precious").write_text("x")
    buffer = keep(b"x\n")
    folder = Path(store.layout.folder(buffer.name))
    folder.rename(tmp_path / "aside")
    trick(folder, outside)
    assert any(finding.level == "problem" for finding in examine(store))
    with contextlib.suppress(SightlineError, OSError):
        store.remove(buffer, "removed")
    assert os.listdir(outside) == ["precious"]


def test_a_log_that_names_another_session_leads_nowhere(store: Store, tmp_path: Path) -> None:
    record_view(store, ME, Shows("v", {}), (Segment("x"),))
    path = Path(store.layout.audit_file("s"))
    path.write_text(path.read_text().replace('"name":"s"', '"name":"../../x"'))
    store.access.start_anew()
    rebuild_views(store)
    assert all(session.name == "s" for session in store.index.sessions())


@settings(max_examples=examples(25), deadline=None)
@given(st.text(max_size=300) | st.sampled_from(["..", ".", "/", "a/../b", "\0", "\ud800", "a" * 5000, "-rf", "con\n"]))
def test_any_session_name_is_a_plain_file_name(text: str) -> None:
    for name in (safe_name(text), current_session({}, name=text).name):
        assert name == os.path.basename(name)
        assert name.strip(".") and name.isascii() and not name.startswith(("-", ".")) and len(name) <= 100


_NASTY = st.text(max_size=40) | st.sampled_from(
    ["../../x", "/etc/passwd", "a\0b", "\ud800\udfff", "\udc80", "*", "~", "'; DROP"]
)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_NASTY)
def test_labels_commands_and_notes_hold_anything_and_lead_nowhere(store: Store, text: str) -> None:
    before = sorted(os.listdir(os.path.dirname(store.root)))
    recording = store.begin("cmd", text, "/", "s", label=text)
    recording.register()
    recording.append("out", b"x\n")
    buffer = recording.seal(exit_code=0)
    assert store.resolve(buffer.ref).buffer.label == buffer.label
    write_note(store, ME, Target(buffer, "out", 1, 1), text + ".")
    assert list_notes(store, buffer=buffer.name)
    record_view(store, ME, Shows("v", {"x": buffer.command}, (buffer.name,)), (Segment(buffer.label),))
    assert list_views(store, buffer=buffer.name)
    assert sorted(os.listdir(os.path.dirname(store.root))) == before
    store.remove(buffer, "removed")


@settings(max_examples=examples(30), deadline=None)
@given(
    st.text(max_size=30).map(lambda text: "@" + text)
    | st.from_regex(
        r"@(cmd|file|tool)_[0-9a-f]{4,8}(\.(out|err|all|[0-9]{1,7}|\.\./x))?(:[0-9-]{0,20})?\n?", fullmatch=True
    )
    | st.sampled_from(
        ["cmd-1/../x.txt", "cmd-1.txt\0", "../cmd-1.txt", "@cmd_a1b2c3/../x", "@last~999999999999", "@sha256:../.."]
    )
)
def test_a_ref_is_of_the_grammar_or_an_error(text: str) -> None:
    try:
        ref = parse_ref(text)
    except SightlineError:
        return
    for part in (ref.name, ref.stream, ref.artifact, ref.sha256):
        assert "/" not in part and "\0" not in part and ".." not in part


def test_no_link_is_followed_where_a_path_was_judged(store: Store, tmp_path: Path, other: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").write_text("mine")
    assert capture_file(store, str(inside / "file"), "s", exact=True).bytes == 4
    (inside / "link").symlink_to(other)
    (inside / "folder").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    for path in ("link", "folder/other", "pipe", "nowhere", "a\0b", "."):
        with pytest.raises(FileNotReadable):
            open_exactly(str(inside / path))
    with pytest.raises(FileNotReadable):
        open_exactly("/")


def test_a_path_that_is_swapped_while_it_is_judged_never_leads_outside(tmp_path: Path, other: Path) -> None:
    """The race between the check and the use, lost on purpose at its worst moment."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").write_text("mine")
    judged = os.path.realpath(inside / "file")
    (inside / "file").unlink()
    (inside / "file").symlink_to(other)
    with pytest.raises(FileNotReadable):
        open_exactly(judged)
    (inside / "file").unlink()
    inside.rmdir()
    inside.symlink_to(tmp_path)
    (tmp_path / "file").write_text("outside")
    with pytest.raises(FileNotReadable):
        open_exactly(judged)


def test_what_is_made_private_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for flags in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_APPEND):
        with pytest.raises(UnsafeStore):
            open_private(str(tmp_path / "pipe"), flags)
    with pytest.raises(UnsafeStore):
        open_private(str(tmp_path), os.O_RDONLY)
