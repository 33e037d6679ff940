"""Finds checks among the commands of a session: tests, builds, type checks and lint, and how each ended.

``checks.toml`` says what is a check. A shell line may hide how a check ended: behind ``| tail``, ``|| true`` or
``; echo done``, the exit code is another program's. Then only the counts in the check's output tell, or what was kept
of it before the filter; without either, nobody knows.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from sightline.audit.timeline import Call
from sightline.errors import SightlineError
from sightline.log.view_text import view_text
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer, View
from sightline.refs import format_ref
from sightline.shape.failure.examination import Examination
from sightline.shape.memory import BytesSource
from sightline.shape.source import Source
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import Program, programs_of
from sightline.store import Reading, Target

TEST, BUILD, TYPES, LINT = "test", "build", "types", "lint"
KINDS = (TEST, BUILD, TYPES, LINT)
NOUNS = {TEST: "tests", BUILD: "build", TYPES: "type check", LINT: "lint"}

PASSED, FAILED, UNKNOWN = "passed", "failed", "not known"

_EXAMINED_BYTES = 4 << 20  # counts in a larger output are not read
_COUNTS = "counts/2"
_PIPEFAIL = re.compile(r"\bset\s+-\w*o\s+pipefail\b")
_IDLE = "--help --version -h --collect-only --co --list --listTests --dry-run --watch"
_HELP = frozenset(_IDLE.split())
"""Options with which a program checks nothing, or never ends."""

_DEEPEST = 4


_NO_PROGRAM = (126, 127)
_NOTHING_RAN = {"pytest": (*_NO_PROGRAM, 4, 5)}
"""Exit codes that mean that nothing was checked: the program was missing, called wrongly, or found no tests."""


class Check(NamedTuple):
    """One run of a check.

    Attributes:
        kind: one of KINDS.
        phrase: what was run, as ``checks.toml`` writes it.
        operands: the files or test names that it was given; none for everything.
        call: the call that ran it.
        outcome: PASSED, FAILED or UNKNOWN.
        masked: whether the exit code of the line says nothing about the check.
        folder: where it ran, as far as that is known.
    """

    kind: str
    phrase: str
    operands: tuple[str, ...]
    call: Call
    outcome: str
    masked: bool
    folder: str

    @property
    def view(self) -> View:
        """The call's view."""
        return self.call.view

    @property
    def ref(self) -> str:
        """Ref of its output; empty if there is none."""
        return format_ref(self.view.refs[0]) if self.view.refs else ""

    @property
    def is_whole(self) -> bool:
        """Whether it checks everything, as far as its words tell."""
        return not self.operands

    @property
    def key(self) -> tuple[str, str, str]:
        """What identifies the check; runs on some files are runs of the same check."""
        return self.kind, self.phrase, self.folder


@cache
def _phrases() -> tuple[dict[str, list[tuple[str, tuple[str, ...]]]], list[tuple[str, ...]]]:
    """Return (kind and words of each phrase, by its first word; the words of runners)."""
    with open(os.path.join(os.path.dirname(__file__), "checks.toml"), "rb") as file:
        table = tomllib.load(file)
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for kind in KINDS:
        for phrase in table[kind]:
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((kind, words))
    for entries in found.values():
        entries.sort(key=lambda entry: -len(entry[1]))
    return found, sorted((tuple(one.split()) for one in table["runners"]), key=len, reverse=True)


class Named(NamedTuple):
    """A check that a command line names."""

    kind: str
    phrase: str
    operands: tuple[str, ...]


