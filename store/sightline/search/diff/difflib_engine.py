"""Compares files on machines without GNU diff, as a script: ``difflib_engine.py FLAGS LEFT RIGHT``.

For each hunk it prints ``BEFORE COUNT BEFORE COUNT``: how many lines stand before it on the left and how many it has
there, then the same for the right. Flag ``w`` ignores whitespace. It exits as diff does.

Lines that occur once on each side are fixed points (patience diff); difflib compares the lines between them, unless
there are too many. The script imports nothing of ours, so that it starts in 20 ms.
"""

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_MOST_PAIRS = 1_000_000  # of equal lines for difflib at most, which take it a second

Range = tuple[int, int, int, int]


def hunks(left: Sequence[int], right: Sequence[int]) -> Iterator[Range]:
    """Yield (start, end, start, end) of what differs between two sequences, ascending."""
    waiting = [(0, len(left), 0, len(right))]
    while waiting:
        area = _trimmed(left, right, waiting.pop())
        a, a_end, b, b_end = area
        if a == a_end or b == b_end:
            if a < a_end or b < b_end:
                yield area
            continue
        points = _fixed_points(left, right, area)
        if points:
            waiting.extend(reversed(_between(points, area)))
        else:
            yield from _matched(left[a:a_end], right[b:b_end], a, b)


def _trimmed(left: Sequence[int], right: Sequence[int], area: Range) -> Range:
    """Return the area without what is equal at both ends."""
    a, a_end, b, b_end = area
    while a < a_end and b < b_end and left[a] == right[b]:
        a, b = a + 1, b + 1
    while a < a_end and b < b_end and left[a_end - 1] == right[b_end - 1]:
        a_end, b_end = a_end - 1, b_end - 1
    return a, a_end, b, b_end


def _fixed_points(left: Sequence[int], right: Sequence[int], area: Range) -> list[tuple[int, int]]:
    """Return the places of lines that occur once on each side, as many as keep their order."""
    a, a_end, b, b_end = area
    in_left, in_right = Counter(left[a:a_end]), Counter(right[b:b_end])
    at_right = {right[at]: at for at in range(b, b_end) if in_right[right[at]] == 1}
    pairs = [(at, at_right[left[at]]) for at in range(a, a_end) if in_left[left[at]] == 1 and left[at] in at_right]
    return _longest_rising(pairs)


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest list of pairs, ascending in their first numbers, that also ascends in the second ones."""
    tails, last, before = list[int](), list[int](), list[int]()
    for at, (_, right) in enumerate(pairs):
        length = bisect_left(tails, right)
        before.append(last[length - 1] if length else -1)
        tails[length : length + 1] = [right]
        last[length : length + 1] = [at]
    found, at = list[tuple[int, int]](), last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _between(points: list[tuple[int, int]], area: Range) -> list[Range]:
    a, a_end, b, b_end = area
    found = list[Range]()
    for left, right in [*points, (a_end, b_end)]:
        if a < left or b < right:
            found.append((a, left, b, right))
        a, b = left + 1, right + 1
    return found


def _matched(left: Sequence[int], right: Sequence[int], a: int, b: int) -> Iterator[Range]:
    in_left, in_right = Counter(left), Counter(right)
    if sum(count * in_right[line] for line, count in in_left.items()) > _MOST_PAIRS:
        yield a, a + len(left), b, b + len(right)
        return
    for kind, start, end, right_start, right_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind != "equal":
            yield a + start, a + end, b + right_start, b + right_end


def numbered(path: str, ids: dict[bytes, int], *, whitespace: bool) -> list[int]:
    """Return the lines of a file as numbers, which are equal for equal lines, also across files."""
    with open(path, "rb") as file:
        if whitespace:
            return [ids.setdefault(b"".join(line.split()), len(ids)) for line in file]
        return [ids.setdefault(line, len(ids)) for line in file]


def main(arguments: list[str]) -> int:
    """Compare, and return 0 if the files are equal, 1 if they differ."""
    flags, left_path, right_path = arguments
    ids: dict[bytes, int] = {}
    left = numbered(left_path, ids, whitespace="w" in flags)
    right = numbered(right_path, ids, whitespace="w" in flags)
    ids.clear()
    found = False
    for start, end, right_start, right_end in hunks(left, right):
        found = True
        sys.stdout.write(f"{start} {end - start} {right_start} {right_end - right_start}\n")
    return int(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
