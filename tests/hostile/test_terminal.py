"""Nothing that a buffer, a name, a label, a note or a session holds acts on a person's terminal; pyte is the judge."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.base.records import Session
from sightline.doors.terminal.output import dim, green, red, text_for
from sightline.log.notes import write_note
from sightline.log.views import Shows, record_view
from sightline.shape.clean import clean_text
from sightline.shape.segments import Segment
from sightline.store import Store, Target
from sightline.verbs.printable_text import printable
from tests.each import each
from tests.examples import examples
from tests.hostile.attacks import ATTACKS, deeds

ALL = b"\n".join(ATTACKS.values()) + b"\nwell\n"
NAMES = b" ".join(ATTACKS.values()).decode(errors="backslashreplace").replace("\x00", "")
_SEEN_BY_PLAIN_READING = {"markup", "a flood of combining marks", "wide and without width"}


@each("name", sorted(ATTACKS.keys() - _SEEN_BY_PLAIN_READING))
def test_the_judge_sees_each_attack(name: str) -> None:
    assert deeds(ATTACKS[name])


def test_the_judge_lets_text_pass() -> None:
    assert not deeds("plain é 日本\t\x1b[2mdim\x1b[0m\r\nnext\n".encode())


@each("name", ATTACKS)
def test_no_attack_survives_cleaning_or_printing(name: str) -> None:
    directions = {f"U+{ord(char):04X}" for char in "\u061c\u200f\u202e\u2066\u2069\u2028\u2029"}
    assert set(deeds(clean_text(ATTACKS[name]).encode())) <= directions  # these only a terminal's wall takes away
    assert not deeds(printable(ATTACKS[name].decode(errors="surrogateescape")).encode())


_HOSTILE = st.lists(
    st.sampled_from(
        (*ATTACKS.values(), b"\x1b[", b"\x1b]", b"\x1b", b";", b"m", b"\n", b"\r", b"\x9b", "\x9b".encode())
    )
    | st.binary(max_size=6),
    max_size=12,
).map(b"".join)


@settings(max_examples=examples(30), deadline=None)
@given(_HOSTILE)
def test_whatever_stands_in_an_output_its_cleaned_text_does_nothing(data: bytes) -> None:
    master, slave = pty.openpty()
    try:
        text = text_for(slave, clean_text(data))
    finally:
        os.close(master)
        os.close(slave)
    assert not deeds(text.encode(errors="surrogateescape"))
    assert text.count("\n") == data.count(b"\n")


def test_our_own_styles_reach_a_terminal_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing that only looks like one of them."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    master, slave = pty.openpty()
    try:
        for style in (dim, red, green):
            told = style("text", slave)
            assert told.startswith("\x1b[")
            assert text_for(slave, told) == told
        for other in ("\x1b[5m", "\x1b[2;5m", "\x1b[38;5;1m", "\x1b[2J", "\x1b[02m"):
            assert "\x1b" not in text_for(slave, other)
    finally:
        os.close(master)
        os.close(slave)


def _hostile_store(root: Path) -> Store:
    """A store in which everything that can have a name or a text of others has a hostile one."""
    store = Store(str(root))
    session = Session("evil-session", NAMES[:400], NAMES[:400], NAMES, "/" + NAMES, 1.0, title=NAMES)
    store.index.put_session(session)
    for number in range(2):
        recording = store.begin("cmd", NAMES, "/" + NAMES, session.name, label=NAMES)
        recording.register()
        recording.append("out", ALL + b"%d\n" % number)
        recording.append("err", ALL)
        buffer = recording.seal(exit_code=number, note=NAMES)
        shows = Shows("run_command", {"command": NAMES, "cwd": NAMES}, (buffer.name,), exit_code=number)
        record_view(store, session, shows, (Segment(ALL.decode(errors="surrogateescape").replace("\x00", "")),))
    write_note(store, session, Target(buffer, "out", 1, 2), NAMES)
    return store


_CALLS = """
import sys
from sightline.doors.cli.main import main
for words in {calls!r}:
    sys.stdout.write("\\n>> " + words[0] + "\\n"); sys.stdout.flush()
    main(words)
"""


def _on_a_terminal(argv: list[str], keys: tuple[bytes, ...] = (), seconds: float = 60) -> bytes:
    """All that a program writes to a terminal of its own; keys are pressed once it has been still for a moment."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 30, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONUTF8": "1"}
    process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True)
    os.close(slave)
    written, left, deadline = b"", list(keys), time.monotonic() + seconds
    os.set_blocking(master, False)

    while time.monotonic() < deadline:
        if select.select([master], [], [], 0.7 if left else 0.2)[0]:
            try:
                data = os.read(master, 1 << 16)
            except OSError:
                break
            if not data:
                break
            written += data
        elif left and written:
            os.write(master, left.pop(0))
        elif process.poll() is not None:
            break
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()
    os.close(master)
    return written


