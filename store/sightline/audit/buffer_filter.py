"""Reads the words that filter a list of buffers, beside plain text: ``exit:!0 seen:<50 harness:codex``.

The inspector's filter and ``list --match`` use the same words. The caller searches for the rest as text.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from sightline.audit.coverage import Share
from sightline.audit.kept_facts import AT_ONCE, facts_for, facts_so_far, share_in
from sightline.audit.output_facts import EXPIRED, UNSEEN, output_rules
from sightline.base.errors import UsageError
from sightline.base.records import Buffer, Session
from sightline.base.refs import host_of
from sightline.base.time_words import TAKES, Span, span_of
from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.commands import commands_in
from sightline.shell_words.lexer import Unclear
from sightline.store import Narrowing, Reading

KINDS = ("cmd", "file", "tool")
DAYS = ("today", "yesterday")
"""Days that are words of a filter by themselves."""

OVERLOOKED = "!"
"""The word for buffers with a failure that no agent saw."""

_SIZES = {"": 1, "b": 1} | {
    letter + unit: 1 << 10 * power for power, letter in enumerate("kmg", 1) for unit in ("", "b", "ib")
}
_NUMBER = re.compile(r"(!|<=|>=|<|>|=)?(\d+(?:\.\d+)?)([a-z%]*)")
_PROGRAM_WORDS = 4  # first words of a command that may be its program, as in `uv run pytest`
_PAGE = 500
_PAUSE_SECONDS = 0.001  # between two pages, so that the thread that draws gets its turn

Accepts = Callable[[Buffer], bool]
Judges = Callable[[int, Share, bool], bool]
"""The test of the flags of an output, of how much of it was seen, and of whether it runs."""


class Condition(NamedTuple):
    """One word: its name, from `WORDS` or `OVERLOOKED`, and its value."""

    name: str
    value: str = ""


class Filter(NamedTuple):
    """The parts of a typed filter.

    Attributes:
        conditions: the known words.
        text: the rest of the text.
        unknown: the words in that rest which look like conditions, and are none.
    """

    conditions: tuple[Condition, ...]
    text: str
    unknown: tuple[str, ...] = ()


def parsed(text: str) -> Filter:
    """Read a filter; a word without its value yet is no condition."""
    conditions, rest, unknown = list[Condition](), list[str](), list[str]()
    for word in text.split():
        name, colon, value = word.partition(":")
        if word == OVERLOOKED:
            conditions.append(Condition(OVERLOOKED))
        elif word in DAYS:
            conditions.append(Condition("on", word))
        elif colon and name in WORDS:
            conditions += [Condition(name, value)] if value.strip("!<>=") else []
        else:
            rest.append(word)
            if colon and value[:1] not in ("", ":", "/") and name.isalpha() and name.islower():
                unknown.append(word)
    return Filter(tuple(conditions), " ".join(rest), tuple(unknown))


def doubtful(found: Filter) -> str:
    """Say which words of a filter were looked for as text, though they look like conditions; empty for none."""
    if not found.unknown:
        return ""
    names = dict.fromkeys(word.partition(":")[0] for word in found.unknown)
    return "; ".join(f"no word {name}:{_meant(name)}, so it is text" for name in names)


def _meant(name: str) -> str:
    near = _nearest(name, WORDS)
    return f" (did you mean {near}:?)" if near else ""


def _nearest(typed: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # 4 ms, which only a typing error costs

    return next(iter(get_close_matches(typed.lower(), list(known), n=1)), "")


def completions(word: str, sessions: Sequence[Session] = ()) -> list[str]:
    """Return the possible completions of a word, the likeliest first."""
    name, colon, value = word.partition(":")
    if not colon:
        return [known for known in (*(f"{name}:" for name in WORDS), *DAYS) if word and known.startswith(word)]
    values: dict[str, Iterable[str]] = {
        "harness": dict.fromkeys(session.harness for session in sessions if session.harness),
        "session": (session.name for session in sessions),
    }
    offered = values.get(name, WORDS[name].offers if name in WORDS else ())
    return [f"{name}:{known}" for known in offered if known.startswith(value) and known != value]


def narrowing(text: str) -> tuple[Narrowing, bool]:
    """Return the part of a filter that an index can answer, and whether that is all of it but its text.

    Raises:
        UsageError: a word does not take its value.
    """
    conditions, rest, _ = parsed(text)
    plain = tuple(word for word in rest.split() if word[0] not in "!^'" and word[-1] != "$")
    found, is_all = Narrowing(words=plain, text=rest), True
    for name, value in conditions:
        if name == "host" and not found.host:
            found = found._replace(host=value)
        elif name == "since":
            found = found._replace(since=max(found.since, _when(name, value).start))
        else:
            is_all = False
            found = found._replace(failed=found.failed or (name, value) == ("is", "failed"))
    return found, is_all


class BufferFilter:
    """Decides which buffers meet all conditions. Only one thread at a time may use it."""

    def __init__(self, store: Reading, conditions: Iterable[Condition]) -> None:
        """Prepare to decide.

        Raises:
            UsageError: a word does not take its value.
        """
        self._store = store
        self._sessions: dict[str, Session] | None = None
        self._tests, self._judges, self._named = list[Accepts](), list[Judges](), list[Callable[[str], bool]]()
        self._may_only_have_failed = False
        for condition in conditions:
            is_failed = condition.name == "is" and _state_meant(condition.value) == "failed"
            self._may_only_have_failed = self._may_only_have_failed or is_failed
            if judges := _judges(condition):
                self._judges.append(judges)
            elif condition.name in _BY_NAME:
                self._named.append(_BY_NAME[condition.name](condition.value))
            else:
                self._tests.append(WORDS[condition.name].test(self, condition.value))

    def accepted(self, buffers: Iterable[Buffer]) -> list[Buffer]:
        """Return the buffers that meet all conditions, in their order. Raises what the store raises."""
        found = [one for one in buffers if self._may_be(one.name) and all(test(one) for test in self._tests)]
        if not self._judges:
            return found
        facts = facts_for(self._store, found)
        facts |= {one.name: facts_so_far(self._store, one) for one in found if one.state == "running"}
        return [
            one
            for one in found
            if (known := facts.get(one.name))
            and all(met(known.flags, share_in(known, one), one.state == "running") for met in self._judges)
        ]

    def names(self) -> Iterator[str]:
        """Yield the names of the buffers that it accepts, with pauses for the drawing thread.

        Those that the index knows to be possible come first; only what is not judged yet is judged.
        """
        if self._judges:
            index, rules = self._store.index, output_rules(self._store)
            kept = [
                name
                for name, flags, lines, seen, is_partial in index.all_facts(rules)
                if self._may_be(name) and all(met(flags, Share(seen, lines, is_partial), False) for met in self._judges)
            ]
            yield from self._met(kept) if self._tests else kept
            self._store.end_dead_captures()
            yield from (one.name for one in self.accepted(map(self._store.with_progress, index.running())))
            yield from self._accepted_of([name for name, _ in index.in_doubt(rules, -1)], self.accepted)
        elif self._may_only_have_failed:
            self._store.end_dead_captures()
            yield from self._met(self._store.index.ended_badly())
        else:
            yield from self._of_pages()

    def _met(self, names: Sequence[str]) -> Iterator[str]:
        """Yield those of some names whose records meet all conditions that records answer."""
        names = [name for name in names if self._may_be(name)]
        return self._accepted_of(names, lambda found: [one for one in found if all(test(one) for test in self._tests)])

    def _may_be(self, name: str) -> bool:
        """Return whether a name meets the conditions that it answers, so that many records need not be read."""
        return all(test(name) for test in self._named)

    def _accepted_of(self, names: Sequence[str], accepted: Callable[[Iterable[Buffer]], list[Buffer]]) -> Iterator[str]:
        for start in range(0, len(names), AT_ONCE):
            records = self._store.index.buffers(names[start : start + AT_ONCE])
            yield from (one.name for one in accepted(records.values()))
            time.sleep(_PAUSE_SECONDS)

    def _of_pages(self) -> Iterator[str]:
        before: int | None = None
        while True:
            page = self._store.listed(_PAGE, before=before)
            yield from (buffer.name for buffer in self.accepted(buffer for buffer, _ in page))
            if len(page) < _PAGE:
                return
            before = page[-1].used
            time.sleep(_PAUSE_SECONDS)

    def judge_all(self) -> None:
        """Judge what its words need and what is not judged yet, by processes and with a bar where it is much."""
        if self._judges:
            from sightline.audit.verdict import VerdictReader  # 20 ms, which only these words need

            VerdictReader(self._store, with_sessions=False).all()

    def session_of(self, buffer: Buffer) -> Session | None:
        """Return the session that captured a buffer; None if it is not known."""
        if self._sessions is None or buffer.session not in self._sessions:
            self._sessions = {session.name: session for session in self._store.index.sessions()}
        return self._sessions.get(buffer.session)


def _session(found: BufferFilter, part: str) -> Accepts:
    def accepts(buffer: Buffer) -> bool:
        known = found.session_of(buffer)
        return part.lower() in f"{buffer.session}\n{known.title if known else ''}".lower()

    return accepts


def _harness(found: BufferFilter, part: str) -> Accepts:
    def accepts(buffer: Buffer) -> bool:
        known = found.session_of(buffer)
        return known is not None and known.harness.lower().startswith(part.lower())

    return accepts


_STATE_TESTS: dict[str, Accepts] = {
    "running": lambda buffer: buffer.state == "running",
    "done": lambda buffer: buffer.state == "sealed",
    "ok": lambda buffer: buffer.state == "sealed" and not buffer.may_have_failed,
    "failed": lambda buffer: buffer.failed,
    "partial": lambda buffer: buffer.is_partial,
    "altered": lambda buffer: bool(buffer.altered),
    "interrupted": lambda buffer: buffer.state == "interrupted",
    "expired": lambda buffer: buffer.state == "evicted",
    "pinned": lambda buffer: buffer.pinned,
    "imported": lambda buffer: bool(buffer.artifact),
}
STATES = (*_STATE_TESTS, "overlooked")  # the last is judged by what is known of the output


def _state_meant(typed: str) -> str:
    """Return the state of which the beginning was typed. Raises UsageError."""
    if len(typed) > 1 and "evicted".startswith(typed):  # what 0.1.0 called it
        return "expired"
    if not (meant := next((known for known in STATES if known.startswith(typed)), "")):
        raise _no_such("state", "is", typed, STATES)
    return meant


def _no_such(what: str, name: str, typed: str, known: Sequence[str]) -> UsageError:
    near = _nearest(typed, known)
    hint = f"did you mean {name}:{near}? " if near else ""
    return UsageError(f"there is no {what} {name}:{typed}", f"{hint}{name}: takes {', '.join(known)}")


def _judges(condition: Condition) -> Judges | None:
    """Return the test of what is known of an output; None for a condition that its record alone answers."""
    name, value = condition
    if name == OVERLOOKED or (name == "is" and _state_meant(value) == "overlooked"):
        return lambda flags, _, is_running: bool(flags & UNSEEN) and not is_running
    if name != "seen":
        return None
    compares = _compared(value, "seen", {"": 1, "%": 1})
    return lambda flags, share, _: bool(share.total) and not flags & EXPIRED and compares(share.share * 100)


def _exit(text: str) -> Accepts:
    if text in ("none", "unknown"):
        return lambda buffer: buffer.kind == "cmd" and buffer.exit_code is None and buffer.state != "running"
    found = _measured(text, "exit", {"": 1}, lambda buffer: buffer.exit_code or 0)
    return lambda buffer: buffer.exit_code is not None and found(buffer)


def _measured(text: str, name: str, units: dict[str, int], of: Callable[[Buffer], float]) -> Accepts:
    compares = _compared(text, name, units)
    return lambda buffer: compares(of(buffer))


def _compared(text: str, name: str, units: dict[str, int]) -> Callable[[float], bool]:
    """Read a comparison with a number: ``>1M``, ``!0``, ``50``."""
    match = _NUMBER.fullmatch(text.lower())
    if match is None or match[3] not in units:
        raise UsageError(f"{name}:{text} has no number to compare with", f"{name}: takes {WORDS[name].takes}")
    number = float(match[2]) * units[match[3]]
    compares: dict[str, Callable[[float], bool]] = {
        "!": lambda value: value != number,
        "<": lambda value: value < number,
        ">": lambda value: value > number,
        "<=": lambda value: value <= number,
        ">=": lambda value: value >= number,
    }
    return compares.get(match[1] or "", lambda value: value == number)


def _when(name: str, text: str) -> Span:
    try:
        return span_of(text)
    except UsageError as error:
        raise UsageError(f"{name}:{text} names no time", f"{name}: takes {TAKES}") from error


def _since(text: str) -> Accepts:
    start = _when("since", text).start
    return lambda buffer: buffer.created >= start


def _before(text: str) -> Accepts:
    start = _when("before", text).start
    return lambda buffer: buffer.created < start


def _on(text: str) -> Accepts:
    start, end = _when("on", text)
    if start == end:
        raise UsageError(f"on:{text} names no day", "on: takes today, yesterday, mon, 2026-11-20")
    return lambda buffer: start <= buffer.created < end


def _tool(name: str) -> Accepts:
    def accepts(buffer: Buffer) -> bool:
        if name not in buffer.command:
            return False
        if buffer.kind != "cmd":
            return buffer.kind == "tool" and name in buffer.command.split(" ", 1)[0]
        try:
            commands = list(commands_in(buffer.command))
        except Unclear:
            return False
        words = (word for command in commands for word in command.words[:_PROGRAM_WORDS])
        return any(word.rpartition("/")[2] == name for word in words)

    return accepts


class FilterWord(NamedTuple):
    """A word that takes a value.

    Attributes:
        takes: the values that it takes.
        example: the word with a value, for the help of the command and the pages.
        test: makes the test of a buffer's record for a value; not called for what `_judges` or `_BY_NAME` answers.
        offers: values that complete it; names of sessions and harnesses come from the store.
    """

    takes: str
    example: str
    test: Callable[[BufferFilter, str], Accepts]
    offers: tuple[str, ...] = ()


def _of_text(test: Callable[[str], Accepts]) -> Callable[[BufferFilter, str], Accepts]:
    return lambda _, value: test(value)


def _judged(_: BufferFilter, value: str) -> Accepts:
    raise AssertionError(f"{value}: `_judges` or `_BY_NAME` answers this")


def _of_size(name: str, units: dict[str, int], of: Callable[[Buffer], float]) -> Callable[[BufferFilter, str], Accepts]:
    return lambda _, value: _measured(value, name, units, of)


def _kind(kind: str) -> Callable[[str], bool]:
    if kind not in KINDS:
        raise _no_such("kind", "kind", kind, KINDS)
    return lambda name: name.rpartition("/")[2].startswith(f"{kind}_")


def _host(pattern: str) -> Callable[[str], bool]:
    return lambda name: fnmatchcase(host_of(name), pattern)


_BY_NAME = {"kind": _kind, "host": _host}


def _cwd(part: str) -> Accepts:
    return lambda buffer: part.lower() in buffer.cwd.lower()


WORDS = {
    "exit": FilterWord(
        "0, !0, >1: the exit code; none: where it is not known", "exit:1 exit:!0", _of_text(_exit), ("!0", "0", "none")
    ),
    "seen": FilterWord(
        "<50, >=90, 0: how much of it some agent was shown, in percent", "seen:<50", _judged, ("<50", "0")
    ),
    "is": FilterWord(
        ", ".join(STATES), "is:running is:partial", _of_text(lambda state: _STATE_TESTS[_state_meant(state)]), STATES
    ),
    "kind": FilterWord(", ".join(KINDS), "kind:tool", _judged, KINDS),
    "tool": FilterWord(
        "a program of the command line, as pytest, or the tool that was called",
        "tool:pytest",
        _of_text(_tool),
        ("pytest", "cargo", "npm", "go", "make"),
    ),
    "size": FilterWord(">1M, <10K: bytes", "size:>1M", _of_size("size", _SIZES, lambda one: one.bytes), (">1M",)),
    "lines": FilterWord(">100", "lines:>100", _of_size("lines", {"": 1, "k": 1000}, lambda one: one.lines), (">1000",)),
    "since": FilterWord(f"{TAKES}: captured after that", "since:1h", _of_text(_since), ("1h", "24h", "7d", *DAYS)),
    "before": FilterWord("as since: captured before that", "before:14:00", _of_text(_before), DAYS),
    "on": FilterWord(
        "today, yesterday, mon, 2026-11-20: captured on that day; the first two stand alone, too",
        "on:2026-11-20",
        _of_text(_on),
        DAYS,
    ),
    "cwd": FilterWord("a part of the folder it was run in", "cwd:DIR", _of_text(_cwd)),
    "session": FilterWord("a part of the name or title of who captured it", "session:S", _session),
    "harness": FilterWord("claude-code, codex, …", "harness:codex", _harness),
    "host": FilterWord("ci-*: on hosts of this name; where many hosts are read", "host:ci-*", _judged),
}
"""The words, by name."""
