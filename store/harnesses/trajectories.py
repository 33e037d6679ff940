"""Trajectories of SWE-agent (``….traj``) and mini-swe-agent (``….traj.json``): JSON documents of commands and outputs.

From their published formats. Steps of the first have no times: these are counted back from when the file was written.

- SWE-agent: ``{"trajectory": [{action, observation, execution_time, state}], "history": [{role, content,
  message_type}], "environment"}``. What the model saw are the ``history``'s observations; ``state`` has
  ``working_dir``, as JSON or an object.
- mini-swe-agent 1.x and 2.x: ``{"messages": [{role, content, extra, tool_calls}], "info", "trajectory_format"}``, at
  first the bare list. A command stands in ``extra.actions``, a tool call, or a block of code; its output in the next
  message, in ``extra`` (``raw_output``, ``returncode``, ``timestamp``) or within ``<output>``.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from sightline.harnesses.content import Kept, parted, shown_of, text_part
from sightline.harnesses.past import Event, PastCall, PastSession
from sightline.harnesses.transcript import (
    SHAPE_ERRORS,
    dict_of,
    list_of,
    misshapen,
    number,
    plain,
    text_of,
)

SWE_AGENT, MINI = "swe-agent", "mini-swe-agent"
_NO_TIMES = "its time was not written down"
_BLOCK = re.compile(r"(?s)```[\w-]*\n(.*?)\n?```")
_CODE = re.compile(r"<returncode>\s*(-?\d{1,10})\s*</returncode>")
_CUT = re.compile(r"<output_head>|<elided_chars>|characters were elided")
_HALVES = re.compile(
    r"(?s)(?:<returncode>\s*-?\d+\s*</returncode>\s*)?(?:<warning>.*?</warning>\s*)?<output_head>\n(.*)\n</output_head>\s*"
    r"<elided_chars>\s*(\d{1,12}) characters elided\s*</elided_chars>\s*<output_tail>\n(.*)\n</output_tail>\s*"
)


def read_swe_agent(document: Any, path: str, written: float) -> Iterator[Event]:
    """The calls of a trajectory; ``written`` is when the file was, seconds since the epoch."""
    steps = [dict_of(step) for step in list_of(dict_of(document).get("trajectory"))]
    seen = [
        one.get("content")
        for one in map(dict_of, list_of(document.get("history")))
        if one.get("message_type") == "observation" and not one.get("is_demo")
    ]
    matched = len(seen) == len(steps)
    taken = [number(step.get("execution_time")) for step in steps]
    at = written - sum(taken)
    session = PastSession(SWE_AGENT, _stem(path, ".traj"), SWE_AGENT, "", at)
    for place, (step, seconds) in enumerate(zip(steps, taken, strict=True)):
        try:
            out = text_of(step.get("observation"))
            shown = shown_of(seen[place]) if matched else (plain(out),)
            yield _call(session, place, at, at + seconds, text_of(step.get("action")), shown, out)._replace(
                cwd=_working_dir(step.get("state")),
                partial="" if matched or not _CUT.search(out) else f"cut by {SWE_AGENT}",
            )
        except SHAPE_ERRORS as error:
            yield misshapen(0, error)
        at += seconds


def read_mini(document: Any, path: str, written: float) -> Iterator[Event]:
    """The calls of a trajectory; ``written`` as above."""
    fields = dict_of(document)
    version = text_of(dict_of(fields.get("info")).get("mini_version"))
    messages = [dict_of(one) for one in (document if isinstance(document, list) else list_of(fields.get("messages")))]
    client = " ".join(filter(None, (MINI, version)))
    session = PastSession(MINI, _stem(path, ".json", ".traj"), client, "", _time(messages, written))
    place = 0
    for at, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        answers = [one for one in messages[at + 1 :][: len(_commands(message))] if one.get("role") in ("user", "tool")]
        for command, answer in zip(_commands(message), answers, strict=False):
            try:
                asked, answered = _time([message], session.started), _time([answer], session.started)
                yield _answered(
                    _call(session, place, asked, answered, command, shown_of(answer.get("content")), ""), answer
                )
            except SHAPE_ERRORS as error:
                yield misshapen(0, error)
            place += 1


def _answered(call: PastCall, answer: dict[str, Any]) -> PastCall:
    text, extra = "\n".join(call.shown), dict_of(answer.get("extra"))
    code = extra.get("returncode")
    told = _CODE.search(text)
    if isinstance(code, int):
        call = call._replace(exit_code=code)
    elif told:
        call = call._replace(exit_code=int(told[1]))
    if isinstance(extra.get("raw_output"), str):
        return call._replace(parts=text_part(extra["raw_output"]))
    left = _left_of(text)
    return call._replace(parts=text_part(left.text), partial=f"cut by {MINI}" if left.is_cut else "", gaps=left.gaps)


def _left_of(text: str) -> Kept:
    """What is left of what a command wrote, of what was shown; cut output has no ``<output>`` of its own."""
    if "<elided_chars>" in text and (halves := _HALVES.fullmatch(text)):
        return parted([halves[1], halves[3]], [(int(halves[2]), "characters")], "out")
    start, end = text.find("<output>"), text.rfind("</output>")
    if not 0 <= start < end:
        return Kept(text, is_cut=bool(_CUT.search(text)))
    return Kept(text[start + len("<output>") : end].removeprefix("\n").removesuffix("\n"))


def _call(
    session: PastSession, place: int, asked: float, answered: float, command: str, shown: tuple[str, ...], out: str
) -> PastCall:
    return PastCall(
        session=session,
        id=f"{session.harness}:{session.id}:{place}",
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


def _commands(message: dict[str, Any]) -> list[str]:
    """The command lines that an answer of the model's wants run."""
    actions = [dict_of(one).get("command", one) for one in list_of(dict_of(message.get("extra")).get("actions"))]
    for call in map(dict_of, list_of(message.get("tool_calls")) if not actions else ()):
        try:
            actions.append(dict_of(json.loads(text_of(dict_of(call.get("function")).get("arguments")))).get("command"))
        except (ValueError, RecursionError):
            continue
    found = [command for command in actions if isinstance(command, str)]
    if not found and (block := _BLOCK.search("\n".join(shown_of(message.get("content"))))):
        return [block[1]]
    return found


def _time(messages: list[dict[str, Any]], otherwise: float) -> float:
    """The first time that messages tell."""
    times = (number(dict_of(message.get("extra")).get("timestamp", message.get("timestamp"))) for message in messages)
    return next((time for time in times if time > 0), otherwise)


def _working_dir(state: Any) -> str:
    if isinstance(state, str):
        try:
            state = json.loads(state)
        except (ValueError, RecursionError):
            return ""
    return text_of(dict_of(state).get("working_dir"))


def _stem(path: str, *endings: str) -> str:
    """The session of a trajectory: its file's name, and that of its folder, since names repeat between runs."""
    folder, name = os.path.split(os.path.abspath(path))
    for ending in endings:
        name = name.removesuffix(ending)
    above = os.path.basename(folder)
    return f"{above}-{name}" if above != name else name
