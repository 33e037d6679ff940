"""All that can be done on a screen, with the keys that do it: what the help lists and the palette offers."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Input

from sightline.tui.common.keys import written

ANYWHERE = "Anywhere"
_OURS = "sightline."
_PANES = {
    "BufferList": "Buffers",
    "FoundLines": "Found lines",
    "TextRows": "Answer",
    "ResultPane": "Answer",
    "DiffView": "Comparison",
}

_MOVES = frozenset(("move", "page", "scroll_by", "top", "bottom", "edge", "sideways", "line_start", "line_end"))


class Action(NamedTuple):
    """Something that can be done.

    Attributes:
        pane: where its keys act.
        what: it does.
        keys: as they are written on the screen.
        node: whose it is.
        call: its name and arguments, as Textual runs it.
    """

    pane: str
    what: str
    keys: tuple[str, ...]
    node: DOMNode
    call: str


def actions_of(screen: Screen[object], keymap: dict[str, str]) -> list[Action]:
    """What can be done on a screen, pane by pane; what can be done anywhere comes last.

    Args:
        screen: the one that is shown.
        keymap: a person's own keys, by binding id.
    """
    panes = [widget for widget in screen.query("*") if not isinstance(widget, Input)]
    found = dict[tuple[str, str], Action]()
    for node in (*panes, screen, screen.app):
        pane = ANYWHERE if node in (screen, screen.app) else _pane(node)
        for binding in _bindings(node):
            keys = keymap.get(binding.id or "", binding.key).split(",")
            action = Action(pane, binding.description, tuple(map(written, keys)), node, binding.action)
            found.setdefault((pane, binding.description), action)
    return list(found.values())


def as_looked_for(actions: Iterable[Action], here: DOMNode | None) -> list[Action]:
    """Deeds before movements, which nobody looks for by name; and what acts anywhere, or where one is, first.

    Args:
        actions: as `actions_of` gives them.
        here: what has the focus.
    """

    def rank(action: Action) -> tuple[bool, int]:
        moves = action.call.partition("(")[0] in _MOVES
        return moves, 0 if action.pane == ANYWHERE else 1 if action.node is here else 2

    return sorted(actions, key=rank)


def _bindings(node: DOMNode) -> Iterator[Binding]:
    """Those that have a description, of classes of ours, and do something now."""
    for cls in type(node).__mro__:
        if cls.__module__.startswith(_OURS):
            for binding in cls.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding) and binding.description and _acts(node, binding):
                    yield binding


def _acts(node: DOMNode, binding: Binding) -> bool:
    return node.check_action(binding.action.partition("(")[0], ()) is not False


def _pane(node: DOMNode) -> str:
    name = type(node).__name__
    return _PANES.get(name) or " ".join(re.findall(r"[A-Z][a-z]*", name)).capitalize()
