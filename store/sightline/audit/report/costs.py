"""Gathers what a report says of costs: sums, days, and the dearest outputs."""

from sightline.audit.cost import cost_report
from sightline.audit.output_costs import output_costs
from sightline.audit.output_prices import ESTIMATED
from sightline.audit.session_cost import scope_cost
from sightline.audit.verdict import Scope
from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple
from sightline.store import Reading, Store

MOST_DAYS = 62
"""Days that are drawn, the last."""

_MOST_OUTPUTS = 15


class DayCost(NamedTuple):
    """A day, its cost in dollars, and whether that is a lower bound."""

    day: str
    dollars: float
    at_least: bool


class DearOutput(NamedTuple):
    """One of the dearest outputs; see `base.price_row.PriceRow`. Its tokens may be estimated."""

    ref: str
    asked: str
    tokens: int
    estimated: bool
    requests: int
    dollars: float
    at_least: bool


class ReportedCost(NamedTuple):
    """What a report says of costs.

    Attributes:
        sentences: the sums, and from which session one came; none if no requests are known.
        days: the days in order, if there are several.
        dearest: the dearest outputs, as far as a price is known.
    """

    sentences: tuple[str, ...] = ()
    days: tuple[DayCost, ...] = ()
    dearest: tuple[DearOutput, ...] = ()


def reported_cost(store: Reading, scope: Scope) -> ReportedCost:
    """Return what a report on a scope says of costs; nothing of a fleet."""
    sentences = scope_cost(store, scope)
    if not sentences or not isinstance(store, Store):
        return ReportedCost(sentences)
    names = None if scope.session is None else [scope.session]
    rows = cost_report(store, "day", since=scope.since, project=scope.project, sessions=names).rows
    found = output_costs(store, session=scope.session, since=scope.since, project=scope.project, most=_MOST_OUTPUTS)
    return ReportedCost(
        sentences,
        tuple(DayCost(row.name, row.cost.dollars, row.cost.dollars_at_least) for row in rows[-MOST_DAYS:])
        if len(rows) > 1
        else (),
        tuple(
            DearOutput(
                row.output if ":" in row.output else format_ref(row.output),
                asked,
                row.tokens,
                row.measure == ESTIMATED,
                row.requests,
                row.dollars,
                row.at_least,
            )
            for row, asked in found.dearest
            if row.dollars
        ),
    )
