"""``sightline path``: the file of a stream, so that any tool can read it."""

from sightline.doors.cli.arguments import parser
from sightline.doors.cli.output import Door, print_json, write_out
from sightline.store import Target


def main(name: str, words: list[str]) -> int:
    """Run the command line; its exit code."""
    made = parser(
        name,
        "Print the file that holds a stream's raw bytes. It is read-only once the command has ended.",
        example='less "$(sightline path @last.err)"',
    )
    made.add_argument("ref", metavar="REF")
    given = made.parse_args(words)
    door = Door()
    try:
        target = door.asking.resolve_whole(given.ref)
        door.store.touch(target.buffer.name)
        path = door.store.path(target)
        if given.json:
            streams = {stream: door.store.path(Target(target.buffer, stream)) for stream in target.buffer.streams}
            print_json({"ref": target.ref, "path": path, "streams": streams})
        else:
            write_out(path + "\n")
        return 0
    finally:
        door.close()
