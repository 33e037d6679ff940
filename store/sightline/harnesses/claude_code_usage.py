"""Reads which tokens Claude Code's requests took; separate from `claude_code_transcript`, which reads the calls.

A reply is several ``assistant`` lines, each with ``message.usage``: ``{input_tokens, cache_read_input_tokens,
cache_creation_input_tokens, cache_creation: {ephemeral_5m_input_tokens, ephemeral_1h_input_tokens}, output_tokens,
output_tokens_details: {thinking_tokens}, service_tier, speed, inference_geo}``. The four inputs are disjoint, and
thinking is a part of the output. A line was written while the reply was streamed unless it has a ``stop_reason``;
versions 2.1.12 to 2.1.52 wrote few lines that have one, so their outputs are lower bounds. The model ``<synthetic>``
is Claude Code itself. A compaction's own request, and checks of permissions, stand in no line.

The lines of a reply share ``message.id`` and ``requestId``. Gateways may send no ``requestId``, some give one
``message.id`` to all replies, and a helper that answers beside the turn (``/btw``) repeats a message under another
``requestId``. So a reply is known by its message and its three inputs: 22,018 replies of versions 2.0.64 to 2.1.181
had one set of inputs for each message. The first lines of a reply that comes through a gateway may state zeros
(2.1.90 with GLM: 68 of 122 replies), so such a line waits for one that states more.
"""

from sightline.base.request_usage import COUNTS, RequestUsage, without_zeros
from sightline.harnesses.tool_call import CallSession, dict_of, text_of
from sightline.harnesses.transcript import ToldUsage, count_of
from sightline.light.typing_names import Any, Iterator

_SYNTHETIC = "<synthetic>"
_USUAL = ("", "standard", "global", "not_available")
_REQUESTS = 1_000  # whose lines may still come
_WAITING = 8  # replies that may be streamed beside each other: a session's, and its helpers'


class UsageReader:
    """Reads the usage of the lines of one transcript."""

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], str] = {}  # by message and request
        self._waiting: dict[str, ToldUsage] = {}  # by message: first lines that state nothing

    def read(
        self, session: CallSession, record: dict[str, Any], message: dict[str, Any], time: float
    ) -> Iterator[ToldUsage]:
        """Yield the usage that an ``assistant`` line states, or, if a later line may state it, nothing yet."""
        usage, name = self._usage_of(record, message, time), text_of(message.get("id"))
        if usage is None:
            return
        begun = self._waiting.pop(name, None)
        if begun:
            usage = usage._replace(time=min(usage.time, begun.what.time))
        if name and not message.get("stop_reason") and not any(getattr(usage, count) for count in COUNTS):
            self._waiting[name] = ToldUsage(session, usage)
            if len(self._waiting) > _WAITING:
                yield self._waiting.pop(next(iter(self._waiting)))
            return
        yield ToldUsage(session, usage)

    def finish(self) -> Iterator[ToldUsage]:
        """Yield replies whose lines state nothing."""
        waiting, self._waiting = self._waiting, {}
        yield from waiting.values()

    def _usage_of(self, record: dict[str, Any], message: dict[str, Any], time: float) -> RequestUsage | None:
        """Return the usage that an ``assistant`` line states; None if it states none, or is no reply of a model."""
        stated, model = message.get("usage"), text_of(message.get("model"))
        if not isinstance(stated, dict) or model == _SYNTHETIC:
            return None
        written, written_1h = _written(stated)
        usage = RequestUsage(
            id="",
            time=time,
            model=model,
            fresh=count_of(stated.get("input_tokens")),
            cache_read=count_of(stated.get("cache_read_input_tokens")),
            cache_write=written,
            cache_write_1h=written_1h,
            output=count_of(stated.get("output_tokens")),
            reasoning=count_of(dict_of(stated.get("output_tokens_details")).get("thinking_tokens")),
            at_least=() if message.get("stop_reason") else ("output",),
            tier=_tier(stated),
        )
        usage = without_zeros(usage, has_content=bool(message.get("content")))
        return usage._replace(id=self._id(record, message, stated))

    def _id(self, record: dict[str, Any], message: dict[str, Any], stated: dict[str, Any]) -> str:
        name, request = text_of(message.get("id")), text_of(record.get("requestId"))
        if not name:
            return f"claude-code:{text_of(record.get('uuid')) or request}"
        inputs = [count_of(stated.get(f"{kind}input_tokens")) for kind in ("", "cache_read_", "cache_creation_")]
        unique = ":".join(("claude-code", name, *map(str, inputs)))
        if not request or not any(inputs):
            return unique
        unique = self._ids.setdefault((name, request), unique)
        if len(self._ids) > _REQUESTS:
            del self._ids[next(iter(self._ids))]
        return unique


def _written(stated: dict[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens that were written to the cache for 5 minutes, or for an unstated time, and for an hour."""
    split, both = stated.get("cache_creation"), count_of(stated.get("cache_creation_input_tokens"))
    if not isinstance(split, dict):
        return both, None
    short, hour = (count_of(split.get(f"ephemeral_{kind}_input_tokens")) for kind in ("5m", "1h"))
    if both is None:
        return short, hour
    return max(0, both - (hour or 0)), hour


def _tier(stated: dict[str, Any]) -> str:
    words = (text_of(stated.get(name)) for name in ("speed", "service_tier", "inference_geo"))
    return " ".join(word for word in words if word not in _USUAL)