def _calls(store: Store) -> list[list[str]]:
    (first, second) = [listed.buffer for listed in store.listed(5)]
    view = next(iter(store.index.views())).view.id
    return [
        ["list"],
        ["list", "--json"],
        ["show", first.ref],
        ["show", first.ref + ".err", "--lines", "1-70"],
        ["show", first.ref, "--search", "."],
        ["show", first.ref, "--json"],
        ["views"],
        ["views", "--json"],
        ["views", "show", view],
        ["views", "show", view, "--json"],
        ["timeline"],
        ["timeline", "--json"],
        ["notes"],
        ["notes", "--json"],
        ["sessions"],
        ["sessions", "--json"],
        ["sessions", "evil-session"],
        ["coverage", first.ref],
        ["query", f"cat {first.ref}"],
        ["query", "--full", f"cat {first.ref}"],
        ["query", "--json", f"cat {first.ref}"],
        ["diff", first.ref, second.ref],
        ["path", first.ref],
        ["audit"],
        ["report"],
        ["report", "--format", "md"],
        ["report", "--format", "json"],
        ["doctor"],
        ["pin", first.ref],
        ["read", "a \x1b]0;x\x07 \u202e\x9b2J file"],
        ["read", "no \x1b]0;x\x07 file"],
        ["show", "@\x1b[2J"],
        ["query", "cat \x1b[2J"],
        ["query", "grep '\x9b' @\x9b"],
        ["list", "--match", "\x1b[2J"],
        ["note", first.ref, "\x1b[2J"],
        ["rm", "@\x1b]0;x\x07"],
    ]


def test_no_verb_does_anything_to_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "a \x1b]0;x\x07 \u202e\x9b2J file").write_bytes(ALL)
    with _hostile_store(tmp_path / "root") as store:
        calls = _calls(store)
    told = _on_a_terminal([sys.executable, "-c", _CALLS.format(calls=calls)])
    parts = told.decode(errors="surrogateescape").replace("\r\n", "\n").split("\n>> ")[1:]
    assert len(parts) == len(calls), parts[-1][-2000:]
    for words, part in zip(calls, parts, strict=True):
        assert not deeds(part.encode(errors="surrogateescape")), words
        assert "Traceback" not in part, words
    assert "well" in parts[2]


def test_only_run_gives_a_terminal_the_bytes_as_they_come(tmp_path: Path) -> None:
    """A command that a person runs is theirs: it is shown as it would be without us."""
    told = _on_a_terminal([sys.executable, "-m", "sightline.doors.cli.main", "run", "--", "printf", r"\033]0;own\007"])
    assert b"\x1b]0;own\x07" in told
    quiet = [
        sys.executable,
        "-m",
        "sightline.doors.cli.main",
        "run",
        "--quiet",
        "--",
        "printf",
        r"\033]0;own\007",
    ]
    assert not deeds(_on_a_terminal(quiet))


def test_the_inspector_draws_nothing_but_its_own_screen(tmp_path: Path) -> None:
    _hostile_store(tmp_path / "root").close()
    told = _on_a_terminal([sys.executable, "-m", "sightline.doors.cli.main"], (b"\r", b"i", b"q", b"q", b"\x11"), 40)
    assert b"cmd_" in told
    text = told.decode()  # all of it is UTF-8
    assert not {char for char in text if "\x7f" <= char <= "\x9f" or char in "\u202e\u2066\u2069\u2028\u2029\u061c"}
    for mark in (
        "]0;",
        "]1;",
        "]52",
        "]8;",
        "]7;",
        "]4;",
        "]9;",
        "]133",
        "P",
        "_",
        "^",
        "X",
        "k",
        "c",
        "#8",
        "[5n",
        "[21t",
    ):
        assert f"\x1b{mark}" not in text
    entered, left = text.find("\x1b[?1049h"), text.rfind("\x1b[?1049l")
    assert 0 <= entered < left
    assert text.count("\x1b[?1049h") == 1
    screen = pyte.Screen(100, 30)
    screen.draw("the person's own line")
    stream = pyte.Stream(screen)
    before = screen.display[0]
    stream.feed(text[:entered])
    assert screen.display[0] == before
