"""Adds up what requests to models took: tokens, and money at list price, by day, project, model, harness or session.

Sums are of what is stated. What a request does not state is counted beside them, and makes a sum *at least*.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sightline.audit.lineage import Edge, tree_rows
from sightline.audit.prices import PriceList
from sightline.audit.project_scope import started_in
from sightline.base.price_row import KindSum
from sightline.base.project import Project, known_project, main_worktree, named
from sightline.base.records import Session
from sightline.base.request_usage import SUM, RequestSum
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.log_index import fill_index
from sightline.store import Reading

GROUPS = ("day", "project", "model", "harness", "session")
"""What costs are added up by; those of a fleet also by its HOST_GROUPS, and not by project."""

HOST_GROUPS = ("host", "team")

NO_PRICE = "price not known"


class Cost(NamedTuple):
    """What some requests took. Counts are in tokens, and hold what is stated.

    Attributes:
        requests: number of requests.
        fresh: tokens of input that were neither read from a cache nor written to one.
        cache_read: tokens that were read from a cache.
        cache_write: tokens that were written to it for 5 minutes, or for a time that is not stated.
        cache_write_1h: tokens that were written to it for an hour.
        output: tokens of output, with those of reasoning.
        reasoning: those of reasoning, as far as they are stated.
        dollars: what that costs at list price, or at a person's own prices; 0 where no price is known.
        unpriced: requests without a known price.
        unstated_input: requests that do not state all of their input.
        unstated_output: requests that do not state their output.
        at_least: requests with a count that is a lower bound.
        computed: requests with a count that was computed from others.
        own_dollars: what the harnesses say that the requests cost.
        own_priced: requests for which they say so.
        sums: of the unpriced, those that are sums of requests, whose price depends on each.
        no_price: names of the models without a known price, those of sums left out.
    """

    requests: int = 0
    fresh: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    unstated_input: int = 0
    unstated_output: int = 0
    at_least: int = 0
    computed: int = 0
    own_dollars: float = 0.0
    own_priced: int = 0
    sums: int = 0
    no_price: tuple[str, ...] = ()

    def __add__(self, other: "Cost") -> "Cost":  # type: ignore[override]
        sums = [mine + more for mine, more in zip(self[:-1], other[:-1], strict=True)]
        return Cost._make((*sums, tuple(dict.fromkeys((*self.no_price, *other.no_price)))))

    @property
    def tokens_at_least(self) -> bool:
        """Whether the tokens are a lower bound."""
        return bool(self.unstated_input or self.unstated_output or self.at_least)

    @property
    def dollars_at_least(self) -> bool:
        """Whether the money is a lower bound."""
        return self.tokens_at_least or bool(self.unpriced)


class CostRow(NamedTuple):
    """The cost of a group.

    Attributes:
        name: the day, the root of the project, the model, the harness or the session; empty if it is not known.
        label: the same for people.
        cost: its cost.
    """

    name: str
    label: str
    cost: Cost


class CostReport(NamedTuple):
    """Costs by group.

    Attributes:
        by: one of GROUPS.
        rows: the groups: days in order, others the dearest first.
        total: the cost of all.
        prices: the list that the money is by.
    """

    by: str
    rows: Sequence[CostRow]
    total: Cost
    prices: PriceList


def cost_report(
    store: Reading,
    by: str,
    *,
    since: float = 0.0,
    project: Project | None = None,
    sessions: Sequence[str] | None = None,
) -> CostReport:
    """Return what the requests in a store took.

    Args:
        store: the store.
        by: one of GROUPS, or of HOST_GROUPS for a fleet.
        since: only requests since this time, in seconds since the epoch.
        project: only requests of sessions that were begun in it.
        sessions: only requests of these sessions.
    """
    fill_index(store)
    prices = PriceList(store.requests.models(), dict(store.settings.prices))
    group = by if by in ("day", *HOST_GROUPS) else "" if by == "model" else "session"
    names = sessions if sessions is not None or project is None else started_in(store, project)
    sums = store.requests.sums(group, since=since, sessions=names, times=prices.times, sizes=prices.sizes)
    known = {one.name: one for one in store.index.sessions()} if group == "session" else {}
    costs: dict[str, Cost] = {}
    for one in sums:
        name = one.model if by == "model" else _group_of(by, one.group, known.get(one.group))
        costs[name] = costs.get(name, Cost()) + cost_of(one, prices)
    labels = _labels(by, costs, known)
    rows = [CostRow(name, labels[name] or "unknown", cost) for name, cost in sorted(costs.items())]
    if by != "day":
        rows.sort(key=lambda row: (-row.cost.dollars, -row.cost.requests))
    total = Cost()
    for cost in costs.values():
        total += cost
    return CostReport(by, rows, total, prices)


def costs_by_session(store: Reading) -> dict[str, Cost]:
    """Return what the requests of each session cost, by its name; a session without any is left out."""
    return {row.name: row.cost for row in cost_report(store, "session").rows}


def cost_of(one: RequestSum, prices: PriceList) -> Cost:
    """Return the cost of requests that have one price."""
    dollars, is_sum = prices.dollars(one), one.tier == SUM
    return Cost(
        *one[5:12],
        dollars=dollars or 0.0,
        unpriced=one.requests if dollars is None else 0,
        unstated_input=one.unstated_input,
        unstated_output=one.unstated_output,
        at_least=one.at_least,
        computed=one.computed,
        own_dollars=one.own_price,
        own_priced=one.own_priced,
        sums=one.requests if is_sum else 0,
        no_price=(one.model or "unknown",) if dollars is None and not is_sum else (),
    )


def tree_costs(own: Mapping[str, Cost], edges: Mapping[str, Edge]) -> dict[str, Cost]:
    """Return for each session its own cost with those of all sessions that came from it, each counted once.

    Such sums of a session and of one below it hold the same requests, so only own costs add up.
    """
    names = dict.fromkeys((*own, *(edge.parent for edge in edges.values() if edge.parent), *edges))
    sums, path = dict(own), list[str]()
    for row in tree_rows(list(names), edges):
        del path[row.depth :]
        if row.name in own:
            for above in path:
                sums[above] = sums.get(above, Cost()) + own[row.name]
        path.append(row.name)
    return sums


def tokens(count: int) -> str:
    """Write a number of tokens, such as ``812``, ``41.2k``, ``3.1M`` or ``2.03G``."""
    for size, unit, digits in ((10**9, "G", 2), (10**6, "M", 1), (10**3, "k", 1)):
        if count >= size:
            return f"{count / size:.{digits}f}{unit}"
    return str(count)


BAR_CELLS = 20
"""The longest bar."""

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(value: float, most: float, cells: int = BAR_CELLS) -> str:
    """Draw a number as a bar of at most so many cells, in eighths of one; of what is above 0, at least one eighth.

    It stands here since libraries for terminals are too large for that: `rich` takes longer to load than a report to
    make, and those for plots replace the table.
    """
    eighths = max(1, round(8 * cells * value / most)) if value > 0 and most > 0 else 0
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def cost_data(cost: Cost) -> dict[str, Any]:
    """Encode a cost for ``--json``; counts are tokens, money is US dollars."""
    data = cost._asdict()
    is_priced = cost.unpriced < cost.requests
    own = {"own_dollars": round(cost.own_dollars, 6) if cost.own_priced else None}
    return {
        **data,
        "dollars": round(cost.dollars, 6) if is_priced else None,
        **own,
        "no_price": list(cost.no_price),
        "tokens_at_least": cost.tokens_at_least,
        "dollars_at_least": cost.dollars_at_least,
    }


def dollars(cost: Cost, least: str = "at least ") -> str:
    """Write what requests cost at list price, with words or a sign where that is a lower bound."""
    if cost.unpriced == cost.requests:
        return NO_PRICE
    return f"{least if cost.dollars_at_least else ''}${cost.dollars:,.2f}"


def kind_dollars(one: KindSum, least: str = "at least ") -> str:
    """Write what outputs cost at list price, with words or a sign where that is a lower bound."""
    if one.unpriced and one.unpriced == one.outputs:
        return NO_PRICE
    return f"{least if one.unpriced or one.at_least else ''}${one.dollars:,.2f}"


def at_list_price(money: str, prices: PriceList) -> str:
    """Return money in words with the day of the list prices."""
    return f"{money} {'in the list' if money == NO_PRICE else 'at list price'} of {prices.date}"


def _group_of(by: str, name: str, session: Session | None) -> str:
    """Return the name of the group to which a row of sums belongs, given its session if it is of one."""
    if by == "harness":
        return session.harness if session else ""
    if by == "project":
        return known_project(session.cwd) if session else ""
    return name


def _labels(by: str, names: Iterable[str], sessions: Mapping[str, Session]) -> dict[str, str]:
    """Return what groups are called: sessions by their titles, and projects by their names, unless two share one."""
    if by == "session":
        short = {name: (sessions[name].title if name in sessions else "") or name for name in names}
    elif by == "project":
        short = {root: named(root, main_worktree(root)) if root else "" for root in names}
    else:
        short = {name: name for name in names}
    shared = Counter(short.values())
    return {name: name if shared[label] > 1 else label for name, label in short.items()}
