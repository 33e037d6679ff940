"""Makes buffers of past calls in batches, in other processes, while the next calls are read.

The other processes only write files. The index and the log are left to this one, which alone knows what they have.
"""

import contextlib
import fcntl
import os
import pickle
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import starmap

from sightline.agents.past_sessions.past_call import KeptCall, keep_call
from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer, Gap, Session, stream_info
from sightline.harnesses.tool_call import CHANGES_FILES, ToolCall
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.log import Encoded
from sightline.log.past_views import PastView, ViewRow
from sightline.store import Store

WORTH_CALLS = 64
"""A smaller batch is written here, because starting a process takes as long."""

MOST_WRITING = 2
"""Batches that are written at a time, since writing takes longer than reading; they are in memory meanwhile."""

_READ_BYTES = 1 << 20  # the most that a pipe may hold; the rest of a larger batch waits until it is asked for

_STREAMS = Buffer._fields.index("streams")
_LEFT = "`sightline doctor` finds what is left"

Calls = Sequence[tuple[ToolCall, Session]]

Ran = Mapping[tuple[str, str], Buffer]
"""Buffers of commands, by session and use."""

_NONE_RAN: Ran = {}


class KeptBatch(NamedTuple):
    """The result of a batch.

    Attributes:
        calls: the calls that are on disk, in order.
        error: why the others are not; None if all are.
    """

    calls: list[KeptCall]
    error: StoreFailed | None = None


def keep_calls(store: Store, calls: Calls, before: Ran = _NONE_RAN) -> KeptBatch:
    """Write their buffers, up to the first that the store could not keep.

    Args:
        store: the store that keeps them.
        calls: the calls.
        before: the commands of earlier batches of which some of them show more.
    """
    kept: list[KeptCall] = []
    ran = dict(before)
    try:
        for call, session in calls:
            of = ran.get((session.name, call.of)) if call.of else None
            kept.append(keep_call(store, call, session, of=of))
            made = [one for one in (call, *call.inner) if not (of and one is call) and one.tool not in CHANGES_FILES]
            for one, buffer in zip(made, kept[-1].buffers, strict=True):
                if one.kind == "cmd" and one.use:
                    ran[session.name, one.use] = buffer
    except StoreFailed as error:
        return KeptBatch(kept, error)
    except Exception as error:  # this process reports errors only through the pipe
        failed = StoreFailed(f"an output could not be written: {type(error).__name__}: {error}", _LEFT)
        failed.__cause__ = error
        return KeptBatch(kept, failed)
    return KeptBatch(kept)


class Writing:
    """A batch that is being written. It must be waited for, because nobody else knows what it has written.

    Attributes:
        ids: ids of its calls.
    """

    def __init__(self, store: Store, calls: Calls, before: Ran = _NONE_RAN) -> None:
        """Start writing; the arguments are those of `keep_calls`."""
        self.ids = {call.id for call, _ in calls}
        self._calls = calls
        self._data = bytearray()
        self._from = self._process = -1
        if len(calls) >= WORTH_CALLS:
            self._begin(store, calls, before)
        self._kept = keep_calls(store, calls, before) if self._process < 0 else None

    def _begin(self, store: Store, calls: Calls, before: Ran) -> None:
        self._from, to = os.pipe()
        with contextlib.suppress(AttributeError, OSError):  # only Linux has it, and it may allow no more
            fcntl.fcntl(to, fcntl.F_SETPIPE_SZ, _READ_BYTES)
        try:
            self._process = os.fork()
        except OSError:  # no process can be started
            os.close(self._from)
        if self._process == 0:
            _write(store, calls, before, to)
        os.close(to)

    def wait(self) -> KeptBatch:
        """Return the result. It may be called again after an interrupt."""
        if self._kept is None:
            while data := os.read(self._from, _READ_BYTES):
                self._data += data
            os.waitpid(self._process, 0)
            os.close(self._from)
            self._kept = _told(self._data, self._calls)
        return self._kept


class Writings:
    """The batches that are being written, in order."""

    def __init__(self, store: Store) -> None:
        """Prepare; nothing is being written yet."""
        self._store = store
        self._begun: deque[Writing] = deque()

    def __len__(self) -> int:
        """Number of batches."""
        return len(self._begun)

    def __contains__(self, call: str) -> bool:
        """Return whether a call with this id is among them."""
        return any(call in writing.ids for writing in self._begun)

    @property
    def calls(self) -> int:
        """Number of their calls."""
        return sum(len(writing.ids) for writing in self._begun)

    def begin(self, calls: Calls, before: Ran = _NONE_RAN) -> None:
        """Start writing one more batch; the arguments are those of `keep_calls`."""
        self._begun.append(Writing(self._store, calls, before))

    def first(self) -> KeptBatch:
        """Wait for the first batch, remove it, and return its result."""
        kept = self._begun[0].wait()
        self._begun.popleft()
        return kept


def _write(store: Store, calls: Calls, before: Ran, to: int) -> None:
    """Run the other process; an interrupt of this one does not interrupt it."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kept = keep_calls(store, calls, before)
        failure = kept.error and (kept.error.message, kept.error.hint)
        with open(to, "wb") as file:
            file.write(pickle.dumps(([_packed(call) for call in kept.calls], failure)))
    finally:
        os._exit(0)


def _packed(kept: KeptCall) -> tuple[Any, ...]:
    """Return a call as plain tuples, which take a tenth of the time, without the session, which this process has."""
    buffers = [
        (
            *one[:_STREAMS],
            [(name, *info) for name, info in one.streams.items()],
            one.partial,
            [*map(tuple, one.gaps)],
            one.project,
            one.seals,
        )
        for one in kept.buffers
    ]
    return buffers, kept.view and tuple(map(tuple, kept.view)), kept.calls


def _unpacked(packed: tuple[Any, ...], session: Session) -> KeptCall:
    rows, view, calls = packed
    buffers = tuple(
        Buffer._make(
            (
                *fields,
                {name: stream_info(info) for name, *info in streams},
                partial,
                tuple(starmap(Gap, gaps)),
                project,
                seals,
            )
        )
        for *fields, streams, partial, gaps, project, seals in rows
    )
    return KeptCall(session, buffers, view and PastView(Encoded._make(view[0]), ViewRow._make(view[1])), calls)


def _told(data: bytearray, calls: Calls) -> KeptBatch:
    try:
        packed, error = pickle.loads(data)  # noqa: S301 - from our own other half, through a pipe that nobody else has
    except (pickle.UnpicklingError, EOFError, IndexError, AttributeError):  # what an incomplete answer raises
        return KeptBatch([], StoreFailed("the process that writes outputs has ended", _LEFT))
    kept = [_unpacked(one, session) for one, (_, session) in zip(packed, calls, strict=False)]  # fewer if it failed
    return KeptBatch(kept, error and StoreFailed(*error))