@lru_cache(maxsize=4096)
def check_named(words: tuple[str, ...]) -> Named | None:
    """Return the check that a program's words name; None if they name none.

    Args:
        words: words of a simple command, without quotes, beginning with the program's name without a path.
    """
    phrases, runners = _phrases()
    for _ in range(_DEEPEST):
        if not words or not _HELP.isdisjoint(words):
            return None
        name = words[0].rpartition("/")[2]
        name = re.sub(r"^(python)[\d.]*$", r"\1", name)
        words = (name, *words[1:])
        if name == "python" and words[1:2] and words[1].rpartition("/")[2] == "manage.py":
            words = ("manage.py", *words[2:])
            continue
        for kind, phrase in phrases.get(words[0], ()):
            if (rest := _behind(words, phrase)) is not None:
                if phrase == ("make",) and any(one[:1] != "-" for one in rest):
                    return None  # a target that says nothing
                return Named(kind, " ".join(phrase), tuple(_operands(rest)))
        runner = next((one for one in runners if _behind(words, one, strict=True) is not None), None)
        if runner is None:
            return None
        words = tuple(_without_options(_behind(words, runner, strict=True) or ()))
    return None


def _behind(words: tuple[str, ...], phrase: tuple[str, ...], *, strict: bool = False) -> tuple[str, ...] | None:
    """Return the words after a phrase, between whose words options may stand; None if the phrase is not there."""
    at = 0
    for place, one in enumerate(phrase):
        while not strict and place and at < len(words) and words[at][:1] == "-" and words[at] != one:
            at += 1
        if at >= len(words) or not _is(words[at], one):
            if one[:2] == "--" and one in words[at:]:
                continue  # an option may stand anywhere
            return None
        at += 1
    return words[at:]


def _is(word: str, one: str) -> bool:
    return word == one or (one.endswith("*") and word.startswith(one[:-1]))


def _without_options(words: tuple[str, ...]) -> tuple[str, ...]:
    at = 0
    while at < len(words) and words[at][:1] == "-":
        at += 1
    return words[at:]


_CHOOSING = "-k -m -t -p -run --run --testNamePattern --grep --filter --test --lf --last-failed --package"
_SELECTING = frozenset(_CHOOSING.split())
_ALL = ". ./... ./ all tests tests/ test test/ src src/ --"
_EVERYTHING = frozenset(_ALL.split())


