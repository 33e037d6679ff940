"""Commands whose end a later hook waits for: each as it was before a hook rewrote it or it went to the background.

There is one small file a command. The rewritten command names it by a key, so that its text is not there twice.
"""

import os
import time

from sightline.base.private_files import make_folder, make_parents, open_private, remove_file, write_atomically
from sightline.light.json_text import dumps, loads
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.settings.config import HOOKS, Settings, default_root

TASK_ENDING = ".task"
"""Ending of the file that says what `task_recorder` has recorded of a command."""

_USE_CHARACTERS = 120
_ENDINGS = ".0.part"  # ending of the file that says how a list's parts ended
_LIVE = ".live"
_KEPT_SECONDS = 7 * 86_400  # older commands were never run, since a person refused them

LONG_USE = 20
"""Characters from which on an id is random enough that no other call has it."""


class PendingCommand(NamedTuple):
    """One such command.

    Attributes:
        use: the harness' id of the tool's use.
        harness: its name.
        session: its id of the session.
        command: the person's or agent's own command line.
        kept: the part of it whose output is kept.
        merged: whether that holds both streams.
        filtered: whether filters come after it, so that its code is not the command line's.
        shape: whether the agent is shown our view.
        parts: the parts of a list with pipes of their own, each as `capture.list_insertion.Part`; else empty.
        past: whether standard error may have bypassed the pipes.
        agent: the harness' id of the helper that runs it; empty for the agent itself.
        background: whether it went on after its tool had answered, so that a later prompt tells its end.
        cwd: the folder in which the harness ran it.
        written: when it was written down, seconds since the epoch; what it makes is newer.
    """

    use: str
    harness: str
    session: str
    command: str
    kept: str
    merged: bool
    filtered: bool
    shape: bool
    parts: tuple[Any, ...] = ()
    past: bool = False
    agent: str = ""
    background: bool = False
    cwd: str = ""
    written: float = 0.0

    @property
    def key(self) -> str:
        """The name of its files."""
        return key_of(self.use, self.session)


def key_of(use: str, session: str) -> str:
    """What the files of a command are called by: the id of its use, with its session where others may have that id."""
    if len(use) >= LONG_USE or not use:
        return use
    from binascii import crc32  # most ids are long

    return f"{use}-{crc32(session.encode(errors='replace')):08x}"


def is_use(text: Any) -> bool:
    """Whether an id is safe as a word of a command and as the name of a file."""
    if not isinstance(text, str) or not 0 < len(text) <= _USE_CHARACTERS:
        return False
    return (
        text.isascii() and text.replace("-", "a").replace("_", "a").isalnum()
    )  # no regular expression, since compiling one takes a millisecond


def remember(command: PendingCommand, settings: Settings) -> None:
    """Write a command down, without its secrets if the settings hide them. Raises OSError, UnsafeStore."""
    if told := settings.redaction():
        command = command._replace(command=told.text(command.command), kept=told.text(command.kept))
    root = default_root()
    if not os.path.isdir(root):
        make_parents(root)
        make_folder(root)
    make_folder(os.path.join(root, HOOKS))
    write_atomically(pending_path(command.key), dumps(command._asdict()).encode())


def recall(key: str) -> PendingCommand | None:
    """The command that was written down under a key; None if there is none."""
    if not is_use(key):
        return None
    try:
        with open(open_private(pending_path(key), os.O_RDONLY), "rb") as file:
            return PendingCommand(**loads(file.read()))
    except (OSError, ValueError, TypeError):
        return None


def forget(key: str) -> None:
    """Remove the files of a command whose end has been recorded."""
    pending = recall(key)
    remove_file(pending_path(key))
    remove_file(live_path(key))
    for number in range(len(pending.parts) + 1 if pending and pending.parts else 0):
        remove_file(part_path(key, number))


def pending_path(key: str) -> str:
    """The path of the file in which the hook before a command writes it down."""
    return os.path.join(default_root(), HOOKS, key + ".json")


def part_path(key: str, number: int) -> str:
    """The path of the file with what one pipe of a list took; the file of number 0 says how each part ended."""
    return os.path.join(default_root(), HOOKS, f"{key}.{number}.part")


def live_path(key: str) -> str:
    """The path of the file that says which recording shows a list while it runs."""
    return os.path.join(default_root(), HOOKS, key + _LIVE)


def pending_lists(harness: str, session: str) -> list[PendingCommand]:
    """The lists of a session that have run, and whose own end the harness has not told."""
    try:
        names = os.listdir(os.path.join(default_root(), HOOKS))
    except OSError:
        return []
    keys = {name.removesuffix(end) for name in names for end in (_ENDINGS, _LIVE) if name.endswith(end)}
    found = map(recall, sorted(keys))
    return [one for one in found if one and one.parts and (one.harness, one.session) == (harness, session)]


def has_background(harness: str, session: str) -> bool:
    """Whether a command of a session went to the background, and no hook was told its end."""
    try:
        names = os.listdir(os.path.join(default_root(), HOOKS))
    except OSError:
        return False
    found = (recall(name.removesuffix(".json")) for name in names if name.endswith(".json"))
    return any(one and one.background and (one.harness, one.session) == (harness, session) for one in found)


def has_recorded(session: str) -> bool:
    """Whether a command of a session was recorded, or is, whose end no hook was told."""
    with suppress(OSError):
        names = os.listdir(os.path.join(default_root(), HOOKS))
        return any(name.startswith(f"{session}.") and name.endswith(TASK_ENDING) for name in names)
    return False


def forget_ended(harness: str, session: str, agent: str) -> None:
    """Remove what was written down for a session's commands, when none of them runs any more but in the background.

    Harnesses report no end of a command that a person has refused or broken off.

    Args:
        harness: its name.
        session: its id of the session.
        agent: its id of the helper; empty for the agent itself.
    """
    try:
        names = os.listdir(os.path.join(default_root(), HOOKS))
    except OSError:
        return
    for name in names:
        pending = recall(name.removesuffix(".json")) if name.endswith(".json") else None
        if pending is None or pending.background or pending.parts:
            continue
        if (pending.harness, pending.session, pending.agent) == (harness, session, agent):
            forget(name.removesuffix(".json"))


def forget_old() -> None:
    """Remove the files of commands that were never run."""
    folder = os.path.join(default_root(), HOOKS)
    try:
        files = [
            entry
            for entry in os.scandir(folder)
            if entry.is_file() and time.time() - entry.stat().st_mtime > _KEPT_SECONDS
        ]
    except OSError:
        return
    for entry in files:
        remove_file(entry.path)
