"""Finds checks among the commands of a session: tests, builds, type checks and lint, and how each ended.

``checks.toml`` says what is a check. A shell line may hide how a check ended: behind ``| tail``, ``|| true`` or
``; echo done``, the exit code is another program's. Then only the counts in the check's output tell, or what was kept
of it before the filter; without either, nobody knows.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from sightline.audit.evidence.check_names import TEST, NamedCheck, check_named, check_table, may_run_checks
from sightline.audit.timeline import Call
from sightline.errors import SightlineError
from sightline.json_text import dumps, loads
from sightline.log.view_text import view_text
from sightline.named_tuple import NamedTuple
from sightline.records import Buffer, View
from sightline.refs import format_ref
from sightline.shape.clean import clean_line
from sightline.shape.failure.examination import Examination
from sightline.shape.memory_stream import BytesSource
from sightline.shape.source import Source
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import WritingProgram, programs_of
from sightline.store import Reading, Target

PASSED, FAILED, UNKNOWN = "passed", "failed", "not known"
BY_CODE, BY_OUTPUT, BY_SILENCE, BY_NOTHING = "code", "output", "silence", ""

_EXAMINED_BYTES = 4 << 20  # counts in a larger output are not read
_COUNTS = "counts/4"
_RAN_TESTS = "tests of a script"  # whose command names no check
_PIPEFAIL = re.compile(r"\bset\s+-\w*o\s+pipefail\b")
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
        known_by: how its outcome is known: BY_CODE, BY_OUTPUT, BY_SILENCE or BY_NOTHING.
        filters: names of the filters behind it.
    """

    kind: str
    phrase: str
    operands: tuple[str, ...]
    call: Call
    outcome: str
    masked: bool
    folder: str
    known_by: str = ""
    filters: tuple[str, ...] = ()

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


@lru_cache(maxsize=4096)
def _programs(command: str) -> tuple[WritingProgram, ...] | None:
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
    if not named:
        return [*_by_output_alone(store, call, programs, where)]
    piped = bool(_PIPEFAIL.search(command))
    made: list[Check] = []
    for at, (program, check) in enumerate(named):
        acting = [one for one in programs if one.name not in ("set", "cd", "export")]
        ends = program.ends or (piped and bool(program.filters) and len(acting) == 1)
        alone = len(named) == 1
        last = alone or (at == len(named) - 1 and all(one.outcome == PASSED for one in made))
        outcome, known_by = _outcome(store, call, program, check, ends=ends, alone=alone, last=last)
        if outcome == FAILED and exit_code_of(call) in _NOTHING_RAN.get(check.phrase, _NO_PROGRAM):
            outcome, known_by = UNKNOWN, BY_NOTHING
        made.append(
            Check(check.kind, check.phrase, check.operands, call, outcome, not ends, where, known_by, program.filters)
        )
    return made


def _by_output_alone(store: Reading, call: Call, programs: tuple[WritingProgram, ...], where: str) -> Iterator[Check]:
    """Yield the tests that a script, a hook or a task ran, if the output counts some that passed or failed."""
    buffer = call.unfiltered or call.buffer
    ran = next((one for one in programs if may_run_checks(one.words)), None)
    if ran is None or buffer is None or buffer.is_partial:
        return
    filters = () if call.unfiltered else ran.filters
    counts = counted(store, buffer, _RAN_TESTS, hides=buffer is call.buffer and hides_lines(call, filters))
    if counts is None or (not counts.bad and exit_code_of(call) not in (0, None) and ran.ends):
        return
    outcome = FAILED if counts.bad else PASSED
    phrase = " ".join((ran.name, *ran.plain[:1]))
    yield Check(TEST, phrase, (), call, outcome, True, where, BY_OUTPUT, filters)


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
    found = loads(text)
    return found if isinstance(found, dict) else {}


def request_of(view: View) -> Mapping[str, object]:
    """Return the request that a view answered."""
    return _request(view.request)


def exit_code_of(call: Call) -> int | None:
    """Return the exit code of the line; None if it is not known."""
    return call.buffer.exit_code if call.buffer and call.buffer.exit_code is not None else call.view.exit_code


