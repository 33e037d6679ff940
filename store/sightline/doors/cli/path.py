"""``sightline path``: prints the path of a stream's file, so that any tool can read it."""

from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, print_json, write_err, write_out
from sightline.store import Target


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Print the path of the file that holds the raw bytes of an output, so that any other program can read it. "
        "The file is read-only once the command has ended.",
        'less "$(sightline path @last.err)"',
    )
    made.add_argument(
        "ref", metavar="REF", help="the stream: @cmd_a1b2c3 is the standard output, @cmd_a1b2c3.err the standard error"
    )
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    with Door(given) as door:
        target = door.asking.resolve_whole(given.ref)
        if door.shared:
            path = door.shared.local_copy(target, raw=True)
        else:
            door.local.touch(target.buffer.name)
            path = door.local.path(target, to_come=True)
        altered = door.store.checked(target.buffer).altered
        if given.json:
            copies = {name: Target(target.buffer, name) for name in target.buffer.streams}
            streams = {name: door.store.local_copy(copy, raw=True) for name, copy in copies.items()}
            print_json({"ref": target.ref, "path": path, "streams": streams, "altered": altered or None})
        else:
            write_out(path + "\n")
        if altered:
            write_err(f"sightline: {target.buffer.ref} is altered: {altered}\n")
        return 0
