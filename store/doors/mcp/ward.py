"""The end of commands whose server was killed: a small shell outlives it, and ends what it had running."""

import os
import threading

_SHELL = "/bin/sh"
_SCRIPT = """
cd /
exec 3<&0
{
    groups=
    while read -r what group; do
        case $what in
            +) groups="$groups $group" ;;
            -) left=; for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done; groups=$left ;;
        esac
    done
    for group in $groups; do kill -s TERM -- "-$group"; done
    [ -z "$groups" ] || sleep 1
    for group in $groups; do kill -s KILL -- "-$group"; done
} <&3 3<&- &
"""
"""It reads which process groups begin and end; that nothing more can come tells that the server has gone.

What reads is nobody's child: it would be one that the server waits for.
"""


class Ward:
    """Knows the process groups of the commands that run. May be used from any thread.

    A server that ends in order has ended them itself. Where there is no such shell, nobody looks after them.
    """

    def __init__(self) -> None:
        """Nothing is started before there is a command."""
        self._lock = threading.Lock()
        self._pipe = -1
        self._failed = False

    def watch(self) -> None:
        """A command is about to start: the shell is there before it, and is told of its group a moment after."""
        self._tell("")

    def add(self, group: int) -> None:
        """A command runs, as a process group."""
        self._tell(f"+ {group}\n")

    def remove(self, group: int) -> None:
        """It has ended."""
        self._tell(f"- {group}\n")

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._failed:
                return
            try:
                if self._pipe < 0:
                    self._pipe = _started()
                os.write(self._pipe, line.encode())
            except OSError:
                self._failed = True


def _started() -> int:
    """Start the shell; the pipe to it, which no command gets to hold open."""
    theirs, ours = os.pipe()
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    try:
        # A session of its own: what is sent to the server's group does not end it.
        starter = os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _SCRIPT],
            {"PATH": os.defpath},
            file_actions=[(os.POSIX_SPAWN_DUP2, theirs, 0), *null],
            setsid=True,
        )
        os.waitpid(starter, 0)
    except (OSError, NotImplementedError) as error:
        os.close(ours)
        raise OSError("no shell looks after commands") from error
    finally:
        os.close(theirs)
    return ours
