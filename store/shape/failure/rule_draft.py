"""A first rule for a tool that is not known, made from one output of it: a start to be corrected by hand."""

import json
import re
from collections.abc import Sequence

from sightline.named_tuple import NamedTuple

WHOLE_LINES = 60
"""An output of more lines is shortened for the example: to its ends, and to what is around the lines that say why."""

_ENDS, _AROUND, _MOST_HITS = 10, 3, 8
_WORD = re.compile(r"error|fail(?:ed|ure|ures|s)?|fatal|exception|panic(?:ked)?|assert\w*|[✕✖✗✘❌]", re.IGNORECASE)
_PLACE = re.compile(r"[^\s:()'\"]+\.\w+:\d+")


class Draft(NamedTuple):
    """What a draft knows of its tool.

    Attributes:
        tool: its name.
        program: the word of a command that runs it.
        command: the command of the example; exit_code, how it ended; None where that is not known.
        lines: the lines of the example, cleaned.
        hits: which of them, from 1, look like failures without a rule.
    """

    tool: str
    program: str
    command: str
    exit_code: int | None
    lines: tuple[str, ...]
    hits: tuple[int, ...]

    def text(self, failures: Sequence[int] = (), named: Sequence[str] = ()) -> str:
        """The file: the rule, and its example with what it is to find there."""
        return "\n".join((*self._head(), *self._failure(), *self._example(failures, named)))

    def _head(self) -> tuple[str, ...]:
        return (
            f"# What the output of {self.tool} says. `sightline rules try` shows how an output is read by it.",
            f"[{self.tool}]",
            f"programs = {json.dumps([self.program])} # words of a command that run it",
            "marks = [] # texts that only it writes, so that it is known within a script, too",
            "",
        )

    def _failure(self) -> tuple[str, ...]:
        if not any(self.lines[hit - 1].strip() for hit in self.hits):
            return (
                "# No line looks like a failure. One is described like this:",
                f"# [[{self.tool}.failure]]",
                '# has = "BROKEN"',
                "# line = '^BROKEN (?P<name>.+)$'",
                "",
            )
        has, pattern = pattern_of(next(text for hit in self.hits if (text := self.lines[hit - 1]).strip()))
        return (
            f"[[{self.tool}.failure]]",
            f"has = {json.dumps(has, ensure_ascii=False)} # lines without it are not looked at",
            f"line = '{pattern}' # groups that are called name, file and line tell what failed, and where",
            "",
        )

    def _example(self, failures: Sequence[int], named: Sequence[str]) -> tuple[str, ...]:
        text = "\n".join(self.lines)
        output = f"'''\n{text}\n'''" if "'''" not in text else json.dumps(text)
        found = [f"exit = {self.exit_code}"] if self.exit_code is not None else []
        return (
            f"[[{self.tool}.example]] # stands behind all rules of the file",
            f"command = {json.dumps(self.command)}",
            f"output = {output}",
            *found,
            f"failures = {json.dumps(list(failures))} # the lines of it that say what failed, from 1",
            f"named = {json.dumps(list(named), ensure_ascii=False)}",
            "",
        )


def pattern_of(text: str) -> tuple[str, str]:
    """(has, line) for lines like this one: what they must hold, and what is found in them."""
    word = _WORD.search(text)
    if word is None:
        first = next(iter(text.split()), text)
        return first, f"^\\s*{_escaped(first)}"
    place = _PLACE.search(text, 0, word.start())
    before = r"(?P<file>[^\s:]+):(?P<line>\d+).*" if place else ""
    edges = ("\\b", "\\b") if word[0].isalpha() else ("", "")
    return word[0], f"{before}{edges[0]}{_escaped(word[0])}{edges[1]}"


def _escaped(text: str) -> str:
    """A text within a pattern that stands between quotes of TOML, which nothing may end."""
    return re.escape(text).replace("'", ".")


def shortened(lines: Sequence[str], hits: Sequence[int]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The lines of an example, and which of them look like failures: all, or those of a long output that matter."""
    if len(lines) <= WHOLE_LINES:
        return tuple(lines), tuple(hits)
    kept = {*range(1, _ENDS + 1), *range(len(lines) - _ENDS + 1, len(lines) + 1)}
    for hit in hits[:_MOST_HITS]:
        kept |= set(range(max(1, hit - _AROUND), min(len(lines), hit + _AROUND) + 1))
    numbers = sorted(kept)
    return tuple(lines[number - 1] for number in numbers), tuple(
        place for place, number in enumerate(numbers, start=1) if number in hits
    )
