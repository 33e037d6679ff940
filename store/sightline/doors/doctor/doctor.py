"""The checks of `doctor`: each promise of the store is checked, and mended where that loses nothing."""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from sightline.agents.hooks.before_tool import why_left_alone
from sightline.base.check_result import Advance, CheckResult, unheard
from sightline.base.distribution import FORMER, NAME, versions_of
from sightline.base.errors import SightlineError
from sightline.base.ownership import others_could_write
from sightline.base.private_files import FOLDER_MODE
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.doors.doctor.buffers import check_folders, check_records
from sightline.doors.doctor.files import Derived, check_files
from sightline.doors.doctor.views import check_views
from sightline.harnesses import find as find_harness
from sightline.harnesses import load_harness
from sightline.harnesses.base import Harness
from sightline.log.repair import dead_captures, end_dead_captures, misplaced_index, network_disk, rebuild_index
from sightline.log.store_kinds import copies_to
from sightline.pipeline.options import GRAMMARS
from sightline.search.errors import ProgramMissing
from sightline.search.executables import executable_of, find
from sightline.search.sandbox import describe
from sightline.settings.entry_points import Checked, refresh_plugins
from sightline.settings.plugins import own_rules, read_plugins
from sightline.shape.summary import human_bytes
from sightline.store import Store, cause_of, is_broken
from sightline.verbs.printable_text import printable

_COMMANDS = 1_000
_LOOKED_AT = 10_000
_TOLD_REASONS = 5


def examine(store: Store, *, rebuild: bool = False, advance: Advance = unheard) -> Iterator[CheckResult]:
    """Check the store, and yield each result as it comes.

    Args:
        store: the store.
        rebuild: whether to make the index anew even if nothing is wrong with it.
        advance: is called with how far the check has come.
    """
    derived = Derived()
    writable = partial(_writable, store)  # if this check fails, the index cannot be read, and the others end
    checks: tuple[Callable[[], Iterator[CheckResult]], ...] = (
        _installation,
        lambda: _root(store),
        lambda: check_files(store.root, derived, besides=(store.layout.buffers, own_rules(store.root))),
        writable,
        lambda: _index(store, rebuild),
        lambda: _dead(store),
        lambda: check_folders(store, derived, advance),
        lambda: check_records(store, derived, advance),
        lambda: check_views(store, advance),
        lambda: _limits(store, derived.bytes),
        lambda: _kept_whole(store),
        lambda: _copies(store),
        _queries,
        lambda: examine_plugins(store.root),
    )
    for check in checks:
        try:
            yield from check()
        except (OSError, sqlite3.Error, SightlineError) as error:
            if isinstance(error, sqlite3.DatabaseError) and is_broken(error) and not store.index.unwritable:
                yield from _made_anew(store, "it was damaged")
                yield from check()
            elif check is writable:
                yield CheckResult("problem", f"nothing can be looked at: {_told(store, error)}")
                return
            else:
                yield CheckResult(
                    "problem", f"this check broke off where it was to mend something: {_told(store, error)}"
                )


def _told(store: Store, error: Exception) -> str:
    told = (error.message, error.hint) if isinstance(error, SightlineError) else cause_of(error, store.root)
    return ": ".join(told)


def _writable(store: Store) -> Iterator[CheckResult]:
    if store.index.unwritable:
        yield CheckResult(
            "problem", f"nothing can be written to the store, and nothing mended: {store.index.unwritable}"
        )
        for name in dead_captures(store):
            yield CheckResult("note", f"{format_ref(name)}: its writer is dead; it is yet to be marked interrupted")


def _installation() -> Iterator[CheckResult]:
    if former := next(versions_of(FORMER), ""):
        yield CheckResult(
            "problem",
            f"the distribution {FORMER} {former} is installed beside {NAME}, and both own the same files: "
            f"`python -m pip uninstall -y {FORMER} {NAME}`, then install from your checkout again",
        )


def _root(store: Store) -> Iterator[CheckResult]:
    status = os.stat(store.root)
    if why := others_could_write(store.root):
        is_used = "" if store.anothers else "; your settings trust it all the same"
        yield CheckResult("problem" if store.anothers else "note", f"the store is another's: {why}{is_used}")
    elif status.st_mode & 0o777 != FOLDER_MODE:
        os.chmod(store.root, FOLDER_MODE)
        yield CheckResult("mended", f"{store.root} was open to others; now it is yours alone")
    else:
        yield CheckResult("ok", f"{store.root} is private")


def _index(store: Store, rebuild: bool) -> Iterator[CheckResult]:
    if wrong := misplaced_index(store):
        yield CheckResult("problem", wrong)
    elif disk := network_disk(store.root):
        yield CheckResult("ok", f"{store.root} is on a network's disk ({disk}), and the index is not")
    try:
        sound = store.index.is_sound()
    except sqlite3.DatabaseError:
        sound = False
    if sound and not rebuild:
        yield CheckResult("ok", "the index is sound")
    else:
        yield from _made_anew(store, "as asked" if sound else "it was damaged")


def _made_anew(store: Store, why: str) -> Iterator[CheckResult]:
    buffers, views = rebuild_index(store)
    yield CheckResult("mended", f"the index was made anew, {why}: {buffers:,} buffers, {views:,} views")


def _dead(store: Store) -> Iterator[CheckResult]:
    adopted = end_dead_captures(store)
    for name in adopted.interrupted:
        yield CheckResult(
            "mended", f"{format_ref(name)} was still marked running, but its writer is dead: marked interrupted"
        )
    for name in adopted.dropped:
        yield CheckResult(
            "mended", f"{format_ref(name)} was reserved by a writer that died before it had a record: dropped"
        )