def _operands(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the words that choose what is checked."""
    for place, word in enumerate(words):
        name = word.partition("=")[0]
        if name in _SELECTING:
            yield f"{name} {words[place + 1]}" if "=" not in word and place + 1 < len(words) else word
        elif word[:1] != "-" and word not in _EVERYTHING and (not place or words[place - 1] not in _SELECTING):
            if place and words[place - 1][:1] == "-" and "=" not in words[place - 1] and not _looks_like_a_place(word):
                continue  # the value of an option
            yield word


def _looks_like_a_place(word: str) -> bool:
    return "/" in word or "::" in word or bool(re.search(r"\.\w{1,4}$", word))


@lru_cache(maxsize=4096)
def _programs(command: str) -> tuple[Program, ...] | None:
    try:
        return programs_of(command)
    except Unclear:
        return None


def checks_of(store: Reading, call: Call, folder: str) -> list[Check]:
    """Return the checks that a call ran and that have ended.

    Args:
        store: the store.
        call: the call.
        folder: the session's folder, for a call that does not say where it ran.
    """
    command = command_of(call)
    programs = _programs(command) if command else None
    if not programs or call.running or call.unanswered:
        return []
    named = [(program, check) for program in programs if (check := check_named(program.words))]
    buffer = call.buffer
    where = buffer.project or buffer.cwd if buffer else folder
    piped = bool(_PIPEFAIL.search(command))
    made = []
    for program, check in named:
        acting = [one for one in programs if one.name not in ("set", "cd", "export")]
        ends = program.ends or (piped and bool(program.filters) and len(acting) == 1)
        outcome = _outcome(store, call, ends=ends, alone=len(named) == 1)
        if outcome == FAILED and exit_code_of(call) in _NOTHING_RAN.get(check.phrase, _NO_PROGRAM):
            outcome = UNKNOWN
        made.append(Check(check.kind, check.phrase, check.operands, call, outcome, not ends, where))
    return made


def command_of(call: Call) -> str:
    """Return the command line of a call that ran one; empty for any other call."""
    view = call.view
    if view.verb == "run_command" or (view.verb == "tool" and '"command"' in view.request):
        value = _request(view.request).get("command")
        return value if isinstance(value, str) else ""
    if view.verb == "capture" and call.buffer:
        return call.buffer.command
    return ""


@lru_cache(maxsize=8192)
def _request(text: str) -> Mapping[str, object]:
    found = json.loads(text)
    return found if isinstance(found, dict) else {}


def request_of(view: View) -> Mapping[str, object]:
    """Return the request that a view answered."""
    return _request(view.request)


def exit_code_of(call: Call) -> int | None:
    """Return the exit code of the line; None if it is not known."""
    return call.buffer.exit_code if call.buffer and call.buffer.exit_code is not None else call.view.exit_code


def _outcome(store: Reading, call: Call, *, ends: bool, alone: bool) -> str:
    code, unfiltered = exit_code_of(call), call.unfiltered
    if call.buffer and (call.buffer.timed_out or call.buffer.state == "interrupted"):
        return UNKNOWN
    if ends and code is not None:
        if code == 0:
            return PASSED
        if alone:
            return FAILED
    elif unfiltered and unfiltered.exit_code is not None and alone:
        return FAILED if unfiltered.exit_code else PASSED
    counts = counted(store, unfiltered) if unfiltered else None
    counts = counts or (counted(store, call.buffer) if call.buffer else None)
    if counts is None or not alone:
        return UNKNOWN
    return FAILED if counts.bad else PASSED


class Counts(NamedTuple):
    """The counts in an output: how many are bad, and how many there are in all."""

    bad: int
    all: int


def counted(store: Reading, buffer: Buffer) -> Counts | None:
    """Return the counts that tools wrote into an output; None if there are none, or it is gone. They are read once."""
    kept = store.index.derived(buffer.name, _COUNTS)
    if kept is None:
        if buffer.kind != "cmd" or buffer.state not in ("sealed", "interrupted") or buffer.bytes > _EXAMINED_BYTES:
            return None
        try:
            with store.open(Target(buffer, "out")) as out, store.open(Target(buffer, "err")) as err:
                examined = Examination(out, err, buffer.command, added=store.rule_files)
                kept = json.dumps(_counts(examined, out))
        except SightlineError:
            return None
        store.index.put_derived(buffer.name, _COUNTS, kept)
    found = json.loads(kept)
    return Counts(*found) if found else None


_GO_ENDED_WELL = re.compile(rb"(?:^|\n)ok[ \t]+\S+[ \t]+(?:\(cached\)|[\d.]+s)[^\n]*\s*\Z")
_GO_FAILED = re.compile(rb"(?:^|\n)FAIL\s*\Z")
"""The end of ``go test``'s output, which counts no packages: one pattern if all passed, one if some failed."""

_END_BYTES = 4096


def _counts(examined: Examination, out: Source) -> list[int] | None:
    told = [tally for tally in examined.tallies if not tally.unclear and any(tally.numbers.values())]
    end = out.read(max(0, out.byte_count - _END_BYTES), min(out.byte_count, _END_BYTES))
    if _GO_FAILED.search(bytes(end)):
        return [1, 1]
    if not told:
        return [0, 1] if _GO_ENDED_WELL.search(bytes(end)) else None
    return [sum(tally.bad for tally in told), sum(sum(tally.numbers.values()) for tally in told)]


def shows_verdict(store: Reading, check: Check) -> bool:
    """Return whether the reply about a check shows how it ended, by the line's exit code or by counts."""
    if not check.masked:
        return True
    buffer = check.call.buffer
    if buffer and not check.view.truncated and not buffer.is_partial:
        return counted(store, buffer) is not None
    try:
        text = view_text(store, check.call.indexed)
    except SightlineError:
        return True  # nobody can tell any more
    shown = BytesSource(text.encode(errors="replace"))
    return _counts(Examination(shown, BytesSource(b""), command_of(check.call)), shown) is not None
