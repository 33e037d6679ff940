"""Follows the files of a session call by call: how each call changed them, and which of their lines are known then.

Only what calls read, wrote and edited counts, as the store has it. The present working tree is never looked at.
"""

import os
import re
from collections.abc import Sequence
from functools import lru_cache

from sightline.audit.evidence.call_facts import command_of, exit_code_of
from sightline.audit.evidence.edits import edits_of
from sightline.audit.file_states import UNKNOWN, DiffLine, FileState, changed, read
from sightline.audit.timeline import Call
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.harnesses.file_changes import DELETED, FileChange, changes_in, changes_in_patch
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.lexer import Unclear, tokens_of
from sightline.shell_words.pipelines import Pipelines, Stage, without_assignments
from sightline.shell_words.programs import programs_of
from sightline.shell_words.quoting import unquoted
from sightline.store import Reading, Target

MOST_LINES, MOST_BYTES = 50_000, 4 << 20
"""Of a read; of one that gave more, nothing is taken as known."""

BY_COMMAND = "a command changed it, and how is not recorded"
TOO_LONG = "a call read more of it than is looked at here"
GONE = "what a call read of it is no longer in the store"

_SPAN = re.compile(r"(\d{1,9})(?:,(\d{1,9}|\$))?p")
_TO_NOTHING = re.compile(r">\s*(?:/dev/null|&\d)")
_LINE_BYTES = 1 << 16  # a longer line is not known whole


@lru_cache(maxsize=1024)
def _changes(request: str) -> tuple[FileChange, ...]:
    asked = loads(request)
    if not isinstance(asked, dict):
        return ()
    tool, command, patch = (asked.get(name) for name in ("tool", "command", "patch"))
    if isinstance(command, str):
        return tuple(changes_in_patch(command)) if "*** Begin Patch" in command else ()
    if isinstance(patch, str):
        return tuple(changes_in_patch(patch))
    return tuple(changes_in(tool, asked.get("arguments"))) if isinstance(tool, str) else ()


def changes_of(call: Call) -> tuple[FileChange, ...]:
    """Return how a call meant to change files, by its request alone; whether it did, its reply says."""
    return () if call.failed else _changes(call.view.request)


def lines_changed(call: Call) -> tuple[int, int]:
    """Return how many lines a call added to files, and how many it took from them, as far as its request says."""
    return _lines_changed(changes_of(call))


@lru_cache(maxsize=512)
def _lines_changed(changes: tuple[FileChange, ...]) -> tuple[int, int]:
    signs = [line.sign for one in changes for line in stated_diff(one)]
    return signs.count("+"), signs.count("-")


def stated_diff(change: FileChange) -> list[DiffLine]:
    """Return a change as a diff, as far as the call itself states it: without numbers and surroundings."""
    return changed(UNKNOWN, change)[1]


class _Touch(NamedTuple):
    """A call that read or changed a file: its place, the file, and the change; None for a read."""

    place: int
    path: str
    change: FileChange | None = None
    is_by_command: bool = False


class KnownFile(NamedTuple):
    """What is known of a file at a call.

    Attributes:
        path: the file.
        state: its lines, as far as they are known.
        place: place of the last call that read or changed it, from 0.
        doubts: number of commands since then of which nobody can tell which files they changed.
        diff: how the call itself changed the file; empty if it did not.
        change: that change; None if it did not, or if a command made it in a way that is not recorded.
        is_by_command: whether a command changed it in such a way at this call.
        name: its path, below the session's folder without that.
    """

    path: str
    state: FileState
    place: int
    doubts: int = 0
    diff: Sequence[DiffLine] = ()
    change: FileChange | None = None
    is_by_command: bool = False
    name: str = ""


