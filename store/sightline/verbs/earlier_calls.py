"""Tells a session what it has asked before, and what it knows of an output, for an agent with a compacted context."""

import re
from collections.abc import Sequence

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import failures_if_quick
from sightline.base.errors import SightlineError
from sightline.base.records import Buffer, IndexedView
from sightline.base.refs import format_ref
from sightline.light.json_text import loads
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.shape.summary import human_seconds
from sightline.verbs.asker import Asker
from sightline.verbs.printable_text import printable

_ASKED_CHARACTERS = 100
_TOLD_CHARACTERS = 160
_SUMMARY = r'[ {,]"?summary"?[=:]("(?:[^"\\]|\\.)*")'
_WHAT = ("command", "argv", "pipeline", "ref", "path", "match")
"""The argument of a verb that says what was asked."""


def past_calls(asking: Asker, limit: int, now: float) -> list[str]:
    """Return a line for each of the newest calls of a session: when it came, its question, its output, its answer."""
    views = list_views(asking.local, session=asking.session.name, limit=limit)
    return [_row(asking, indexed, now) for indexed in views]


def _row(asking: Asker, indexed: IndexedView, now: float) -> str:
    view = indexed.view
    request = loads(view.request) if view.request else {}
    others = [
        f"{name}={value}" for name, value in request.items() if name not in (*_WHAT, "caller") and value is not None
    ]
    what = next((request[name] for name in _WHAT if request.get(name)), "")
    asked = " ".join([" ".join(what) if isinstance(what, list) else str(what), *others])
    refs = " ".join(map(format_ref, view.refs[:2]))
    age = human_seconds(max(now - view.time, 0))
    told = _told(asking, indexed)
    return (
        f"{age} ago  {view.verb}  {_short(asked, _ASKED_CHARACTERS)}  → {' '.join(filter(None, (refs, told)))}".rstrip()
    )


def _told(asking: Asker, indexed: IndexedView) -> str:
    """Return the summary that the reply had, else how the command ended."""
    view = indexed.view
    try:
        head = view_text(asking.local, indexed).partition("\n")[0]
    except SightlineError:
        head = ""
    if found := re.search(_SUMMARY, head):
        return _short(str(loads(found[1])), _TOLD_CHARACTERS)
    if view.failed:
        return "an error"
    return "" if view.exit_code is None else "ok" if view.exit_code == 0 else f"exit {view.exit_code}"


def _short(text: str, most: int) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


def known_of(asking: Asker, buffers: Sequence[Buffer]) -> list[str]:
    """Return what an agent should know of each output: its failures, and how much of it the session has not seen."""
    return [", ".join(filter(None, (_failures(asking, buffer), _unseen(asking, buffer)))) for buffer in buffers]


def _failures(asking: Asker, buffer: Buffer) -> str:
    try:
        found = failures_if_quick(asking.local, buffer)
    except SightlineError:
        return ""
    if found is None:
        return "not examined"
    return f"{len(found):,} failure{'' if len(found) == 1 else 's'}" if found else ""


def _unseen(asking: Asker, buffer: Buffer) -> str:
    try:
        coverage = coverage_of(asking.local, buffer, session=asking.session.name)
    except SightlineError:
        return ""
    unseen = round(coverage.total - coverage.weight)
    if not coverage.total:
        return ""
    if unseen <= 0:
        return "all seen, or nearly" if coverage.at_most else "all seen"
    least = "at least " if coverage.at_most else ""
    return "unseen" if unseen == coverage.total else f"{least}{unseen:,} unseen"
