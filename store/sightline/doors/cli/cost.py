"""``sightline cost``: shows what requests to models took, in tokens and at list price."""

import csv
import io
import time
from collections import Counter

from sightline.agents.past_sessions.usage_intake import take_in_usage
from sightline.audit.cost import (
    BAR_CELLS,
    GROUPS,
    HOST_GROUPS,
    NO_PRICE,
    Cost,
    CostReport,
    CostRow,
    at_list_price,
    bar,
    cost_data,
    cost_report,
    dollars,
    kind_dollars,
    tokens,
)
from sightline.audit.lost_caches import REASONS, LostCache, lost_caches
from sightline.audit.output_costs import MOST_OUTPUTS, OutputCosts, output_costs
from sightline.audit.output_prices import ESTIMATED, price_list
from sightline.audit.prices import PriceList
from sightline.audit.project_scope import started_in
from sightline.base.errors import UsageError
from sightline.base.price_row import KindSum, PriceRow
from sightline.base.project import Project
from sightline.base.refs import format_ref
from sightline.base.time_words import TAKES, span_of
from sightline.doors.cli.scope import add_project, project_option
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, print_json, write_out
from sightline.light.typing_names import Any, Mapping, Sequence
from sightline.log.session_list import find_session
from sightline.shape.summary import one_line
from sightline.store import Reading, Store
from sightline.verbs.printable_text import printable

_COLUMNS = ("requests", "fresh", "cache read", "cache written", "output", "cost")
_PARTS = (
    "These are parts of the requests' costs: what a model wrote itself, or was told by its harness, is not in them."
)
_BY = "day (default), project, model, harness, session, command, output, lost-cache; in a fleet also host, team"
_OF_OUTPUTS = ("command", "output")
_OF_CACHES = "lost-cache"
_ASKED_CHARACTERS = 60
_NAME_CHARACTERS = 48
_NAMED_MODELS = 4
_NOT_SHIPPED = "no host has shipped requests to models\n  they do with `[fleet] messages = true`\n"
_NOTHING = "no requests to models are known yet\n  `sightline import` reads them from past sessions of agents\n"
_NOT_IN_SCOPE = "no requests to models are known of this scope\n  `sightline cost` shows all that are known\n"
_UNRECORDED = "Requests that a harness does not record are not in these sums."


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Show what requests of agents to models took, as transcripts of recorded and imported sessions state it: fresh "
        "input, input read from the cache and written to it, and output with reasoning; and what that costs at list "
        "price. A request that stands in several transcripts counts once. What is not stated is counted beside the "
        "sums, which are then at least what they say. By command or output it shows what outputs cost as a part of the "
        "requests that carried them: the dearest outputs, or the kinds of command that made them; by lost cache it "
        "lists the requests that wrote anew what had been cached, with the reason that is known.",
        "sightline cost",
        "sightline cost --by output --session claude-code-42",
        "sightline cost --by session --since 7d",
        "sightline cost --by model --csv > cost.csv",
        "sightline cost --by team --store postgresql://carl@db.example/fleet",
    )
    made.add_argument(
        "--by", choices=(*GROUPS, *_OF_OUTPUTS, _OF_CACHES, *HOST_GROUPS), default="day", metavar="WHAT", help=_BY
    )
    made.add_argument("--since", default="", metavar="TIME", help=f"look only at requests after this: {TAKES}")
    made.add_argument("--session", default="", metavar="SESSION", help="look only at this session (a prefix will do)")
    made.add_argument(
        "--limit",
        type=int,
        default=None,
        metavar="N",
        help=f"list at most N: the newest days, or the dearest (default {MOST_OUTPUTS} commands, outputs or lost "
        "caches, and all others)",
    )
    made.add_argument("--csv", action="store_true", help="print comma-separated values")
    add_project(made)
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    if given.csv and given.json:
        raise UsageError("--csv and --json cannot be combined", "give one of them")
    if given.limit is not None and given.limit < 1:
        raise UsageError(f"--limit cannot be {given.limit}", "give a number from 1 up")
    with Door(given) as door:
        data, text = _asked_for(door, given)
        if given.json:
            print_json(data)
        elif given.csv:
            write_out(_as_csv(data))
        else:
            write_out(text)
        return 0