class FileTrail:
    """The files of one session. One thread at a time may use it."""

    def __init__(self, store: Reading, folder: str) -> None:
        """Prepare to follow.

        Args:
            store: the store.
            folder: the session's folder, for relative paths.
        """
        self._store = store
        self._folder = folder
        self._start()

    def _start(self) -> None:
        self._calls: list[Call] = []
        self._touches: list[_Touch] = []
        self._known: dict[str, list[KnownFile]] = {}  # what is known behind each touch of a file, as far as asked for
        self._open: list[int] = []  # places of commands of which nobody can tell what they changed

    def take(self, calls: Sequence[Call]) -> None:
        """Take in the calls of the session, oldest first, of which it may know the first ones. Raises as the store."""
        known = len(self._calls)
        if known > len(calls) or (known and self._calls[-1].view.id != calls[known - 1].view.id):
            self._start()
            known = 0
        for place, call in enumerate(calls[known:], known):
            if call.running or call.unanswered:
                break
            self._calls.append(call)
            self._touches += self._touched(place, call)

    def _touched(self, place: int, call: Call) -> list[_Touch]:
        changes = {self._path(one.path, call): one for one in map(_moved_away, changes_of(call))}
        changes |= {self._path(one.moved, call): one for one in changes_of(call) if one.moved}
        edits = edits_of(self._store, call, self._folder)
        sure = dict.fromkeys(one.path for one in edits if one.path and one.sure)
        found = [_Touch(place, path, changes.get(path), is_by_command=path not in changes) for path in sure]
        if (command := command_of(call)) and not (_only_looks(command) and all(one.path and one.sure for one in edits)):
            self._open.append(place)
        if not found and not changes and (path := self._path_read(call)):
            found.append(_Touch(place, path))
        return found

    def _path(self, path: str, call: Call) -> str:
        folder = os.path.join(self._folder, call.buffer.cwd) if call.buffer and command_of(call) else self._folder
        path = os.path.expanduser(path)
        return os.path.normpath(path if os.path.isabs(path) or not folder else os.path.join(folder, path))

    def _name(self, path: str) -> str:
        folder = self._folder.rstrip("/") + "/"
        return path.removeprefix(folder) if self._folder else path

    def _path_read(self, call: Call) -> str:
        """Return the file of which a call read whole lines; empty if it read none, or that is not known."""
        if call.buffer is None:
            return ""
        if call.buffer.kind == "file":
            return self._path(call.buffer.command, call)
        asked = _lines_printed(command_of(call)) if exit_code_of(call) == 0 else None
        return self._path(asked[0], call) if asked else ""

    def files(self, place: int) -> list[str]:
        """Return the files that calls up to a place have read or changed, the one touched last first."""
        paths = (one.path for one in reversed(self._touches) if one.place <= place)
        return list(dict.fromkeys(paths))

    def changed_at(self, place: int) -> list[KnownFile]:
        """Return the files that a call changed, with what was known of each behind it."""
        paths = dict.fromkeys(one.path for one in self._touches if one.place == place and _is_change(one))
        return [self.at(path, place) for path in paths]

    def at(self, path: str, place: int) -> KnownFile:
        """Return what is known of a file behind a call."""
        touches = [one for one in self._touches if one.path == path and one.place <= place]
        known = self._known.setdefault(path, [])
        for touch in touches[len(known) :]:
            state, diff = self._after(known[-1].state if known else UNKNOWN, touch)
            known.append(KnownFile(path, state, touch.place, 0, diff, touch.change, touch.is_by_command))
        if not touches:
            return KnownFile(path, UNKNOWN, -1, name=self._name(path))
        found = known[len(touches) - 1]._replace(name=self._name(path))
        if found.place < place:
            found = found._replace(diff=(), change=None, is_by_command=False)
        return found._replace(doubts=sum(found.place < one <= place for one in self._open))

    def _after(self, state: FileState, touch: _Touch) -> tuple[FileState, list[DiffLine]]:
        if touch.is_by_command:
            return FileState(why_not=BY_COMMAND), []
        if touch.change is not None:
            return changed(state, touch.change)
        return self._read(state, self._calls[touch.place]), []

    def _read(self, state: FileState, call: Call) -> FileState:
        """Return the state of a file behind a call that read lines of it."""
        buffer = call.buffer
        if buffer is None:
            return state
        known = _lines_kept(buffer) if buffer.kind == "file" else _lines_printed(command_of(call))
        if known is None or set(buffer.streams) - {"out"}:
            return state
        if buffer.lines > MOST_LINES or buffer.bytes > MOST_BYTES:
            return FileState(why_not=TOO_LONG)
        try:
            lines = self._lines_of(buffer)
        except (SightlineError, OSError):
            return FileState(why_not=GONE) if not state.runs else state
        if buffer.kind == "file":
            return read(state, known[1], lines, known[2])
        asked = None if known[2] is None else known[2] - known[1] + 1
        total = known[1] + len(lines) - 1 if asked is None or (lines and len(lines) < asked) else None
        return read(state, known[1], lines[:asked], total)

    def _lines_of(self, buffer: Buffer) -> list[str]:
        with self._store.open(Target(buffer, "out")) as stream:
            found = stream.lines(1, stream.line_count, _LINE_BYTES)
            return [line.data.decode(errors="surrogateescape").removesuffix("\r") for line in found]


