"""Finds checks among the commands of a session: tests, builds, type checks and lint, and how each ended.

``checks.toml`` says what is a check. A shell line may hide how a check ended: behind ``| tail``, ``|| true`` or
``; echo done``, the exit code is another program's. Then only the counts in the check's output tell, or what was kept
of it before the filter; without either, nobody knows.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from sightline.audit.evidence.call_facts import command_of, exit_code_of, request_of
from sightline.audit.evidence.check_counts import (
    EXAMINED_BYTES,
    PASSING_ON,
    RAN_TESTS,
    CheckCounts,
    all_lines,
    begun_tasks,
    counted,
    counts_in,
    failed_tasks,
    first_and_last_lines,
    hides_lines,
    leaves_out,
    most_by_head,
    says_all_is_well,
)
from sightline.audit.evidence.check_names import (
    KINDS,
    TEST,
    NamedCheck,
    check_named,
    check_table,
    is_idle,
    may_run_checks,
    may_show_checks,
)
from sightline.audit.evidence.check_places import places_of
from sightline.audit.evidence.list_ends import ASIDE, own_lines, pipefail_in, printed_ends, printed_marks, prints_ends
from sightline.audit.timeline import Call
from sightline.base.errors import SightlineError
from sightline.base.records import STOPPED, TOOL_FAILED, Buffer, View
from sightline.base.refs import format_ref
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.log.view_text import view_text
from sightline.shape.failure.examination import Examination
from sightline.shape.memory_stream import BytesSource
from sightline.shell_words.exit_codes import ENDED_BY_OTHERS, MESSAGE_LINES, NEVER_RAN
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import WritingProgram, programs_of
from sightline.store import Reading, Target

PASSED, FAILED, UNKNOWN = "passed", "failed", "not known"
BY_CODE, BY_OUTPUT, BY_SILENCE, BY_NOTHING = "code", "output", "silence", ""

_NOTHING_RAN = {"pytest": (*NEVER_RAN, 4, 5)}
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
        is_aside: whether it looked at an older state, between ``git stash`` and its pop.
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
    is_aside: bool = False

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


@lru_cache(maxsize=512)
def _programs(command: str) -> tuple[WritingProgram, ...] | None:
    try:
        return programs_of(command)
    except Unclear:
        open_document = _DOCUMENT.search(command)
    if _PATCHES.match(command):
        return ()
    try:  # a here-document ends with the command, too
        return programs_of(f"{command}\n{open_document[1]}") if open_document else None
    except Unclear:
        return None


_DOCUMENT = re.compile(r"<<-?\s{0,9}['\"]?(\w+)['\"]?")
_PATCHES = re.compile(r"\s*apply_patch\b")


def checks_in(store: Reading, calls: Sequence[Call], folder: str) -> list[Check]:
    """Return the checks of calls.

    Left out are those that looked at an older state only to compare it, as between ``git stash`` and its pop.
    """
    found, begun, at_stash = list[Check](), 0, -1
    for at, call in enumerate(calls):
        stashes = [one for program in _programs(command_of(call)) or () if (one := _of_stash(program))]
        if at_stash >= 0 and stashes and stashes[0] < 0:
            if at - at_stash <= _STASHED_CALLS:
                found[begun:] = [one._replace(is_aside=True) for one in found[begun:]]
            at_stash = -1
        if stashes and stashes[-1] > 0:
            begun, at_stash = len(found), at
        found += checks_of(store, call, folder)
    compared = {one.kind for one in found if not one.is_aside}
    return [one for one in found if not (one.is_aside and one.kind in compared)]


_STASHED_CALLS = 12  # within which a stash comes back that was made only to try the older state


def _of_stash(program: WritingProgram) -> int:
    """Return 1 for a program that stashes changes, -1 for one that brings them back, 0 for any other."""
    if program.name != "git" or program.plain[:1] != ("stash",):
        return 0
    action = program.plain[1:2] or ("push",)
    return 1 if action[0] in ("push", "save") else -1 if action[0] in ("pop", "apply") else 0


def _stashed(programs: Sequence[WritingProgram]) -> Collection[int]:
    """Return the ids of the programs of a line that ran between ``git stash`` and its pop."""
    made = {_of_stash(one): at for at, one in enumerate(programs)}
    return {id(one) for one in programs[made.get(1, len(programs)) : made.get(-1, 0)]}


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
    buffer, code = call.buffer, exit_code_of(call)
    where = buffer.project or buffer.cwd if buffer else folder
    acting = [one for one in programs if one.name not in ASIDE]
    echoed = _echoed(store, buffer) if buffer and any(map(_may_run, acting)) else []
    further = _beside(echoed, named)
    managers = check_table()["managers"]  # a wrapper of another name may have an exit code of its own
    tasks = [one for one in acting if one.name in managers and check_named(one.words) is None]
    if len(further) == len(tasks) == 1:
        named, further = sorted((*named, (tasks[0], further[0])), key=lambda one: acting.index(one[0])), []
    if not named:
        return [*_by_output_alone(store, call, programs, where, further)]
    places = dict(zip(map(id, programs), places_of(programs, where, buffer.cwd if buffer else folder), strict=True))
    piped, made = pipefail_in(command), dict[int, Check]()
    own = _own_lines(store, call) if len(named) > 1 else {}
    printed, failed = _printed_ends(store, call), failed_tasks(store, buffer) if len(named) > 1 else frozenset[str]()
    before_stash = _stashed(acting)
    for at, (program, check) in enumerate(named):
        ends = program.ends or (piped and bool(program.filters) and len(acting) == 1)
        may_lack = code != 0 and any(one.ends for one in acting[: acting.index(program)])
        alone = len(named) == 1 and not may_lack
        place = _Place(
            ends=ends,
            only=len(acting) == 1,
            alone=alone,
            last=alone
            or (at == len(named) - 1 and not may_lack and all(one.outcome == PASSED for one in made.values())),
            is_end=program is acting[-1],
            of_kind=sum(one.kind == check.kind for _, one in named),
            printed=printed.get(program.part),
            own=own.get(program.part),
        )
        outcome, known_by = _outcome(store, call, program, check, place)
        if _checked_nothing(store, call, check, place, outcome, program.filters):
            continue
        if outcome == UNKNOWN and failed & {check.phrase.rpartition(" ")[2], *_full_tasks(check)}:
            outcome, known_by = FAILED, BY_OUTPUT
        at_place, filters = places[id(program)], program.filters
        operands = tuple(one for one in check.operands if one != at_place.option)
        made[id(program)] = Check(
            check.kind, check.phrase, operands, call, outcome, not ends, at_place.folder, known_by, filters
        )._replace(is_aside=id(program) in before_stash)
    found = [*made.values()]
    if len(acting) > 1 and not piped and code not in (None, 0, *ENDED_BY_OTHERS):
        kinds, began = {one.kind for one in echoed}, begun_tasks(store, buffer)
        surely = {id(one) for one, check in named if check.kind in kinds or began & {*one.words}}
        never = {id(one) for one in acting if one.name in _ANNOUNCING and began and not began & {*one.words}}
        found = [*_in_order([one for one in acting if id(one) not in never], made, surely)]
    of_tasks = [made[id(one)] for one, _ in named if id(one) in made and _may_run(one)]
    return [*found, *(_as_part(of_tasks[0], one) for one in further if of_tasks and of_tasks[0].outcome == PASSED)]


_ANNOUNCING = ("npm", "pnpm")
"""Runners that print the name of each task before they run it."""


def _beside(echoed: Sequence[NamedCheck], named: Sequence[tuple[WritingProgram, NamedCheck]]) -> list[NamedCheck]:
    """Return the checks, one of each kind, that tasks say they ran and that the line itself does not name."""
    kinds = {check.kind for _, check in named}
    first = {one.kind: one for one in reversed(echoed)}
    return [one for one in echoed if one.kind not in kinds and one is first[one.kind]]


def _as_part(ran: Check, echoed: NamedCheck) -> Check:
    """Return the check that a task ran, which ended as the task did."""
    return ran._replace(kind=echoed.kind, phrase=echoed.phrase, operands=echoed.operands)


def _full_tasks(check: NamedCheck) -> Iterator[str]:
    """Yield the names of a task that a check may be a part of, as ``test:unit``."""
    task = check.phrase.rpartition(" ")[2]
    yield from (f"{task}:{part}" for part in check.operands)


def _in_order(acting: Sequence[WritingProgram], made: Mapping[int, Check], began: Collection[int]) -> Iterator[Check]:
    """Yield the checks of ``a && b && c``, which ended with a failure: the first that failed ended the line.

    What stands before a part that ran ended well; if only one part is left, it failed; what stands behind never ran.

    Args:
        acting: the programs of the line.
        made: their checks, by the ids of the programs.
        began: the ids of those that are known to have run, however they ended.
    """
    outcomes = {key: one.outcome for key, one in made.items()}
    known = [at for at, one in enumerate(acting) if id(one) in began or outcomes.get(id(one), UNKNOWN) != UNKNOWN]
    reached = known[-1] if known else 0
    outcomes.update((id(one), PASSED) for one in acting[:reached] if one.ends and outcomes.get(id(one)) == UNKNOWN)
    left = [id(one) for one in acting[reached:] if one.ends and outcomes.get(id(one)) != PASSED]
    if len(left) == 1 and outcomes.get(left[0]) == UNKNOWN:
        outcomes[left[0]] = FAILED
    for one in acting:
        if check := made.get(id(one)):
            outcome = outcomes[id(one)]
            yield check if outcome == check.outcome else check._replace(outcome=outcome, known_by=BY_CODE)
        if one.ends and outcomes.get(id(one)) == FAILED:
            return


class _Place(NamedTuple):
    """The place of a check in its command line.

    Attributes:
        ends: whether the code of the line is its own, if the line succeeded.
        only: whether the line runs nothing else.
        alone: whether the line has no other check.
        last: whether all checks before it in the line have ended well, and it is the last.
        is_end: whether nothing else runs behind it.
        of_kind: number of checks of its kind in the line.
        printed: its exit code, if the line printed that.
        own: the lines that it alone has printed, if the line marks them.
    """

    ends: bool
    only: bool
    alone: bool
    last: bool
    is_end: bool
    of_kind: int
    printed: int | None
    own: Sequence[str] | None = None


def _printed_ends(store: Reading, call: Call) -> Mapping[int, int]:
    """Return the exit codes of the parts of a call's line, as far as that printed them."""
    command, buffer = command_of(call), call.buffer
    if buffer is None or buffer.kind != "cmd" or buffer.is_partial or not prints_ends(command):
        return {}
    return printed_ends(command, all_lines(store, buffer))


