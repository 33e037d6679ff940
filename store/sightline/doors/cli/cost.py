"""``sightline cost``: shows what requests to models took, in tokens and at list price."""

import csv
import io

from sightline.agents.past_sessions.usage_intake import take_in_usage
from sightline.audit.cost import GROUPS, Cost, CostReport, CostRow, cost_data, cost_report, dollars, tokens
from sightline.base.errors import UsageError
from sightline.base.time_words import TAKES, span_of
from sightline.doors.cli.scope import add_project, project_option
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, print_json, write_out
from sightline.light.typing_names import Any
from sightline.store import Store
from sightline.verbs.printable_text import printable

_COLUMNS = ("requests", "fresh", "cache read", "cache written", "output", "cost")
_NAME_CHARACTERS = 48
_NAMED_MODELS = 4
_NOTHING = "no requests to models are known yet\n  `sightline import` reads them from past sessions of agents\n"
_UNRECORDED = "Requests that a harness does not record are not in these sums."


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Show what requests of agents to models took, as transcripts of recorded and imported sessions state it: fresh "
        "input, input read from the cache and written to it, and output with reasoning; and what that costs at list "
        "price. A request that stands in several transcripts counts once. What is not stated is counted beside the "
        "sums, which are then at least what they say.",
        "sightline cost",
        "sightline cost --by session --since 7d",
        "sightline cost --by model --csv > cost.csv",
    )
    made.add_argument("--by", choices=GROUPS, default="day", help="what a row is of (default: day)")
    made.add_argument("--since", default="", metavar="TIME", help=f"look only at requests after this: {TAKES}")
    made.add_argument("--csv", action="store_true", help="print comma-separated values")
    add_project(made)
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    if given.csv and given.json:
        raise UsageError("--csv and --json cannot be combined", "give one of them")
    with Door(given) as door:
        if not isinstance(door.store, Store):
            raise UsageError("a fleet has no usage of models", "ask on the machine whose sessions it was")
        take_in_usage(door.store)
        since = span_of(given.since).start if given.since else 0.0
        report = cost_report(door.store, given.by, since=since, project=project_option(door.store, given.project))
        if given.json:
            print_json(as_data(report))
        elif given.csv:
            write_out(_as_csv(report))
        else:
            write_out(_as_text(report) if report.rows else _NOTHING)
        return 0


def as_data(report: CostReport) -> dict[str, Any]:
    """Encode costs for ``cost --json``; counts are tokens, money is US dollars."""
    return {
        "by": report.by,
        "prices": {"kind": "list", "date": report.prices.date, "source": report.prices.source},
        "total": cost_data(report.total),
        "rows": [_row(report, row) for row in report.rows],
    }


def _row(report: CostReport, row: CostRow) -> dict[str, Any]:
    label = {"title": row.label} if row.label != row.name else {}
    return {report.by: row.name or None, **label, **cost_data(row.cost)}


def _as_csv(report: CostReport) -> str:
    """Return the rows with a head; each names the day of its list prices, so that it can be read by itself."""
    text = io.StringIO()
    rows = [{report.by: row.name, **cost_data(row.cost), "list_prices_of": report.prices.date} for row in report.rows]
    head = list(rows[0]) if rows else [report.by, *cost_data(Cost()), "list_prices_of"]
    writer = csv.DictWriter(text, head, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "no_price": " ".join(row["no_price"])})
    return text.getvalue()


def _as_text(report: CostReport) -> str:
    total = report.total
    lines = [
        f"{dollars(total)} at list price of {report.prices.date}, {_requests(total.requests)}",
        f"  tokens: {tokens(total.fresh)} fresh, {tokens(total.cache_read)} read from the cache, {_written(total)}"
        f" written to it{_for_an_hour(total)}, {tokens(total.output)} output{_reasoning(total)}",
        *(f"  {line}" for line in _remarks(total)),
        f"  {_UNRECORDED}",
        "",
    ]
    rows = [(report.by, *_COLUMNS), *((_short(row.label), *_cells(row.cost)) for row in report.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        lines.append("  ".join((name.ljust(widths[0]), *padded)))
    return "\n".join([*lines, ""])


def _cells(cost: Cost) -> tuple[str, ...]:
    inputs = (tokens(cost.fresh), tokens(cost.cache_read), _written(cost))
    return (
        f"{cost.requests:,}",
        *(_cell(text, cost.unstated_input, cost.requests) for text in inputs),
        _cell(tokens(cost.output), cost.unstated_output, cost.requests, is_least=bool(cost.at_least)),
        dollars(cost, "≥ "),
    )


def _cell(text: str, unstated: int, requests: int, *, is_least: bool = False) -> str:
    """Return a number of tokens, with a sign where it is a lower bound; a dash where no request states it."""
    if unstated == requests:
        return "–"
    return f"≥ {text}" if unstated or is_least else text


def _remarks(cost: Cost) -> list[str]:
    """Return what makes a sum a lower bound, and where a harness names another price."""
    remarks = []
    for count, what in (
        (cost.unstated_input, "input not stated"),
        (cost.unstated_output, "output not stated"),
        (cost.at_least, "output stated only while it was being written"),
    ):
        if count:
            remarks.append(f"{what}: {_requests(count)}")
    if cost.unpriced:
        models = ", ".join(cost.no_price[:_NAMED_MODELS]) + (", …" if len(cost.no_price) > _NAMED_MODELS else "")
        remarks.append(printable(f"price not known: {_requests(cost.unpriced)} of {models}"))
    if cost.own_priced:
        remarks.append(f"by the harness' own account: ${cost.own_dollars:,.2f} for {_requests(cost.own_priced)}")
    return remarks


def _requests(count: int) -> str:
    return f"{count:,} request{'' if count == 1 else 's'}"


def _written(cost: Cost) -> str:
    return tokens(cost.cache_write + cost.cache_write_1h)


def _for_an_hour(cost: Cost) -> str:
    return f" ({tokens(cost.cache_write_1h)} for an hour)" if cost.cache_write_1h else ""


def _reasoning(cost: Cost) -> str:
    return f" ({tokens(cost.reasoning)} reasoning)" if cost.reasoning else ""


def _short(name: str) -> str:
    name = printable(name)
    return name if len(name) <= _NAME_CHARACTERS else name[: _NAME_CHARACTERS - 1] + "…"
