"""Replies about outputs of which only a part reached the store: what is missing is said, and where."""

from collections.abc import Iterator, Sequence

from sightline.records import Buffer, Gap
from sightline.shape.markers import missing
from sightline.shape.segments import Segment
from sightline.store import Target
from sightline.verbs.reply import Reply, in_order


def partial_reply(reply: Reply, partial: Sequence[Buffer]) -> Reply:
    """The reply with what is missing of its buffers. The markers come on top of any budget, as notes do.

    Args:
        reply: what is answered.
        partial: those of its buffers that are not whole, at least one.
    """
    body = list(reply.body)
    for buffer in partial:
        for gap in buffer.gaps:
            body = list(with_gap(body, buffer, gap))
    told = partial[0].lost if len(reply.shows.refs) == 1 else "; ".join(f"{one.ref}: {one.lost}" for one in partial)
    has_code = "exit_code" in reply.fields
    fields = in_order({**reply.fields, "partial": told})
    if not has_code:
        fields.pop("exit_code", None)
    shows = reply.shows._replace(truncated=reply.shows.truncated or len(body) > len(reply.body))
    return reply._replace(fields=fields, body=tuple(body), shows=shows, missing=True)


def with_gap(body: Sequence[Segment], buffer: Buffer, gap: Gap) -> Iterator[Segment]:
    """A body with the marker of a gap, if a line beside it stands there."""
    ref = Target(buffer, gap.stream).ref
    marker = missing(gap.amount, buffer.partial)
    waiting, ended = True, True
    for segment in body:
        mine = waiting and segment.ref == ref
        if mine and segment.first <= gap.after <= segment.last:
            before, after = _parted(segment, gap.after)
            ended = before.text.endswith("\n")
            yield before
            yield Segment(f"{'' if ended else chr(10)}{marker}\n")
            if after:
                yield after
            waiting = False
            continue
        if mine and segment.first == gap.after + 1:
            yield Segment(f"{'' if ended else chr(10)}{marker}\n")
            waiting = False
        ended = segment.text.endswith("\n")
        yield segment


def _parted(segment: Segment, line: int) -> tuple[Segment, Segment | None]:
    """A segment up to a line, and what follows; all of it where its text is not the text of its lines."""
    lines = _lines(segment.text)
    if line == segment.last or len(lines) != segment.last - segment.first + 1:
        return segment, None
    count = line - segment.first + 1
    return (
        segment._replace(text="".join(lines[:count]), last=line),
        segment._replace(text="".join(lines[count:]), first=line + 1),
    )


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
