"""Commands whose output a process apart records: the line that starts it in a command's shell, and what it found.

Claude Code has both streams of a command in a file of its own, which it removes when the command has ended. The hook at
a session's start names a line that Claude Code's shells run before each command, after all hooks and rules; the line
opens that file for `task_recorder`, and changes nothing for the command. A small file a command, which that line makes,
says later which buffer was recorded. The hook after the command finds it there.
"""

import os
import sys
import time

from sightline.agents.hooks.command_line import ENTRY, FLAGS
from sightline.agents.hooks.pending_commands import TASK_ENDING, PendingCommand
from sightline.base.errors import ExpiredRef, UnknownRef
from sightline.base.private_files import make_folder, make_parents, read_file, remove_file, write_atomically
from sightline.base.records import DROPPED, Buffer, Session
from sightline.harnesses.tool_call import ToolCall
from sightline.light.json_text import dumps, loads
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterator
from sightline.log.sessions import use_key
from sightline.settings.config import HOOKS, default_root
from sightline.shell_words.quoting import join_quoted, quoted
from sightline.store import Store, Target

_BEGIN, _END = "sightline-begin", "sightline-end"
_UNSEEN = "8>&2 2>/dev/null"
_PATIENCE_SECONDS = 3.0  # for a recorder whose command has ended; it takes 0.1 s where nothing else runs
_TURN_SECONDS = 0.01
_COMPARED_CHARACTERS = 2_000

OVERWRITTEN = "the command overwrote its own output while it ran"
"""Why a buffer is partial that has not all of what was in the file at some time."""


class RecordedTask(NamedTuple):
    """What a recorder says of one command.

    Attributes:
        buffer: the name of the buffer.
        command: the command as its shell got it, without its secrets if the settings hide them.
        began: when its shell began, seconds since the epoch.
        file: the name of the harness' own file.
    """

    buffer: str
    command: str
    began: float
    file: str


def shell_line(harness: str, session: str, root: str, *, opens: bool = sys.platform != "darwin") -> str:
    """The line that a session's shells run before each command; it prints nothing, and succeeds.

    Only a regular file is opened: anything else might lose what is read from it. The recorder starts in a subshell, so
    that the command's own shell knows of no job; after ``{ … & }`` zsh would wait for it. A person's functions and
    aliases may have the name of any builtin, so those are called through ``builtin``.

    At last bash starts again without the line, since its messages name line numbers; not where it would read
    ``BASH_ENV`` twice. Messages of zsh count within ``eval``.

    Args:
        harness: name of the harness.
        session: its id of the session.
        root: the store's root.
        opens: whether a shell can open its own output for reading; else it waits until the recorder has done so.
    """
    task = f"{quoted(os.path.join(root, HOOKS, session))}.$${TASK_ENDING}"
    words = join_quoted([sys.executable, *FLAGS, ENTRY, "task", harness, session])
    opened, apart = ("9</dev/fd/1", " &") if opens else ("9>&1", ";")
    script = '"${BASH_EXECUTION_STRING-$ZSH_EXECUTION_STRING}"'
    # Patterns that match the line itself, but not these patterns in it; the first takes "{ [[ " along.
    before = f"${{BASH_EXECUTION_STRING%%? ?? {_BEGIN[:-1]}[{_BEGIN[-1]}] *}}"
    behind = f"BASH_EXECUTION_STRING#*{_END[:-1]}[{_END[-1]}]; ? {_UNSEEN}"
    return (
        f"{{ [[ {_BEGIN} && -f /dev/fd/1 ]] "
        f"&& ( if builtin set -C && builtin umask 077 && builtin : >{task} "
        f"; then SIGHTLINE_SCRIPT={script} SIGHTLINE_HOME={quoted(root)} {words} $$ <&9 9<&-{apart} fi ) "
        f"{opened} >/dev/null 8>&-; "
        "[[ -n ${BASH_EXECUTION_STRING-} && -z ${BASH_ENV-} && $0 == /* && -x $0 "
        rf"&& {before} != *$'\n'* && ${{{behind}}} == $'\n: && '* ]] && ! builtin shopt -q login_shell "
        f'&& builtin exec "$0" -c "{before}${{{behind}?: && }}" 2>&8 8>&- '
        f"|| builtin : {_END}; }} {_UNSEEN}\n"
    )


