"""The command ``sightline``: finds the module of a command, and imports no other.

Without a command, or with a ref, it opens the inspector.
"""

import gc
import os
import sys

from sightline.base.errors import SightlineError
from sightline.doors.cli.commands import COMMANDS, GROUPS, command_of
from sightline.doors.terminal.process_end import expect_end
from sightline.light.typing_names import NoReturn, Sequence

_NO_TERMINAL = "sightline: the inspector needs a terminal; `sightline show` and `sightline list` print instead"
_GARBAGE_OBJECTS = 10_000  # most commands make fewer objects, and a collection takes a millisecond


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit code of the process."""
    if arguments is None:
        expect_end()
        _forget_coerced_locale()
        _leave(main(sys.argv[1:]))
    if "_ARGCOMPLETE" in os.environ:
        return _complete()
    _hold_standard_streams()
    try:
        return _dispatch(list(arguments))
    except SightlineError as error:  # it failed before there was a store to log it in
        from sightline.doors.terminal.output import tell_error  # 25 ms, with the store

        return tell_error(error)
    except BrokenPipeError:
        return _stdout_gone()
    except Exception as error:  # the store's failures get a plain message, our faults a traceback
        if type(error).__module__ != "sqlite3" and not isinstance(error, OSError):  # by name: few need the import
            raise
        from sightline.doors.terminal.output import tell_store_failure  # it is loaded by then

        return tell_store_failure(error)
    except KeyboardInterrupt:
        return 130


def _forget_coerced_locale() -> None:
    """Remove the variable that Python sets where the locale is C (PEP 538), so that programs get what we were given."""
    if os.environ.get("LC_CTYPE") not in ("C.UTF-8", "C.utf8", "UTF-8"):
        return
    try:
        with open("/proc/self/environ", "rb") as file:
            given = b"\0" + file.read()
    except OSError:  # the system does not say what we were given
        return
    if b"\0LC_CTYPE=" not in given:
        del os.environ["LC_CTYPE"]


def _complete() -> int:
    """Answer a shell in which somebody has pressed Tab; no error is printed into the line that is being typed."""
    try:
        from sightline.doors.cli.completion import answer_shell  # 40 ms, which only a Tab needs

        answer_shell()
    except Exception:  # the person is still typing, and the command itself will report any error
        return 1
    return 0


def _leave(code: int) -> NoReturn:
    """End the process at once: everything is closed and written, and a normal exit would take 3 ms more."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (BrokenPipeError, AttributeError):
        pass  # whoever read our output has left, or nobody ever did
    os._exit(code)


def _hold_standard_streams() -> None:
    """Open 0, 1 or 2 where it is closed: the next file would get its number, and be written to like a terminal."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one


def _dispatch(words: list[str]) -> int:
    words = _behind_the_command(words)
    if not words or _is_for_inspector(words[0]):
        return _inspect(words)
    name = words[0]
    if name in COMMANDS:
        two = " ".join(words[:2])
        return _call(two, words[2:]) if two in COMMANDS else _call(name, words[1:])
    if name in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if name in ("-V", "--version"):
        from sightline.base.distribution import version

        print(f"sightline {version() or '(not installed)'}")
        return 0
    return _unknown(name)


def _behind_the_command(words: list[str]) -> list[str]:
    """Put options of the scope that stand before a command behind it, but those that the inspector alone takes."""
    before, at = list[str](), 0
    while at < len(words) and _is_of_scope(words[at]):
        option, equals, _ = words[at].partition("=")
        taken = 2 if option in ("--project", "--store") and not equals else 1
        if option not in ("--all", "--read-only"):
            before += words[at : at + taken]
        at += taken
    name, rest = words[at : at + 1], words[at + 1 :]
    if not at or not name or name[0] not in COMMANDS:
        return words
    if " ".join([*name, *rest[:1]]) in COMMANDS:
        name, rest = [*name, *rest[:1]], rest[1:]
    return [*name, *before, *rest]


def _is_of_scope(word: str) -> bool:
    return word.partition("=")[0] in ("--project", "--all", "--read-only", "--store", "--offline")


def _call(name: str, words: list[str]) -> int:
    gc.disable()  # imported modules are not garbage, and looking through them takes 3 ms
    parser, run = command_of(name)
    gc.freeze()
    gc.set_threshold(_GARBAGE_OBJECTS)
    gc.enable()
    return run(parser.parse_args(words))


def _is_for_inspector(word: str) -> bool:
    return "@" in word or _is_of_scope(word)


def _inspect(words: list[str]) -> int:
    if not os.isatty(1):
        if words:
            print(_NO_TERMINAL, file=sys.stderr)
            return 2
        print(_overview())
        return 0
    gc.disable()  # as in _call; the inspector enables it again after its first painting
    from sightline.doors.cli import inspector  # only the bare command needs it

    return inspector.main(inspector.parser().parse_args(words))


def _overview() -> str:
    width = max(map(len, COMMANDS))
    groups = "\n\n".join(
        f"{title}:\n" + "\n".join(f"  {name.ljust(width)}  {about}" for name, (_, about) in group.items())
        for title, group in GROUPS.items()
    )
    return f"""\
See what your agent saw, and what it missed.

usage: sightline [REF]            the inspector, in a terminal; in a repository it shows that one's outputs,
                                  with --project DIR another's, with --all those of all;
                                  with --store postgresql://reader@host/db what many hosts have shipped
       sightline COMMAND …        one of those below

{groups}

`sightline COMMAND --help` tells more, with examples.
A ref names a captured output: @cmd_a1b2c3, its errors @cmd_a1b2c3.err, the newest @last.
The store lies in $SIGHTLINE_HOME, or in the platform's state folder."""


def _unknown(name: str) -> int:
    from difflib import get_close_matches  # 4 ms, which only a typing error costs

    close = get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean `sightline {close[0]}`?" if close else "`sightline --help` lists the commands"
    print(f"sightline: there is no command {name!r}\n  {hint}", file=sys.stderr)
    return 2


def _stdout_gone() -> int:
    """End without an error, because whoever read our output has left, as `head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
