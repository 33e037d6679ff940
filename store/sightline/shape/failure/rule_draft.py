"""Drafts a rule for an unknown tool from one output of it, as a start to be corrected by hand.

The lines that say what failed are named by a person, or recognised by the usual words (error, failed), or guessed: in a
failed run, lines that begin with another mark than most (``[!!]`` among ``[ok]``). What these lines have in common, and
other lines lack, becomes the pattern. A last line with several numbers becomes the count.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple

WHOLE_LINES = 60
"""An example of more lines is shortened: to its ends, and to the lines around failures."""

_ENDS, _AROUND, _MOST_HITS = 10, 3, 8
_MOST_PATTERNS = 4
_MOST_GUESSED = 20
_USUAL_MARKS = 3  # lines with a common mark before another mark counts as odd
_WORD = re.compile(r"error|fail(?:ed|ure|ures|s)?|fatal|exception|panic(?:ked)?|assert\w*|[✕✖✗✘❌]", re.IGNORECASE)
_TOKEN = re.compile(r"\S+")
# Without quotes, which would end a text of TOML, and from the beginning of a word on, so that none is read twice.
_PATH = r"(?<![^\s:,()\x22\x27])(?P<file>[^\s:,()\x22\x27./]*[./][^\s:,()\x22\x27]*\w)"
_PLACES = tuple(
    (re.compile(_PATH + between + r"(?P<line>\d+)"), _PATH + between + r"(?P<line>\d+)")
    for between in (":", r"\(", " @ ", ",? (?:at )?(?:line|row) ", ",? at ")
)
"""Forms in which a line can name a file and a line, with the pattern that finds each."""
_NAMED = re.compile(r"[^\s:,;]*[\w][./_:-][^\s:,;]*\w")
_NUMBERS = re.compile(r"\b\d[\d,]{0,30} (?P<after>[A-Za-z]{2,})\b|\b(?P<before>[A-Za-z]{2,})[:=] ?\d[\d,]*\b")
_NOUNS_FIRST = re.compile(r"(?:\s*[A-Za-z]{2,} \d[\d,]*)+\s*", re.ASCII)
"""A line such as ``ok 11 lost 1``, whose names stand before their numbers, since nothing follows the last one."""
_NOUN_FIRST = re.compile(r"\b(?P<noun>[A-Za-z]{2,}) \d")
_NO_NOUNS = frozenset(("ms", "sec", "secs", "second", "seconds", "min", "mins", "minutes", "hours"))
_KEYS = frozenset(("has", "line", "total", "each", "module", "sums"))  # count names with other meanings


class Draft(NamedTuple):
    """What a draft knows about its tool.

    Attributes:
        tool: name of the tool.
        program: the word of a command that runs it.
        command: the command of the example; exit_code is its exit code, None if it is not known.
        lines: lines of the example, cleaned.
        hits: numbers of the lines, from 1, that say what failed.
    """

    tool: str
    program: str
    command: str
    exit_code: int | None
    lines: tuple[str, ...]
    hits: tuple[int, ...]

    def text(
        self, failures: Sequence[int] = (), named: Sequence[str] = (), counts: Mapping[str, int] | None = None
    ) -> str:
        """Return the file: the rule, and its example with what the rule is to find there."""
        return "\n".join(
            (*self._head(), *self._failures(), *self._count(), *self._example(failures, named, counts or {}))
        )

    def _head(self) -> tuple[str, ...]:
        return (
            f"# How to read the output of {self.tool}. `sightline rules try` shows what this finds in an output.",
            f"[{self.tool}]",
            f"programs = {dumps([self.program])} # words of a command that run it",
            "marks = [] # texts that only this tool writes, so that it is known within a script, too",
            "",
        )

    def _failures(self) -> tuple[str, ...]:
        found = patterns_of(self.lines, self.hits)
        if not found:
            return (
                "# No line looks like a failure. Describe such lines like this:",
                f"# [[{self.tool}.failure]]",
                '# has = "BROKEN" # a text of the line',
                "# line = '^BROKEN (?P<name>.+)$' # a regular expression for the line",
                "",
            )
        lines: list[str] = [
            ("# Groups of a line's pattern that are called name, file and line say what failed, and where.")
        ]
        for has, pattern in found:
            lines += [
                f"[[{self.tool}.failure]]",
                f"has = {dumps(has, ensure_ascii=False)} # lines without this text are not looked at",
                f"line = '{pattern}'",
                "",
            ]
        return tuple(lines)

    def _count(self) -> tuple[str, ...]:
        numbers = count_in(self.lines)
        if not numbers:
            return ()
        return (
            "# Each number has a name. One that begins with fail or error says that something went wrong: rename "
            "yours so.",
            f"[[{self.tool}.count]]",
            f"has = {dumps(max(numbers, key=len))}",
            "line = '" + ".*".join(pattern.replace("(", "").replace(")", "") for pattern in numbers.values()) + "'",
            *(f"{noun.lower()} = '{pattern}'" for noun, pattern in numbers.items()),
            "",
        )

    def _example(self, failures: Sequence[int], named: Sequence[str], counts: Mapping[str, int]) -> tuple[str, ...]:
        text = "\n".join(self.lines)
        output = f"'''\n{text}\n'''" if "'''" not in text else dumps(text)
        found = [f"exit = {self.exit_code}"] if self.exit_code is not None else []
        if counts:
            found.append("counts = { " + ", ".join(f"{noun} = {number}" for noun, number in counts.items()) + " }")
        return (
            f"[[{self.tool}.example]] # examples come after all rules of the file",
            f"command = {dumps(self.command)}",
            f"output = {output}",
            *found,
            f"failures = {dumps(list(failures))} # the lines of it that say what failed, from 1",
            f"named = {dumps(list(named), ensure_ascii=False)}",
            "",
        )


def odd_lines(lines: Sequence[str]) -> list[int]:
    """Return the lines, from 1, that begin with another mark of the same form than most lines with a mark."""
    begun: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(lines, start=1):
        if (first := _TOKEN.match(line.lstrip())) and (form := _form(first[0])):
            begun.setdefault(form, []).append((number, first[0]))
    for marked in sorted(begun.values(), key=len, reverse=True):
        (usual, count), *_ = Counter(mark for _, mark in marked).most_common(1)
        odd = [number for number, mark in marked if mark != usual]
        if count >= _USUAL_MARKS and 0 < len(odd) < count:
            return odd[:_MOST_GUESSED]
    return []


def _form(token: str) -> str:
    """Return the form of a mark at a line's beginning; empty if it is no mark."""
    if token[0] in "[(<{" and token[-1] in "])>}:":
        return token[0]
    if len(token) == 1 and not token.isdigit():
        return "sign"
    return "word" if token.rstrip(":").isupper() else ""


