"""``sightline sessions``: lists who asked, what each captured and who read whose outputs; renames and removes them."""

import time

from sightline.audit.cost import Cost, cost_data, costs_by_session, dollars, tree_costs
from sightline.audit.lineage import Edge, TreeRow, edges_of, tree_rows
from sightline.audit.project_scope import sessions_in
from sightline.audit.session_cost import session_cost
from sightline.base.errors import UsageError
from sightline.base.refs import format_ref
from sightline.doors.cli.scope import add_project, project_option
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser
from sightline.doors.terminal.output import Door, print_json, write_out
from sightline.light.typing_names import Any, Mapping
from sightline.log.call_names import call_name
from sightline.log.retention import remove_session
from sightline.log.session_list import SessionFacts, belongings_of, find_session, list_sessions, rename_session
from sightline.shape.summary import human_bytes, one_line
from sightline.verbs.list_outputs import named_in
from sightline.verbs.printable_text import printable
from sightline.verbs.reply import state_in_words

_NOBODY = "nobody has asked anything yet\n"
_MANY = 50
_COMMAND_CHARACTERS = 90
_TITLE_CHARACTERS = 60


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    if name == "sessions rm":
        made = command_parser(
            name,
            "Remove the outputs that a session captured, and blank the texts that it was shown. The log keeps the "
            "hashes of the texts, so that it can still be verified.",
            "sightline sessions rm claude-code-42",
        )
        made.add_argument("session", metavar="SESSION", help="the session, by its name or the beginning of it")
        return made
    if name == "sessions rename":
        made = command_parser(
            name,
            "Give a session another name. The ids of its replies keep the old name, and from now on both names mean "
            "the session.",
            "sightline sessions rename shell-4711-a1b2c3 'release 2.1'",
        )
        made.add_argument("session", metavar="SESSION", help="the session, by its name or the beginning of it")
        made.add_argument("title", metavar="NAME", help="the new name")
        return made
    made = command_parser(
        name,
        "List the sessions of agents and people, the one that asked last first: its harness, its client, how many "
        "calls it made, how much it captured, and whose outputs it read. With a SESSION, show that one alone, with "
        "the outputs that it captured and those that it read. `sightline sessions rename SESSION NAME` names one; "
        "`sightline sessions rm SESSION` removes what it captured. With --tree, sessions stand below those from which "
        "they came: forks, resumed ones, helpers, reviews, members of teams, with the evidence for that, and what each "
        "cost by itself and with those below it.",
        "sightline sessions",
        "sightline sessions --tree",
        "sightline sessions claude-code-42",
    )
    made.add_argument("session", nargs="?", metavar="SESSION", help="show only this session, and list its outputs")
    made.add_argument("--tree", action="store_true", help="order sessions by which came from which, with costs")
    made.add_argument("--all", action="store_true", help="also list sessions that were removed")
    add_project(made)
    made.add_argument("--limit", type=int, default=_MANY, metavar="N", help=f"list at most N (default {_MANY})")
    add_store(made)
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    if given.limit < 1:
        raise UsageError(f"--limit cannot be {given.limit}", "give a number from 1 up")
    with Door(given) as door:
        door.store.bring_up_to_date()
        if given.session and given.tree:
            raise UsageError("--tree cannot be combined with a SESSION", "`sightline sessions --tree` shows all trees")
        if given.session:
            return _one(door, given)
        project = project_option(door.store, given.project)
        own = costs_by_session(door.store) if given.tree and not given.offline else {}
        known = [one for one in list_sessions(door.store, own) if given.all or not one.is_removed]
        found = sessions_in(door.store, known, project)[: given.limit]
        edges = edges_of(door.store)
        if given.tree:
            return _tree(given, found, edges, own)
        if given.json:
            print_json([as_data(one, edges) for one in found])
            return 0
        write_out("".join(_rows(one) for one in found) or _NOBODY)
        return 0


def _tree(given: Namespace, found: list[SessionFacts], edges: Mapping[str, Edge], own: Mapping[str, Cost]) -> int:
    """Print sessions below those from which they came, with what each cost."""
    facts = {one.session.name: one for one in found}
    sums = tree_costs(own, edges)
    rows = list(tree_rows(list(facts), edges))
    if given.json:
        print_json(
            [
                {
                    **as_data(facts[row.name], edges),
                    "depth": row.depth,
                    "cost": cost_data(own.get(row.name, Cost())),
                    "cost_with_descendants": cost_data(sums.get(row.name, Cost())),
                }
                for row in rows
            ]
        )
        return 0
    write_out("".join(_tree_row(facts, row, edges, own, sums) for row in rows) or _NOBODY)
    return 0


