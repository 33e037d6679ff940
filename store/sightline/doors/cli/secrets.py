"""``sightline secrets``: finds secrets of known formats in what is stored, and purges the outputs that hold them."""

from sightline.base.refs import format_ref
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, print_json, write_err, write_out
from sightline.doors.terminal.progress_line import ProgressLine, bar
from sightline.log import retention
from sightline.shape.summary import counted
from sightline.verbs.list_outputs import find_buffers
from sightline.verbs.printable_text import printable
from sightline.verbs.requests import ListRequest
from sightline.verbs.stored_secrets import StoredSecret, stored_secrets

_ALL = 1 << 40  # outputs
_ELSEWHERE = (
    "the agents' own transcripts, and what was shipped or exported, still hold what they held: change the secrets\n"
)


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Find secrets of known formats in outputs, commands and logs that are stored already. It prints the kind and "
        "the place of each, never the value. Exits with 1 if there are any, unless --purge removed them all. "
        "`[redact] known = true` in config.toml keeps further ones out of the store.",
        "sightline secrets",
        "sightline secrets --match 'since:7d' --json",
        "sightline secrets --purge",
    )
    made.add_argument("--match", default="", metavar="FILTER", help="look only at outputs that this filter accepts")
    made.add_argument(
        "--purge",
        action="store_true",
        help="remove the outputs that hold one, and blank the replies that showed them, as `rm --purge` does",
    )
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    door = Door()
    line = ProgressLine()
    try:
        buffers = find_buffers(door.local, ListRequest(match=given.match, limit=_ALL))
        buffers = [buffer for buffer in buffers if buffer.state != "evicted"]
        sessions = [] if given.match else [session.name for session in door.local.index.sessions()]
        gone = [] if given.match else retention.gone_names(door.local)
        total = sum(buffer.bytes for buffer in buffers) or 1
        done = 0

        def looked(more: int) -> None:
            nonlocal done
            done += more
            line.show(f"  {bar(done / total)} looked through")

        found = list(stored_secrets(door.local, buffers, gone, sessions, looked))
        line.remove()
        purged: list[str] = []
        if given.purge:
            holding = {one.buffer for one in found}
            here = [buffer for buffer in buffers if buffer.name in holding]
            gone = [name for name in gone if name in holding]
            purged = [*(buffer.ref for buffer in here), *map(format_ref, gone)]
            retention.remove(door.local, here, purge=True)
            retention.purge_gone(door.local, gone)
        left = [one for one in found if not (given.purge and one.buffer)]
        if given.json:
            print_json({"secrets": [one._asdict() for one in found], "purged": purged})
        else:
            _print(found, left, purged)
        return int(bool(left))
    finally:
        line.remove()
        door.close()


def _print(found: list[StoredSecret], left: list[StoredSecret], purged: list[str]) -> None:
    write_out("".join(f"{one.kind:24} {printable(one.where)}\n" for one in found))
    write_out(f"{counted(len(found), 'secret')} of known formats\n")
    if purged:
        write_out("".join(f"{ref} removed, and the replies that showed it blanked\n" for ref in purged))
    elif any(one.buffer for one in found):
        write_out("`sightline secrets --purge` removes these outputs, and blanks the replies that showed them\n")
    if purged and any(one.session for one in left):
        write_out("look again: what of the log remains goes with `sightline sessions rm SESSION`\n")
    elif not purged and any(one.session for one in left):
        write_out("what stands in the log goes with the outputs, or with `sightline sessions rm SESSION`\n")
    if found:
        write_err(_ELSEWHERE)