def patterns_of(lines: Sequence[str], hits: Sequence[int]) -> list[tuple[str, str]]:
    """Return (has, line) for such lines: a literal that each has, and a pattern that matches it.

    Args:
        lines: all lines of the output.
        hits: numbers of the lines, from 1, that say what failed.
    """
    left = [lines[hit - 1] for hit in hits if lines[hit - 1].strip()]
    others = [line for number, line in enumerate(lines, start=1) if number not in set(hits)]
    found: list[tuple[str, str]] = []
    while left and len(found) < _MOST_PATTERNS:
        text, anchor = _telling(left, others)
        has, pattern = pattern_of(text, anchor)
        found.append((has, pattern))
        left = [line for line in left if line is not text and not (has in line and re.search(pattern, line))]
    return found


def _telling(hits: Sequence[str], others: Sequence[str]) -> tuple[str, str]:
    """Return the text that best tells the lines from others, and the first line that has it."""
    best: tuple[tuple[object, ...], str, str] | None = None
    for text in hits:
        usual = _WORD.search(text)
        tokens = [usual[0]] if usual else []
        tokens += [token for token in (one.strip(":,;'\"") for one in _TOKEN.findall(text)) if _is_telling(token)]
        for at, token in enumerate(tokens or _TOKEN.findall(text)[:1]):
            rank = (
                -sum(token in line for line in others),
                sum(token in line for line in hits),
                usual is not None and token == usual[0],
                text.lstrip().startswith(token),
                -at,
            )
            if best is None or rank > best[0]:
                best = rank, text, token
    assert best, "no line is empty"
    return best[1], best[2]


