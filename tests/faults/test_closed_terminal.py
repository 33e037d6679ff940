"""The terminal is closed under the inspector, or the inspector is told to end: nothing of it is left."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline.base.records import Buffer
from sightline.doors.doctor.doctor import examine
from sightline.store import Store
from tests.faults.fault_kit import PATIENCE_SECONDS, PROGRAM, Pty, Until, children_of, lives

HEEDLESS = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]
LEAVES_SCREEN = "\x1b[?1049l"


@pytest.fixture
def begin(store: Store, keep: Callable[..., Buffer], tmp_path: Path, until: Until) -> Iterator[Callable[..., Pty]]:
    """Opens the inspector in a terminal of its own, and waits until it shows a buffer."""
    started: list[Pty] = []
    keep(b"line\n" * 5_000, command="make everything")
    store.close()
    (tmp_path / "tmp").mkdir()

    def make(*before: str) -> Pty:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "SIGHTLINE_HOME": store.root,
            "TMPDIR": str(tmp_path / "tmp"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        terminal = Pty([*before, *PROGRAM], environment)
        started.append(terminal)
        until(lambda: "make everything" in terminal.text)
        return terminal

    yield make
    for terminal in started:
        terminal.process.kill()
        terminal.process.wait()
        terminal.close()


def nothing_left(store: Store, tmp_path: Path) -> None:
    assert os.listdir(tmp_path / "tmp") == []
    assert [name for name in os.listdir(store.root) if name.endswith(".tmp") or "fault" in name] == []
    assert [finding.text for finding in examine(store) if finding.level in ("problem", "mended")] == []


@pytest.mark.parametrize("before", [[], HEEDLESS], ids=["", "SIGHUP ignored"])
def test_a_closed_terminal_ends_the_inspector_and_its_query(
    store: Store, begin: Callable[..., Pty], tmp_path: Path, until: Until, before: list[str]
) -> None:
    terminal = begin(*before)
    terminal.press(":sed -e :a -e ba @last\r")
    until(lambda: len(children_of(terminal.process.pid)) >= 2)  # the program, and what ends it with us
    children = children_of(terminal.process.pid)
    terminal.close()
    assert terminal.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGHUP
    until(lambda: not any(map(lives, children)))
    nothing_left(store, tmp_path)


def test_it_draws_on_the_terminal_where_standard_error_goes_to_a_file(
    begin: Callable[..., Pty], tmp_path: Path
) -> None:
    errors = tmp_path / "errors"
    begin("sh", "-c", f"exec \"$@\" 2>'{errors}'", "sh")  # it waits until the output's name is on the screen
    assert errors.read_text() == ""


def test_suspended_it_gives_the_terminal_back_and_comes_back_where_it_was(
    begin: Callable[..., Pty], until: Until
) -> None:
    terminal = begin()
    pid = terminal.process.pid
    terminal.press("\x1a")
    assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
    until(lambda: LEAVES_SCREEN in terminal.text)
    terminal.text = ""
    os.kill(pid, signal.SIGCONT)
    until(lambda: "make everything" in terminal.text)


def test_told_to_end_the_inspector_leaves_the_terminal_as_it_was(
    store: Store, begin: Callable[..., Pty], tmp_path: Path, until: Until
) -> None:
    terminal = begin()
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.process.wait(PATIENCE_SECONDS) == 128 + signal.SIGTERM
    until(lambda: LEAVES_SCREEN in terminal.text)
    nothing_left(store, tmp_path)
