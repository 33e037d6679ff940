"""Lists the actions of the shown screen with their keys, as a help page and as a palette."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen, Screen
from textual.strip import Strip
from textual.widgets import Input, Static

from sightline.light.named_tuple import NamedTuple
from sightline.search.matcher import Term, terms_of
from sightline_tui.buffers.buffer_row import marked_parts
from sightline_tui.common.choice import Choice, ChoiceRows
from sightline_tui.common.keys import written
from sightline_tui.common.strips import StripPart, row

ANYWHERE = "Anywhere"
_OURS = "sightline_tui."
_PANES = {
    "BufferList": "The list",
    "FoundLines": "Found lines",
    "Viewer": "The output",
    "TextRows": "The answer",
    "ResultPane": "The answer",
    "DiffView": "The comparison",
    "ComparisonView": "The comparison",
    "JsonView": "The tree",
    "CallRows": "The calls",
    "CoverageRows": "What had been seen",
    "PartRows": "The files",
    "SessionRows": "The sessions",
    "SessionFactRows": "The session",
    "MergedRows": "The merged lines",
    "NoteRows": "The notes",
    "BriefRows": "The brief",
    "ClaimRows": "The claims",
    "GroundRows": "What a claim rests on",
    "ReplyRows": "The replies",
    "FactRows": "The facts",
}
"""What a pane is called, by its class."""

_TASKS = (
    ("next_miss", "What did it miss? The next such failure"),
    ("next_unseen", "What did it not look at? The next such lines"),
    ("claims", "Is it so? What it claims, and what that rests on"),
    ("brief", "What happened? All of it on one screen"),
    ("timeline", "What is it doing? Call by call, live"),
    ("why", "Why was this run? What was said before it"),
    ("sessions", "Who is at work?"),
    ("diff", "What changed since the last run?"),
    ("merged", "What happened at the same time? Of marked outputs"),
    ("shown", "What was it told of this output?"),
    ("note", "Tell it something: a note on lines"),
    ("choose_project", "Where is another project?"),
)
"""What a person wants to know, by the action that answers."""

LEGEND = (
    ("○ tinted", "a line that no agent saw"),
    ("▎", "a line that an agent was shown"),
    ("┊", "one that was recognised in a reply"),
    ("╎", "one seen before that no agent has now"),
    ("▏", "one seen; if still held is unknown"),
    ("▘ ·", "shown in part; only counted, searched"),
    ("!", "a failure that no agent saw"),
    ("✓ ✗ ?", "ended well; did not; how is not known"),
    ("● ◌ ◔ ≠", "running; interrupted; partial; altered"),
    ("◆ ·", "pinned: no limit takes it; expired"),
    ("A B m", "marked: the older, newer; each of more"),
    ("↳ “ ”", "of what runs: printed last; agent's words"),
    ("└", "what went into a command's filters"),
    ("▸ ▾", "where the keys go, what is shown; a group"),
    ("▴ ▾", "the column that sorts the list"),
    ("×7 =2+1-1", "runs in a row; fails: same, new, gone"),
    ("▁", "above: today; below: earlier days"),
    ("▌ red", "a line of standard error"),
    ("✎", "a person's note on the line"),
    ("❯ “", "a prompt or task; what the agent said"),
    ("•", "strip: a failure that an agent saw"),
    ("█ ░ ▒ ▓ ┆", "strip: the share of lines that was seen"),
    ("› ⋯ ↵ ⏎", "the line goes on; is not read; its end"),
    ("↺", "lines shown again that an agent had"),
    ("█ ▓ ▚ ░", "replay: now; before; in part; never"),
    ("━ ─ ◂", "replay: steps so far; still to come"),
    ("▁…█ ≥", "how much came at a time; at least so much"),
    ("○ ◔ ●", "a note: kept; waiting; delivered"),
    ("◉", "the name of the screen"),
)
"""What the signs mean, by the signs; every sign on a screen stands here."""

_LEGEND = "Legend: what the signs mean"

_MOVES = frozenset(("move", "page", "scroll_by", "top", "bottom", "edge", "sideways", "line_start", "line_end"))


class Action(NamedTuple):
    """An action of the screen.

    Attributes:
        pane: the pane in which its keys act.
        what: what it does, in words.
        keys: its keys, as the screen shows them.
        node: the node that has the binding.
        call: its name and arguments, for Textual.
    """

    pane: str
    what: str
    keys: tuple[str, ...]
    node: DOMNode
    call: str


def actions_of(screen: Screen[object], keymap: dict[str, str]) -> list[Action]:
    """Return the actions on a screen, pane by pane; those that work everywhere come last.

    Args:
        screen: the screen that is shown.
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
    """Order actions for the palette: movements last, since nobody searches for them; those that work here first.

    Args:
        actions: the actions, from `actions_of`.
        here: the node with the focus.
    """

    firsts = ("next_miss", "brief", "timeline", "live")

    def rank(action: Action) -> tuple[bool, int, int]:
        name = action.call.partition("(")[0]
        moves = name in _MOVES
        first = firsts.index(name) if name in firsts else len(firsts)
        return moves, first, 0 if action.pane == ANYWHERE else 1 if action.node is here else 2

    return sorted(actions, key=rank)


def _bindings(node: DOMNode) -> Iterator[Binding]:
    """Yield the bindings of our classes that have a description and do something now."""
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


Section = tuple[str, list[tuple[str, str]]]


