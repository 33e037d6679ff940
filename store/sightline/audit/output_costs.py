"""Adds up what outputs cost as a part of later requests: by output, and by the kind of command that made them.

These are parts of the costs of requests, see `audit.cost`; what a model wrote is in none of them. What is worked out of
a session is kept in the index until its log or a price changes.
"""

from collections.abc import Sequence
from hashlib import sha256

from sightline.audit.output_prices import price_list, session_prices
from sightline.audit.prices import PriceList
from sightline.audit.project_scope import started_in
from sightline.base.price_row import KindSum, PriceRow
from sightline.base.project import Project
from sightline.base.records import Buffer, View
from sightline.light.json_text import dumps, loads
from sightline.light.library import lru_cache
from sightline.light.named_tuple import NamedTuple
from sightline.log.call_names import call_name, name_of_view
from sightline.log.log_index import fill_index
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.pipelines import plain_words
from sightline.shell_words.programs import programs_of
from sightline.store import Store

MOST_OUTPUTS = 20
"""The dearest outputs that are listed unless more are asked for."""

_RULES = 1  # raise it when rows would be worked out otherwise
_KEPT_KINDS = 4096
_PARTED_WORDS = """apt aws brew bun bundle cargo dnf docker dotnet gcloud gh git go helm kubectl make npm npx pip pip3
pnpm podman poetry rails swift terraform uv yarn"""
_PARTED = frozenset(_PARTED_WORDS.split())
"""Programs whose next word is the kind of work."""

_MODULES = frozenset(("python", "python3", "py"))


class OutputCost(NamedTuple):
    """An output's cost, and what it was asked for, in a line; empty if that was removed."""

    row: PriceRow
    asked: str


class OutputCosts(NamedTuple):
    """What outputs cost.

    Attributes:
        dearest: the dearest outputs, in order.
        kinds: sums by kind of command, the dearest first.
        total: the sums of all.
        prices: the list that the money is by.
    """

    dearest: Sequence[OutputCost]
    kinds: Sequence[KindSum]
    total: KindSum
    prices: PriceList


def output_costs(
    store: Store,
    *,
    session: str | None = None,
    since: float = 0.0,
    project: Project | None = None,
    most: int = MOST_OUTPUTS,
) -> OutputCosts:
    """Return what the outputs of a scope cost.

    Args:
        store: the store.
        session: only the outputs that this session was shown.
        since: only outputs first shown since this time, in seconds since the epoch.
        project: only those that sessions begun in it were shown.
        most: number of the dearest outputs at most.
    """
    prices = price_list(store)
    names = [session] if session else None if project is None else sorted(started_in(store, project))
    keep_prices(store, names, prices)
    kinds = store.index.output_prices.by_kind(since=since, sessions=names)
    rows = store.index.output_prices.dearest(most, since=since, sessions=names)
    buffers = store.index.buffers([row.output for row in rows])
    dearest = [OutputCost(row, _asked(store, row, buffers.get(row.output))) for row in rows]
    sums = [sum(column) for column in zip(*(one[1:] for one in kinds), strict=True)] or [0] * (len(KindSum._fields) - 1)
    return OutputCosts(dearest, kinds, KindSum("", *sums), prices)


def _asked(store: Store, row: PriceRow, buffer: Buffer | None) -> str:
    if buffer is not None:
        return call_name(buffer)
    found = store.index.view(row.session, row.view)
    return name_of_view(found.view) if found else ""


def keep_prices(store: Store, sessions: Sequence[str] | None, prices: PriceList) -> None:
    """Work out what is not kept of some sessions, or of all, or was worked out from less."""
    fill_index(store)
    rows, sizes = store.index.output_prices, store.index.logs()
    known, priced = rows.made_from(), store.index.requests.sessions()
    ours = sha256(dumps([_RULES, prices.date, sorted(store.settings.prices)]).encode()).hexdigest()[:12]
    for name in priced if sessions is None else [one for one in sessions if one in priced]:
        made_from = f"{sizes.get(name, 0)} {ours}"
        if known.get(name) != made_from:
            rows.put(name, made_from, _rows_of(store, name, prices))


def _rows_of(store: Store, session: str, prices: PriceList) -> list[PriceRow]:
    found = session_prices(store, session, prices).outputs
    views = {one.view.number: one.view for one in store.index.views(session=session)} if found else {}
    return [
        PriceRow(
            session=one.session,
            output=one.output,
            view=one.view,
            time=views[one.view].time,
            kind=kind_of(views[one.view]),
            bytes=one.bytes,
            tokens=one.tokens,
            measure=one.measure,
            requests=one.requests,
            carried=one.carried,
            dollars=one.dollars,
            at_least=one.at_least,
            again=one.again,
        )
        for one in found
    ]


def kind_of(view: View) -> str:
    """Return the kind of what a view was asked for: a program, with its subcommand, or a tool, such as ``Read``."""
    request = loads(view.request)
    command, tool = request.get("command"), request.get("tool")
    if isinstance(command, str) and command.strip():
        return kind_of_command(command)
    return tool if isinstance(tool, str) and tool else view.verb


@lru_cache(maxsize=_KEPT_KINDS)
def kind_of_command(command: str) -> str:
    """Return the kind of a command line: the last program that writes its output, such as ``git log`` or ``pytest``."""
    try:
        programs = programs_of(command)
    except Unclear:
        programs = ()
    words = programs[-1].words if programs else plain_words(command) or tuple(command.split()[:1])
    name = words[0].rpartition("/")[2] if words else "command"
    if name in _MODULES and "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    if name in _PARTED and programs and (plain := programs[-1].plain):
        return f"{name} {plain[0]}"
    return name or "command"
