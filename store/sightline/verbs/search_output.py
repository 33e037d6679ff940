"""The search of read_output: shows matching lines with their numbers, in context, and the true total."""

import re
from collections.abc import Iterable

from sightline.base.private_files import open_stored
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.views import Shows, parts_of, shown_of
from sightline.search.line_search import LineHits, first_place, search
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.shape.clean import clean_line
from sightline.shape.segments import Segment, join_segments
from sightline.shape.source import CutLine, Line
from sightline.store import Target
from sightline.verbs.asker import Asker, is_pasteable
from sightline.verbs.line_pieces import PageLines, around, beyond, open_lines
from sightline.verbs.reply import Reply, fitting, in_order, settled_reply

SHOWN_BYTES = 8_000
_LEAST_ROW_BYTES = 4  # of a shown match, which turns a limit of bytes into one of matches
_READ_BYTES = 1 << 20
LINE_CHARACTERS = 400  # a longer line is clipped around its first match


def search_reply(
    asking: Asker,
    target: Target,
    pattern: str,
    *,
    context: int,
    ignore_case: bool,
    limit: int | None = None,
    verb: str,
    logged: dict[str, Any],
) -> Reply:
    """Show the matching lines of a stream, or of a range of its lines, at most as many as fit.

    Raises:
        UsageError: the pattern is empty, or spans lines.
        SearchFailed: the time limit was reached. Cancelled: the caller has cancelled it.
    """
    most = asking.profile.reading.matches if limit is None else max(limit // _LEAST_ROW_BYTES, 1)
    path = asking.store.local_copy(target)
    with open_lines(asking.store, target, asking.profile) as lines:
        total, size, unended = lines.line_count, lines.byte_count, lines.unended
        if target.first > max(total, 1):
            raise beyond(target.ref, target.first, total)
        window = SearchWindow(max(target.first, 1), min(target.last or total, total))
        hits = search(
            path,
            pattern,
            ignore_case=ignore_case,
            first=most,
            offset=offset_of(path, window.first),
            lines_before=window.first - 1,
            last=window.last if window.last < total else 0,
            cancel=asking.cancel,
        )
        matches = _Matches(asking, pattern, ignore_case, hits)
        fields: dict[str, Any] = {
            "output_id": target.ref,
            "lines": f"{window.first}-{window.last}" if target.first else None,
            "matches_shown": hits.total,
            "matches_total": hits.total,
            "total_lines": total,
            "total_bytes": size,
        }
        body, shown = fitting(
            fields | {"next": pattern},  # which stands in the next call
            min(limit or SHOWN_BYTES, HARD_LIMIT_BYTES),
            lambda room: _body(lines, matches, context, window, room),
            lambda made: join_segments(made[0]),
            asking.room,
        )
    fields["matches_shown"] = shown
    if shown < hits.total:
        fields["truncated"] = True
        rest = f"{hits.lines[shown - 1] + 1}-{window.last}"
        given = {name: logged[name] for name in ("context", "ignore_case", "limit") if name in logged}
        if is_pasteable(pattern):
            fields["next"] = asking.calls(verb, ref=target.ref, search=pattern, lines=rest, **given)
        else:
            fields["next"] = asking.calls("", lines=rest)
            fields["hint"] = "next goes with the same call"
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
    return settled_reply(reply, target.buffer, unended)


class SearchWindow(NamedTuple):
    """The searched lines, inclusive."""

    first: int
    last: int


def offset_of(path: str, line: int) -> int:
    """Return the byte at which a line of a file begins."""
    if line <= 1:
        return 0
    before, left = 0, line - 1
    with open(open_stored(path), "rb") as file:
        while data := file.read(_READ_BYTES):
            count = data.count(b"\n")
            if count >= left:
                at = -1
                for _ in range(left):
                    at = data.index(b"\n", at + 1)
                return before + at + 1
            left -= count
            before += len(data)
    return before


class _Matches:
    """Shows matching lines, long ones clipped around the first match."""

    def __init__(self, asking: Asker, pattern: str, ignore_case: bool, hits: LineHits) -> None:
        self.lines = hits.lines
        self._asking = asking
        self._pattern = pattern
        self._ignore_case = ignore_case
        self._literal = hits.literal
        self._word = _word_of(pattern, hits.literal)

    def text_of(self, ref: str, line: Line) -> tuple[str, CutLine | None]:
        """Return a line's text, and which part of the line it shows unless that is all."""
        text, cut = around(line, LINE_CHARACTERS, self._word)
        if cut is None or (self._word and self._word in text.lower()):
            return text, cut
        target = self._asking.store.resolve(ref)
        path = self._asking.store.local_copy(target)
        start = offset_of(path, line.number)
        place = first_place(
            path,
            self._pattern,
            ignore_case=self._ignore_case,
            literal=self._literal,
            offset=start,
            cancel=self._asking.cancel,
        )
        first = max(place - LINE_CHARACTERS // 3, 0)
        last = min(first + LINE_CHARACTERS, line.length)
        with open(open_stored(path), "rb") as file:
            file.seek(start + first)
            data = file.read(last - first)
        told = clean_line(data.decode("utf-8", "ignore").encode())
        head, tail = "…" if first else "", "…" if last < line.length else ""
        return f"{head}{told}{tail}", line.cut((first, last))


def _body(
    lines: PageLines, matches: _Matches, context: int, window: SearchWindow, room: int
) -> tuple[list[Segment], int]:
    """Return the lines in blocks, as grep writes them: ``12:`` for a match, ``11-`` for context, ``--`` between."""
    matching = set(matches.lines)
    body: list[Segment] = []
    shown, left = 0, room
    for first, last in _blocks(matches.lines, context, window):
        separator = [Segment("--\n")] if body and context else []
        for number, (ref, line) in enumerate(lines.numbered(first, last), first):
            is_match = number in matching
            if left < 0 and not is_match:  # if context alone fills the reply, the match after it is added
                continue
            text, cut = matches.text_of(ref, line) if is_match else around(line, LINE_CHARACTERS, "")
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
    """Return the longest plain word of a pattern, in small letters, around which a long line is clipped.

    No regular expression is run here, because a slow one would block everything, and the engine's dialect is another.
    """
    if literal:
        return pattern.lower()
    return max(re.split(r"\\.|[^\w ]", pattern), key=len).lower()


def _blocks(numbers: Iterable[int], context: int, window: SearchWindow) -> list[tuple[int, int]]:
    """Return ranges of lines around the matches, joined if they touch, and within the window."""
    blocks: list[tuple[int, int]] = []
    for number in numbers:
        first, last = max(number - context, window.first), min(number + context, window.last)
        if blocks and context and first <= blocks[-1][1] + 1:
            blocks[-1] = (blocks[-1][0], last)
        else:
            blocks.append((first, last))
    return blocks