def _tree_row(
    facts: Mapping[str, SessionFacts],
    row: TreeRow,
    edges: Mapping[str, Edge],
    own: Mapping[str, Cost],
    sums: Mapping[str, Cost],
) -> str:
    one, edge = facts[row.name], edges.get(row.name)
    calls = f"{one.counts.calls:,} call{'' if one.counts.calls == 1 else 's'}"
    costs = [dollars(own[row.name]) + " by itself" * _is_priced(own[row.name])] if row.name in own else []
    if row.name in sums and sums[row.name] != own.get(row.name):
        costs.append(f"{dollars(sums[row.name])} with those below")
    parent = one_line(facts[edge.parent].name, _TITLE_CHARACTERS) if edge and edge.parent in facts else ""
    if edge and parent and parent != edge.parent:
        parent = f'"{parent}"'  # a title is a sentence, often
    title = one_line(one.name, _TITLE_CHARACTERS)
    words = [
        title if one.name == row.name else f"{title} ({row.name})",
        edge.in_words(parent) if edge else "",
        calls,
        ", ".join(costs),
    ]
    return f"{'  ' * row.depth}{printable('  '.join(filter(None, words)))}\n"


def _is_priced(cost: Cost) -> bool:
    return cost.unpriced < cost.requests


def _named(facts: SessionFacts) -> str:
    return f"{facts.name} ({facts.session.name})" if facts.name != facts.session.name else facts.name


def _one(door: Door, given: Namespace) -> int:
    facts = find_session(door.store, given.session)
    belongings, edges = belongings_of(door.store, facts.session.name), edges_of(door.store)
    if given.json:
        captured = [
            {
                "ref": one.buffer.ref,
                "state": one.buffer.shown_state,
                "command": one.buffer.command,
                "title": call_name(one.buffer),
                "partial": one.buffer.lost or None,
                "altered": one.buffer.altered or None,
                "read_by": one.readers,
            }
            for one in belongings.captured
        ]
        others = [{"ref": format_ref(name), "session": captor} for captor, name in belongings.read]
        print_json({**as_data(facts, edges), "captured": captured, "read_of_others": others})
        return 0
    rows = _rows(facts)
    rows += "".join(f"  {printable(one)}\n" for one in session_cost(door.store, facts.session.name).sentences)
    for one in belongings.captured:
        command = named_in(one.buffer, _COMMAND_CHARACTERS)
        readers = f"  read by {', '.join(one.readers)}" if one.readers else ""
        rows += f"  {one.buffer.ref}  {state_in_words(one.buffer)}  {printable(command + readers)}\n"
    rows += "".join(f"  read {format_ref(name)} of {printable(captor)}\n" for captor, name in belongings.read)
    write_out(rows)
    return 0


def as_data(facts: SessionFacts, edges: Mapping[str, Edge]) -> dict[str, Any]:
    """Encode a session for ``sessions --json``; times are seconds since the epoch."""
    session, counts = facts.session, facts.counts
    return {
        "name": session.name,
        "title": session.title or None,
        "harness": session.harness,
        "harness_id": session.harness_id,
        "client": session.client,
        "cwd": session.cwd,
        "started": session.started,
        "last_call": counts.last,
        "calls": counts.calls,
        "buffers": counts.buffers,
        "bytes": counts.bytes,
        "partial": counts.partial,
        "read": dict(facts.read),
        "read_by": dict(facts.read_by),
        "removed": session.removed or None,
        "origin": edges[session.name]._asdict() if session.name in edges else None,
    }


def _rows(facts: SessionFacts) -> str:
    session, counts = facts.session, facts.counts
    name = _named(facts)
    who = " ".join(filter(None, (session.harness or "unknown", session.client)))
    first = f"{name}  {who}{'  removed' if facts.is_removed else ''}"
    begun, last = (time.strftime("%m-%d %H:%M", time.localtime(when)) for when in (session.started, counts.last))
    captured = f"{counts.buffers:,} buffer{'' if counts.buffers == 1 else 's'}, {human_bytes(counts.bytes)}"
    captured += f", {counts.partial:,} partial" if counts.partial else ""
    calls = f"{counts.calls:,} call{'' if counts.calls == 1 else 's'}"
    rows = [first, f"  {begun} – {last}  {calls}  captured {captured}  {session.cwd}"]
    rows += [f"  read {number:,} of {captor}" for captor, number in facts.read]
    rows += [f"  read by {reader}: {number:,}" for reader, number in facts.read_by]
    return "".join(f"{printable(row)}\n" for row in rows)


def rm(given: Namespace) -> int:
    """Remove a session's captures, blank the texts it was shown, and return the exit code."""
    with Door() as door:
        session = find_session(door.store, given.session).session
        removed = remove_session(door.local, session)
        if given.json:
            print_json({"removed": session.name, **removed._asdict()})
        else:
            write_out(
                f"{session.name}: {removed.buffers:,} buffers removed ({human_bytes(removed.bytes)}), "
                f"the texts of {removed.views_blanked:,} views blanked\n"
            )
        return 0


def rename(given: Namespace) -> int:
    """Call a session by another name, and return the exit code."""
    with Door() as door:
        session = rename_session(door.local, find_session(door.store, given.session).session, given.title)
        if given.json:
            print_json({"name": session.name, "title": session.title})
        else:
            write_out(f"{session.name} is called {session.title}\n")
        return 0
