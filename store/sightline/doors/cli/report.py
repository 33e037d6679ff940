"""``sightline report``: writes up a session, or a stretch of time, as one page that needs nothing else."""

from sightline.audit.report.data import as_data
from sightline.audit.report.html import render_html
from sightline.audit.report.markdown import render_markdown
from sightline.audit.report.report import gather
from sightline.audit.verdict import Scope
from sightline.doors.cli.scope import add_scope, scope_of
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, write_err, write_file, write_out
from sightline.light.json_text import dumps

_FORMATS = {"html": ".html", "md": ".md", "json": ".json"}


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Write a report on a session, or on all of them: first what was overlooked, then what was captured and how "
        "much of it was seen, then what each call was shown and what it was not. The report is one HTML page that "
        "needs no network and no script, or Markdown, or JSON. It contains parts of outputs, and any secrets in "
        "them, so mind who gets it.",
        "sightline report --session claude-code-42 -o report.html",
        "sightline report --since 7d --format md",
        json=False,
    )
    add_scope(made)
    made.add_argument(
        "-o", "--output", default="", metavar="FILE", help="write to this file instead of standard output"
    )
    made.add_argument(
        "--format",
        choices=_FORMATS,
        metavar="FORMAT",
        help="write html, md or json; by default as FILE ends, else html",
    )
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    form = given.format or next((form for form, end in _FORMATS.items() if given.output.endswith(end)), "html")
    with Door(given) as door:
        scope = scope_of(door.store, given)
        text = _rendered(door, scope, form)
    if not given.output or given.output == "-":
        write_out(text)
        return 0
    write_file(given.output, text)
    write_err(f"{given.output} written\n")
    return 0


def _rendered(door: Door, scope: Scope, form: str) -> str:
    report = gather(door.store, session=scope.session, since=scope.since, project=scope.project)
    if form == "json":
        return dumps(as_data(report), ensure_ascii=False, indent=1) + "\n"
    if form == "md":
        return render_markdown(report)
    return render_html(report)
