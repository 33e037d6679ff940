"""Ends running commands by their refs: ``kill @cmd_a1b2c3`` as an agent types it, and ``sightline kill``."""

import re
import signal
from collections.abc import Sequence

from sightline.base.errors import BadRef
from sightline.base.records import Buffer
from sightline.base.refs import looks_like_a_ref
from sightline.capture.command import end_command
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.views import Shows
from sightline.shape.segments import Segment
from sightline.verbs.asker import Asker
from sightline.verbs.command_view import command_reply, ending_of
from sightline.verbs.reply import Reply, state_in_words

_KILL = re.compile(r"\s*kill((?:\s+-(?:s\s+)?\w+)?)((?:\s+[\"']?@[\w.]+[\"']?)+)\s*(?:;\s*)?")


class KillRequest(NamedTuple):
    """The commands to end.

    Attributes:
        refs: their refs.
        signal: number of the signal that they get first.
    """

    refs: tuple[str, ...]
    signal: int = signal.SIGTERM


def order_of(command: str) -> KillRequest | None:
    """Return the order in a command line that is just ``kill`` with refs; None for any other."""
    match = _KILL.fullmatch(command)
    if not match:
        return None
    refs = tuple(word.strip("\"'") for word in match[2].split())
    if not all(map(looks_like_a_ref, refs)):
        return None
    number = _number_of(match[1].replace("-s", "").strip().lstrip("-"))
    return None if number is None else KillRequest(refs, number)


def _number_of(name: str) -> int | None:
    """The signal of a name or number; None where there is no such signal."""
    try:
        if name.isdigit():
            return int(signal.Signals(int(name)))
        return int(signal.Signals[f"SIG{name.upper().removeprefix('SIG')}"]) if name else int(signal.SIGTERM)
    except (KeyError, ValueError):
        return None


def kill(asking: Asker, order: KillRequest, *, verb: str, request: dict[str, Any]) -> Reply:
    """End commands with all that they started, and reply with how they ended: one by its view, several in a line each.

    Raises:
        BadRef: one is not a command. What `Asker.resolve` raises.
        StoreFailed: others say which processes these are.
    """
    asking.local.access.refuse_anothers()
    targets = [asking.resolve(ref) for ref in order.refs]
    if others := [target.ref for target in targets if target.buffer.kind != "cmd"]:
        raise BadRef(f"{others[0]} is not a command", "only a running command can be ended")
    ended = [
        target.buffer.state == "running" and end_command(asking.local, target.buffer, order.signal)
        for target in targets
    ]
    buffers = [asking.local.resolve(target.buffer.ref).buffer for target in targets]
    if len(buffers) > 1:
        return _several(buffers, verb=verb, request=request)
    buffer = buffers[0]
    note = None if ended[0] else "it had ended before"
    if buffer.state == "running":
        note = "it was told to end, and has not yet"
    return command_reply(
        asking, buffer, ending_of(buffer), verbosity="auto", verb=verb, request=request, always_ref=True, note=note
    )._replace(exit_code=0)


def _several(buffers: Sequence[Buffer], *, verb: str, request: dict[str, Any]) -> Reply:
    body = Segment("".join(f"{buffer.ref}  {state_in_words(buffer)}\n" for buffer in buffers))
    return Reply({}, (body,), Shows(verb, request, refs=tuple(buffer.name for buffer in buffers)))
