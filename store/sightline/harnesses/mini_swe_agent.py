"""mini-swe-agent 1.x and 2.x, by its published format: trajectories, ``….traj.json``.

``{"messages": [{role, content, extra, tool_calls}], "info", "trajectory_format"}``, at first the bare list. A command
stands in ``extra.actions``, in a tool call, or in the only fenced block of the configured language; a turn with none
or several of these runs nothing and is answered with an error. The output is in the next message, in ``extra``
(``raw_output``, ``returncode``, ``timestamp``) or within ``<output>``. ``extra.response`` is the answer of the model's
server: ``{id, model, usage: {prompt_tokens, prompt_tokens_details: {cached_tokens}, completion_tokens,
completion_tokens_details: {reasoning_tokens}, cost?}}``; its cost stands there, or in ``extra.cost``, in dollars.
"""

import os
import re
from collections.abc import Iterator, Mapping

from sightline.base.request_usage import RequestUsage, without_zeros
from sightline.harnesses.base import Harness
from sightline.harnesses.swe_agent import CUT, run_of, trajectory_call
from sightline.harnesses.tool_call import ToolCall, dict_of, list_of, number, shown_of, text_of, text_part
from sightline.harnesses.transcript import (
    SHAPE_ERRORS,
    Candidate,
    KeptText,
    ToldEvent,
    ToldUsage,
    TranscriptItem,
    TranscriptReading,
    count_of,
    misshapen,
    parted,
)
from sightline.light.json_text import loads
from sightline.light.typing_names import Any
from sightline.log.session_events import TRANSCRIPT, AgentMessage, SessionSubject, prompt_of, subject_of

_LANGUAGE = re.compile(r"```([\w-]{1,40})")
_LANGUAGES = ("mswea_bash_command", "bash")
"""The fences of commands: of 1.17 and newer, which name it in their first message, and of older versions."""
_CODE = re.compile(r"<returncode>\s*(-?\d{1,10})\s*</returncode>")
_HALVES = re.compile(
    r"(?s)(?:<returncode>\s*-?\d+\s*</returncode>\s*)?(?:<warning>.*?</warning>\s*)?<output_head>\n(.*)\n</output_head>\s*"
    r"<elided_chars>\s*(\d{1,12}) characters elided\s*</elided_chars>\s*<output_tail>\n(.*)\n</output_tail>\s*"
)
_TAIL_BYTES = 1 << 16


class MiniSweAgent(Harness):
    """Only past sessions are read."""

    name, title = "mini-swe-agent", "mini-swe-agent"
    endings = (".traj.json", ".json")
    reader = __name__

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """It has one folder."""
        return [os.path.join(environment.get("XDG_CONFIG_HOME", "") or f"{home}/.config", "mini-swe-agent")]


HARNESS = MiniSweAgent()


def reading_of(file: Candidate) -> TranscriptReading | None:
    """Return a reading of a trajectory; None for another file."""
    if not file.is_document or (file.path.endswith(".traj") and b'"trajectory"' in file.head):
        return None
    if b"mini-swe-agent" not in file.head and not (file.path.endswith(".traj.json") and b'"role"' in file.head):
        tail = file.transcript.tail(_TAIL_BYTES)
        if b'"trajectory_format"' not in tail or b"mini-swe-agent" not in tail:
            return None
    return file.of_document(lambda document: read_trajectory(document, file.path, file.written))


def read_trajectory(document: Any, path: str, written: float) -> Iterator[TranscriptItem]:
    """Yield the calls of a trajectory; ``written`` is when the file was written, in seconds since the epoch."""
    fields = dict_of(document)
    version = text_of(dict_of(fields.get("info")).get("mini_version"))
    messages = [dict_of(one) for one in (document if isinstance(document, list) else list_of(fields.get("messages")))]
    client = " ".join(filter(None, (HARNESS.name, version)))
    session = run_of(path, HARNESS.name, client, _time(messages, written), ".json", ".traj")
    opening, asked, place = _opening_of(fields, messages), session.started, 0
    prompts = (message for message in messages if message.get("role") == "user")
    prompt = "\n".join(shown_of(next(prompts, {}).get("content")))
    if subject := subject_of(prompt):
        yield ToldEvent(session, SessionSubject(asked, subject, "about", TRANSCRIPT))
    if prompted := prompt_of(prompt, asked, "prompt", TRANSCRIPT):
        yield ToldEvent(session, prompted)
    for at, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        asked = _time([message], asked)
        try:
            if said := "\n".join(shown_of(message.get("content"))).strip():
                yield ToldEvent(session, AgentMessage(asked, said, str(at), TRANSCRIPT))
            if usage := _usage(dict_of(message.get("extra")), asked, f"{session.id}:{session.run}:{at}"):
                yield ToldUsage(session, usage)
            commands = _commands(message, opening)
            answers = [one for one in messages[at + 1 :][: len(commands)] if one.get("role") in ("user", "tool")]
            for command, answer in zip(commands, answers, strict=False):
                shown, answered = shown_of(answer.get("content")), _time([answer], asked)
                yield _answered(trajectory_call(session, place, asked, answered, command, shown, ""), answer)
                place += 1
        except SHAPE_ERRORS as error:
            yield misshapen(0, error)


