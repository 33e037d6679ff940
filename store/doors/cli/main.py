"""The command ``sightline``: finds the module of a command, and imports nothing of any other.

Without a command, or with a ref, it opens the inspector.
"""

import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from sightline.errors import SightlineError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_GARBAGE_OBJECTS = 10_000  # what most commands make is less than that, and looking through it takes a millisecond

GROUPS = {
    "Run and keep, as agents do": {
        "run": ("run", "run a command, keep its whole output and print a view of it"),
        "capture": ("capture", "keep what comes through a pipe"),
        "read": ("read", "read a file and keep the version that was read"),
        "kill": ("kill", "end commands that run"),
    },
    "Look, as agents do and people beside them": {
        "list": ("list", "list what was captured, most recently used first"),
        "show": ("show", "show an output, or lines, bytes, matches, a JSON value of it"),
        "query": ("query", "ask with grep, sort, jq and the like, read-only"),
        "diff": ("diff", "compare two outputs"),
        "path": ("path", "print the path of an output's file, for any other program"),
        "note": ("note", "remark on lines, and send the remark to an agent"),
        "notes": ("note.list_all", "list the remarks"),
        "serve": ("serve", "open the inspector in a browser"),
        "demo": ("demo", "make a store with examples and open the inspector on it"),
    },
    "Audit what an agent saw": {
        "brief": ("brief", "tell on one screen what was run and what was missed"),
        "audit": ("audit", "find what went wrong without being seen; can fail a build"),
        "coverage": ("coverage", "tell which lines of an output were shown, and which never were"),
        "timeline": ("timeline", "list what was asked and shown, call by call"),
        "views": ("views", "list what was shown, to whom and when"),
        "views show": ("views.show", "print the exact text that was shown"),
        "sessions": ("sessions", "list who asked"),
        "sessions rename": ("sessions.rename", "give a session a name of your own"),
        "sessions rm": ("sessions.rm", "remove what a session captured and was shown"),
        "report": ("report", "write a session up as one page"),
    },
    "Connect agents": {
        "install": ("install", "add the MCP server and the hooks to an agent's harness"),
        "uninstall": ("install.take_out", "remove both again and restore its settings"),
        "import": ("importing", "bring in past sessions of agents from their transcripts"),
        "mcp": ("mcp", "serve an agent's client over MCP"),
        "proxy": ("proxy", "stand in front of another MCP server and keep its large results"),
        "hook": ("hook", "answer an event of a harness; its settings call this"),
    },
    "Care for the store": {
        "completions": ("completion", "have your shell complete commands, refs and sessions at Tab"),
        "man": ("man", "print the manual page"),
        "doctor": ("doctor", "check the store and the harnesses, and mend what can be mended"),
        "rules": ("rules", "list the tools whose output is known"),
        "rules try": ("rules.try_output", "show how an output is read, and by which rule"),
        "rules new": ("rules.new", "start a rule for a tool of yours from an output"),
        "pin": ("retention.pin", "keep an output whatever the limits are"),
        "unpin": ("retention.unpin", "let the limits remove it again"),
        "rm": ("retention.rm", "remove outputs"),
        "gc": ("retention.gc", "apply the limits now"),
    },
    "Ship to a place that many machines share": {
        "ship": ("ship", "copy what is done to the fleet"),
        "fleet": ("fleet.status", "list the machines of a fleet, and how far behind each is"),
        "fleet status": ("fleet.status", "the same"),
        "fleet init": ("fleet.init", "make a fleet in a database, or bring it to this version"),
        "fleet add-host": ("fleet.add_host", "make a role under which a machine, or CI, ships"),
        "fleet grant": ("fleet.grant", "let somebody read what a team or an owner has"),
        "fleet retention": ("fleet.retention", "set how many days a fleet keeps"),
        "fleet maintain": ("fleet.maintain_it", "make partitions ahead and drop old ones; once a day"),
        "fleet verify": ("fleet.verify", "prove that all that was announced is there"),
    },
}
"""By who asks: of each command the module beside this one, with the function where it is not `main`, and a sentence."""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the process' exit code."""
    if arguments is None:
        _leave(main(sys.argv[1:]))
    if "_ARGCOMPLETE" in os.environ:
        return _complete()
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


def _complete() -> int:
    """Answer a shell in which somebody has pressed Tab; nothing that goes wrong is told into his line."""
    try:
        from sightline.doors.cli.completion import answer_shell

        answer_shell()
    except Exception:
        return 1
    return 0


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
    if not words or words[0].startswith("@") or words[0].partition("=")[0] in ("--project", "--all"):
        return _inspect(words)
    name = words[0]
    if name in COMMANDS:
        two = " ".join(words[:2])
        return _call(two, words[2:]) if two in COMMANDS else _call(name, words[1:])
    if name in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if name in ("-V", "--version"):
        from importlib.metadata import version

        print(f"sightline {version('sightline')}")
        return 0
    return _unknown(name)


def _call(name: str, words: list[str]) -> int:
    gc.disable()  # what is imported is not garbage: looking through it takes 3 ms
    parser, run = command_of(name)
    gc.freeze()
    gc.set_threshold(_GARBAGE_OBJECTS)
    gc.enable()
    return run(parser.parse_args(words))


def command_of(name: str) -> "tuple[ArgumentParser, Callable[[Namespace], int]]":
    """What a command takes, and what runs it; its module is imported."""
    module, _, function = COMMANDS[name][0].partition(".")
    command = __import__(f"sightline.doors.cli.{module}", fromlist=["main"])
    return command.parser(name), getattr(command, function or "main")


def _inspect(words: list[str]) -> int:
    if not os.isatty(1):
        print(_overview())
        return 0 if not words else 2
    ref, folder, everything = "", "", False
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if option == "--project":
            folder = value if equals else next(rest, "")
            if not folder:
                return _wrong("--project takes a folder")
        elif word == "--all":
            everything = True
        elif word.startswith("@") and not ref:
            ref = word
        else:
            return _wrong(f"the inspector does not know {word!r}")
    gc.disable()  # as in _call; the inspector turns it on again once it has painted
    from sightline.doors.cli.inspector import inspector

    return int(inspector().run(None, ref or None, folder=folder, everything=everything))


def _wrong(what: str) -> int:
    print(f"sightline: {what}\n  usage: sightline [REF] [--project DIR | --all]", file=sys.stderr)
    return 2


def _overview() -> str:
    width = max(map(len, COMMANDS))
    groups = "\n\n".join(
        f"{title}:\n" + "\n".join(f"  {name.ljust(width)}  {about}" for name, (_, about) in group.items())
        for title, group in GROUPS.items()
    )
    return f"""\
See what your agent saw, and what it missed.

usage: sightline [REF]            the inspector, in a terminal; in a repository it shows that one's outputs,
                                  with --project DIR another's, with --all those of all
       sightline COMMAND …        one of those below

{groups}

`sightline COMMAND --help` tells more, with examples.
A ref names a captured output: @cmd_a1b2c3, its errors @cmd_a1b2c3.err, the newest @last.
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
