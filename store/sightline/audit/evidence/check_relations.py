"""Relations of checks and edits: which later check covers an earlier one, and which edits a check depends on."""

from collections.abc import Sequence

from sightline.audit.evidence.check_names import (
    BUILD,
    LINT,
    OWN_SCRIPTS,
    TEST,
    TYPES,
    covers_operands,
    is_of_other_language,
    may_be_the_same,
    parts_of_operands,
)
from sightline.audit.evidence.checks import FAILED, PASSED, Check
from sightline.audit.evidence.edits import Edit


def makes_good(later: Check, run: Check) -> bool:
    """Return whether a later run tells anew what a failed run told: the same check of as much, or all of it."""
    if later.key == run.key:
        covers = later.is_whole or covers_operands(later.operands, run.operands)
        return covers and (later.outcome == PASSED or (later.outcome == FAILED and not run.is_whole))
    same = later.kind == run.kind and are_nested(later.folder, run.folder) and may_be_the_same(later.phrase, run.phrase)
    return same and later.outcome == PASSED and (later.is_whole or covers_operands(later.operands, run.operands))


def is_made_good(run: Check, later: Sequence[Check]) -> bool:
    """Return whether later runs tell anew what a failed run told: one of as much, or several of its parts."""
    if any(makes_good(one, run) for one in later):
        return True
    parts = parts_of_operands(run.operands)
    return len(parts) > 1 and all(any(makes_good(one, run._replace(operands=part)) for one in later) for part in parts)


def concerns(edit: Edit, check: Check) -> bool:
    """Return whether a check could depend on an edited file.

    It could if the file lies below where the check ran; what compiles or lints one language reads no other's sources.
    """
    program = check.phrase.split()[0]
    if edit.is_script and program not in _OF_SCRIPTS and not program.endswith((".sh", ".bash", ".zsh", ".fish")):
        return False
    if check.kind != TEST and is_of_other_language(program, edit.path):
        return False
    return not check.folder or edit.path.startswith(check.folder.rstrip("/") + "/")


_OF_SCRIPTS = ("bats", "bash", "sh", "zsh", "shellspec", "shellcheck", "shfmt", "pre-commit")


def are_nested(one: str, other: str) -> bool:
    one, other = one.rstrip("/") + "/", other.rstrip("/") + "/"
    return one.startswith(other) or other.startswith(one)


_COVERED_BY = {TEST: (), BUILD: (BUILD, TYPES, TEST), TYPES: (TYPES, BUILD, TEST), LINT: (BUILD, TYPES, TEST)}
"""The kinds of check after which an older one of a kind is not worth an alarm: they have looked at the same files."""


def covers(later: Check, check: Check) -> bool:
    """Return whether a check that ended well has looked at what an older one of the same place looked at."""
    if check.phrase == "go vet" and later.phrase == "go test":
        return are_nested(later.folder, check.folder)  # it vets what it tests, and cannot build what does not parse
    if check.outcome == FAILED and (check.kind == LINT or (check.kind == TYPES and not _looks_at_types(later, check))):
        return False
    return later.kind in _COVERED_BY[check.kind] and are_nested(later.folder, check.folder)


def _looks_at_types(later: Check, check: Check) -> bool:
    """Return whether a later check surely looked at the types that one found wrong; what only bundles does not."""
    return later.kind == TYPES or (later.kind == BUILD and later.phrase.split()[0] == check.phrase.split()[0])


def tells_anew(later: Check, check: Check) -> bool:
    """Return whether a later run is of the same kind and place, or has looked at as much."""
    if check.phrase in OWN_SCRIPTS and later.phrase in OWN_SCRIPTS and later.operands != check.operands:
        return False
    same = later.kind == check.kind and are_nested(later.folder, check.folder)
    return same or covers(later, check)


def bears_on(edit: Edit, check: Check) -> bool:
    """Return whether a check could depend on an edited file: lint of some files depends on these alone."""
    if check.kind == TEST or check.is_whole:
        return True
    return any(
        edit.path.endswith(one.removeprefix("./").rstrip("/")) or f"/{one.strip('./')}/" in edit.path
        for one in check.operands
    )