def _is_telling(token: str) -> bool:
    return bool(token) and not any(char.isdigit() or char in "/." for char in token)


def pattern_of(text: str, anchor: str) -> tuple[str, str]:
    """Return (has, line) for lines like this one: the literal that they need, and the pattern.

    Args:
        text: the line.
        anchor: the text in it that tells such lines from others.
    """
    at = text.index(anchor)
    end = at + len(anchor)
    word = _edge(anchor[0]) + _escaped(anchor) + _edge(anchor[-1], text[end : end + 1])
    begins = not text[:at].strip()
    start = r"^\s*" if begins else ""
    made = [f"{form}.*{word}" for place, form in _PLACES if place.search(text, 0, at)]
    made += [f"{start}{word}.*?{form}" for place, form in _PLACES if place.search(text, end)]
    if begins and (name := _NAMED.match(text, end + len(text[end:]) - len(text[end:].lstrip()))) and name.start() > end:
        made.append(rf"{start}{word}\s+(?P<name>[^\s:,;]+)")
    return anchor, next((one for one in made if re.search(one, text)), f"{start}{word}")


def _edge(char: str, after: str = "") -> str:
    """Return the pattern for the edge of a word, unless the line goes on with the same word."""
    return r"\b" if re.match(r"\w", char) and not re.match(r"\w", after) else ""


def _escaped(text: str) -> str:
    """Escape a text for a pattern within quotes of TOML, which nothing may end."""
    return re.escape(text).replace("'", ".").replace(r"\ ", " ")


def count_in(lines: Sequence[str]) -> dict[str, str]:
    """Return the pattern of each number by name in the last line with several numbers; empty if there is none."""
    for line in reversed(lines[-_ENDS:]):
        found: dict[str, str] = {}
        for noun, pattern in _numbers_of(line):
            if noun.lower() not in _NO_NOUNS | _KEYS | {one.lower() for one in found}:
                found[noun] = pattern
        if len(found) > 1:
            return found
    return {}


def _numbers_of(line: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each number of a line, and a pattern that finds the number by it."""
    if _NOUNS_FIRST.fullmatch(line):
        for number in _NOUN_FIRST.finditer(line):
            yield number["noun"], rf"\b{number['noun']} ([\d,]+)"
        return
    for number in _NUMBERS.finditer(line):
        if noun := number["after"]:
            yield noun, rf"\b([\d,]+) {noun}\b"
        else:
            yield number["before"], rf"\b{number['before']}[:=] ?([\d,]+)"


def shortened(lines: Sequence[str], hits: Sequence[int]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the lines of an example, and which say what failed; of a long output, only the lines that matter."""
    if len(lines) <= WHOLE_LINES:
        return tuple(lines), tuple(hits)
    kept = {*range(1, _ENDS + 1), *range(len(lines) - _ENDS + 1, len(lines) + 1)}
    for hit in hits[:_MOST_HITS]:
        kept |= set(range(max(1, hit - _AROUND), min(len(lines), hit + _AROUND) + 1))
    numbers = sorted(kept)
    return tuple(lines[number - 1] for number in numbers), tuple(
        place for place, number in enumerate(numbers, start=1) if number in hits
    )