def _own_lines(store: Reading, call: Call) -> Mapping[int, Sequence[str]]:
    """Return the lines of those parts of a call's line that it has marked."""
    buffer = call.buffer
    if buffer is None or buffer.kind != "cmd" or buffer.is_partial or "echo" not in command_of(call):
        return {}
    return own_lines(command_of(call), all_lines(store, buffer))


def _of_own_lines(
    call: Call, program: WritingProgram, check: NamedCheck, lines: Sequence[str]
) -> tuple[str, str] | None:
    """Return how a check ended by the lines that it alone has printed; None if these do not tell."""
    most = most_by_head(command_of(call)) if "head" in program.filters else len(lines) + 1
    hides = bool(set(program.filters) - PASSING_ON) or len(lines) >= most
    source, nothing = BytesSource("\n".join(lines).encode(errors="replace")), BytesSource(b"")
    counts = counts_in(Examination(source, nothing, command_of(call)), (source, nothing), check.kind, hides=hides)
    if counts:
        return (FAILED if counts[0] else PASSED), BY_OUTPUT
    echoed = [check_named(one.words) for line in lines if _IS_ECHO.match(line) for one in _programs(line[2:]) or ()]
    silent = check.is_silent or any(one and one.is_silent and one.kind == check.kind for one in echoed)
    return (PASSED, BY_SILENCE) if silent and not hides and all(map(_IS_ECHO.match, lines)) else None


