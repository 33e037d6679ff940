"""``sightline run`` on a terminal: the output streams, keys reach the command, and the buffer is sealed."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Terminal:
    """A command line on a terminal of its own."""

    def __init__(self, cli: Any, *words: str, **environment: str) -> None:
        self.master, slave = pty.openpty()
        self.process = cli.start(
            *words,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            environment={"TERM": "dumb", **environment},
            start_new_session=True,
            preexec_fn=lambda: _own_terminal(slave),
        )
        os.close(slave)
        self.text = ""

    def until(self, wanted: str) -> str:
        """Read until a text has come; all of it."""
        end = time.monotonic() + 30
        while wanted not in self.text:
            assert time.monotonic() < end, self.text
            assert self._more(), f"it ended with: {self.text}"
        return self.text

    def _more(self) -> bool:
        if not select.select([self.master], [], [], 30)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self.text += data.decode().replace("\r\n", "\n")
        return bool(data)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> int:
        while self._more():
            pass
        os.close(self.master)
        return int(self.process.wait(30))


def _own_terminal(slave: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


def test_output_comes_as_it_is_written_and_is_kept(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "run", "-c", "echo first; read word; echo got $word; seq 1 3000; exit 3")
    terminals.append(terminal)
    terminal.until("first\n")
    terminal.press(b"hello\n")
    assert terminal.end() == 3
    assert "got hello\n1\n2\n3\n" in terminal.text
    assert "\n2999\n3000\n" in terminal.text, "all of it, not a view"
    assert f"{cli.last()}  failed with exit 3" in terminal.text.splitlines()[-1]
    assert cli("show", "@last", "--lines", "1-2").out == "first\ngot hello\n"
    [view] = [view for view in cli("views", "--json").data if view["verb"] == "run_command"]
    assert view["request"]["streamed"] is True
    assert view["shown"] == [f"{cli.last()}:1-3002"]
    assert view["exit_code"] == 3


def test_after_a_command_over_an_altered_output_it_is_said_so(cli: Any, terminals: list[Terminal]) -> None:
    cli("run", "-c", "seq 3")
    ref, path = cli.last(), Path(cli("path", "@last").out.strip())
    path.chmod(0o600)
    path.write_text("other\n")
    terminal = Terminal(cli, "run", "-c", f"cat {ref}; true")
    terminals.append(terminal)
    assert terminal.end() == 0
    assert f"other\nsightline: {ref} is altered: out was changed after its capture" in terminal.text


def test_quiet_prints_the_view_alone(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "run", "--quiet", "--", "seq", "1", "3000")
    terminals.append(terminal)
    assert terminal.end() == 0
    assert terminal.text.startswith("[output_id=@cmd_")
    assert "[… " in terminal.text


@pytest.mark.parametrize("options", [[], ["--timeout", "50"]])
def test_interrupt_reaches_the_command_and_the_buffer_is_sealed(
    cli: Any, terminals: list[Terminal], options: list[str]
) -> None:
    script = "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done"
    terminal = Terminal(cli, "run", *options, "-c", script)
    terminals.append(terminal)
    terminal.until("ready\n")
    terminal.press(b"\x03")
    assert terminal.end() == 7
    assert "caught\n" in terminal.text
    assert "Traceback" not in terminal.text
    [buffer] = cli("list", "--json").data
    assert (buffer["state"], buffer["exit_code"], buffer["out"]["lines"]) == ("sealed", 7, 2)


def test_terminal_that_closes_does_not_lose_the_capture(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "run", "-c", "trap '' HUP; echo ready; sleep 0.2; echo later")
    terminals.append(terminal)
    terminal.until("ready\n")
    os.close(terminal.master)
    terminal.process.wait(30)
    assert cli("show", "@last").out == "ready\nlater\n"


def test_summary_stands_on_a_line_of_its_own(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "run", "--", "printf", "no newline")
    terminals.append(terminal)
    assert terminal.end() == 0
    assert terminal.text.startswith("no newline\n@cmd_")


def test_what_a_filter_left_out_is_named_at_the_end(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "run", "-c", "seq 1 3000 | tail -1")
    terminals.append(terminal)
    assert terminal.end() == 0
    assert re.search(r"\A3000\n@cmd_\w+  .*  unfiltered: @cmd_\w+, 3,000 lines\n\Z", terminal.text)


def test_error_is_told_and_nothing_streams(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "run", "-c", "cat @cmd_deadbeef")
    terminals.append(terminal)
    assert terminal.end() == 1
    assert "@cmd_deadbeef" in terminal.text


def test_question_is_asked_on_a_terminal_too(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "run", "-c", "rm -rf nothing")
    terminals.append(terminal)
    assert terminal.end() == 1
    assert "sightline run -c '@ack_" in terminal.text


def test_where_nothing_is_kept_the_output_comes_once(cli: Any, terminals: list[Terminal], tmp_path: Any) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    terminal = Terminal(cli, "run", "-c", "echo once; exit 2")
    terminals.append(terminal)
    assert terminal.end() == 2
    assert terminal.text.count("once") == 1
    assert "capture = off" in terminal.text


def test_diff_on_a_terminal_is_whole(cli: Any, terminals: list[Terminal]) -> None:
    cli("run", "--", "seq", "1", "3000")
    cli("run", "--", "seq", "2", "3001")
    cli("run", "--", "true")
    terminal = Terminal(cli, "diff", "@last~2", "@last~1")
    terminals.append(terminal)
    assert terminal.end() == 1
    assert "\n-1\n" in terminal.text
    assert "\n+3001\n" in terminal.text
    terminal = Terminal(cli, "diff", "@last", "@last~1")
    terminals.append(terminal)
    assert terminal.end() == 1
    assert terminal.text.count("\n+") > 2900


def test_hangup_ends_the_command(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "run", "-c", "echo ready; sleep 60")
    terminals.append(terminal)
    terminal.until("ready\n")
    terminal.process.send_signal(signal.SIGHUP)
    assert terminal.end() == 128 + signal.SIGHUP


def test_capture_of_a_terminal_says_what_to_do_instead(cli: Any, terminals: list[Terminal]) -> None:
    terminal = Terminal(cli, "capture")
    terminals.append(terminal)
    assert terminal.end() == 2
    assert "sightline run -- COMMAND" in terminal.text


def test_to_a_pipe_goes_the_view(cli: Any) -> None:
    process = cli.start("run", "--", "seq", "1", "3000", stdout=subprocess.PIPE)
    assert process.communicate()[0].startswith(b"[output_id=")


def test_a_profile_for_agents_lets_no_escape_through_to_a_terminal(cli: Any, terminals: list[Terminal]) -> None:
    cli("run", "--", "printf", r"\033=\033]52;c;YQ==\007seen\n")
    ref = cli.last()
    asked = ("query", "--profile", "codescout", f"cat {ref}")
    assert "\x1b=\x1b]52" in cli(*asked).out
    view = cli("views", "--json").data[-1]["id"]
    for words in (asked, ("views", "show", view)):
        at = Terminal(cli, *words)
        terminals.append(at)
        assert at.end() == 0
        assert "seen" in at.text
        assert "\x1b" not in at.text


def test_what_a_command_left_behind_is_told_at_the_end(cli: Any, terminals: list[Terminal], tmp_path: Path) -> None:
    terminal = Terminal(cli, "run", "-c", f"sleep 600 & echo $! > '{tmp_path}/pid'")
    terminals.append(terminal)
    assert terminal.end() == 0
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert "what that writes from then on is not kept" in terminal.text


def test_what_a_person_reads_on_a_terminal_no_agent_saw(cli: Any, terminals: list[Terminal]) -> None:
    failing = "seq 1 900; echo ERROR: no luck; seq 1 900; echo ERROR: none at all; seq 1 900; exit 1"
    cli("run", "--verbosity", "silent", "-c", failing)
    asked = ("audit", "--fail-on", "cut-failure")
    assert cli(*asked).code == 1
    terminal = Terminal(cli, "show", "@last", "--lines", "890-910", SIGHTLINE_SESSION="")
    terminals.append(terminal)
    assert terminal.end() == 0
    assert "ERROR: no luck" in terminal.text
    assert cli(*asked).code == 1
    assert [row.split()[4] for row in cli("timeline").out.splitlines() if "by a person" in row] == ["read_output"]
    assert "889" in cli("show", "@last", "--lines", "889-901").out
    assert cli(*asked).code == 0, "whoever reads from a pipe may be an agent"


@pytest.mark.parametrize(("answer", "hides"), [(b"y\n", True), (b"\n", False)])
def test_install_asks_whether_known_secrets_are_to_be_hidden(cli: Any, answer: bytes, hides: bool) -> None:
    Path(cli.home).mkdir(mode=0o700)
    config = Path(cli.home) / "config.toml"
    config.write_text("durable = true")
    terminal = Terminal(cli, "install", "codex")
    terminal.until("hide secrets of known formats")
    terminal.press(answer)
    assert terminal.end() == 0
    assert ("[redact]\nknown = true\n" in config.read_text()) == hides
    assert config.read_text().startswith("durable = true")


def test_install_with_yes_turns_no_redaction_on(cli: Any) -> None:
    terminal = Terminal(cli, "install", "codex", "--yes")
    assert terminal.end() == 0
    assert "hide secrets" not in terminal.text
    assert not (Path(cli.home) / "config.toml").exists()
