"""Says what a session, or a scope, cost, and from which other session it came: one model for every screen."""

from sightline.audit.cost import Cost, cost_report, dollars
from sightline.audit.lineage import Edge, edges_of, tree_rows
from sightline.audit.verdict import Scope
from sightline.light.named_tuple import NamedTuple
from sightline.log.sessions import session_title
from sightline.shape.summary import counted, one_line
from sightline.store import Reading, Store

_NAMED = 3
_TITLE_CHARACTERS = 60


class SessionCost(NamedTuple):
    """What a session cost, and its place in its tree.

    Attributes:
        edge: how it came from another session; None if it came from none.
        parent: what people call that one; empty if it is not in the store.
        own: what its own requests cost; None if none are known.
        tree: the same with those of all sessions that came from it; equal to `own` if none did, or none is known.
        below: the sessions that came from it directly, by what people call them.
        others: number of all sessions below these.
        prices: the day of the list prices; empty if no requests are known.
    """

    edge: Edge | None
    parent: str
    own: Cost | None
    tree: Cost | None
    below: tuple[str, ...]
    others: int
    prices: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of this, a sentence each: from where it came, what came from it, what it cost."""
        told = [self.edge.in_words(self.parent)] if self.edge else []
        if self.below:
            names = ", ".join(self.below[:_NAMED]) + (", …" if len(self.below) > _NAMED else "")
            more = f", and {self.others:,} more from these" if self.others else ""
            told.append(f"{counted(len(self.below), 'session')} came from it: {names}{more}")
        if self.own is not None or self.tree is not None:
            own = dollars(self.own) if self.own is not None else "no requests of its own are known"
            if self.tree is not None and self.tree != self.own:
                own += f"{' by itself' * (self.own is not None)}, {dollars(self.tree)} with those below it"
            told.append(f"cost at list price of {self.prices}: {own}")
        return tuple(told)

    @property
    def words(self) -> str:
        """The same in a few words: ``spawned · $5.00, $10.00 with 2 below``; empty if nothing of this is known."""
        count = len(self.below) + self.others
        tree = dollars(self.tree) if self.tree is not None and self.tree != self.own else ""
        sums = [dollars(self.own)] if self.own is not None else []
        sums += [f"{tree} with {count:,} below".strip()] if count else []
        return " · ".join(filter(None, (self.edge.kind if self.edge else "", ", ".join(sums))))


def session_cost(store: Reading, name: str) -> SessionCost:
    """Return what one session cost, and its place in its tree; of a fleet, only the latter."""
    edges = edges_of(store)
    names = dict.fromkeys((name, *edges, *(edge.parent for edge in edges.values() if edge.parent)))
    rows = list(tree_rows(list(names), edges))
    at = next(at for at, row in enumerate(rows) if row.name == name)
    end = next((after for after in range(at + 1, len(rows)) if rows[after].depth <= rows[at].depth), len(rows))
    below = rows[at + 1 : end]
    near = [row.name for row in below if row.depth == rows[at].depth + 1]
    edge = edges.get(name)
    known = {one.name: one for one in store.index.sessions()} if edge or near else {}
    called = {one: one_line(session_title(known[one]), _TITLE_CHARACTERS) for one in known}
    costs, prices = dict[str, Cost](), ""
    if isinstance(store, Store) and store.index.requests.sessions():
        report = cost_report(store, "session", sessions=[name, *(row.name for row in below)])
        costs, prices = {row.name: row.cost for row in report.rows}, report.prices.date
    return SessionCost(
        edge=edge,
        parent=called.get(edge.parent, "") if edge else "",
        own=costs.get(name),
        tree=sum(costs.values(), Cost()) if costs else None,
        below=tuple(called.get(one, one) for one in near),
        others=len(below) - len(near),
        prices=prices,
    )


def scope_cost(store: Reading, scope: Scope) -> tuple[str, ...]:
    """Say what a scope cost, a sentence each; nothing if no requests are known, and of a fleet."""
    if not isinstance(store, Store) or not store.index.requests.sessions():
        return ()
    if scope.session is not None and not scope.since:
        return session_cost(store, scope.session).sentences
    report = cost_report(
        store,
        "model",
        since=scope.since,
        project=scope.project,
        sessions=None if scope.session is None else [scope.session],
    )
    if not report.total.requests:
        return ()
    requests = counted(report.total.requests, "request")
    return (f"cost at list price of {report.prices.date}: {dollars(report.total)} for {requests}",)