def _by_output_alone(
    store: Reading, call: Call, programs: tuple[WritingProgram, ...], where: str, echoed: Sequence[NamedCheck]
) -> Iterator[Check]:
    """Yield the checks that a script, a hook or a task ran, as far as its output names or counts them."""
    buffer = call.unfiltered or call.buffer
    ran = next((one for one in programs if _may_run(one)), None)
    if ran is None or buffer is None or not buffer.has_end:
        return
    filters, phrase = () if call.unfiltered else ran.filters, " ".join((ran.name, *ran.plain[:1]))
    hides = buffer.is_partial or (buffer is call.buffer and hides_lines(call, filters, TEST))
    counts = counted(store, buffer, RAN_TESTS, hides=hides)
    for one in echoed if ran.ends and exit_code_of(call) == 0 else ():
        if one.kind != TEST or counts is None:
            yield Check(one.kind, phrase, (), call, PASSED, False, where, BY_CODE, filters)
    if counts is None or (not counts.bad and exit_code_of(call) not in (0, None) and ran.ends):
        return
    outcome = FAILED if counts.bad else PASSED
    yield Check(TEST, phrase, (), call, outcome, True, where, BY_OUTPUT, filters)


def went_through(store: Reading, call: Call, check: Check) -> bool:
    """Return whether a call ran the script, hook or task of a check again, ended well, and shows no failure."""
    ran = any(" ".join((one.name, *one.plain[:1])) == check.phrase for one in _programs(command_of(call)) or ())
    if not ran or check_named(tuple(check.phrase.split())) or exit_code_of(call) != 0 or call.buffer is None:
        return False
    counts = counted(store, call.buffer, RAN_TESTS)
    return counts is None or not counts.bad