def have_recorded(harness: str, session: str, start_file: str) -> None:
    """Have the outputs of a session's commands recorded.

    Args:
        harness: name of the harness.
        session: its id of the session; safe as the name of a file.
        start_file: the file that its shells run before each command.

    Raises:
        OSError, UnsafeStore: a file cannot be written.
    """
    root = default_root()
    if not os.path.isdir(root):
        make_parents(root)
        make_folder(root)
    make_folder(os.path.join(root, HOOKS))
    line = shell_line(harness, session, root)
    with open(start_file, "a+", encoding="utf-8") as file:
        file.seek(0)
        if line not in file.read():  # after a compaction the session starts again
            file.write(line)


def task_path(session: str, shell: int | str) -> str:
    """The path of the file of a command, named by the session's id and the pid of the command's shell."""
    return os.path.join(default_root(), HOOKS, f"{session}.{shell}{TASK_ENDING}")


def note_recorded(path: str, task: RecordedTask) -> None:
    """Say what was recorded. Raises OSError."""
    write_atomically(path, dumps(task).encode())


def take_recorded(store: Store, session: Session, call: ToolCall) -> Buffer | None:
    """The buffer of a call that has ended, with what the harness tells of it; None if none was recorded.

    Raises:
        StoreFailed: its record could not be changed.
    """
    redaction = store.settings.redaction()
    hide = redaction.text if redaction else str
    command, told = hide(call.command), hide(call.text).strip()[:_COMPARED_CHARACTERS]
    found = [
        (not _is_told(store, task, told), task.command != command, -task.began, path, task)
        for path, task in ended_tasks(call.session.id)
        if task.began <= call.answered
    ]
    for other_text, other_command, _, path, task in sorted(found, key=lambda one: one[:4]):
        if other_text and (other_command or len(found) > 1):
            continue
        if buffer := take_task(store, session, path, task, command, call.use, call.exit_code):
            return buffer
    return None


def take_recorded_file(
    store: Store, session: Session, pending: PendingCommand, file: str, code: int | None
) -> Buffer | None:
    """The buffer of a command in the background, by the name of the harness' own file; None if none was recorded.

    Raises:
        StoreFailed: its record could not be changed.
    """
    for path, task in ended_tasks(pending.session):
        if task.file == file:
            return take_task(store, session, path, task, pending.command, pending.use, code)
    return None


def take_task(
    store: Store, session: Session, path: str, task: RecordedTask, command: str, use: str, code: int | None
) -> Buffer | None:
    """The buffer of a recorded command, with what is known of its call now; None if another hook was first.

    Raises:
        StoreFailed: its record could not be changed.
    """
    try:
        os.unlink(path)
    except OSError:
        return None
    buffer = store.index.buffer(task.buffer)
    lost = (DROPPED if buffer and buffer.gaps else "", OVERWRITTEN if buffer and OVERWRITTEN in buffer.partial else "")
    try:
        return store.amend(
            task.buffer,
            command=command,
            session=session.name,
            artifact=use_key(session.name, use),
            exit_code=code,
            partial=", ".join(filter(None, lost)),
        )
    except (UnknownRef, ExpiredRef):
        return None


def ended_tasks(session: str) -> Iterator[tuple[str, RecordedTask]]:
    """The commands of a session whose shells have ended, each with its file; a recorder that is late is waited for."""
    folder = os.path.join(default_root(), HOOKS)
    try:
        names = [name for name in os.listdir(folder) if name.startswith(f"{session}.") and name.endswith(TASK_ENDING)]
    except OSError:
        return
    until = time.monotonic() + _PATIENCE_SECONDS
    for name in names:
        path, shell = os.path.join(folder, name), name[len(session) + 1 : -len(TASK_ENDING)]
        while not (task := _read(path)) and time.monotonic() < until and not runs(shell):
            time.sleep(_TURN_SECONDS)
        if task:
            yield path, task
        elif not runs(shell):  # its recorder was killed
            remove_file(path)


def _read(path: str) -> RecordedTask | None:
    with suppress(OSError, ValueError, TypeError):
        if data := read_file(path):
            return RecordedTask(*loads(data))
    return None


def runs(shell: int | str) -> bool:
    """Whether a shell still runs, by its pid; after ``exec sudo`` it is a process of somebody else."""
    try:
        os.kill(int(shell), 0)
    except PermissionError:
        return True
    except (ValueError, OSError):
        return False
    return True


def _is_told(store: Store, task: RecordedTask, told: str) -> bool:
    """Whether the beginning of what was recorded is that of what the harness tells, which strips blanks."""
    buffer = store.index.buffer(task.buffer)
    if buffer is None or not buffer.stream("out").bytes:
        return not told
    with store.open(Target(buffer, "out")) as source:
        made = source.read(0, 4 * _COMPARED_CHARACTERS).decode(errors="replace").lstrip()
    return bool(told) and (made.startswith(told) or told.startswith(made.rstrip()[:_COMPARED_CHARACTERS]))
