"""Takes in commands that a person broke off: no hook is told of their end, but the transcript has what was shown."""

import os
import time

from sightline.agents.hooks.hook_session import open_store, session_of
from sightline.agents.hooks.recorded_tasks import RecordedTask, ended_tasks, take_task
from sightline.agents.hooks.tool_result import log_view, request_of
from sightline.base.records import Buffer, Session
from sightline.harnesses.base import Harness, Json
from sightline.harnesses.tool_call import ToolCall
from sightline.harnesses.transcript import SHAPE_ERRORS, NotReadable, Transcript, TranscriptItem, load_object
from sightline.light.library import suppress
from sightline.light.typing_names import Iterator, Sequence
from sightline.log.past_views import SLACK_SECONDS
from sightline.store import Store

_TAIL_BYTES = 8 << 20  # of a transcript; no turn that was looked at is longer
_RECENT_SECONDS = 3600.0  # for so long after a command's end its transcript is looked at, at each event


def take_in_cancelled(harness: Harness, given: Json) -> None:
    """Log what the model was shown of recorded commands that ended without a result.

    Raises:
        StoreFailed: it could not be logged.
    """
    path, session = given.get("transcript_path"), str(given.get("session_id", ""))
    tasks = [(file, task) for file, task in ended_tasks(session) if _is_recent(file)]
    if not tasks or not isinstance(path, str) or not os.path.isfile(path):
        return
    with open_store() as store:
        for call in _cancelled(harness, path):
            own = session_of(harness.name, session, call.cwd, call.session.agent)
            if buffer := _recorded(store, own, call, tasks):
                text = "\n".join(call.shown)
                size = len(text.encode(errors="surrogatepass"))
                log_view(store, own, request_of(call, size), text, buffer)


def _is_recent(path: str) -> bool:
    with suppress(OSError):
        return time.time() - os.stat(path).st_mtime < _RECENT_SECONDS
    return False


def _recorded(
    store: Store, session: Session, call: ToolCall, tasks: Sequence[tuple[str, RecordedTask]]
) -> Buffer | None:
    """Return the buffer of a command, which is known by when it was called; None if there is none."""
    redaction = store.settings.redaction()
    command = redaction.text(call.command) if redaction else call.command
    first, last = call.asked - SLACK_SECONDS, call.answered + SLACK_SECONDS
    of_call = [one for one in tasks if one[1].command == command and first <= one[1].began <= last]
    taken = (take_task(store, session, path, task, command, call.use, None) for path, task in of_call)
    return next(filter(None, taken), None)


def _cancelled(harness: Harness, path: str) -> Iterator[ToolCall]:
    """Yield the calls at the end of a transcript that have a message of the harness in the place of a result."""
    try:
        transcript = Transcript(path)
    except NotReadable:
        return
    try:
        size = transcript.status.st_size
        parser = harness.transcripts().Parser(path, transcript.status.st_mtime)
        transcript.start_at(max(0, size - _TAIL_BYTES))
        for line in transcript.lines():
            record, made = load_object(line), list[TranscriptItem]()
            with suppress(*SHAPE_ERRORS):  # an import reports what it cannot read
                made += parser.feed(record, line.number) if isinstance(record, dict) else ()
            for one in made:
                if isinstance(one, ToolCall) and one.kind == "tool" and one.failed and one.tool in harness.runs:
                    command = one.arguments.get("command") if isinstance(one.arguments, dict) else None
                    if isinstance(command, str):
                        yield one._replace(kind="cmd", command=command)
    finally:
        transcript.close()