def _may_run(program: WritingProgram) -> bool:
    """Return whether a program that names no check may run one, as scripts, hooks, and wrappers of any name do."""
    return not is_idle(program.words) and (may_run_checks((program.name, *program.plain)) or _wraps(program))


def _wraps(program: WritingProgram) -> bool:
    """Return whether a program of any name is called with a check's words behind it."""
    if program.name in check_table()["checks_nothing"]:
        return False
    behind = [program.words[at:] for at in range(1, min(len(program.words), _WRAPPED_AT))]
    return any(check_named(words) or words[:2] in _COMMITS for words in behind)


_COMMITS = (("git", "commit"), ("git", "push"))  # whose hooks a wrapper may hide
_WRAPPED_AT = 4  # words of a wrapper and its options


def _echoed(store: Reading, buffer: Buffer) -> list[NamedCheck]:
    """Return the checks that runners of tasks say that they run, as in ``$ tsc --noEmit``."""
    kept = store.index.derived(buffer.name, _ECHOES)
    if kept is None:
        try:
            with store.open_text(Target(buffer, "out")) as out, store.open_text(Target(buffer, "err")) as err:
                texts = [bytes(one.read(0, min(one.byte_count, EXAMINED_BYTES))) for one in (out, err)]
        except SightlineError:
            return []
        lines = [line.decode(errors="replace") for text in texts for line in _ECHO.findall(text)]
        lines += ["tsc"] * any(_TYPES_CHECKED.search(text) for text in texts)
        kept = dumps(list(dict.fromkeys(lines))[:_MOST_ECHOES])
        store.index.put_derived(buffer.name, _ECHOES, kept)
    return [
        check
        for line in loads(kept)
        for program in _programs(line) or ()
        if (check := check_named(program.words)) is not None
    ]


_ECHOES = "echoed commands/2"
_TYPES_CHECKED = re.compile(rb"(?m)^\s{0,8}(?:. )?(?:Finished TypeScript in |Linting and checking validity of types)")
"""How `next build` says that it checked the types, too."""

_ECHO = re.compile(rb"(?m)^(?:\[[\w:.-]+\] |[\w@/.-]+ [\w:-]+: )?[$>] ([a-z@./][^\n]{0,199}[^\s])[^\S\n]*$")
_MOST_ECHOES = 50


