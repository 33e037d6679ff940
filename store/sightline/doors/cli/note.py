"""``sightline note`` and ``notes``: remarks on lines, which can be sent along with the next reply of a session."""

import time

from sightline.base.errors import UsageError
from sightline.base.records import Note
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, print_json, write_out
from sightline.light.typing_names import Any
from sightline.log.notes import ANYONE, list_notes, send_note, whereto, write_note
from sightline.log.session_list import find_session
from sightline.store import Target
from sightline.verbs.line_pieces import open_lines
from sightline.verbs.printable_text import printable


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    if name == "notes":
        made = command_parser(name, "List remarks, the oldest first.", "sightline notes @last")
        made.add_argument("ref", nargs="?", metavar="REF", help="list only remarks on this output")
        add_store(made)
        return made
    made = command_parser(
        name,
        "Write a remark on lines of an output. With --send the agent that captured the output gets the remark, "
        "once, in the next reply that it asks for. --session sends it to the agent of another session, and --any to "
        "whichever agent asks next.",
        "sightline note @cmd_a1b2c3:120-140 'the fixture is stale, this fails for that reason' --send",
        "sightline note @last 'look at the warnings first' --any",
    )
    made.add_argument("ref", metavar="REF[:A-B]", help="the output, and the lines of it that the remark is about")
    made.add_argument("text", metavar="TEXT", help="the remark, in quotes as one argument")
    made.add_argument("--send", action="store_true", help="send it to the agent whose session captured the output")
    other = made.add_mutually_exclusive_group()
    other.add_argument("--session", default="", metavar="SESSION", help="send it to the agent of this session")
    other.add_argument("--any", action="store_true", help="send it to whichever agent asks next")
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Keep a note, send it if asked to, and return the exit code."""
    with Door(given) as door:
        target = _checked(door, door.asking.resolve(given.ref))
        to = ANYONE if given.any else target.buffer.session
        if given.session:
            to = find_session(door.store, given.session).session.name
        note = door.store.remark(target, given.text, to)
        if note is None:
            note = write_note(door.local, door.asking.session, target, given.text)
            if given.send or given.session or given.any:
                note = send_note(door.local, door.asking.session, note, to)
        if given.json:
            print_json(as_data(note))
        else:
            write_out(f"{note.id}  {note.ref}{_whereto(note)}\n")
        return 0


def _checked(door: Door, target: Target) -> Target:
    """Return the target with its range within the stream. Raises UsageError if the lines do not exist."""
    if not target.first:
        return target
    with open_lines(door.store, target) as lines:
        total = lines.line_count
    if target.first > total or target.last > total:
        raise UsageError(f"{target.ref} has only {total:,} lines", f"name lines from 1 to {total}")
    return target._replace(last=target.last or total)


def list_all(given: Namespace) -> int:
    """Print the notes, and return the exit code."""
    with Door(given) as door:
        door.store.bring_up_to_date()
        found = list_notes(door.store, buffer=door.buffer_named(given.ref) if given.ref else None)
        if given.json:
            print_json([as_data(note) for note in found])
            return 0
        write_out("".join(f"{row(note)}\n" for note in found) or "no notes\n")
        return 0


def row(note: Note) -> str:
    """Write a note as one line."""
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(note.time))
    text = printable(note.text) if note.text is not None else "(blanked)"
    return f"{note.id}  {when}  {note.ref}  {text}{_whereto(note)}"


def _whereto(note: Note) -> str:
    told = whereto(note)
    return f"  [{told}]" if told else ""


def as_data(note: Note) -> dict[str, Any]:
    """Encode a note for ``notes --json``; times are seconds since the epoch."""
    data = note._asdict()
    state = "sent" if note.sent else "waiting" if note.to else "kept"
    return {**data, "to": note.to or None, "sent": note.sent or None, "sent_to": note.sent_to or None, "state": state}
