"""Opening an output in the pager and in an editor: neither can harm the store, nor the output the terminal."""

import contextlib
import os
import shlex
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from sightline.base.errors import SightlineError
from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.common.outside_program import COPY_BYTES, Copies, ViewerState, editor_call, pager_call, run_outside
from tests.tui.tui_kit import add, begin, numbered, opened, press, rest, run


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that writes down what it was given."""
    path, script = tmp_path / "program", tmp_path / "program.py"
    path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n')
    script.write_text(
        "import os, sys\n"
        f"out = open({str(tmp_path / 'given')!r}, 'wb')\n"
        "out.write('\\n'.join(sys.argv[1:]).encode() + b'\\n--\\n')\n"
        "out.write(sys.stdin.buffer.read() if not sys.stdin.isatty() else b'')\n"
    )
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `less` that is found, also on a machine without one."""
    path = tmp_path / "programs" / "less"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def copies() -> Iterator[Copies]:
    made = Copies()
    yield made
    made.close()


def test_marked_outputs_are_saved_as_they_were_captured_and_nothing_is_written_over(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "cmd_00000a", "seq", numbered(3), ago=90)
    add(store, "cmd_00000b", "cat a.json", b'{"a":1}', ago=60)
    add(store, "cmd_00000c", "make", b"built\n", b"warning\n", ago=30)
    (folder := tmp_path / "saved").mkdir()
    monkeypatch.chdir(folder)

    async def body() -> None:
        async with opened(store) as pilot:

            def said() -> str:
                return "\n".join(f"{toast.title} {toast.message}" for toast in pilot.app._notifications)

            await press(pilot, "m", "m", "m", "ctrl+s", "enter")
            assert "Saved 3 files in" in said()
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
                "cmd_00000a.txt": numbered(3),
                "cmd_00000b.txt": b'{"a":1}',
                "cmd_00000c.all.txt": b"built\nwarning\n",
            }
            (folder / "cmd_00000a.txt").write_bytes(b"mine")
            await press(pilot, "ctrl+s", "enter")
            assert "cmd_00000a.txt is there already" in said()
            assert (folder / "cmd_00000a.txt").read_bytes() == b"mine"
            await press(pilot, "tab", "ctrl+s", *"/none", "enter")
            assert "Name a folder that is there" in said()
            assert pilot.app.focused is pilot.app.query_one("#viewer")

    run(body)


def test_less_gets_the_file_and_can_start_nothing(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(100))
    call = pager_call(store, ViewerState(buffer, "", 42), {"PATH": os.environ["PATH"]})
    assert call.argv == ["less", "+42", "--", store.layout.stream("cmd_00000a", "out")]
    assert call.environment == {"LESSSECURE": "1"}
    assert call.text is None


def test_less_gets_both_streams_in_order_of_arrival(store: Store) -> None:
    recording = begin(store, "cmd_00000a", "make")
    recording.register()
    for stream, data in (("out", b"1\n"), ("err", b"2\n"), ("out", b"3\n")):
        recording.append(stream, data)
    call = pager_call(store, ViewerState(recording.seal(exit_code=0)), {"PAGER": "less -S"})
    assert call.argv[:3] == ["less", "-S", "--"]
    with open(call.argv[3], "rb") as file:
        assert file.read() == b"1\n2\n3\n"


def test_only_the_stream_that_is_shown_is_opened(store: Store, copies: Copies) -> None:
    buffer = add(store, "cmd_00000a", "make", b"out\n", b"err\n")
    shown = ViewerState(buffer, "err", 1)
    assert pager_call(store, shown, {}).argv[-1] == store.layout.stream("cmd_00000a", "err")
    assert pager_call(store, shown, {"PAGER": "cat"}).text is not None
    with open(editor_call(store, shown, copies, {"EDITOR": "cat"}).argv[-1], "rb") as file:
        assert file.read() == b"err\n"


def test_any_other_pager_gets_text_that_was_made_safe(store: Store, program: Path, tmp_path: Path) -> None:
    buffer = add(store, "cmd_00000a", "evil", b"\x1b]0;owned\x07a \xe2\x80\xae\x9b31m b\x07\n" + numbered(20_000))
    call = pager_call(store, ViewerState(buffer, "", 9), {"PAGER": str(program)})
    assert call.argv == [str(program)]
    run_outside(call)
    given = (tmp_path / "given").read_bytes()
    assert given.endswith(b"line 20000\n")
    assert not {0x1B, 0x07, 0x9B} & set(given)
    assert "‹U+202E›" in given.decode()


