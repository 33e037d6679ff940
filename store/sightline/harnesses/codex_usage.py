"""Reads which tokens Codex' requests took; separate from `codex_transcript`, which reads the calls.

After each reply comes ``event_msg`` ``token_count`` with ``info``: ``{last_token_usage, total_token_usage}``, of each
``{input_tokens, cached_input_tokens, cache_write_input_tokens?, output_tokens, reasoning_output_tokens,
total_tokens}``. The input holds what was cached, and the output holds reasoning. The same total may come again. The sum
of ``last`` is the total, except where a request is missing from ``last``, so what counts is how much the total grew.
Of a session that was resumed in 2025 it began anew.
The model is that of the last ``turn_context``.

A forked or spawned session repeats its parent's events, with their totals. So an event is known by its session and
its total, and one with a total that the parent has had is the parent's, as long as no event before it was new.
"""

from sightline.base.request_usage import RequestUsage, without_zeros
from sightline.harnesses.tool_call import dict_of
from sightline.harnesses.transcript import count_of
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Sequence


class _Counts(NamedTuple):
    """The counts of a usage, as Codex states them; 0 for those that it leaves out."""

    input: int
    cached: int
    written: int
    output: int
    reasoning: int

    @classmethod
    def of(cls, stated: dict[str, Any]) -> "_Counts":
        names = ("input", "cached_input", "cache_write_input", "output", "reasoning_output")
        return cls(*(count_of(stated.get(f"{name}_tokens")) or 0 for name in names))

    def since(self, before: "_Counts") -> "_Counts":
        return _Counts(*(now - then for now, then in zip(self, before, strict=True)))


class UsageReader:
    """Reads the usage of the events of one rollout."""

    def __init__(self) -> None:
        self.model = ""
        self._total: _Counts | None = None

    def usage_of(
        self, payload: dict[str, Any], time: float, session: str, origins: Sequence[str]
    ) -> RequestUsage | None:
        """Return the usage that a ``token_count`` event states; None if it is no new one.

        Args:
            payload: the event.
            time: seconds since the epoch.
            session: id of the session that it counts for.
            origins: ids of the sessions whose history this one may repeat.
        """
        info = dict_of(payload.get("info"))
        stated, last = info.get("total_token_usage"), info.get("last_token_usage")
        if not isinstance(stated, dict):
            return None
        total, before = _Counts.of(stated), self._total
        if total == before:
            return None
        self._total = total
        one = _Counts.of(last) if isinstance(last, dict) else None
        grown = total.since(before) if before else one or total  # the first may hold what others have used
        if min(grown) < 0:  # a resumed session counts anew
            grown = one or total
        key = ":".join(map(str, total))
        usage = RequestUsage(
            id=f"codex:{session}:{key}",
            time=time,
            model=self.model,
            fresh=max(0, grown.input - grown.cached - grown.written),
            cache_read=grown.cached,
            cache_write=grown.written,
            output=grown.output,
            reasoning=grown.reasoning,
            computed=("fresh",) if grown == one else ("fresh", "cache_read", "cache_write", "output", "reasoning"),
            copies=tuple(f"codex:{origin}:{key}" for origin in origins),
        )
        return without_zeros(usage, has_content=True)
