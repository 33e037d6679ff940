"""Finds the value at a JSON path, of ``$``, ``.key``, ``["a key"]``, ``[a key]``, ``[N]``, ``[-N]``, ``[-N:]``."""

import json
import re

from sightline.base.errors import SightlineError
from sightline.light.named_tuple import NamedTuple
from sightline.shape.json.scanner import WINDOW_BYTES, Scanner, keys_of, kind_of
from sightline.shape.json.strings import read_key
from sightline.shape.source import Source

LISTED_KEYS = 10
"""Keys that an error lists."""

_SEGMENT = re.compile(
    r"\.(?P<key>[^.\[\]\s\"']+)"
    r"|\[(?P<quoted>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')\]"
    r"|\[(?P<index>0|[1-9][0-9]{0,15})\]"
    r"|\[-(?P<back>[1-9][0-9]{0,15})(?P<slice>:)?\]"
    r"|\[(?P<bare>(?=[^\[\]]*[\s.])(?:[^\W\d]|[/@$#])[^\[\]\"'\\]*)\]"
)
_BRACKETED = re.compile(r"\[[^\]]*\]?|\.[^.\[]*|[^.\[]+")
_FORMS = '$, .key, ["a key"], [N], [-N] and [-N:] are'


def path_of_key(written: bytes) -> str:
    """Return the segment of a path for a key as JSON writes it, without quotes; empty if it cannot do without them."""
    text = written.decode("utf-8", "replace")[1:-1]
    for segment in ("." + text, f"[{text}]"):
        found = _SEGMENT.fullmatch(segment)
        if found and text in (found["key"], found["bare"]) and text.isprintable():
            return segment
    return ""


class BadPath(SightlineError):
    """The path has a form that is not supported."""


class NotFound(SightlineError):
    """The path leads to nothing."""


class PathStep(NamedTuple):
    """One segment of a path.

    Attributes:
        text: text of the segment.
        key: key of an object's member; None for an element.
        place: index of an array's element, from 0, or from -1 backwards.
        is_slice: whether it means all elements from there on.
        in_fewer: the index, from 0, in an array with fewer elements than a slice before it asked for; None without
            such a slice.
    """

    text: str
    key: str | None = None
    place: int = 0
    is_slice: bool = False
    in_fewer: int | None = None


class FoundValue(NamedTuple):
    """A value, or the last elements of an array.

    Attributes:
        kind: its JSON type.
        start: offset in bytes of its beginning.
        end: offset of its end, exclusive; for elements, of the last one's.
        taken: number of elements; None for a value.
    """

    kind: str
    start: int
    end: int
    taken: int | None = None


def parse_path(path: str) -> tuple[PathStep, ...]:
    """Parse a path into segments. Raises BadPath, which names the faulty one."""
    text = path.strip()
    at = 1 if text.startswith("$") else 0
    if not at and not text.startswith((".", "[")):
        text = "." + text if text else text
    steps: list[PathStep] = []
    while at < len(text):
        match = _SEGMENT.match(text, at)
        after_slice = bool(steps) and steps[-1].is_slice
        if not match or (after_slice and not match["index"]):
            raise _unsupported(text, at, after_slice=bool(match))
        step = _step(match)
        steps.append(_of_slice(steps.pop(), step) if after_slice else step)
        at = match.end()
    return tuple(steps)


def _of_slice(last: PathStep, step: PathStep) -> PathStep:
    """Return the segment for an element of a slice. Raises BadPath if a slice never has that many."""
    text = last.text + step.text
    if step.place >= -last.place:
        raise BadPath(f"{text}: {last.text} has {-last.place:,} elements at most", "count them from 0")
    return PathStep(text, place=last.place + step.place, in_fewer=step.place)


def _step(match: re.Match[str]) -> PathStep:
    if match["index"]:
        return PathStep(match[0], place=int(match["index"]))
    if match["back"]:
        return PathStep(match[0], place=-int(match["back"]), is_slice=bool(match["slice"]))
    quoted = match["quoted"]
    if not quoted:
        return PathStep(match[0], key=match["bare"] or match["key"])
    if quoted.startswith('"'):
        try:
            return PathStep(match[0], key=json.loads(quoted))
        except ValueError:
            raise BadPath(
                f"{match[0]} is no key: it is written as JSON writes strings", _FORMS + " supported"
            ) from None
    return PathStep(match[0], key=re.sub(r"\\(.)", r"\1", quoted[1:-1]))


