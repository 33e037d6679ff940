"""The command ``sightline``: finds the module of a command, and imports nothing of any other.

Without a command, or with a ref, it opens the inspector.
"""

import gc
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from sightline.errors import SightlineError


class _Command(NamedTuple):
    module: str
    help: str


COMMANDS = {
    "run": _Command("run", "run a command, keep its output whole, print a view of it"),
    "capture": _Command("capture", "keep standard input as a buffer"),
    "read": _Command("read", "read a file; what was read is kept as it was"),
    "show": _Command("show", "show part of a buffer: lines, bytes, a search"),
    "query": _Command("query", "ask with grep, sort, jq, … over refs; read-only"),
    "list": _Command("list", "list buffers, most recently used first"),
    "diff": _Command("diff", "compare two buffers"),
    "path": _Command("path", "print the file of a stream, for any tool"),
    "views": _Command("views", "list what was shown, to whom and when"),
    "coverage": _Command("coverage", "which lines of a buffer were shown, and which never were"),
    "timeline": _Command("timeline", "what was asked, call by call, and what it was shown"),
    "sessions": _Command("sessions", "who asked; rename or remove one"),
    "note": _Command("note", "remark on lines, and send it to an agent"),
    "notes": _Command("note", "list remarks"),
    "audit": _Command("audit", "what went wrong unseen; can fail a build"),
    "report": _Command("report", "write a session up as one page"),
    "import": _Command("importing", "read past sessions of agents from their transcripts"),
    "pin": _Command("pin", "keep a buffer whatever the limits"),
    "unpin": _Command("unpin", "let a buffer go when its time comes"),
    "rm": _Command("rm", "remove buffers"),
    "gc": _Command("gc", "apply the limits now"),
    "doctor": _Command("doctor", "check the store, and mend what can be mended"),
    "mcp": _Command("mcp", "serve an agent's client over MCP"),
    "proxy": _Command("proxy", "stand in front of an MCP server and keep its large results"),
    "hook": _Command("hook", "answer an event of an agent's harness, as its settings have it do"),
    "install": _Command("install", "tell an agent's harness of us: MCP server and hooks"),
    "uninstall": _Command("install", "take that back"),
    "serve": _Command("serve", "open the inspector in a browser"),
    "demo": _Command("demo", "make a demo store and look around in it"),
}
_MODULES = {"pin": "retention", "unpin": "retention", "rm": "retention", "gc": "retention"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the process' exit code."""
    if arguments is None:
        _leave(main(sys.argv[1:]))
    _hold_standard_streams()
    try:
        return _dispatch(list(arguments))
    except SightlineError as error:  # before there is a store to log it in
        from sightline.doors.cli.output import tell_error

        tell_error(error)
        return error.exit_code
    except BrokenPipeError:
        return _stdout_gone()
    except Exception as error:  # the store's own failures are told; any other is a fault of ours, and is seen whole
        if type(error).__module__ != "sqlite3" and not isinstance(error, OSError):  # by name: few need to import it
            raise
        return _store_failed(error)
    except KeyboardInterrupt:
        return 130


def _leave(code: int) -> NoReturn:
    """End the process at once: everything is closed and written, and tearing the interpreter down takes 3 ms."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (BrokenPipeError, AttributeError):
        pass  # whoever read us has left, or there was never anyone
    os._exit(code)


def _hold_standard_streams() -> None:
    """Where 0, 1 or 2 is closed, the next file opened would take its place, and be written to as a terminal is."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one


def _dispatch(words: list[str]) -> int:
    if not words or words[0].startswith("@"):
        return _inspect(words)
    name, rest = words[0], words[1:]
    if name in COMMANDS:
        return _call(f"sightline.doors.cli.{_MODULES.get(name, COMMANDS[name].module)}", name, rest)
    if name in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if name in ("-V", "--version"):
        from importlib.metadata import version

        print(f"sightline {version('sightline')}")
        return 0
    return _unknown(name)


def _call(module: str, name: str, words: list[str]) -> int:
    gc.disable()  # what is imported is not garbage: looking through it takes 3 ms
    run = __import__(module, fromlist=["main"]).main
    gc.freeze()
    gc.enable()
    return int(run(name, words))


def _inspect(words: list[str]) -> int:
    if not os.isatty(1):
        print(_overview())
        return 0 if not words else 2
    gc.disable()  # as in _call; the inspector turns it on again once it has painted
    from sightline.tui.app import run

    return int(run(None, words[0] if words else None))


def _overview() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name.ljust(width)}  {command.help}" for name, command in COMMANDS.items())
    return f"""\
See what your agent saw, and what it missed.

usage: sightline [REF]            the inspector, in a terminal
       sightline COMMAND …        one of:

{rows}

`sightline COMMAND --help` tells more, with an example.
A ref names a captured output: @cmd_a1b2c3, @cmd_a1b2c3.err, @last.
The store lies in $SIGHTLINE_HOME, or in the platform's state folder."""


def _unknown(name: str) -> int:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean `sightline {close[0]}`?" if close else "`sightline --help` lists the commands"
    print(f"sightline: there is no command {name!r}\n  {hint}", file=sys.stderr)
    return 2


def _stdout_gone() -> int:
    """Whoever read our output has left, as `head` does: that is no error, and nothing more can be said."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _store_failed(error: Exception) -> int:
    from sightline.config import default_root
    from sightline.doors.cli.output import tell_error
    from sightline.store import cause_of, is_known

    if isinstance(error, OSError) and not is_known(error):
        raise error
    tell_error(SightlineError(*cause_of(error, default_root())))
    return 1


if __name__ == "__main__":
    sys.exit(main())
