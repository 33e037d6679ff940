"""Compares the failures of two runs: which are the same, which are new, and which are gone."""

from sightline.audit.buffer_failures import Failure, failures_if_quick, failures_of, judgement_of
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.normaliser import without_volatile
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import programs_of
from sightline.store import Reading

_WHOLE = frozenset(("cat", "less", "more", "nl", "tee"))  # filters that pass on all that they read


class FailureChanges(NamedTuple):
    """What changed between two runs.

    Attributes:
        same: failures of both, as the newer run tells them.
        new: failures of the newer run only.
        fixed: failures of the older run only.
    """

    same: tuple[Failure, ...]
    new: tuple[Failure, ...]
    fixed: tuple[Failure, ...]

    @property
    def words(self) -> str:
        """``same 2 fail · 0 new · 1 fixed``."""
        return f"same {len(self.same):,} fail · {len(self.new):,} new · {len(self.fixed):,} fixed"

    @property
    def short(self) -> str:
        """``=2 +1 -1``, without what is 0."""
        told = zip("=+-", map(len, (self.same, self.new, self.fixed)), strict=True)
        return " ".join(f"{sign}{count}" for sign, count in told if count)


def changed_failures(store: Reading, before: Buffer, after: Buffer) -> FailureChanges:
    """Compare the failures of two runs, older and newer: by name, or by line without times and the like.

    Raises:
        ExpiredRef, StoreFailed: raised by `failures_of`.
    """
    return _compared(failures_of(store, before), failures_of(store, after))


def known_changes(store: Reading, before: Buffer, after: Buffer) -> FailureChanges | None:
    """Return what changed between two runs of one command, if the names of failures say so for certain.

    Returns:
        None where they do not: the commands differ; a run is cut short or filtered, so that failures may be missing;
        one failed without saying in what; a failure has no name; nothing failed; or to find it out takes long.
    """
    is_rerun = (before.kind, before.command) == (after.kind, after.command)
    if not (is_rerun and has_all_failures(before) and has_all_failures(after)):
        return None
    try:
        was, now = failures_if_quick(store, before), failures_if_quick(store, after)
    except SightlineError:
        return None
    if was is None or now is None or not (was or now):
        return None
    if not all(one.name for one in (*was, *now)) or (before.failed and not was) or (after.failed and not now):
        return None
    return _compared(was, now)


def _compared(was: tuple[Failure, ...], now: tuple[Failure, ...]) -> FailureChanges:
    old, new = {identity_of(one): one for one in was}, {identity_of(one): one for one in now}
    return FailureChanges(
        tuple(new[key] for key in new if key in old),
        tuple(new[key] for key in new if key not in old),
        tuple(old[key] for key in old if key not in new),
    )


def identity_of(failure: Failure) -> str:
    """Return what identifies a failure in several runs: its name, or its line without times and the like."""
    return failure.name or without_volatile(f"{failure.text}\n".encode()).decode(errors="replace")


def has_all_failures(buffer: Buffer) -> bool:
    """Return whether an output has all that a run had to say of its failures."""
    if buffer.state != "sealed" or buffer.timed_out or buffer.signal or buffer.partial or judgement_of(buffer).why_not:
        return False
    try:
        return bool(buffer.origin) or all(_WHOLE.issuperset(one.filters) for one in programs_of(buffer.command))
    except Unclear:
        return False