def may_show_others(store: Reading, call: Call, kinds: Sequence[str]) -> bool:
    """Return whether a call may have shown how checks ended that it does not name: in a script, a CI, by a helper.

    Args:
        store: the store.
        call: the call.
        kinds: the kinds of check; what an output says of other kinds does not count.
    """
    command = command_of(call)
    if not command:
        request = request_of(call.view)
        tool, path = request.get("tool"), request.get("path")
        is_log = isinstance(path, str) and bool(_LOG.search(path))
        return is_log or (isinstance(tool, str) and bool(_RUNNING.search(tool)))
    programs = _programs(command)
    if programs is None:
        return True
    others = [one for one in programs if check_named(one.words) is None and not is_idle(one.words)]
    others = [one for one in others if not (one.name == "gh" and {*one.plain[1:2]} & _GH_WRITES)]
    shows = [one for one in others if any(map(may_show_checks, ((one.name, *one.plain), one.words))) or _wraps(one)]
    if shows and all(one.name == "git" for one in shows) and call.buffer and not call.buffer.is_partial:
        return any(_OF_HOOK.search(line) for line in first_and_last_lines(store, call.buffer))
    if not shows and others and (buffer := call.unfiltered or call.buffer):
        is_log = any(_LOG.search(word) for one in others for word in one.plain)
        return is_log or any(counted(store, buffer, kind, among=True) for kind in kinds)
    return bool(shows)


_GH_WRITES = frozenset(("create", "comment", "edit", "close", "reopen", "review", "ready"))
"""What `gh` does with pull requests and issues without a word about their checks."""

_LOG = re.compile(r"\.(?:log|out|output|txt)$|^/(?:private/)?tmp/")
"""Files in which output is kept, such as that of commands in the background."""

_OF_HOOK = re.compile(
    r"(?i)^(?!\s*(?:\[|remote:|create mode|delete mode|rename)).*\b(?:pass(?:ed)?|tests?|lint|hooks?|checks?|tsc)\b"
)
"""What a git hook that checks something prints beside what git says itself."""


_RUNNING = re.compile(
    r"^mcp__|(?i:task(?!update|create|list|get)|agent|exec|run|shell|bash|terminal|command|stdin|process|job|output|test|monitor)"
)
"""Names of tools that run something, or show what other agents and commands in the background did."""


def _outcome(store: Reading, call: Call, program: WritingProgram, check: NamedCheck, place: _Place) -> tuple[str, str]:
    """Return how a check ended, and by what that is known."""
    code, unfiltered, buffer = exit_code_of(call), call.unfiltered, call.buffer
    if buffer and (buffer.timed_out or buffer.state == "interrupted" or STOPPED in buffer.note):
        return UNKNOWN, BY_NOTHING
    if place.printed is not None and place.printed not in ENDED_BY_OTHERS:
        return (FAILED if place.printed else PASSED), BY_CODE
    if place.ends and code is not None:
        if code == 0:
            return PASSED, BY_CODE
        if place.only and code not in ENDED_BY_OTHERS:
            return FAILED, BY_CODE
    elif place.ends and place.only and buffer and TOOL_FAILED in buffer.note and buffer.lines > 1:
        return FAILED, BY_CODE
    elif unfiltered and unfiltered.exit_code is not None and place.last and place.is_end:
        return (FAILED if unfiltered.exit_code else PASSED), BY_CODE
    if buffer and not buffer.has_end and not unfiltered:
        return UNKNOWN, BY_NOTHING
    if place.own is not None and (ended := _of_own_lines(call, program, check, place.own)):
        return ended
    for written in filter(None, (unfiltered, buffer)):
        filters = () if written is unfiltered else program.filters
        hides = written.is_partial or (written is buffer and hides_lines(call, filters, check.kind))
        counts = counted(store, written, check.kind, hides=hides) if place.last else None
        if counts is None and not place.alone:
            counts = counted(store, written, check.kind, hides=hides, among=True)
        if counts:
            if counts.bad:
                return (FAILED, BY_OUTPUT) if place.of_kind == 1 else (UNKNOWN, BY_NOTHING)
            return PASSED, BY_OUTPUT
        if (
            place.alone
            and not written.is_partial
            and (
                _says_nothing(store, written, check)
                if PASSING_ON.issuperset(filters)
                else check.kind == TEST and not hides and _left_nothing(store, call, written, filters)
            )
        ):
            return PASSED, BY_SILENCE
        is_done = code == 0 and check.kind == TEST and place.of_kind == 1 and not (written.is_partial or hides)
        if is_done and printed_marks(command_of(call)) and _left_nothing(store, call, written, filters):
            return PASSED, BY_SILENCE
    return UNKNOWN, BY_NOTHING


