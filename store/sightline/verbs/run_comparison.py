"""Compares a run with the previous one: which failures are new, gone or unchanged, else which lines differ.

Times, addresses and the like, which differ in every run, are ignored.
"""

from collections.abc import Iterator, Sequence

from sightline.audit.buffer_failures import Failure
from sightline.audit.failure_changes import changed_failures
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.base.refs import are_of_two_hosts
from sightline.light.typing_names import Any
from sightline.log.views import Shows
from sightline.search.diff.comparison import compare
from sightline.search.diff.engines import Ignore
from sightline.search.diff.sides import open_side
from sightline.shape.clean import clean_line
from sightline.shape.segments import Segment
from sightline.shape.source import Line
from sightline.store import Target
from sightline.verbs.asker import Asker
from sightline.verbs.reply import Reply, in_order

_NAMED = 50  # failures of each kind that are named
_LINE_CHARACTERS = 400
_BODY_BYTES = 8_000
_TWO_HOSTS = (
    "of two hosts: times, numbers and hashes are ignored, and the names of their project and home folders; "
    "--no-volatile compares all"
)
_NOTHING = "nothing changed but what differs from run to run, such as times"


def comparison_of_runs(asking: Asker, before: Buffer, after: Buffer) -> str:
    """Compare two runs of a command: failures by name, else lines. Raises what `changed_failures` raises."""
    same, new, fixed = changed_failures(asking.store, before, after)
    if not (same or new or fixed):
        return changed_lines(
            asking, Target(before, "out"), Target(after, "out"), Target(before, "err"), Target(after, "err")
        )
    groups = (("newly failing", new, after), ("no longer failing", fixed, before), ("still failing", same, after))
    return "".join(_group(title, failures, buffer) for title, failures, buffer in groups if failures)


def same_failure(asking: Asker, before: Buffer, after: Buffer) -> bool:
    """Return whether two runs failed with the same failures, at least one; False if that cannot be told."""
    try:
        same, new, fixed = changed_failures(asking.store, before, after)
    except SightlineError:
        return False
    return bool(same) and not (new or fixed)


def _group(title: str, failures: Sequence[Failure], buffer: Buffer) -> str:
    rows = [f"  {one.name or one.text}  {one.ref(buffer.name)}\n" for one in failures[:_NAMED]]
    more = [f"  and {len(failures) - _NAMED:,} more\n"] if len(failures) > _NAMED else []
    return "".join([f"{title} ({len(failures):,}):\n", *rows, *more])


def changed_lines(asking: Asker, *targets: Target) -> str:
    """Return the differing lines of pairs of streams, older and newer by turns, after ``-`` and ``+``."""
    rows: list[str] = []
    left, dropped = _BODY_BYTES, 0
    for old, new in zip(targets[::2], targets[1::2], strict=True):
        for row in _changed(asking, old, new):
            left -= len(row.encode())
            if left < 0:
                dropped += 1
            else:
                rows.append(row)
    if not rows and not dropped:
        return f"{_NOTHING}\n"
    more = [f"and {dropped:,} more lines differ\n"] if dropped else []
    return "".join([*rows, *more])


def _changed(asking: Asker, old: Target, new: Target) -> Iterator[str]:
    with open_side(asking.store, old) as left, open_side(asking.store, new) as right:
        for hunk in compare(left, right, Ignore(volatile=True), cancel=asking.cancel).hunks:
            for line in left.lines(hunk.left, hunk.left_end - 1) if hunk.left_count else ():
                yield f"-{_row(line)}"
            for line in right.lines(hunk.right, hunk.right_end - 1) if hunk.right_count else ():
                yield f"+{_row(line)}"


def _row(line: Line) -> str:
    """Return a line with its number, clipped if it is long."""
    text = clean_line(line.data)
    return f"{line.number}: {text[:_LINE_CHARACTERS]}{'…' if len(text) > _LINE_CHARACTERS else ''}\n"


def comparison_reply(asking: Asker, before: Target, after: Target, *, verb: str, request: dict[str, Any]) -> Reply:
    """Reply to a comparison of two streams that ignores what differs in every run."""
    text = changed_lines(asking, before, after)
    equal = text.startswith(_NOTHING)
    names = (before.buffer.name, after.buffer.name)
    fields: dict[str, Any] = {"exit_code": 0 if equal else 1}
    if are_of_two_hosts(*names):
        fields["note"] = _TWO_HOSTS
    shows = Shows(verb, request, refs=names, exit_code=0 if equal else 1)
    return Reply(in_order(fields), (Segment(text),), shows, missing="note" in fields, exit_code=fields["exit_code"])
