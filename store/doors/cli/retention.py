"""``sightline pin``, ``unpin``, ``rm`` and ``gc``: what stays and what goes."""

from typing import Any

from sightline.doors.cli.arguments import Parser, parser
from sightline.doors.cli.output import Door, print_json, write_out
from sightline.errors import ExpiredRef
from sightline.log import retention
from sightline.records import Buffer
from sightline.shape.summary import human_bytes


def main(name: str, words: list[str]) -> int:
    """Run the command line; its exit code."""
    given = _parser(name).parse_args(words)
    door = Door()
    try:
        if name == "gc":
            return _gc(door, given)
        if name == "rm":
            return _rm(door, given)
        return _pin(door, given, pinned=name == "pin")
    finally:
        door.close()


def _parser(name: str) -> Parser:
    if name == "gc":
        return parser(name, "Apply the limits of count, bytes and age now.", example="sightline gc")
    described = {
        "pin": "Keep buffers whatever the limits are.",
        "unpin": "Let buffers go when their time comes.",
        "rm": "Remove buffers. What was shown of them stays in the log, unless --purge is given.",
    }
    made = parser(name, described[name], example=f"sightline {name} @cmd_a1b2c3")
    made.add_argument("refs", nargs="+", metavar="REF")
    if name == "rm":
        made.add_argument("--purge", action="store_true", help="blank the views that showed them, too")
    return made


def _gc(door: Door, given: Any) -> int:
    collected = retention.collect(door.store)
    if given.json:
        print_json(collected._asdict())
        return 0
    totals = door.store.index.totals()
    write_out(
        f"{len(collected.evicted)} evicted ({human_bytes(collected.bytes)}), {collected.views_blanked} views blanked; "
        f"{totals.buffers:,} buffers with {human_bytes(totals.bytes)} stay\n"
    )
    return 0


def _rm(door: Door, given: Any) -> int:
    buffers: dict[str, Buffer] = {}
    gone: list[str] = []
    for ref in given.refs:
        try:
            buffer = door.asking.resolve(ref).buffer
            buffers[buffer.name] = buffer
        except ExpiredRef as expired:
            if not given.purge:
                raise
            gone.append(expired.name)  # what was shown of it is still there to be blanked
    retention.remove(door.store, buffers.values(), purge=given.purge)
    for name in gone:
        retention.purge_gone(door.store, name)
    return _told(given, [f"@{name}" for name in (*buffers, *gone)], "removed")


def _pin(door: Door, given: Any, *, pinned: bool) -> int:
    names = [door.asking.resolve(ref).buffer.name for ref in given.refs]
    changed = [door.store.amend(name, pinned=pinned).ref for name in names]
    return _told(given, changed, "pinned" if pinned else "unpinned")


def _told(given: Any, refs: list[str], what: str) -> int:
    if given.json:
        print_json({what: refs})
    else:
        write_out("".join(f"{ref} {what}\n" for ref in refs))
    return 0