def _usage(extra: dict[str, Any], time: float, place: str) -> RequestUsage | None:
    """Return the usage of a reply; None if it states none. ``place`` identifies a reply without an id."""
    response = dict_of(extra.get("response"))
    stated, model = dict_of(response.get("usage")), text_of(response.get("model"))
    prompt, output = count_of(stated.get("prompt_tokens")), count_of(stated.get("completion_tokens"))
    if prompt is None and output is None:
        return None
    details = dict_of(stated.get("prompt_tokens_details"))
    cached, written = count_of(details.get("cached_tokens")), count_of(details.get("cache_write_tokens"))
    if written is None and "claude" not in model:
        written = 0  # servers of other models state what costs more
    usage = RequestUsage(
        id=f"mini-swe-agent:{text_of(response.get('id')) or place}",
        time=time,
        model=model,
        fresh=None if prompt is None else max(0, prompt - (cached or 0) - (written or 0)),
        cache_read=cached,
        cache_write=written,
        output=output,
        reasoning=count_of(dict_of(stated.get("completion_tokens_details")).get("reasoning_tokens")),
        computed=("fresh",),
        own_price=number(stated.get("cost")) or number(extra.get("cost")) or None,
    )
    return without_zeros(usage, has_content=True)


def _answered(call: ToolCall, answer: dict[str, Any]) -> ToolCall:
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
    return call._replace(parts=text_part(left.text), partial=HARNESS.cut if left.is_cut else "", gaps=left.gaps)


def _left_of(text: str) -> KeptText:
    """Return what is left of a command's output in what was shown; a cut output has no ``<output>`` of its own."""
    if "<elided_chars>" in text and (halves := _HALVES.fullmatch(text)):
        return parted([halves[1], halves[3]], [(int(halves[2]), "characters")], "out")
    start, end = text.find("<output>"), text.rfind("</output>")
    if not 0 <= start < end:
        return KeptText(text, is_cut=bool(CUT.search(text)))
    return KeptText(text[start + len("<output>") : end].removeprefix("\n").removesuffix("\n"))


def _opening_of(fields: dict[str, Any], messages: list[dict[str, Any]]) -> re.Pattern[str]:
    """Return how fenced blocks that are commands begin: by the run's settings, else by its first message.

    Of the settings' own pattern only the fence is taken, so that no file can bring a pattern that runs away.
    """
    config = dict_of(dict_of(fields.get("info")).get("config"))
    given = (text_of(dict_of(config.get(part)).get("action_regex")) for part in ("agent", "model"))
    fence = next(filter(None, map(_LANGUAGE.search, given)), None)
    first = "\n".join(shown_of(messages[0].get("content"))) if messages else ""
    language = fence[1] if fence else next((one for one in _LANGUAGES if one in first), _LANGUAGES[-1])
    return re.compile(rf"```{re.escape(language)}[^\S\n]*\n")


def _blocks(text: str, opening: re.Pattern[str]) -> list[str]:
    """Return the contents of the fenced blocks that begin so."""
    found, end = list[str](), 0
    while (begun := opening.search(text, end)) and (end := text.find("\n```", begun.end())) >= 0:
        found.append(text[begun.end() : end].strip())
    return found


def _commands(message: dict[str, Any], opening: re.Pattern[str]) -> list[str]:
    """Return the command lines that an answer of the model's ran."""
    actions = [dict_of(one).get("command", one) for one in list_of(dict_of(message.get("extra")).get("actions"))]
    for call in map(dict_of, list_of(message.get("tool_calls")) if not actions else ()):
        try:
            actions.append(dict_of(loads(text_of(dict_of(call.get("function")).get("arguments")))).get("command"))
        except ValueError:
            continue
    found = [command for command in actions if isinstance(command, str)]
    blocks = [] if found else _blocks("\n".join(shown_of(message.get("content"))), opening)
    return found or (blocks if len(blocks) == 1 else [])


def _time(messages: list[dict[str, Any]], otherwise: float) -> float:
    """Return the first time in the messages, their own or that of the model's reply."""
    times = map(_time_of, messages)
    return next((time for time in times if time > 0), otherwise)


def _time_of(message: dict[str, Any]) -> float:
    extra = dict_of(message.get("extra"))
    stated = number(extra.get("timestamp", message.get("timestamp")))
    return stated or number(dict_of(extra.get("response")).get("created"))
