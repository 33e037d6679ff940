"""``sightline path``: the file of a stream, so that any tool can read it."""

from sightline.doors.cli.arguments import ArgumentParser, Namespace, command_parser
from sightline.doors.cli.output import Door, print_json, write_out
from sightline.store import Target


def parser(name: str) -> ArgumentParser:
    """What the command takes."""
    made = command_parser(
        name,
        "Print the path of the file that holds the raw bytes of an output, so that any other program can read it. "
        "The file is read-only once the command has ended.",
        'less "$(sightline path @last.err)"',
    )
    made.add_argument(
        "ref", metavar="REF", help="the stream: @cmd_a1b2c3 is the standard output, @cmd_a1b2c3.err the standard error"
    )
    return made


def main(given: Namespace) -> int:
    """Run the command; its exit code."""
    door = Door()
    try:
        target = door.asking.resolve_whole(given.ref)
        door.store.touch(target.buffer.name)
        path = door.store.path(target, to_come=True)
        if given.json:
            streams = {stream: door.store.path(Target(target.buffer, stream)) for stream in target.buffer.streams}
            print_json({"ref": target.ref, "path": path, "streams": streams})
        else:
            write_out(path + "\n")
        return 0
    finally:
        door.close()
