"""``sightline views``: lists what was shown to whom and when."""

import sys
import time

from sightline.base.errors import UsageError
from sightline.base.records import Buffer, IndexedView, View
from sightline.base.refs import format_ref, host_of
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, print_json, write_out
from sightline.light.json_text import loads
from sightline.light.library import cache
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable
from sightline.log.call_names import name_of_view
from sightline.log.log_index import list_views
from sightline.log.session_list import find_session
from sightline.log.views import ref_of_shown
from sightline.verbs.printable_text import printable

_LIMIT = 50


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "List the replies that agents and people were given, about one output or about all, the newest last. "
        "`sightline views show ID` prints the exact text of one.",
        "sightline views --limit 10",
        "sightline views @last",
    )
    made.add_argument("ref", nargs="?", metavar="REF", help="list only replies about this output")
    made.add_argument("--session", metavar="SESSION", help="list only replies of this session")
    made.add_argument("--limit", type=int, default=_LIMIT, metavar="N", help=f"list at most N (default {_LIMIT})")
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    if given.limit < 1:
        raise UsageError(f"--limit cannot be {given.limit}", "give a number from 1 up")
    with Door(given) as door:
        door.store.bring_up_to_date()
        buffer = door.buffer_named(given.ref) if given.ref else None
        session = find_session(door.store, given.session).session.name if given.session else None
        found = list_views(door.store, buffer=buffer, session=session, limit=min(given.limit, sys.maxsize))
        return _list(door, found[::-1], given)


def _list(door: Door, found: list[IndexedView], given: Namespace) -> int:
    find = cache(door.store.index.buffer)  # many replies are of one output
    rows = [(one.view, marks_of(find, one.view)) for one in found]
    if given.json:
        print_json([{**as_data(view), **marks._asdict()} for view, marks in rows])
        return 0
    write_out("".join(f"{_row(*row)}\n" for row in rows))
    if not given.ref and skips_numbers([view for view, _ in rows]):
        print(_SKIPPED, file=sys.stderr)
    if not found:
        write_out("nothing matches\n" if given.ref or given.session else "nothing has been shown yet\n")
    return 0


_SKIPPED = (
    "sightline: numbers count all entries of a session's log; the others are notes, prompts and the like\n"
    "  `sightline doctor` checks that none was removed"
)


def skips_numbers(views: list[View]) -> bool:
    """Return whether numbers of a session are missing between its views, oldest first, as if some had been deleted."""
    last: dict[str, int] = {}
    for view in views:
        if view.number > last.get(view.session, view.number) + 1:
            return True
        last[view.session] = view.number
    return False


class Marks(NamedTuple):
    """The buffers of a view, by what became of them, as refs.

    Attributes:
        gone: those that have expired or were removed since.
        partial: those that hold only a part of what was written.
        altered: those that are known to have other bytes than were captured.
    """

    gone: list[str]
    partial: list[str]
    altered: list[str]


def marks_of(find: Callable[[str], Buffer | None], view: View) -> Marks:
    """Return what became of the buffers of a view.

    Args:
        find: finds a buffer by its name, as an index does.
        view: the view.
    """
    there = [buffer for buffer in map(find, view.refs) if buffer and buffer.state != "evicted"]
    partial = [buffer.ref for buffer in there if buffer.is_partial]
    return Marks(gone_of(find, view), partial, [buffer.ref for buffer in there if buffer.altered])


def gone_of(find: Callable[[str], Buffer | None], view: View) -> list[str]:
    """Return the buffers of a view that have expired or were removed since.

    Args:
        find: finds a buffer by its name, as an index does.
        view: the view.
    """
    # In the log of one machine a name with a host is another machine's, of which only what was shown is here.
    names = [name for name in view.refs if bool(host_of(name)) == bool(host_of(view.session))]
    found = ((name, find(name)) for name in names)
    return [format_ref(name) for name, buffer in found if buffer is None or buffer.state == "evicted"]


def _row(view: View, marks: Marks) -> str:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(view.time))
    share = f"{view.lines_shown:,} of {view.lines_total:,} lines" if view.lines_total else "no lines"
    told = {
        "cut": view.truncated,
        "partial": marks.partial,
        "altered": marks.altered,
        "not all known": view.unknown,
        f"gone: {' '.join(marks.gone)}": marks.gone,
    }
    words = "".join(f"  {mark}" for mark, holds in told.items() if holds)
    return (
        f"{view.id}  {when}  {view.verb}  {share}, {view.bytes_shown:,} B{words}  {printable(name_of_view(view)[:100])}"
    )


def as_data(view: View) -> dict[str, object]:
    """Encode a view for ``views --json``."""
    data = view._asdict()
    data["request"] = loads(view.request)
    data["refs"] = list(map(format_ref, view.refs))
    data["shown"] = [ref_of_shown(shown) for shown in view.shown]
    data["matched"] = [ref_of_shown(matched) for matched in view.matched]
    data["asked_about"] = [ref_of_shown(asked) for asked in data.pop("asked")]
    return data
