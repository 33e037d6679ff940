"""Checks among the commands of a session: tests, builds, type checks and lint, how each ended, and who was told so.

What is a check stands in ``checks.toml``. A shell line may hide how a check in it ended: behind ``| tail``, ``|| true``
or ``; echo done`` the code is another program's. Then only what the check itself counts tells, or what was kept of it
before the filter; where neither does, nobody knows.
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

_EXAMINED_BYTES = 4 << 20  # of a larger output it is not read what its tools count
_COUNTS = "counts/2"
_PIPEFAIL = re.compile(r"\bset\s+-\w*o\s+pipefail\b")
_IDLE = "--help --version -h --collect-only --co --list --listTests --dry-run --watch"
_HELP = frozenset(_IDLE.split())
"""Options with which a program checks nothing, or never ends."""

_DEEPEST = 4


_NO_PROGRAM = (126, 127)
_NOTHING_RAN = {"pytest": (*_NO_PROGRAM, 4, 5)}
"""Codes of lines in which nothing was checked: the program was not there, was called wrongly, or found no tests."""


class Check(NamedTuple):
    """One run of a check.

    Attributes:
        kind: one of KINDS.
        phrase: what was run, as ``checks.toml`` has it.
        operands: what it was told to look at: files, names of tests; none for all.
        call: the call that ran it.
        outcome: PASSED, FAILED or UNKNOWN.
        masked: whether the code of the line tells nothing of how it ended.
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
        """What the log has of its call."""
        return self.call.view

    @property
    def ref(self) -> str:
        """Its output; empty where there is none."""
        return format_ref(self.view.refs[0]) if self.view.refs else ""

    @property
    def is_whole(self) -> bool:
        """Whether it looks at all there is, as far as its words tell."""
        return not self.operands

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other checks; runs of some files are runs of the same check."""
        return self.kind, self.phrase, self.folder


@cache
def _phrases() -> tuple[dict[str, list[tuple[str, tuple[str, ...]]]], list[tuple[str, ...]]]:
    """(kind and words of each phrase, by its first word; the words of runners)."""
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
    """A check as a command line names it."""

    kind: str
    phrase: str
    operands: tuple[str, ...]


@lru_cache(maxsize=4096)
def check_named(words: tuple[str, ...]) -> Named | None:
    """The check that a program's words name; None where they name none.

    Args:
        words: of a simple command, without quotes, the program's name first, without a path.
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
    """What stands behind the words of a phrase; options may stand between them. None where they are not there."""
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
    """The words that choose what is looked at."""
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
    """The checks that a call ran and that have ended.

    Args:
        store: the store.
        call: the call.
        folder: where its session works, for a call that does not say where it ran.
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
    """The command line of a call that ran one; empty for any other."""
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
    """What a view answered."""
    return _request(view.request)


def exit_code_of(call: Call) -> int | None:
    """The code that the line ended with; None where it is not known."""
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
    """What tools count in an output: how much of it is bad, and how much there is in all."""

    bad: int
    all: int


def counted(store: Reading, buffer: Buffer) -> Counts | None:
    """What the tools that wrote an output count in it; None where they count nothing, or it is gone. Found once."""
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
"""How the output of ``go test`` ends, which counts no packages, where all passed, and where one did not."""

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
    """Whether the reply about a check shows how it ended: by the line's code, or by what the check counts."""
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