def _moved_away(change: FileChange) -> FileChange:
    """Return what becomes of the file at the old path."""
    return change._replace(what=DELETED) if change.moved else change


def _is_change(touch: _Touch) -> bool:
    return touch.change is not None or touch.is_by_command


def _lines_kept(buffer: Buffer) -> tuple[str, int, int | None] | None:
    """Return path, number of the first line, and number of all lines of the file that was read; None if not known.

    Only a read of neighbouring lines is understood; a gap before them says how many there are.
    """
    if buffer.altered or (buffer.is_partial and not buffer.gaps):
        return None
    before = [gap for gap in buffer.gaps if gap.after == 0]
    behind = [gap for gap in buffer.gaps if gap.after and gap.after >= buffer.lines]
    if len(before) + len(behind) != len(buffer.gaps) or any(gap.unit != "lines" for gap in buffer.gaps):
        return None
    if any(gap.missing is None for gap in before):
        return None
    first = 1 + sum(gap.missing or 0 for gap in before)
    is_open = any(gap.missing is None for gap in behind)
    total = None if is_open else first - 1 + buffer.lines + sum(gap.missing or 0 for gap in behind)
    return buffer.command, first, total


_LOOKING = """cat head tail sed nl grep egrep fgrep rg ls find fd tree stat file wc du pwd cd echo printf true which
    type git sort uniq cut tr column jq diff cmp basename dirname realpath sleep date"""
_ONLY_LOOK = frozenset(_LOOKING.split())
"""Programs that change no file, but for what redirections and `_CHANGING` say; what ``sed -i`` changes is named."""

_GIT_LOOKS = frozenset(
    ("status", "log", "show", "diff", "blame", "grep", "ls-files", "rev-parse", "remote", "describe")
)
_CHANGING = frozenset(
    ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-x", "--exec", "-X", "-o", "--output")
)


@lru_cache(maxsize=512)
def _only_looks(command: str) -> bool:
    """Return whether a command is known to change no file but those that it names for that."""
    try:
        pipelines = Pipelines(tokens_of(command).tokens).all_pipelines()
    except Unclear:
        return False
    return all(_stage_looks(stage) for pipeline in pipelines for stage in pipeline.stages)


def _stage_looks(stage: Stage) -> bool:
    words = tuple(unquoted(word) for word in without_assignments(stage.words))
    if stage.is_compound or not words or any(">" in one and not _TO_NOTHING.search(one) for one in stage.redirections):
        return False
    name = words[0].rpartition("/")[2]
    if name == "git":
        return any(word in _GIT_LOOKS for word in words[1:2])
    takes_scripts = name in ("find", "fd", "sort", "tree")
    return name in _ONLY_LOOK and not (takes_scripts and _CHANGING & {*words})


@lru_cache(maxsize=512)
def _lines_printed(command: str) -> tuple[str, int, int | None] | None:
    """Return the file, and its first and last line, that a command prints and nothing else; None for any other.

    Returns:
        (path, first, last), with last None for the end of the file.
    """
    try:
        programs = programs_of(command) if command else ()
    except Unclear:
        return None
    if len(programs) != 1 or programs[0].filters or programs[0].part or not programs[0].ends:
        return None
    name, *words = programs[0].words
    if any(sign in word for word in words for sign in "*?[`"):
        return None
    match words:
        case [path] if name == "cat" and path[:1] != "-":
            return path, 1, None
        case ["-n", script, path] if name == "sed" and (span := _SPAN.fullmatch(script)):
            last = span[2] or span[1]
            return path, int(span[1]), None if last == "$" else int(last)
        case ["-n", count, path] if name == "head" and count.isdigit():
            return path, 1, int(count)
        case [count, path] if name == "head" and count[:1] == "-" and count[1:].isdigit():
            return path, 1, int(count[1:])
    return None
