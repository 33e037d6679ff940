"""``sightline views``: lists what was shown to whom and when."""

import sys
import time

from sightline.doors.cli.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.cli.output import Door, print_json, write_out
from sightline.errors import UsageError
from sightline.json_text import loads
from sightline.light_library import cache
from sightline.log.call_names import name_of_view
from sightline.log.log_index import list_views
from sightline.log.session_list import find_session
from sightline.log.views import ref_of_shown
from sightline.records import Buffer, IndexedView, View
from sightline.refs import format_ref, host_of
from sightline.typing_names import Callable
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
    door = Door(given)
    try:
        door.store.bring_up_to_date()
        buffer = door.buffer_named(given.ref) if given.ref else None
        session = find_session(door.store, given.session).session.name if given.session else None
        found = list_views(door.store, buffer=buffer, session=session, limit=min(given.limit, sys.maxsize))
        return _list(door, found[::-1], given)
    finally:
        door.close()


def _list(door: Door, found: list[IndexedView], given: Namespace) -> int:
    find = cache(door.store.index.buffer)  # many replies are of one output
    rows = [(one.view, gone_of(find, one.view), _partial_of(find, one.view)) for one in found]
    if given.json:
        print_json([{**as_data(view), "gone": gone, "partial": partial} for view, gone, partial in rows])
        return 0
    write_out("".join(f"{_row(*row)}\n" for row in rows))
    if not found:
        write_out("nothing matches\n" if given.ref or given.session else "nothing has been shown yet\n")
    return 0


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


def _partial_of(find: Callable[[str], Buffer | None], view: View) -> list[str]:
    """Return the buffers of a view that hold only a part of what was written."""
    found = map(find, view.refs)
    return [buffer.ref for buffer in found if buffer and buffer.is_partial and buffer.state != "evicted"]


def _row(view: View, gone: list[str], partial: list[str]) -> str:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(view.time))
    share = f"{view.lines_shown:,} of {view.lines_total:,} lines" if view.lines_total else "no lines"
    told = {"cut": view.truncated, "partial": partial, "not all known": view.unknown, f"gone: {' '.join(gone)}": gone}
    marks = "".join(f"  {mark}" for mark, holds in told.items() if holds)
    return (
        f"{view.id}  {when}  {view.verb}  {share}, {view.bytes_shown:,} B{marks}  {printable(name_of_view(view)[:100])}"
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
