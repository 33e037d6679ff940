"""What the hooks of a session share: store, session, waiting notes, which events were taken up, locks.

Nobody waits for the process that takes in a tool's result after its hook has ended. The hook that logs a batch of
calls needs what it keeps, and Claude Code, which does not wait for that hook either, ends it when it ends itself. So a
batch waits for the results, and the hook at the end of a turn for both, by a lock for each.
"""

import binascii
import fcntl
import os
import time

from sightline.base.private_files import make_folder, open_private, remove_file
from sightline.base.project import working_directory
from sightline.base.records import Session, storable
from sightline.harnesses.base import AFTER, BATCH, Harness, Json
from sightline.light.json_text import dumps
from sightline.light.late_imports import late_modules
from sightline.light.library import contextmanager, suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Iterable, Iterator
from sightline.log.sessions import safe_name
from sightline.settings.config import HOOKS, default_root

if TYPE_CHECKING:  # 20 ms, which the start of a session and the end of a turn save
    from sightline.store import Store

with late_modules(globals()):
    from sightline.log import notes  # few sessions have notes that wait

PATIENCE_SECONDS = 3.0
"""How long hooks, and what they put into commands, wait while another process changes the index; an agent waits."""

_BATCH_SECONDS = 15.0  # a batch waits for its results; nobody waits for it, but a hook is ended after 20 s
_TURN_SECONDS = 0.005  # between two looks at a lock
SAME_EVENT_SECONDS = 60.0
"""How long two hooks of ours for one event may be apart; what is told later is another call, though with that id."""

_TAIL_BYTES = 1 << 14
"""How much of the file's end is searched: two hooks for one event run at the same time, or one after the other."""


@contextmanager
def open_store(*, insist: bool = True) -> Iterator["Store"]:
    """The store of hooks; it is left rather than closed, since the process ends then."""
    from sightline.store import Store  # see above

    store = Store(insist=insist, patience=PATIENCE_SECONDS, waits=False)
    try:
        yield store
    finally:
        store.access.leave()


def session_of(harness: str, harness_session: str, cwd: str, agent: object = "") -> Session:
    """The session that an event belongs to; its commands and our own MCP server find the same one.

    Args:
        harness: name of the harness.
        harness_session: its id of the session.
        cwd: its working directory.
        agent: the harness' id of the helper whose event it is, whose context is its own; empty for the agent itself.
    """
    own = f"{harness}-{harness_session or 'unknown'}"
    return Session(
        name=safe_name(f"{own}-{agent}" if agent and isinstance(agent, str) else own),
        harness=harness,
        harness_id=storable(harness_session),
        client="",
        cwd=storable(cwd),
        started=time.time(),
    )


class EventSessions(NamedTuple):
    """Whose an event is: made once, and handed on.

    Attributes:
        own: the session, of a helper where it is a helper's event.
        agent: the agent's own, which is the same but for a helper's event; its name is that of the locks.
    """

    own: Session
    agent: Session


def sessions_of(harness: Harness, given: Json) -> EventSessions:
    """Return whose an event is, as the harness tells it."""
    session, cwd, helper = harness.caller(given)
    agent = session_of(harness.name, session, cwd or working_directory())
    return EventSessions(session_of(harness.name, session, agent.cwd, helper) if helper else agent, agent)


def notes_answer(store: "Store", session: Session, harness: Harness, event: str) -> Json | None:
    """The answer that hands over the notes that wait for a session; None if no note waits."""
    if not harness.tells or not has_notes():
        return None
    said = waiting_notes(store, session)
    return harness.addition(event, "\n\n".join(said)) if said else None


def has_notes() -> bool:
    """Whether a note waits, for whichever session or harness."""
    with suppress(FileNotFoundError):
        return bool(os.listdir(os.path.join(default_root(), "outbox")))
    return False


def waiting_notes(store: "Store", session: Session) -> list[str]:
    """The text of the notes that wait, which are marked as sent."""
    held = notes.hold_waiting(store, session.name, anyone=True)
    if not held:
        return []
    notes.release(store, held, session)
    told = "\n".join(f"{waiting.ref}: {waiting.text}" for waiting in held)
    return [f"Notes from the person who looks on, about lines of outputs:\n{told}"]