def section(name: str, bindings: Iterable[BindingType]) -> Section:
    """Make a section of the help from a class' own bindings."""
    described = [binding for binding in bindings if isinstance(binding, Binding) and binding.description]
    return name, [(" ".join(map(written, binding.key.split(","))), binding.description) for binding in described]


def sections_of(actions: Iterable[Action]) -> list[Section]:
    """Make a section for each pane."""
    sections = dict[str, list[tuple[str, str]]]()
    for action in actions:
        sections.setdefault(action.pane, []).append((" ".join(action.keys), action.what))
    return list(sections.items())


def help_of(actions: Sequence[Action], here: DOMNode | None) -> list[Section]:
    """Return the sections of the help: questions with their keys, the focused pane, other panes, the signs.

    Args:
        actions: the actions, from `actions_of`.
        here: the node with the focus.
    """
    taken = {key for action in actions if action.node is here for key in action.keys}  # they do something else there
    keys = dict[str, str]()
    for action in reversed(actions):
        free = (key for key in action.keys if action.node is here or key not in taken)
        keys[action.call.partition("(")[0]] = next(free, action.keys[0])
    tasks = [(keys[call], task) for call, task in _TASKS if call in keys]
    sections = sections_of(sorted(actions, key=lambda action: action.node is not here))
    signs = [(_LEGEND, list(LEGEND))] if tasks else []
    return [*([("What do you want to know?", tasks)] if tasks else []), *sections, *signs]


TWO_COLUMNS = 110
"""Cells of a screen on which the help has two columns."""


class Help(ModalScreen[None]):
    """A page of keys over the screen."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss", "Back", key_display="Esc"),
        Binding("down,j", "scroll(1)", "Down", show=False),
        Binding("up,k", "scroll(-1)", "Up", show=False),
        Binding("l", "legend", "Legend", show=False),
    ]

    def __init__(self, sections: list[Section]) -> None:
        super().__init__()
        self._sections = sections

    def compose(self) -> ComposeResult:
        """Lay the sections out one below the other, or on a wide screen in two columns of about the same height."""
        with VerticalScroll(id="help") as panel:
            panel.border_title = "Help"
            wide = self.app.size.width >= TWO_COLUMNS
            panel.set_class(wide, "-wide")
            with Horizontal(id="help-columns"):
                for column in _columns(self._sections, 2 if wide else 1):
                    with Vertical(classes="help-column"):
                        for name, rows in column:
                            if name == _LEGEND:
                                panel.border_subtitle = "l goes to the legend"
                            yield Static(
                                Content(name), classes="section", markup=False, id="legend" if name == _LEGEND else None
                            )
                            yield Static(_lines_of(rows), markup=False)

    def action_scroll(self, lines: int) -> None:
        """Scroll by a line."""
        self.query_one("#help").scroll_relative(y=lines, animate=False)

    def action_legend(self) -> None:
        """Scroll to what the signs mean."""
        for heading in self.query("#legend"):
            heading.scroll_visible(top=True, animate=False, immediate=True)


def _columns(sections: Sequence[Section], count: int) -> list[list[Section]]:
    """Share sections out to columns, in their order; the legend begins the second, where it is seen at once."""
    columns: list[list[Section]] = [[] for _ in range(count)]
    if count > 1:
        columns[1] += [one for one in sections if one[0] == _LEGEND]
        sections = [one for one in sections if one[0] != _LEGEND]
    rows = sum(len(rows) + 2 for _, rows in sections)
    at = 0
    for one in sections:
        columns[min(at * count // max(rows, 1), count - 1)].append(one)
        at += len(one[1]) + 2
    return columns


def _lines_of(rows: Sequence[tuple[str, str]]) -> Content:
    width = max(len(keys) for keys, _ in rows)
    lines = [Content.assemble((f"{keys:>{width}}", "bold $primary"), "  ", what) for keys, what in rows]
    return Content("\n").join(lines)


class PaletteRows(ChoiceRows[Action]):
    """A list of actions, with the panes in which their keys act."""

    PARTS = (*ChoiceRows.PARTS, "match")

    def __init__(self) -> None:
        super().__init__()
        self.terms = list[Term]()

    def draw(self, at: int, width: int) -> Strip:
        """Draw an action, its pane and its keys."""
        action = self.offered[at]
        named = marked_parts(
            [StripPart(action.what), StripPart(f"  {action.pane.lower()}", "dim")], self.terms, is_command=True
        )
        keys = [StripPart(f"{' '.join(action.keys)} ", "key")]
        return row([StripPart(" "), *named], keys, width, self.own_style, self.part_styles)


class Palette(Choice[Action, Action]):
    """The palette: finds an action by its name."""

    TITLE_TEXT, HINT = "Do", "what to do"

    def __init__(self, actions: list[Action]) -> None:
        """Make the palette.

        Args:
            actions: the actions that it offers.
        """
        self._found = PaletteRows()
        super().__init__(self._found)
        self._actions = actions

    def offer(self, text: str) -> None:
        """Offer the actions that a text finds."""
        self._found.terms = terms_of(text)
        self._found.offer(matching(self._actions, self._found.terms))

    def answer(self, chosen: Action) -> Action:
        """Answer with the chosen action."""
        return chosen


def matching(actions: list[Action], terms: list[Term]) -> list[Action]:
    """Return the actions that match terms by their words or pane, the best first."""
    scored = list[tuple[int, int]]()
    for at, action in enumerate(actions):
        scores = [term.score(f"{action.what} {action.pane}".lower()) for term in terms]
        if min(scores, default=0) >= 0:
            scored.append((sum(scores), at))
    return [actions[at] for _, at in sorted(scored)]