def _outcome(
    store: Reading, call: Call, program: WritingProgram, check: NamedCheck, *, ends: bool, alone: bool, last: bool
) -> tuple[str, str]:
    """Return how a check ended, and by what that is known.

    Args:
        store: the store.
        call: the call that ran it.
        program: its program.
        check: what it checks.
        ends: whether the code of the line is its own.
        alone: whether the line has no other check.
        last: whether all checks before it in the line have ended well, and it is the last.
    """
    code, unfiltered, buffer = exit_code_of(call), call.unfiltered, call.buffer
    if buffer and (buffer.timed_out or buffer.state == "interrupted"):
        return UNKNOWN, BY_NOTHING
    if ends and code is not None:
        if code == 0:
            return PASSED, BY_CODE
        if alone:
            return (UNKNOWN, BY_NOTHING) if _was_misused(store, buffer) else (FAILED, BY_CODE)
    elif unfiltered and unfiltered.exit_code is not None and last:
        return (FAILED if unfiltered.exit_code else PASSED), BY_CODE
    if not last or (buffer and buffer.is_partial and not unfiltered):
        return UNKNOWN, BY_NOTHING
    for written in filter(None, (unfiltered, buffer)):
        filters = () if written is unfiltered else program.filters
        if counts := counted(store, written, check.kind, hides=written is buffer and hides_lines(call, filters)):
            if counts.bad:
                return (FAILED, BY_OUTPUT) if alone else (UNKNOWN, BY_NOTHING)
            return PASSED, BY_OUTPUT
        if check.is_silent and alone and not written.bytes and _PASSING_ON.issuperset(filters):
            return PASSED, BY_SILENCE
    return UNKNOWN, BY_NOTHING


def _was_misused(store: Reading, buffer: Buffer | None) -> bool:
    """Return whether a program says that it was called wrongly, so that it checked nothing."""
    if buffer is None or buffer.kind != "cmd" or buffer.state != "sealed":
        return False
    try:
        with store.open(Target(buffer, "out")) as out, store.open(Target(buffer, "err")) as err:
            begins = [bytes(one.read(0, min(one.byte_count, _MISUSED_BYTES))) for one in (out, err)]
    except SightlineError:
        return False
    return any(_MISUSED.search(text) for text in begins)


_MISUSED_BYTES = 2048
_MISUSED = re.compile(
    rb"(?im)^(?:[\w./-]+: )?(?:error: )?(?:unknown|unrecogni[sz]ed|no such|unexpected) (?:flag|option|argument)s?\b"
)


class CheckCounts(NamedTuple):
    """The number of failures that tools count in an output, and the number of everything that they count."""

    bad: int
    all: int


def counted(store: Reading, buffer: Buffer, kind: str, *, hides: bool = False) -> CheckCounts | None:
    """Return what the tools that wrote an output say in it of how they ended; cached in the index.

    Args:
        store: the store.
        buffer: the output.
        kind: what they check, one of KINDS.
        hides: whether filters may have hidden lines of it that tell of a failure.

    Returns:
        The counts; of a tool that only says that all is well, one that went well. None if they say nothing, or the
        output is gone.
    """
    key = f"{_COUNTS} {kind}{' hiding' if hides else ''}"
    kept = store.index.derived(buffer.name, key)
    if kept is None:
        if buffer.kind != "cmd" or buffer.state not in ("sealed", "interrupted") or buffer.bytes > _EXAMINED_BYTES:
            return None
        try:
            with store.open(Target(buffer, "out")) as out, store.open(Target(buffer, "err")) as err:
                examined = Examination(out, err, buffer.command, added=store.rule_files)
                kept = dumps(_counts(examined, (out, err), kind, hides=hides))
        except SightlineError:
            return None
        store.index.put_derived(buffer.name, key, kept)
    found = loads(kept)
    return CheckCounts(*found) if found else None


_GO_ENDED_WELL = re.compile(r"ok[ \t]+\S+[ \t]+(?:\(cached\)|[\d.]+s)(?:[ \t].*)?")
"""What ``go test``, which counts no packages, says of a package whose tests passed."""