def _limits(store: Store, derived: int) -> Iterator[CheckResult]:
    totals, settings = store.index.totals(), store.settings
    yield CheckResult(
        "ok",
        f"{totals.buffers:,} of {settings.max_buffers:,} buffers, "
        f"{human_bytes(totals.bytes)} of {human_bytes(settings.max_bytes)}",
    )
    if clock := store.limits.clock().in_words():
        yield CheckResult("note", clock)
    if derived:
        yield CheckResult(
            "note",
            f"{human_bytes(derived)} of files that can be made again (both streams in order, JSON in lines, UTF-8)",
        )


def _kept_whole(store: Store) -> Iterator[CheckResult]:
    """For each harness that ran commands: the share of the last ones that is whole, and why the others are not."""
    for harness, buffers in _last_commands(store).items():
        whole = [buffer for buffer in buffers if not buffer.partial and buffer.state == "sealed"]
        failed = [buffer for buffer in buffers if buffer.failed]
        share = len(whole) / len(buffers)
        text = f"{harness.title}: of the last {_counted(buffers)} {len(whole):,} are kept whole ({share:.0%})"
        if failed:
            text += f", of {len(failed):,} that failed {sum(buffer in whole for buffer in failed):,}"
        yield CheckResult("ok" if len(whole) == len(buffers) else "note", text)
        if reasons := Counter(_why(harness, buffer) for buffer in buffers if buffer not in whole):
            yield CheckResult("note", f"{harness.title}: kept in part: {_listed(reasons)}")
        if (
            harness.rewrites
            and not harness.shell_start
            and (alone := Counter(filter(None, (why_left_alone(harness, one.command) for one in buffers))))
        ):
            piped = len(buffers) - alone.total()
            yield CheckResult(
                "ok", f"{harness.title}: {piped:,} could have pipes of their own; as they are stay: {_listed(alone)}"
            )


def _last_commands(store: Store) -> dict[Harness, list[Buffer]]:
    """The last commands that each harness' own tools ran, newest first."""
    harnesses = {session.name: find_harness(session.harness) for session in store.index.sessions()}
    found: dict[Harness, list[Buffer]] = {}
    for listed in store.listed(_LOOKED_AT):
        buffer, harness = listed.buffer, harnesses.get(listed.buffer.session)
        by_hook = buffer.artifact.startswith(f"{buffer.session}:") and not buffer.origin
        if harness and buffer.kind == "cmd" and by_hook and buffer.state != "running":
            found.setdefault(harness, []).append(buffer)
    return {harness: sorted(all_of_it, key=_age)[:_COMMANDS] for harness, all_of_it in found.items()}


def _age(buffer: Buffer) -> float:
    return -buffer.created


def _why(harness: Harness, buffer: Buffer) -> str:
    """Why a command's output is not whole; where the harness cut it, also why the command had no pipe of ours."""
    if buffer.state == "interrupted":
        return "its end was not told"
    if buffer.partial != harness.cut:
        return buffer.partial
    if harness.shell_start:
        return f"{harness.cut}, and nothing read the file that its shell wrote into"
    return f"{harness.cut}, since {why_left_alone(harness, buffer.command) or 'hooks did not rewrite it'}"


def _counted(buffers: list[Buffer]) -> str:
    return f"{len(buffers):,} commands" if len(buffers) > 1 else "command"


def _listed(reasons: Counter[str]) -> str:
    told = [f"{count:,} ({reason})" for reason, count in reasons.most_common(_TOLD_REASONS)]
    more = reasons.total() - sum(count for _, count in reasons.most_common(_TOLD_REASONS))
    return ", ".join([*told, *([f"{more:,} for other reasons"] if more else [])])


def _copies(store: Store) -> Iterator[CheckResult]:
    if kind := copies_to(store):
        yield from kind.examine(store)


def _queries() -> Iterator[CheckResult]:
    backing = describe()
    yield CheckResult("ok", backing.text)
    missing = []
    for program in GRAMMARS:
        try:
            executable_of((program,), held=backing.landlock > 0)
        except ProgramMissing as error:
            if find(program):
                yield CheckResult("note", f"{error.message}: {error.hint}")
            else:
                missing.append(program)
    if missing:
        yield CheckResult("note", f"not installed, so queries cannot use them: {', '.join(missing)}")


def examine_plugins(root: str) -> Iterator[CheckResult]:
    """Look for plugins, and write the list of them for views and hooks; yield what was found and refused.

    Raises:
        OSError: the list cannot be written.
    """
    found, missing = refresh_plugins(root)
    for one in missing:
        yield CheckResult("problem", printable(f"rules of {one.name}: {one.why}; tell whoever made the package"))
    for checked in found:
        yield from _told_of_rules(checked)
    for name, place in read_plugins(root).harnesses.items():
        try:
            load_harness(name, place)
        except ImportError as error:
            yield CheckResult("problem", printable(f"the harness {name}: {error}; tell whoever made the package"))


def _told_of_rules(checked: Checked) -> Iterator[CheckResult]:
    path = printable(checked.file.path)
    good = [one.tool for one in checked.checks if not one.problems]
    if good:
        yield CheckResult("ok", f"{path}: rules that pass their own examples: {printable(', '.join(good))}")
    for one in checked.checks:
        if one.problems:
            what = f"the rule of {printable(one.tool)} is left out" if one.tool else "it is left out"
            yield CheckResult("problem", f"{path}: {what}: {printable('; '.join(one.problems))}")
        elif not one.examples:
            yield CheckResult("note", f"{path}: the rule of {printable(one.tool)} has no example, so nothing tried it")
