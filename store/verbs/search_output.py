"""The searching part of read_output: matching lines with their numbers, in context, with the true total."""

import re
from collections.abc import Iterable
from typing import Any

from sightline.log.views import Shows, parts_of, settled, shown_of
from sightline.search.line_search import LineHits, search
from sightline.shape.segments import Segment
from sightline.store import Target
from sightline.verbs.asker import Asker
from sightline.verbs.lines import Lines, around, open_lines
from sightline.verbs.reply import Reply, in_order

SHOWN_BYTES = 8_000
LINE_CHARACTERS = 400  # a longer line is clipped around its first match


def search_reply(
    asking: Asker,
    target: Target,
    pattern: str,
    *,
    context: int,
    ignore_case: bool,
    verb: str,
    logged: dict[str, Any],
) -> Reply:
    """The lines of a stream that match, the first of them where there are many.

    Raises:
        UsageError: the pattern is empty or spans lines.
        SearchFailed: the time limit was reached; Cancelled: the caller has ended it.
    """
    most = asking.profile.reading.matches
    path = asking.store.local_copy(target)
    hits = search(path, pattern, ignore_case=ignore_case, first=most, cancel=asking.cancel)
    with open_lines(asking.store, target, asking.profile) as lines:
        body, shown = _body(lines, hits, context, _word_of(pattern, hits.literal))
        total, size, unended = lines.line_count, lines.byte_count, lines.unended
    fields: dict[str, Any] = {
        "output_id": target.ref,
        "matches_shown": shown,
        "matches_total": hits.total,
        "total_lines": total,
        "total_bytes": size,
    }
    if shown < hits.total:
        fields["truncated"] = True
        flags = ("F" if hits.literal else "") + ("i" if ignore_case else "")
        quoted = "'" + pattern.replace("'", "'\\''") + "'"
        fields["next"] = asking.calls(
            "query", pipeline=f"rg -n{flags} -e {quoted} {target.ref} | sed -n '{shown + 1},{shown + most}p'"
        )
    if hits.literal:
        fields["note"] = "the pattern does not compile as a regular expression; it was searched for as it stands"
    elif not hits.total:
        fields["note"] = "no match"
    ordered = in_order(fields)
    ordered.pop("exit_code", None)
    shows = Shows(
        verb=verb,
        request=logged,
        refs=(target.buffer.name,),
        shown=shown_of(sorted(body, key=lambda segment: (segment.ref, segment.first))),
        lines_total=total,
        bytes_total=target.buffer.bytes,
        truncated=shown < hits.total,
        parts=parts_of(body),
    )
    reply = Reply(ordered, tuple(body), shows, missing="truncated" in ordered or "note" in ordered)
    return settled_reply(reply, target, unended)


def settled_reply(reply: Reply, target: Target, unended: Iterable[tuple[str, int]]) -> Reply:
    """The reply, last lines not counted as shown where they have no end yet: of a running buffer they may go on."""
    if target.buffer.state != "running":
        return reply
    shows = reply.shows
    for stream, line in unended:
        shows = settled(shows, target.buffer.name, stream, line - 1)
    return reply._replace(shows=shows)


def _body(lines: Lines, hits: LineHits, context: int, word: str) -> tuple[list[Segment], int]:
    """The lines in blocks, as grep writes them: ``12:`` a match, ``11-`` its context, ``--`` between blocks."""
    matching = set(hits.lines)
    body: list[Segment] = []
    shown, left = 0, SHOWN_BYTES
    for first, last in _blocks(hits.lines, context, lines.line_count):
        separator = [Segment("--\n")] if body and context else []
        for number, (ref, line) in enumerate(lines.numbered(first, last), first):
            is_match = number in matching
            if left < 0 and not is_match:  # context alone has filled the reply: the match it leads up to still comes
                continue
            text, cut = around(line, LINE_CHARACTERS, word if is_match else "")
            row = f"{number}{':' if is_match else '-'}{text}\n"
            left -= len(row.encode())
            if left < 0 and shown:
                return body, shown
            cuts = (cut,) if cut else ()
            body += [*separator, Segment(row, ref, line.number, line.number, True, cuts)]
            separator = []
            shown += is_match
    return body, shown


def _word_of(pattern: str, literal: bool) -> str:
    """The longest plain word of a pattern, in small letters: where a long line is clipped around.

    No regular expression is run here: one that explodes would hold up everything, and the engine's dialect is another.
    """
    if literal:
        return pattern.lower()
    return max(re.split(r"\\.|[^\w ]", pattern), key=len).lower()


def _blocks(numbers: Iterable[int], context: int, total: int) -> list[tuple[int, int]]:
    """Ranges of lines around the matches, those that touch as one."""
    blocks: list[tuple[int, int]] = []
    for number in numbers:
        first, last = max(number - context, 1), min(number + context, total)
        if blocks and context and first <= blocks[-1][1] + 1:
            blocks[-1] = (blocks[-1][0], last)
        else:
            blocks.append((first, last))
    return blocks