_FAILS = re.compile(r"\b(?:FAIL|FAILED|ERROR|ERR!|[Ee]rror:|fatal|panic:)(?!\w)")
"""What a line has in what a check writes last if something failed."""

_GO_FAILED = re.compile(r"FAIL(?:\t.*)?")
_PREFIX = re.compile(r"^\s*(?:\[[\w:.-]+\] )?\s*")
"""What a runner of tasks puts before each line."""

_END_BYTES, _END_LINES = 4096, 12
_PASSING_ON = frozenset(("tail", "head", "cat", "tee", "less", "more"))
"""Filters that pass on lines as they are, from the beginning or to the end."""


def _counts(examined: Examination, streams: tuple[Source, Source], kind: str, *, hides: bool) -> list[int] | None:
    told = [tally for tally in examined.tallies if not tally.unclear and any(tally.numbers.values())]
    if kind == _RAN_TESTS:
        told = [tally for tally in told if "passed" in tally.numbers]
        if not told:
            return None
    ends = [_last_lines(source) for source in streams]
    lines = [line for end in ends for line in end[-_END_LINES:]]
    if any(_GO_FAILED.fullmatch(line) for line in ends[0][-2:]):
        return [1, 1]
    bad = sum(tally.bad for tally in told)
    if told and (bad or not hides or any(tally.numbers.keys() - tally.counted for tally in told)):
        return [bad, sum(sum(tally.numbers.values()) for tally in told)]
    if any(_FAILS.search(line) for end in ends for line in end):
        return None
    if kind == TEST and not hides and any(_GO_ENDED_WELL.fullmatch(line) for line in lines):
        return [0, 1]
    return [0, 1] if any(pattern.fullmatch(line) for line in lines for pattern in _good_ends(kind)) else None


def hides_lines(call: Call, filters: tuple[str, ...]) -> bool:
    """Return whether filters may have hidden a line that tells of a failure."""
    command, left = command_of(call), set(filters) - _PASSING_ON
    if left and left <= _SEARCHING:
        searches = _SEARCHES.split(command)[1:]
        left = set() if all("FAIL" in one and not _INVERTS.search(one) for one in searches) else left
    if "head" in filters:
        most = min((int(one or _HEAD_LINES) for one in _HEAD.findall(command)), default=0)
        return bool(left) or call.buffer is None or call.buffer.lines >= most
    return bool(left)


_SEARCHING = frozenset(("grep", "egrep"))
_SEARCHES = re.compile(r"\|&?\s*(?=e?grep\b)")
_INVERTS = re.compile(r"\s-\w*v|--invert")
_HEAD = re.compile(r"\|&?\s*head\b(?:\s+(?:-n\s*|--lines[= ]|-)(\d+))?")
_HEAD_LINES = 10


def _last_lines(source: Source) -> list[str]:
    """Return the last lines of a stream that are not empty, without what a runner of tasks puts before them."""
    end = bytes(source.read(max(0, source.byte_count - _END_BYTES), min(source.byte_count, _END_BYTES)))
    lines = (_PREFIX.sub("", clean_line(line)).rstrip() for line in end.split(b"\n"))
    return [line for line in lines if line]


@cache
def _good_ends(kind: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one["line"].rstrip()) for one in check_table()["ended_well"] if kind in one["kinds"])


def shows_verdict(store: Reading, check: Check) -> bool:
    """Return whether the reply about a check shows how it ended: by the line's exit code, or by what the check says."""
    if not check.masked or check.known_by == BY_SILENCE:
        return True
    buffer = check.call.buffer
    if buffer and not check.view.truncated and not buffer.is_partial:
        return counted(store, buffer, check.kind, hides=hides_lines(check.call, check.filters)) is not None
    try:
        text = view_text(store, check.call.indexed)
    except SightlineError:
        return True  # nobody can tell any more
    shown, nothing = BytesSource(text.encode(errors="replace")), BytesSource(b"")
    examined = Examination(shown, nothing, command_of(check.call))
    hides = hides_lines(check.call, check.filters)
    return _counts(examined, (shown, nothing), check.kind, hides=hides) is not None
