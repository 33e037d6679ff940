"""``sightline read``: shows a file, and keeps it as it was when it was read."""

import os

from sightline.base.errors import BadRange
from sightline.base.refs import parse_lines
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door
from sightline.verbs.read_file import VERB, read_file
from sightline.verbs.requests import FileRequest


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Read a file, and keep the version that was read. A short file is shown whole, a longer one as a view.",
        "sightline read src/app.py",
        "sightline read src/app.py:120-180",
        profile=True,
    )
    made.add_argument("path", metavar="FILE[:A-B]", help="the file, and from which line to which it is shown")
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    request = _request(given.path)
    with Door(as_json=given.json, profile=given.profile, insist=False) as door:
        return door.answer(VERB, request.logged(), lambda: read_file(door.asking, request))


def _request(text: str) -> FileRequest:
    """Read FILE[:A-B]; if a file is named exactly so, the whole text is its name."""
    path, colon, lines = text.rpartition(":")
    if colon and path and not os.path.exists(text):
        try:
            return FileRequest(path, *parse_lines(lines))
        except BadRange:
            if os.path.exists(path):
                raise
    return FileRequest(text)
