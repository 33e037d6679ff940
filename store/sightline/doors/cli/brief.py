"""``sightline brief``: shows on one screen what was run and what was missed."""

from sightline.audit.brief import as_data, as_markdown, as_text, make_brief
from sightline.audit.evidence.languages import unread_of_scope
from sightline.doors.cli.scope import add_scope, scope_of
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, print_json, write_out
from sightline.verbs.printable_text import printable


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Show on one screen what a session did, or what all of them did: the failures that no agent saw, the "
        "commands that failed, what else deserves a look, what is still running, what was never opened, and what "
        "was read again. Each row has a ref with which you can look further.",
        "sightline brief --since 2h",
        "sightline brief --session claude-code-42 --markdown",
    )
    add_scope(made)
    made.add_argument("--markdown", action="store_true", help="print it as Markdown, with all rows")
    return made


def main(given: Namespace) -> int:
    """Print the brief."""
    with Door(given) as door:
        scope = scope_of(door.store, given)
        brief = make_brief(door.store, session=scope.session, since=scope.since, project=scope.project)
        unread = unread_of_scope(door.store, scope.session, scope.since, scope.project)
    if given.json:
        print_json(as_data(brief) | {"messages_not_read": dict(unread.languages)})
    elif given.markdown:
        write_out(as_markdown(brief))
    else:
        rows = [unread.words] if unread.words else []
        write_out("".join(f"{printable(row)}\n" for row in (*rows, *as_text(brief).splitlines())))
    return 0