def _asked_for(door: Door, given: Namespace) -> tuple[dict[str, Any], str]:
    """Return what is asked for, as data and as text."""
    store, since = door.store, span_of(given.since).start if given.since else 0.0
    if not isinstance(store, Store):
        if given.project or given.by not in (*GROUPS, *HOST_GROUPS) or given.by == "project":
            hint = "ask on the machine whose sessions it was"
            raise UsageError("of a fleet there are only sums of requests, and these not by project", hint)
        return _of_requests(store, given, since, None)
    if given.by in HOST_GROUPS:
        raise UsageError(f"--by {given.by} is for a fleet", "give --store with its address")
    take_in_usage(store)
    project = project_option(store, given.project)
    session = find_session(store, given.session).session.name if given.session else None
    most = given.limit or MOST_OUTPUTS
    if given.by in _OF_OUTPUTS:
        found = output_costs(store, session=session, since=since, project=project, most=most)
        found = found._replace(kinds=found.kinds[:most])
        data, text = outputs_data(found, given.by), _outputs_text(found, given.by)
    elif given.by == _OF_CACHES:
        prices, names = price_list(store), [session] if session else None
        names = sorted(started_in(store, project)) if project and not session else names
        lost = lost_caches(store, prices, names, since=since)
        data, text = caches_data(lost, prices, most), _caches_text(lost, prices, most)
    else:
        return _of_requests(store, given, since, project)
    is_known = data["rows"] or (given.by == _OF_CACHES and store.index.requests.sessions())
    return data, text if is_known else _nothing(store)


def _of_requests(store: Reading, given: Namespace, since: float, project: Project | None) -> tuple[dict[str, Any], str]:
    session = find_session(store, given.session).session.name if given.session else ""
    report = cost_report(store, given.by, since=since, project=project, sessions=[session] if session else None)
    if given.limit:
        report = report._replace(rows=report.rows[-given.limit :] if given.by == "day" else report.rows[: given.limit])
    return as_data(report), _as_text(report) if report.rows else _nothing(store)


def _nothing(store: Reading) -> str:
    """Say why there is nothing to show."""
    if store.requests.models():
        return _NOT_IN_SCOPE
    return _NOTHING if isinstance(store, Store) else _NOT_SHIPPED


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


def outputs_data(found: OutputCosts, by: str) -> dict[str, Any]:
    """Encode what outputs cost for ``cost --json``; counts are tokens, money is US dollars."""
    if by == "command":
        rows = [{by: one.kind, **_without(one._asdict(), "kind")} for one in found.kinds]
    else:
        rows = [{by: ref_of(row), "asked": asked, **_without(row._asdict(), by)} for row, asked in found.dearest]
    return {
        "by": by,
        "prices": {"kind": "list", "date": found.prices.date, "source": found.prices.source},
        "total": _without(found.total._asdict(), "kind"),
        "rows": rows,
    }


def caches_data(lost: Sequence[LostCache], prices: PriceList, most: int) -> dict[str, Any]:
    """Encode lost caches for ``cost --json``; times are seconds since the epoch, and a pause is in seconds."""
    reasons = Counter(one.reason for one in lost)
    total = {"requests": len(lost), "tokens": sum(one.tokens for one in lost), "dollars": _more(lost)}
    rows = [{_OF_CACHES: one.reason, **_without(one._asdict(), "reason")} for one in lost[:most]]
    listed = {"kind": "list", "date": prices.date, "source": prices.source}
    return {"by": _OF_CACHES, "prices": listed, "total": {**total, "reasons": reasons}, "rows": rows}


def _more(lost: Sequence[LostCache]) -> float | None:
    known = [one.dollars for one in lost if one.dollars is not None]
    return sum(known) if known else None


def _without(fields: dict[str, Any], left: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != left}