def _unsupported(text: str, at: int, *, after_slice: bool) -> BadPath:
    segment = _BRACKETED.match(text, at)
    told = segment[0] if segment else text[at:]
    if after_slice:
        return BadPath(f"{told} cannot follow a slice", "take one of its elements, [0], to go on from there")
    hint = "write [0]" if re.fullmatch(r"\[-0+:?\]", told) else _FORMS + " supported; `jq` in a query does more"
    return BadPath(f"this path is not supported: {told}", hint)


def find(source: Source, steps: tuple[PathStep, ...], window: int = WINDOW_BYTES) -> FoundValue:
    """Return the value at a path in a stream of JSON.

    Args:
        source: the stream, with one JSON value.
        steps: the path.
        window: number of bytes that are looked at together.

    Raises:
        NotFound: the path leads to nothing; the message says what there is instead.
        NotJson: what was read on the way is not JSON.
    """
    scanner = Scanner(source, window)
    at = scanner.start()
    path = "$"
    for step in steps:
        kind = kind_of(scanner.char(at))
        if step.key is not None:
            at = _member(scanner, at, kind, step, path)
        elif step.is_slice:
            return _last_elements(scanner, at, kind, step, path)
        else:
            try:
                at = _element(scanner, at, kind, step, path)
            except NotFound:
                if step.in_fewer is None:
                    raise
                at = _element(scanner, at, kind, step._replace(place=step.in_fewer), path)
        path += step.text
    return FoundValue(kind_of(scanner.char(at)), at, scanner.value_end(at))


def _member(scanner: Scanner, at: int, kind: str, step: PathStep, path: str) -> int:
    """Return where the member's value begins; of a repeated key, the last one counts, as usual."""
    if kind != "object":
        raise NotFound(f"{path} is {_a(kind)} and has no key {step.key!r}", _of_other_kind(kind))
    found = -1
    more, place = scanner.opened(at)
    while more:
        end, value = scanner.key(place)
        if _is_key(scanner.raw(place, end), step.key or ""):
            found = value
        more, place = scanner.step(scanner.value_end(value), "}")
    if found >= 0:
        return found
    keys = [read_key(key) for key in keys_of(scanner, at, LISTED_KEYS + 1)]
    listed = ", ".join(keys[:LISTED_KEYS]) + (", …" if len(keys) > LISTED_KEYS else "")
    raise NotFound(f"{path} has no key {step.key!r}", f"its keys: {listed}" if keys else "it is an empty object")


def _is_key(written: bytes, key: str) -> bool:
    if b"\\" not in written:
        return written[1:-1] == key.encode(errors="surrogateescape")
    return bool(json.loads(written.decode("utf-8", "replace")) == key)


def _element(scanner: Scanner, at: int, kind: str, step: PathStep, path: str) -> int:
    if kind != "array":
        raise NotFound(f"{path} is {_a(kind)} and has no element {step.text}", _of_other_kind(kind))
    count = _length(scanner, at)
    index = step.place if step.place >= 0 else count + step.place
    if not 0 <= index < count:
        raise NotFound(f"{path} has {_items(count)}; {step.text} is out of range", _range(count))
    return scanner.elements(scanner.opened(at)[1], index)


def _last_elements(scanner: Scanner, at: int, kind: str, step: PathStep, path: str) -> FoundValue:
    if kind != "array":
        raise NotFound(f"{path} is {_a(kind)} and has no elements", _of_other_kind(kind))
    count = _length(scanner, at)
    wanted = min(-step.place, count)
    end = scanner.value_end(at)
    if not wanted:
        return FoundValue("array", end - 1, end - 1, 0)
    start = scanner.elements(scanner.opened(at)[1], count - wanted)
    return FoundValue("array", start, end - 1, wanted)


def _length(scanner: Scanner, at: int) -> int:
    more, first = scanner.opened(at)
    return scanner.rest(first, "]")[0] if more else 0


def _a(kind: str) -> str:
    return "null" if kind == "null" else f"an {kind}" if kind[0] in "ao" else f"a {kind}"


def _items(count: int) -> str:
    return f"{count:,} item{'' if count == 1 else 's'}"


def _range(count: int) -> str:
    return f"[0] to [{count - 1}] are there, and [-1] is the last" if count else "it is an empty array"


def _of_other_kind(kind: str) -> str:
    return {"array": "an element is [N]", "object": "a member is .key"}.get(kind, "a value such as this ends a path")