def _says_nothing(store: Reading, buffer: Buffer, check: NamedCheck) -> bool:
    """Return whether a program that prints nothing if all is well printed nothing but the task that ran it."""
    if not buffer.bytes:
        return check.is_silent
    if buffer.bytes > _SILENT_BYTES or buffer.kind != "cmd" or buffer.state != "sealed":
        return False
    echoed = _echoed(store, buffer)
    if not echoed or not all(one.is_silent and one.kind == check.kind for one in echoed):
        return False
    lines = first_and_last_lines(store, buffer)
    return all(_IS_ECHO.match(line) for line in lines)


def _left_nothing(store: Reading, call: Call, buffer: Buffer, filters: tuple[str, ...]) -> bool:
    """Return whether filters that leave out what went well left nothing of tests that were run."""
    if not leaves_out(call, filters) or "2>/dev/null" in command_of(call) or buffer.bytes > _SILENT_BYTES:
        return False
    marks = printed_marks(command_of(call))
    lines = [one for one in first_and_last_lines(store, buffer) if one not in marks] if buffer.bytes else []
    nothing, others = _lines_like("found_nothing"), [kind for kind in KINDS if kind != TEST]
    return all(any(one.fullmatch(line) for one in nothing) or says_all_is_well(line, others) for line in lines)


_SILENT_BYTES = 1024
_IS_ECHO = re.compile(r"[$>] ")


def _checked_nothing(
    store: Reading, call: Call, check: NamedCheck, place: _Place, outcome: str, filters: tuple[str, ...]
) -> bool:
    """Return whether a check never began: its program, task or option is unknown, or nothing was there to check."""
    code, buffer = exit_code_of(call), call.unfiltered or call.buffer
    is_message = code not in NEVER_RAN or buffer is None or buffer.lines <= MESSAGE_LINES
    if place.only and place.ends and is_message and code in _NOTHING_RAN.get(check.phrase, NEVER_RAN):
        return True
    if buffer is None or buffer.kind != "cmd" or buffer.state != "sealed":
        return False
    if outcome == PASSED:
        if leaves_out(call, filters):
            return False
        lines = first_and_last_lines(store, buffer) if buffer.bytes <= _SILENT_BYTES else []
        return bool(lines) and all(any(one.fullmatch(line) for one in _lines_like("found_nothing")) for line in lines)
    if counted(store, buffer, check.kind, among=True) is not None:
        return False
    lines = first_and_last_lines(store, buffer)
    missing = [found for line in lines for one in _lines_like("no_program") if (found := one.fullmatch(line))]
    never = any(one.fullmatch(line) for line in lines for one in _lines_like("checked_nothing"))
    return never or any(one["program"] in check.phrase.split() for one in missing)


@cache
def _lines_like(key: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(one["line"], re.IGNORECASE) for one in check_table()[key])


def counts_of(store: Reading, check: Check) -> CheckCounts | None:
    """Return what a check counts in its output; None if that is not known."""
    buffer = check.call.unfiltered or check.call.buffer
    if buffer is None:
        return None
    hides = buffer is check.call.buffer and hides_lines(check.call, check.filters, check.kind)
    return counted(store, buffer, check.kind, hides=hides)


def hides_result(store: Reading, check: Check) -> bool:
    """Return whether the filters behind tests cut away how they ended, so that the reply does not show it."""
    if check.kind != TEST or not check.masked or not check.filters:
        return False
    if not hides_lines(check.call, check.filters, check.kind):
        return False
    try:
        text = view_text(store, check.call.indexed)
    except SightlineError:
        return False  # nobody can tell any more
    shown, nothing = BytesSource(text.encode(errors="replace")), BytesSource(b"")
    examined = Examination(shown, nothing, command_of(check.call))
    return counts_in(examined, (shown, nothing), check.kind, hides=True) is None
