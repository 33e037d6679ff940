"""``sightline pin``, ``unpin``, ``rm`` and ``gc``: decide which outputs stay and which go."""

from sightline.base.errors import ExpiredRef
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, print_json, write_out
from sightline.log import retention
from sightline.log.store_kinds import copies_to
from sightline.shape.summary import human_bytes

_WAITS = (
    "done here; what was shipped of it waits: `sightline ship` asks the fleet to purge it, from then on no reader is "
    "shown it, and its bytes go with the owner's next `fleet maintain`\n"
)


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    if name == "gc":
        made = command_parser(
            name,
            "Remove now what is over the limits of count, bytes and age, instead of when the next output is captured.",
            "sightline gc",
        )
        made.add_argument("--unshipped", action="store_true", help="also remove what the fleet does not have yet")
        return made
    described = {
        "pin": "Protect outputs from the store's limits of count, bytes and age, until they are unpinned.",
        "unpin": "Let the store's limits remove outputs again, when their turn comes.",
        "rm": "Remove outputs. The replies that showed them stay in the log, unless --purge is given.",
    }
    made = command_parser(name, described[name], f"sightline {name} @cmd_a1b2c3")
    made.add_argument("refs", nargs="+", metavar="REF", help="the outputs")
    if name == "rm":
        made.add_argument(
            "--purge",
            action="store_true",
            help="also blank the replies that showed them, for instance because they hold a secret, here and "
            "where they were shipped to",
        )
    return made


def pin(given: Namespace) -> int:
    """Protect buffers from the limits, and return the exit code."""
    return _set_pinned(given, pinned=True)


def unpin(given: Namespace) -> int:
    """Let the limits remove buffers again, and return the exit code."""
    return _set_pinned(given, pinned=False)


def _set_pinned(given: Namespace, *, pinned: bool) -> int:
    with Door() as door:
        names = [door.asking.resolve(ref).buffer.name for ref in given.refs]
        changed = [door.local.amend(name, pinned=pinned).ref for name in names]
        return _told(given, changed, "pinned" if pinned else "unpinned")


def gc(given: Namespace) -> int:
    """Apply the limits, and return the exit code."""
    with Door() as door:
        collected = retention.collect(door.local, with_unshipped=given.unshipped)
        if given.json:
            print_json(collected._asdict())
            return 0
        totals = door.local.index.totals()
        write_out(
            f"{len(collected.evicted)} expired ({human_bytes(collected.bytes)}), {collected.views_blanked} views "
            f"blanked; {totals.buffers:,} buffers with {human_bytes(totals.bytes)} stay\n"
        )
        if collected.clock:
            write_out(f"{collected.clock}\n")
        if collected.unshipped:
            write_out(
                f"{len(collected.unshipped):,} over the limits stay ({human_bytes(collected.unshipped_bytes)}), since "
                "the fleet lacks them: `sightline ship` sends them, `sightline gc --unshipped` removes them\n"
            )
        if collected.unshipped_logs:
            write_out(
                f"the texts of {len(collected.unshipped_logs):,} sessions stay over the log's limit, since the fleet "
                "lacks them: `sightline ship` sends them, `sightline gc --unshipped` blanks them\n"
            )
        return 0


def rm(given: Namespace) -> int:
    """Remove buffers, and return the exit code."""
    with Door() as door:
        refs = _removed(door, given)
        done = _told(given, refs, "removed")
        if given.purge and not given.json and copies_to(door.local):
            write_out(_WAITS)
        return done


def _removed(door: Door, given: Namespace) -> list[str]:
    buffers: dict[str, Buffer] = {}
    gone: list[str] = []
    for ref in given.refs:
        try:
            buffer = door.asking.resolve(ref).buffer
            buffers[buffer.name] = buffer
        except ExpiredRef as expired:
            if not given.purge:
                raise
            gone.append(expired.name)  # the replies that showed it can still be blanked
    retention.remove(door.local, buffers.values(), purge=given.purge)
    retention.purge_gone(door.local, gone)
    return [format_ref(name) for name in (*buffers, *gone)]


def _told(given: Namespace, refs: list[str], what: str) -> int:
    if given.json:
        print_json({what: refs})
    else:
        write_out("".join(f"{ref} {what}\n" for ref in refs))
    return 0
