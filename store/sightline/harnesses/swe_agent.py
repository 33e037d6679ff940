"""SWE-agent, by its published format: trajectories, ``….traj``, JSON documents of commands and their outputs.

``{"trajectory": [{action, observation, response, execution_time, state}], "history": [{role, content, action,
is_demo}], "environment"}``. The model saw the entry of the ``history`` behind its turn with the action; that has the
observation in a frame. ``state`` has ``working_dir``, as JSON or an object. Steps have no times, so these are counted
back from the time of the file.
"""

import os
import re
from collections.abc import Iterator

from sightline.base.request_usage import SUM, RequestUsage
from sightline.base.sha256 import sha256_hex
from sightline.harnesses.base import Harness
from sightline.harnesses.tool_call import (
    CallSession,
    ToolCall,
    dict_of,
    list_of,
    number,
    plain,
    shown_of,
    text_of,
    text_part,
)
from sightline.harnesses.transcript import (
    SHAPE_ERRORS,
    Candidate,
    ToldEvent,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    count_of,
    misshapen,
)
from sightline.light.json_text import loads
from sightline.light.typing_names import Any
from sightline.log.session_events import TRANSCRIPT, AgentMessage

_NO_TIMES = "its time was not written down"
_ONLY_DURATIONS = "when it ran was not written down"
CUT = re.compile(r"<output_head>|<elided_chars>|characters were elided")
"""Text in an observation that was cut."""


class SweAgent(Harness):
    """Only past sessions are read."""

    name, title = "swe-agent", "SWE-agent"
    endings = (".traj",)
    reader = __name__


HARNESS = SweAgent()


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a trajectory; None for another file."""
    observed = file.path.endswith(".traj") or b'"observation"' in file.head
    if file.head.lstrip()[:1] != b"{" or b'"trajectory"' not in file.head or not observed:
        return None
    return file.of_document(lambda document: read_trajectory(document, file.path, file.written))


def read_trajectory(document: Any, path: str, written: float) -> Iterator[TranscriptItem]:
    """Yield the calls of a trajectory; ``written`` is when the file was written, in seconds since the epoch."""
    steps = [dict_of(step) for step in list_of(dict_of(document).get("trajectory"))]
    turns = list(_turns(document.get("history")))
    stats = dict_of(dict_of(document.get("info")).get("model_stats"))
    taken = [number(step.get("execution_time")) for step in steps]
    at = written - sum(taken)
    session = run_of(path, HARNESS.name, HARNESS.name, at, ".traj")
    sent, received = (count_of(stats.get(f"tokens_{name}")) for name in ("sent", "received"))
    if sent or received:
        price = number(stats.get("instance_cost")) or None
        unique = f"{HARNESS.name}:{session.id}:{session.run}"
        usage = RequestUsage(unique, written, "", fresh=sent, output=received, tier=SUM, own_price=price)
        yield ToldUsage(session, usage)
    for place, (step, seconds) in enumerate(zip(steps, taken, strict=True)):
        try:
            action, out = text_of(step.get("action")), text_of(step.get("observation"))
            if said := (text_of(step.get("response")) or text_of(step.get("thought"))).strip():
                yield ToldEvent(session, AgentMessage(at, plain(said), str(place), TRANSCRIPT))
            turn, answer = turns[place] if place < len(turns) else (None, ())
            matched = bool(answer) and turn == action.strip()
            shown = answer if matched else (plain(out),)
            yield trajectory_call(session, place, at, at + seconds, action, shown, out)._replace(
                cwd=_working_dir(step.get("state")),
                partial="" if matched or not CUT.search(out) else HARNESS.cut,
                note=f"merged; {_ONLY_DURATIONS if seconds else _NO_TIMES}",
            )
        except SHAPE_ERRORS as error:
            yield misshapen(0, error)
        at += seconds


def _turns(history: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the action of each turn of the model's, and the texts that it was shown next; none at the end."""
    entries = [one for one in map(dict_of, list_of(history)) if not one.get("is_demo")]
    for entry, following in zip(entries, [*entries[1:], {}], strict=False):
        if entry.get("role") == "assistant":
            answered = following.get("role") in ("user", "tool")
            yield text_of(entry.get("action")).strip(), shown_of(following.get("content")) if answered else ()


def trajectory_call(
    session: CallSession, place: int, asked: float, answered: float, command: str, shown: tuple[str, ...], out: str
) -> ToolCall:
    """Return the call of a command at an index of a trajectory."""
    return ToolCall(
        session=session,
        id=f"{session.harness}:{session.id}:{session.run}:{place}",
        use="",
        line=0,
        asked=asked,
        answered=answered,
        tool="bash",
        arguments={"command": command},
        kind="cmd",
        command=plain(command),
        cwd="",
        shown=shown,
        parts=text_part(out),
        note="merged" if asked != answered else f"merged; {_NO_TIMES}",
    )


def _working_dir(state: Any) -> str:
    if isinstance(state, str):
        try:
            state = loads(state)
        except ValueError:
            return ""
    return text_of(dict_of(state).get("working_dir"))


def run_of(path: str, harness: str, client: str, started: float, *endings: str) -> CallSession:
    """Return the session of a trajectory, which has no name in its file: that and its folder's name it.

    Names repeat between runs, so the path tells it from others.
    """
    path = os.path.abspath(path)
    folder, name = os.path.split(path)
    for ending in endings:
        name = name.removesuffix(ending)
    above = os.path.basename(folder)
    run = sha256_hex(path.encode(errors="surrogateescape"))[:8]
    return CallSession(harness, f"{above}-{name}" if above != name else name, client, "", started, run=run)