def _as_csv(data: Mapping[str, Any]) -> str:
    """Return the rows with a head; each names the day of its list prices, so that it can be read by itself."""
    text = io.StringIO()
    rows = [{**row, "list_prices_of": data["prices"]["date"]} for row in data["rows"]]
    head = list(dict.fromkeys(name for row in rows for name in row)) or [data["by"]]
    writer = csv.DictWriter(text, head, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        lists = {name: " ".join(value) for name, value in row.items() if isinstance(value, list)}
        writer.writerow({**row, **lists})
    return text.getvalue()


def _as_text(report: CostReport) -> str:
    total = report.total
    lines = [
        f"{at_list_price(dollars(total), report.prices)}, {_requests(total.requests)}",
        f"  tokens: {tokens(total.fresh)} fresh, {tokens(total.cache_read)} read from the cache, {_written(total)}"
        f" written to it{_for_an_hour(total)}, {tokens(total.output)} output{_reasoning(total)}",
        *(f"  {line}" for line in _remarks(total)),
        f"  {_UNRECORDED}",
        "",
    ]
    rows = [(report.by, *_COLUMNS), *((_short(row.label), *_cells(row.cost)) for row in report.rows)]
    return "\n".join([*lines, *_table(rows, [row.cost.dollars for row in report.rows]), ""])


def _table(rows: Sequence[Sequence[str]], costs: Sequence[float], last: Sequence[str] = ()) -> list[str]:
    """Return rows below a head in columns, each with a bar for its cost, and perhaps with words behind that."""
    widths, most = [max(map(len, column)) for column in zip(*rows, strict=True)], max(costs, default=0.0)
    lines = list[str]()
    for at, (name, *cells) in enumerate(rows):
        padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        drawn = bar(costs[at - 1], most) if at else ""
        words = f"{drawn:<{BAR_CELLS}}  {last[at - 1]}" if at and last else drawn
        lines.append("  ".join((name.ljust(widths[0]), *padded, words)).rstrip())
    return lines


def _outputs_text(found: OutputCosts, by: str) -> str:
    total = found.total
    lines = [
        f"{at_list_price(kind_dollars(total), found.prices)} for {total.outputs:,} outputs: "
        f"{tokens(total.tokens)} tokens, {tokens(total.carried)} with each request that carried them",
        f"  of {total.estimated:,} outputs the tokens are estimated (~) from their bytes" * bool(total.estimated),
        f"  {tokens(total.again)} tokens were shown although the context still held them" * bool(total.again),
        f"  {_PARTS}",
    ]
    lines = [*filter(None, lines), ""]
    rows: list[Sequence[str]]
    if by == "command":
        rows = [("command", "outputs", "tokens", "carried", "cost"), *map(_kind_cells, found.kinds)]
        return "\n".join([*lines, *_table(rows, [one.dollars for one in found.kinds]), ""])
    rows = [("output", "tokens", "requests", "cost"), *(_output_cells(row) for row, _ in found.dearest)]
    asked = [one_line(printable(asked), _ASKED_CHARACTERS) for _, asked in found.dearest]
    return "\n".join([*lines, *_table(rows, [row.dollars or 0.0 for row, _ in found.dearest], asked), ""])


def _caches_text(lost: Sequence[LostCache], prices: PriceList, most: int) -> str:
    if not lost:
        return "no request sent anew what had been cached, as far as requests are known\n"
    reasons, more = Counter(one.reason for one in lost), _more(lost)
    least = "at least " * any(one.dollars is None for one in lost)
    money = NO_PRICE if more is None else f"{least}${more:,.2f} more"
    lines = [
        f"{at_list_price(money, prices)}: {_requests(len(lost))} sent {tokens(sum(one.tokens for one in lost))}"
        " tokens anew that had been cached",
        f"  {', '.join(f'{count:,} {REASONS[reason]}' for reason, count in reasons.most_common())}",
        "",
    ]
    shown = lost[:most]
    rows = [("when", "tokens", "cost"), *map(_cache_cells, shown)]
    words = [f"{one.why}  {printable(one.session)}" for one in shown]
    return "\n".join([*lines, *_table(rows, [one.dollars or 0.0 for one in shown], words), ""])


def _cache_cells(one: LostCache) -> Sequence[str]:
    money = NO_PRICE if one.dollars is None else f"${one.dollars:,.2f}"
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(one.time)), tokens(one.tokens), money


def _kind_cells(one: KindSum) -> Sequence[str]:
    return (
        _short(one.kind),
        f"{one.outputs:,}",
        tokens(one.tokens),
        tokens(one.carried),
        kind_dollars(one, "≥ "),
    )


def _output_cells(row: PriceRow) -> Sequence[str]:
    size = f"{'~' * (row.measure == ESTIMATED)}{tokens(row.tokens)}"
    money = NO_PRICE if row.dollars is None else f"{'≥ ' * row.at_least}${row.dollars:,.2f}"
    return ref_of(row), size, f"{row.requests:,}", money


def ref_of(row: PriceRow) -> str:
    """Return the ref of an output; of a reply about none, the id of its view."""
    return row.output if ":" in row.output else format_ref(row.output)


def _cells(cost: Cost) -> tuple[str, ...]:
    inputs = (cost.fresh, cost.cache_read, cost.cache_write + cost.cache_write_1h)
    return (
        f"{cost.requests:,}",
        *(_cell(count, cost.unstated_input, cost.requests) for count in inputs),
        _cell(cost.output, cost.unstated_output, cost.requests, is_least=bool(cost.at_least)),
        dollars(cost, "≥ "),
    )


def _cell(count: int, unstated: int, requests: int, *, is_least: bool = False) -> str:
    """Return a number of tokens, with a sign where it is a lower bound; a dash where no request states it."""
    if unstated == requests and not count:
        return "–"
    return f"≥ {tokens(count)}" if unstated or is_least else tokens(count)


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
    if cost.unpriced > cost.sums:
        models = ", ".join(cost.no_price[:_NAMED_MODELS]) + (", …" if len(cost.no_price) > _NAMED_MODELS else "")
        remarks.append(printable(f"price not known: {_requests(cost.unpriced - cost.sums)} of {models}"))
    if cost.sums:
        remarks.append(f"stated as sums of requests, which have no list price: {cost.sums:,}")
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
