"""The bottom row: shows the keys that matter in the present place. A click on a key does what the key does."""

from collections.abc import Iterable, Sequence

from textual import events
from textual.binding import Binding

from sightline_tui.common.bar import Bar
from sightline_tui.common.keys import written
from sightline_tui.common.strips import StripPart, width_of

_FIRST = (
    "next_miss",
    "next_unseen",
    "choose",
    "filter",
    "search",
    "query",
    "brief",
    "claims",
    "timeline",
)  # what most people come here for
_AT_RIGHT = ("help", "quit", "back")  # actions whose keys are shown on the narrowest screen, too
_BACK = ("dismiss", "close", "leave")

_BLANKS = 2  # one blank at the left, one before the keys at the right


class KeyBar(Bar):
    """Shows active bindings only, so it never names a key that does nothing."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._left = list[Binding]()
        self._right = list[Binding]()

    def on_mount(self) -> None:
        """Update the bar when other bindings become active."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._tell())
        self._tell()

    def on_resize(self) -> None:
        """Draw the bar anew, since another width has room for other keys."""
        self._tell()

    def on_click(self, event: events.Click) -> None:
        """Do what the clicked key does."""
        if binding := self._binding_at(event.x):
            self.app.simulate_key(binding.key)

    def _tell(self) -> None:
        shown = shown_bindings(active.binding for active in self.screen.active_bindings.values() if active.enabled)
        self._right = [binding for binding in shown if binding.action in _AT_RIGHT]
        self._right.sort(key=lambda binding: _AT_RIGHT.index(binding.action))
        others = [binding for binding in shown if binding.action not in _AT_RIGHT]
        others.sort(key=_rank)
        width = self.size.width or self.app.size.width  # it is told before the first layout, too
        self._left = fitting(others, width - width_of(_parts(self._right)) - _BLANKS)
        self.say(([StripPart(" "), *_parts(self._left)], _parts(self._right)))

    def _binding_at(self, x: int) -> Binding | None:
        right = self.size.width - width_of(_parts(self._right))
        at, bindings = (right, self._right) if x >= right else (1, self._left)
        for binding in bindings:
            at += width_of(_parts([binding]))
            if x < at:
                return binding
        return None


def _rank(binding: Binding) -> int:
    name = binding.action.rpartition(".")[2]
    return _FIRST.index(name) if name in _FIRST else len(_FIRST)


def fitting(bindings: Sequence[Binding], room: int) -> list[Binding]:
    """Return the bindings that fit whole: the keys that lead back, and of the others the first."""
    room -= width_of(_parts(filter(_leads_back, bindings)))
    kept = list[Binding]()
    for binding in bindings:
        if not _leads_back(binding):
            cells = width_of(_parts([binding]))
            room = room - cells if cells <= room else -1
            if room < 0:
                continue
        kept.append(binding)
    return kept


def _leads_back(binding: Binding) -> bool:
    return binding.action.partition("(")[0] in _BACK


def _parts(bindings: Iterable[Binding]) -> list[StripPart]:
    parts = list[StripPart]()
    for binding in bindings:
        parts += [
            StripPart(f" {binding.key_display or written(binding.key)}", "key"),
            StripPart(f" {binding.description} ", "dim"),
        ]
    return parts


def shown_bindings(bindings: Iterable[Binding]) -> list[Binding]:
    """Return the bindings to show; of several keys for one action, the first."""
    shown = dict[str, Binding]()
    for binding in bindings:
        if binding.show:
            shown.setdefault(binding.description, binding)
    return list(shown.values())