def test_a_pager_that_is_left_early_ends_it(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", numbered(200_000))
    run_outside(pager_call(store, ViewerState(buffer, "", 1), {"PAGER": "head -0"}))


def test_an_editor_gets_a_copy_that_goes(store: Store, copies: Copies) -> None:
    buffer = add(store, "file_00000a", "src/parser.py", numbered(9), exit_code=None)
    call = editor_call(store, ViewerState(buffer, "", 5), copies, {"VISUAL": "cat -n", "EDITOR": "true"})
    path = call.argv[-1]
    assert call.argv[:2] == ["cat", "-n"]
    assert os.path.basename(path) == "file_00000a.py"
    assert not path.startswith(store.root)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o400
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    with open(path, "rb") as file:
        assert file.read() == numbered(9)
    editor_call(
        store, ViewerState(buffer, "", 5), copies, {"VISUAL": "cat"}
    )  # once more: the first one can only be read
    copies.close()
    assert not os.path.exists(path)


@pytest.mark.parametrize("command", ["../../x.sh;rm", "x.tar.gz\n", "name"])
def test_a_copys_name_is_harmless(store: Store, copies: Copies, command: str) -> None:
    buffer = add(store, "file_00000a", command, b"x", exit_code=None)
    name = os.path.basename(editor_call(store, ViewerState(buffer, "", 1), copies, {"EDITOR": "cat"}).argv[-1])
    assert name in ("file_00000a.txt", "file_00000a.sh")


@pytest.mark.parametrize("variable", ["PAGER", "EDITOR"])
@pytest.mark.parametrize("value", ["no-such-program-here -x", "'unclosed"])
def test_a_program_that_is_not_there_is_said(store: Store, copies: Copies, variable: str, value: str) -> None:
    buffer = add(store, "cmd_00000a", "seq", b"x\n")
    with pytest.raises(SightlineError, match=r"no program|cannot be read") as told:
        if variable == "PAGER":
            pager_call(store, ViewerState(buffer, "", 1), {variable: value})
        else:
            editor_call(store, ViewerState(buffer, "", 1), copies, {variable: value})
    assert variable in told.value.hint


def test_what_is_empty_or_too_large_is_said(store: Store, copies: Copies) -> None:
    empty = add(store, "cmd_00000a", "true")
    with pytest.raises(SightlineError, match="is empty"):
        pager_call(store, ViewerState(empty, "", 1), {"PAGER": "cat"})
    large = add(store, "cmd_00000b", "seq", b"x\n")
    info = large.streams["out"]._replace(bytes=COPY_BYTES + 1)
    with pytest.raises(SightlineError, match="too much to copy"):
        editor_call(store, ViewerState(large._replace(streams={"out": info})), copies, {"EDITOR": "cat"})


def test_an_interrupt_is_the_programs_own(store: Store) -> None:
    buffer = add(store, "cmd_00000a", "seq", b"x\n")
    before = signal.getsignal(signal.SIGINT)
    run_outside(pager_call(store, ViewerState(buffer, "", 1), {"PAGER": "sh -c 'kill -INT $PPID; cat >/dev/null'"}))
    assert signal.getsignal(signal.SIGINT) is before


def notices(pilot: Pilot[None]) -> list[str]:
    return [notice.message for notice in pilot.app._notifications]


def test_where_the_terminal_cannot_be_left_that_is_said(store: Store) -> None:
    add(store, "cmd_00000a", "seq", b"x\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "P")
            await rest(pilot)
            assert notices(pilot) == [
                "This terminal cannot be left to another program; `sightline path @cmd_00000a` names the file"
            ]

    run(body)


def test_keys_open_them_and_come_back(
    store: Store, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "cmd_00000a", "seq", numbered(3))
    monkeypatch.setattr(InspectorApp, "suspend", lambda self: contextlib.nullcontext())
    monkeypatch.setenv("PAGER", str(program))
    monkeypatch.setenv("EDITOR", str(program))
    monkeypatch.delenv("VISUAL", raising=False)
    copied = list[str]()

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "P")
            await rest(pilot)
            assert (tmp_path / "given").read_text().endswith("--\nline 1\nline 2\nline 3\n")
            await press(pilot, "O")
            await rest(pilot)
            copied.append((tmp_path / "given").read_text().partition("\n")[0])
            assert os.path.exists(copied[0])
            assert notices(pilot) == []

    run(body)
    assert not os.path.exists(copied[0])
