"""Scans JSON of any size in bounded memory, and tells where values begin and end, and how many there are.

It is ours because no maintained parser tells which bytes a value takes, or goes on past one that exceeds the memory.
The stream is read in windows of latin-1 text, a character for each byte, so that places in them are bytes.
What need not be looked at is skipped by the C scanner of the standard library, a window at a time. What that cannot
take (a value larger than a window, nesting too deep for it, an error) is walked by hand, and only the hand decides
what is JSON.
"""

import json
import re
from collections.abc import Callable

from sightline.light.typing_names import Any, Protocol
from sightline.shape.source import Source

WINDOW_BYTES = 1 << 17  # larger windows make so many objects at once that the collector halves the speed
DEPTH_LIMIT = 10_000  # deeper nesting is no data; json.loads gives up at a thousand
WORD_LIMIT_BYTES = 1 << 24  # of one number

_BOM = b"\xef\xbb\xbf"
_CLOSING = {"[": "]", "{": "}"}
_SPACE = re.compile(r"[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_CUT_OFF = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_ESCAPE_BYTES = 6
_NUMBER_PART_BYTES = 3  # at the end of a window, "1e+" would read as 1 and something else
_WORD = re.compile(r"[-+.0-9A-Za-z]*")
_SCALAR = re.compile(r"true|false|null|NaN|-?Infinity|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class NotJson(ValueError):
    """The text is not JSON. Its argument is an offset in bytes; the text before that may be JSON."""


class SkipTally(Protocol):
    """Is told of the elements that are skipped."""

    def values(self, found: list[Any]) -> None:
        """Take elements from `json.loads`, whose text was read as latin-1."""

    def large(self, start: int) -> None:
        """Take the offset of an element that is too large to be parsed."""


class _Credit:
    """Limits what failed attempts cost, in proportion to the progress."""

    def __init__(self, free: int) -> None:
        self._left = free

    def __bool__(self) -> bool:
        return self._left > 0

    def spend(self, size: int) -> None:
        self._left -= size

    def earn(self, size: int) -> None:
        self._left += 2 * max(size, 0)


class Scanner:
    """Steps through one stream of JSON, best forwards. All places are offsets in bytes.

    Every method may raise NotJson.
    """

    def __init__(self, source: Source, window: int = WINDOW_BYTES) -> None:
        """Take a stream, and the number of bytes that are looked at together."""
        self.source = source
        self.size = source.byte_count
        self._window = window
        self._base = 0
        self._text = ""
        self._is_deep = False  # the window may be nested too deeply, and is walked by hand
        self._whole_values = _Credit(32 * window)
        self._batches = _Credit(32 * window)
        self._overshot = -1  # the window in which a batch had more than was wanted

    def start(self) -> int:
        """Return where the first value begins, after a byte order mark and space."""
        return self.space(len(_BOM) if self.source.read(0, len(_BOM)) == _BOM else 0)

    def raw(self, start: int, end: int) -> bytes:
        """Return the bytes from start to end."""
        here, there = start - self._base, end - self._base
        if here >= 0 and there <= len(self._text):  # a read for each of a million keys would be most of the work
            return self._text[here:there].encode("latin-1")
        return self.source.read(start, end - start)

    def char(self, at: int) -> str:
        """Return the character at a place; empty at the end."""
        here = self._at(at)
        return self._text[here : here + 1]

    def space(self, at: int) -> int:
        """Return the first offset from here on that is not space."""
        while True:
            here = self._at(at)
            match = _SPACE.match(self._text, here)
            assert match
            at = self._base + match.end()
            if match.end() < len(self._text) or at >= self.size:
                return at

    def step(self, at: int, closing: str, *, first: bool = False) -> tuple[bool, int]:
        """Go from an opening bracket, or the end of a child, to the next child.

        Args:
            at: past the opening bracket, or past a child.
            closing: the bracket that ends the container.
            first: whether no child was met yet.

        Returns:
            Whether there is another child; and where it begins (an object's at its key), or else the offset past the
            container.
        """
        at = self.space(at)
        char = self.char(at)
        if char == closing:
            return False, at + 1
        if first:
            return True, at
        if char != ",":
            raise NotJson(at)
        return True, self.space(at + 1)

    def opened(self, at: int) -> tuple[bool, int]:
        """Go to the first child of the container that begins here, as `step` does."""
        return self.step(at + 1, _CLOSING[self.char(at)], first=True)

    def key(self, at: int) -> tuple[int, int]:
        """Return the offset past a member's key, and where its value begins."""
        if self.char(at) != '"':
            raise NotJson(at)
        end = self._string_end(at)
        colon = self.space(end)
        if self.char(colon) != ":":
            raise NotJson(colon)
        return end, self.space(colon + 1)

    def value_end(self, at: int) -> int:
        """Return the offset past the value that begins here."""
        char = self.char(at)
        if char not in _CLOSING:
            return self._scalar_end(at, char)
        if end := self._whole_value(at):
            return end
        more, at = self.opened(at)
        return self.rest(at, _CLOSING[char])[1] if more else at

    def rest(self, at: int, closing: str, tally: SkipTally | None = None) -> tuple[int, int]:
        """Skip all children of a container from one on.

        Args:
            at: where the child begins.
            closing: the bracket that ends the container.
            tally: is told of the children, if they are elements.

        Returns:
            The number of children, and the offset past the container.
        """
        around: list[tuple[str, int]] = []  # brackets that will end the containers around, with their children so far
        count = 0
        while True:
            leapt = self._leap(at, closing, None if around else tally)
            if leapt:
                added, more, at = leapt
                count += added
            else:
                start = at
                at = self.key(at)[1] if closing == "}" else at
                char = self.char(at)
                more = False
                if char in _CLOSING:
                    more, at = self.opened(at)
                    if tally and not around:
                        tally.large(start)
                    if more:
                        if len(around) >= DEPTH_LIMIT:
                            raise NotJson(at)
                        around.append((closing, count))
                        closing, count = _CLOSING[char], 0
                        continue
                else:
                    at = self._scalar_end(at, char)
                    if tally and not around:
                        tally.values([_SAMPLES[kind_of(char)]])
                count += 1
                more, at = self.step(at, closing)
            while not more:
                if not around:
                    return count, at
                closing, count = around.pop()
                count += 1
                more, at = self.step(at, closing)

    def elements(self, at: int, count: int) -> int:
        """Skip this many elements of an array, and return where the next one begins; it must exist."""
        while count:
            leapt = self._leap(at, "]", None, most=count)
            if leapt:
                count -= leapt[0]
                at = leapt[2]
            else:
                at = self.step(self.value_end(at), "]")[1]
                count -= 1
        return at

    def lines(self, at: int, tally: SkipTally) -> tuple[int, int]:
        """Skip all containers from here on, each of which begins on a new line.

        Returns:
            Their number, and how many of them span several lines.
        """
        count = several = 0
        while at < self.size:
            here = self._at(at)
            last = self._text.rfind("\n", here)
            if last > here and not several and not self._is_deep:
                values, size = _lines_of(self._text[here:last])
                if values:
                    tally.values(values)
                    count += len(values)
                    at = self.space(at + size)
                    continue
            end, value = self.line_value(at)
            several += "\n" in value if value else self.spans_lines(at, end)
            if (one := parsed(value)) is not None:
                tally.values([one])
            else:
                tally.large(at)
            count += 1
            at = self.next_line(end)
        return count, several

    def line_value(self, at: int) -> tuple[int, str]:
        """Return the offset past the container that begins here, and its text if the window has it."""
        if self.char(at) not in _CLOSING:
            raise NotJson(at)
        end = self.value_end(at)
        start = at - self._base
        return end, self._text[start : end - self._base] if start >= 0 else ""

    def next_line(self, at: int) -> int:
        """Return where the next value begins, which must stand on a new line; the size if there is none."""
        following = self.space(at)
        if following < self.size and b"\n" not in self.raw(at, following):
            raise NotJson(following)
        return following

    def spans_lines(self, start: int, end: int) -> bool:
        """Return whether there is a newline between two places."""
        return any(b"\n" in self.raw(at, min(at + self._window, end)) for at in range(start, end, self._window))

    def _at(self, offset: int, ahead: int = 1) -> int:
        """Return an offset's place in the window, which is moved to have this many bytes from there, if they exist."""
        here = offset - self._base
        if here < 0 or (here + ahead > len(self._text) and not self._is_last):
            for credit in (self._whole_values, self._batches):
                credit.earn(here)
            self._base = offset
            self._text = self.source.read(offset, max(self._window, ahead)).decode("latin-1")
            self._is_deep = _may_be_deep(self._text, DEPTH_LIMIT)
            if not self._text:
                self.size = offset  # the file was cut short from outside
            here = 0
        return here

    @property
    def _is_last(self) -> bool:
        """Return whether the window has the end."""
        return self._base + len(self._text) >= self.size

    def _whole_value(self, at: int) -> int:
        """Return the offset past the container that begins here, if the C scanner takes it; else 0."""
        here = self._at(at)
        for _ in range(2):
            if not self._whole_values or self._is_deep:
                return 0
            try:
                end: int = scan(self._text, here)[1]
            except FAILURES as failure:
                self._whole_values.spend(_cost(failure, len(self._text) - here))
            else:
                return self._base + end
            if here == 0:
                return 0
            here = self._at(at, self._window)
        return 0

    def _leap(self, at: int, closing: str, tally: SkipTally | None, most: int = 0) -> tuple[int, bool, int] | None:
        """Skip as many children as the window has, by the C scanner: their number, and `step`'s result; or None."""
        here = self._at(at, self._window // 2)
        text = self._text
        if not self._whole_values or self._is_deep:
            return None
        start = here
        if closing == "}":
            end = _c_string_end(text, here + 1) if text[here : here + 1] == '"' else 0
            colon = _COLON.match(text, end) if end else None
            if not colon:
                return None
            start = colon.end()
        try:
            value, end = scan(text, start)
        except FAILURES as failure:
            self._whole_values.spend(_cost(failure, len(text) - start))
            return None
        comma = _COMMA.match(text, end)
        following = comma.end() if comma else 0
        if not following or following >= len(text):
            if end + _NUMBER_PART_BYTES > len(text) and not self._is_last:
                return None
            if tally:
                tally.values([value])
            return (1, *self.step(self._base + end, closing))
        if tally:
            tally.values([value])
        batch = self._batch(following, end, closing, tally, most)
        return batch or (1, True, self._base + following)

    def _batch(
        self, start: int, end: int, closing: str, tally: SkipTally | None, most: int
    ) -> tuple[int, bool, int] | None:
        """Return the children in the window that follow one, parsed as a container of their own.

        If the parse succeeds, they are complete, since whatever was cut off begins with a comma between children.
        """
        if not self._batches or (most and self._overshot == self._base):
            return None
        text = self._text
        opening, take = ("[", scan) if closing == "]" else ("{", scan_pairs)
        is_all = self._is_last
        between = text[end - 1 : start + 1] if text[end - 1] in '"]}' else ","
        cut = len(text)
        for _ in range(2):
            if not is_all:
                cut = text.rfind(between, start, cut)
                if cut < 0:
                    return None
                cut = text.index(",", cut + (text[cut] != ","))
            part = f"{opening}{text[start:cut]}{'' if is_all else closing}"
            try:
                found, stop = take(part, 0)
            except FAILURES as failure:
                self._batches.spend(_cost(failure, len(part)))
                if is_all:
                    return None
                continue
            count = len(found) if closing == "]" else found
            if not count:
                return None  # a comma and then nothing: the hand will report it
            if most and count >= most:
                self._overshot = self._base
                return None
            if tally:
                tally.values(found)
            if stop < len(part) or is_all:
                return 1 + count, False, self._base + start + stop - 1
            return 1 + count, True, self.space(self._base + cut + 1)
        return None

    def _scalar_end(self, at: int, char: str) -> int:
        if char == '"':
            return self._string_end(at)
        ahead = 64
        while True:
            here = self._at(at, ahead)
            match = _WORD.match(self._text, here)
            assert match
            if match.end() < len(self._text) or self._is_last:
                break
            ahead = 2 * (len(self._text) - here) + 64
            if ahead > WORD_LIMIT_BYTES:
                raise NotJson(at)
        if not _SCALAR.fullmatch(self._text, here, match.end()):
            raise NotJson(at)
        return self._base + match.end()

    def _string_end(self, at: int) -> int:
        at += 1
        while at < self.size:
            here = self._at(at, _ESCAPE_BYTES)
            if end := _c_string_end(self._text, here):
                return self._base + end
            if self._is_last:
                break
            part = self._text[here:]
            cut_off = _CUT_OFF.search(part, max(len(part) - _ESCAPE_BYTES, 0))
            if cut_off and (cut_off.start() - len(part[: cut_off.start()].rstrip("\\"))) % 2 == 0:
                part = part[: cut_off.start()]
            if _c_string_end(part + '"', 0) <= len(part):
                break
            at += len(part)
        raise NotJson(at)


_KINDS = {"[": "array", "{": "object", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}
_SAMPLES: dict[str, Any] = {"string": "", "boolean": True, "null": None, "number": 0}


def kind_of(char: str) -> str:
    """Return the JSON type of a value by its first character."""
    return _KINDS.get(char, "number")


MEMBERS_LOOKED_AT = 1 << 14


def keys_of(scanner: Scanner, start: int, most: int) -> list[str]:
    """Return the distinct keys of the object that begins here, in order, up to a number; read as latin-1.

    Only the first MEMBERS_LOOKED_AT members count, because a key may be repeated a million times.
    """
    found: dict[str, None] = {}
    more, at = scanner.opened(start)
    looked_at = 0
    while more and len(found) < most and looked_at < MEMBERS_LOOKED_AT:
        looked_at += 1
        end, value = scanner.key(at)
        found[scanner.raw(at + 1, end - 1).decode("latin-1")] = None
        more, at = scanner.step(scanner.value_end(value), "}")
    return list(found)


# the C scanner: fast, and only for what lies in memory and is not too deep for it

_MARK = "7777777777777777"  # a whole number has only one spelling
_OPENING = "[{"
_NO_BRACKETS = bytes({*range(256)} - {*b"[]{}"})
_USUAL_DEPTH = 64  # pairs within pairs, each searched in one pass


def _decoder(**options: Any) -> Any:
    return json.JSONDecoder(**options)  # takes NaN and Infinity; the types of its scanners are declared wrongly


scan: Callable[[str, int], tuple[Any, int]] = _decoder().scan_once
scan_pairs: Callable[[str, int], tuple[Any, int]] = _decoder(object_pairs_hook=len).scan_once
_scan_string: Callable[[str, int, bool], tuple[str, int]] = _decoder().parse_string
FAILURES = (StopIteration, ValueError, RecursionError)


def _cost(failure: BaseException, size: int) -> int:
    """Return about how many bytes a failed attempt looked at."""
    if isinstance(failure, RecursionError):
        return min(size, 1 << 14)
    return size


def _may_be_deep(text: str, limit: int) -> bool:
    """Return whether brackets may be nested deeper than a limit; brackets in strings count, too.

    The depth that the C scanner can take differs between Pythons; on 3.14 it is that of the thread's stack.
    """
    limit -= _USUAL_DEPTH  # this many levels are taken away below
    if text.count("[") + text.count("{") <= limit:
        return False
    left = text.encode("latin-1").translate(None, _NO_BRACKETS)
    for _ in range(_USUAL_DEPTH):
        left = left.replace(b"[]", b"").replace(b"{}", b"")
        if len(left) <= limit:
            return False
    return left.count(b"[") + left.count(b"{") > limit


def _c_string_end(text: str, start: int) -> int:
    """Return the offset past a string's closing quote, from within it; 0 if there is none, or the text is not JSON."""
    try:
        return _scan_string(text, start, True)[1]
    except ValueError:
        return 0


def parsed(text: str) -> Any:
    """Return a value from `json.loads`; None if the C scanner does not take it."""
    try:
        return scan(text, 0)[0]
    except FAILURES:
        return None


def _lines_of(text: str) -> tuple[list[Any], int]:
    """Return the containers on lines, one on each, as far as they parse, and the number of their characters."""
    if (values := _all_lines(text)) is not None:
        return values, len(text) + 1
    values, size = [], 0
    for line in text.split("\n"):
        if stripped := line.strip(" \t\r"):
            if stripped[0] not in _OPENING:
                break
            try:
                value, end = scan(stripped, 0)
            except FAILURES:
                break
            if end != len(stripped):
                break
            values.append(value)
        size += len(line) + 1
    return values, size


def _all_lines(text: str) -> list[Any] | None:
    """Return the containers on all lines, parsed at once with a mark at each newline; None if that fails."""
    if _MARK in text:
        return None
    joined = f"[{text.replace(chr(10), f',{_MARK},')}]"
    try:
        found, end = scan(joined, 0)
    except FAILURES:
        return None
    count, marks = text.count("\n"), found[1::2]
    if end != len(joined) or len(found) != 2 * count + 1 or marks != [int(_MARK)] * count:
        return None
    if not set(map(type, marks)) <= {int}:
        return None
    values: list[Any] = found[::2]
    return values if set(map(type, values)) <= {dict, list} else None