def is_first(root: str, session: str, event: str, use: str, told: object = None, after: Iterable[str] = ()) -> bool:
    """Take up an event of a tool's use; False if another hook has done so already.

    A harness may run two hooks of ours for one event: a person's and a project's. One small file a session says which
    events were taken up. A hook that cannot read it takes its event up.

    Args:
        root: of the store.
        session: name of the session.
        event: the harness' name of the event.
        use: the harness' id of the use; without an id, events cannot be told apart.
        told: what the event tells, since a model's server may give one id to several calls; None for no more.
        after: events that come before this one; if one of that use was taken up since, this is of a later call.
    """
    if not use:
        return True
    about = dumps(f"{event} {use} {binascii.crc32(dumps(told).encode(errors='replace')):08x}").encode()
    former = dumps([event, use]).encode()  # as hooks of 0.2.0 write it, which may be here beside ours
    try:
        with _events(root, session) as fd:
            tail = b"\n" + os.pread(fd, _TAIL_BYTES, max(0, os.fstat(fd).st_size - _TAIL_BYTES))
            begun = max((tail.rfind(_start_of(one, use)) for one in after), default=-1)
            found = tail.rfind(b"\n" + about + b" ")
            by_former = tail.rfind(b"\n" + former + b"\n") > max(begun, tail.rfind(_start_of(event, use)))
            is_taken = by_former or (found > begun and _is_recent(tail[found + len(about) + 2 :]))
            if by_former or not is_taken:
                os.write(fd, b"\n%b\n%b %.3f\n" % (former, about, time.time()))
            return not is_taken
    except OSError:
        return True


def note_begun(root: str, session: str, event: str, use: str) -> None:
    """Note that a call begins, so that its events are not taken for those of an earlier call with its id."""
    with suppress(OSError), _events(root, session) as fd:  # without the folder there was no earlier call
        os.write(fd, b'%b" %.3f\n' % (_start_of(event, use), time.time()))


@contextmanager
def _events(root: str, session: str) -> Iterator[int]:
    folder = os.path.join(root, HOOKS)
    make_folder(folder)
    fd = open_private(os.path.join(folder, f"{session}.events"), os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def _start_of(event: str, use: str) -> bytes:
    return b"\n" + dumps(f"{event} {use} ").encode()[:-1]


def _is_recent(noted: bytes) -> bool:
    with suppress(ValueError):
        return time.time() - float(noted.partition(b"\n")[0]) < SAME_EVENT_SECONDS
    return False


@contextmanager
def taking_in(session: str, kind: str) -> Iterator[bool]:
    """Hold the lock of a session while what an event tells is taken in; the value says whether it is held.

    Args:
        session: name of the session.
        kind: AFTER for a tool's result, BATCH for what the model is shown of several; empty to hold none.
    """
    fd = -1
    if kind:
        with suppress(OSError):  # before a session's first event it has no folder
            fd = open_private(_lock_of(session, kind), os.O_RDWR | os.O_CREAT)
            fcntl.flock(fd, fcntl.LOCK_SH)
    try:
        yield fd >= 0
    finally:
        if fd >= 0:
            os.close(fd)


def wait_until_in(session: str, kind: str = "") -> None:
    """Wait until nothing of a session is being taken in.

    Args:
        session: name of the session.
        kind: AFTER or BATCH; empty at the end of a turn, for both in this order, and their files are removed.
    """
    until = time.monotonic() + (_BATCH_SECONDS if kind else PATIENCE_SECONDS)
    for one in (kind,) if kind else (AFTER, BATCH):
        try:
            fd = open_private(_lock_of(session, one), os.O_RDWR)
        except OSError:  # nothing was taken in
            continue
        try:
            if is_held_before(fd, until) and not kind:
                remove_file(_lock_of(session, one))
        finally:
            os.close(fd)


def is_held_before(fd: int, until: float) -> bool:
    """Hold a lock once nobody else does; False if somebody still does at that time, of `time.monotonic`."""
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        if time.monotonic() > until:
            return False
        time.sleep(_TURN_SECONDS)


def _lock_of(session: str, kind: str) -> str:
    return os.path.join(default_root(), HOOKS, f"{session}.{kind}")
