"""The part of searching that all panes share: searching while typing, going from hit to hit, and marking visible hits.

A *number* is a place in what the pane shows, in the order of going from hit to hit; 0 is none.
"""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import ClassVar, Generic, Protocol, TypeVar

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from sightline.search.engine import SearchPattern, pattern_of
from sightline.search.errors import Cancelled
from sightline.search.hits import places_in
from sightline_tui.common.line_painter import restyled
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead, is_whole
from sightline_tui.common.stream_search import HitStep
from sightline_tui.common.strips import cut
from sightline_tui.common.visible_text import title


class Engine(Protocol):
    """One search for one pattern; see `sightline_tui.common.stream_search.Search`."""

    @property
    def pattern(self) -> SearchPattern:
        """The pattern that is searched."""

    @property
    def complete(self) -> bool:
        """Whether everything has been searched."""

    @property
    def total(self) -> int:
        """Number of hits found so far."""

    def cancel(self) -> None:
        """End the search."""

    def run(self, tell: Callable[[], None]) -> None:
        """Search everything, in a thread of its own."""

    def run_on(self, tell: Callable[[], None]) -> None:
        """Search what has been written since."""

    def step(self, number: int, *, back: bool = False, here: bool = False) -> HitStep | None:
        """Return the next hit from a number on; None if that is not known yet."""


TYPING_SECONDS = 0.02  # letters that are pasted or typed ahead start no search each
TELL_SECONDS = 0.05  # time between two updates of a growing count
_SHOWN_COLUMNS = 24  # shown of a pattern
_KEPT_MARKS = 5_000  # rows whose hits are kept
CASES = ("", "match case", "ignore case")
"""How letters match: smart (small ones match both cases), exactly, or both cases."""

Marks = tuple[tuple[int, int], ...]


E = TypeVar("E", bound=Engine)


class PaneSearch(ABC, Generic[E]):
    """The search of a pane.

    Attributes:
        ranks: whether it tells the rank of the present hit.
    """

    ranks: ClassVar = True

    def __init__(self, pane: Widget) -> None:
        self._pane = pane
        self._text = self._last_text = ""
        self._case = CASES[0]
        self._search: E | None = None
        self._serial = 0  # of the present search; news of older ones is dropped
        self._wanted: tuple[bool, bool, int] | None = None  # back, here, number: the step that waits for a hit
        self._step: HitStep | None = None
        self._origin: tuple[object, int] | None = None  # the place before typing, and its number
        self._literal: re.Pattern[str] | None = None
        self._marks: dict[Hashable, Marks] = {}
        self._queued: list[bool] = []  # steps asked for while one is running
        self._steps: StoreRead[HitStep | None] = StoreRead(pane, self._plan_step, self._stepped, self._broken)
        self._marking: StoreRead[dict[Hashable, Marks]] = StoreRead(pane, self._plan_marks, self._marked)

    # what a pane is asked for

    @abstractmethod
    def _place(self) -> object:
        """The present place, for `_back_to`."""

    @abstractmethod
    def _back_to(self, place: object) -> None:
        """Go back to the place before the search."""

    @abstractmethod
    def _here(self, *, back: bool = False) -> tuple[int, bool]:
        """The number from which to search, and whether a person went there, or the screen just begins there."""

    def _begins_at(self) -> int:
        """The number from which typed text is searched, itself included."""
        return self._here()[0]

    @abstractmethod
    def _engine(self) -> Callable[[SearchPattern, int], E] | None:
        """Return a function that makes a search from a number, in a thread; None if there is nothing to search."""

    @abstractmethod
    def _go_to(self, number: int) -> None:
        """Show a hit."""

    @abstractmethod
    def _on_screen(self) -> Mapping[Hashable, str]:
        """The visible texts, by key."""

    @abstractmethod
    def _style(self, part: str) -> Style:
        """The style of hits: ``match``, or ``here`` for the present one."""

    @abstractmethod
    def _tell(self) -> None:
        """Tell the state of the search."""

    @abstractmethod
    def _redraw(self) -> None:
        """Redraw the pane, and tell the state of the search."""

    # the prompt

    def opened(self) -> None:
        """Remember the place when typing begins."""
        self._origin = self._place(), self._begins_at()

    def typed(self, text: str) -> None:
        """Search for the text so far, and show its first hit from the place before typing."""
        if self._origin is None:
            return
        self._forget()
        self._text = text
        if text:
            self._pane.set_timer(TYPING_SECONDS, partial(self._look_as_typed, self._serial))
        else:
            self._back_to(self._origin[0])

    def _look_as_typed(self, serial: int) -> None:
        """Search for the typed text, unless more was typed since, or this is searched already."""
        if serial == self._serial and self._origin is not None:
            self._begin(self._origin[1], here=True)

    def answered(self, text: str) -> None:
        """Search for the typed text; an empty one repeats the last search."""
        origin, self._origin = self._origin, None
        if text != self._text or self._search is None:
            self._text = text or self._last_text
            self._last_text = self._text
            if self._text:
                self._begin(origin[1] if origin else self._begins_at(), here=bool(text))
        self._last_text = self._text
        self._say_if_nothing()

    def left(self) -> None:
        """Cancel the search and go back to the place before it."""
        origin, self._origin = self._origin, None
        self.clear()
        if origin is not None:
            self._back_to(origin[0])

    def take_up(self, text: str) -> None:
        """Search for a text that was found elsewhere: mark its hits, and step on from the present place."""
        if text and text != self._text:
            self._text = self._last_text = text
            self._begin(self._begins_at(), jump=False)

    def switch_case(self) -> None:
        """Switch how capital and small letters match."""
        self._case = CASES[(CASES.index(self._case) + 1) % len(CASES)]
        if self._origin is not None:
            self.typed(self._text)
        self._redraw()

    # searching

    @property
    def is_on(self) -> bool:
        """Whether a search is on."""
        return bool(self._text)

    def clear(self) -> bool:
        """End the search; return whether there was one."""
        was = bool(self._text)
        self._forget()
        self._text = ""
        return was

    def _forget(self) -> None:
        self._serial += 1
        if self._search is not None:
            self._search.cancel()
        self._search = self._step = self._wanted = self._literal = None
        self._marks, self._queued = {}, []

    def shown_otherwise(self, *, same: bool) -> None:
        """Forget what was known of the lines, because others are shown, or the same in another look."""
        self._marks = {}
        if not same and self._text:
            self._forget()
            self._begin(self._begins_at(), jump=False)

    def went_on(self) -> None:
        """Search the new lines of the output."""
        self._marks = {}
        search = self._search
        if search is not None and search.complete:
            self._in_thread(lambda: search.run_on(self._telling(search)))

    def _begin(self, number: int, *, here: bool = False, jump: bool = True) -> None:
        """Search from a number on."""
        make = self._engine()
        self._forget()
        if make is None:
            return
        self._wanted = (False, here, number) if jump else None
        serial, text, ignore_case = self._serial, self._text, self._ignores_case()

        def look() -> None:
            search = make(pattern_of(text, ignore_case=ignore_case), number)
            self._pane.call_later(self._begun, serial, search)
            search.run(self._telling(search))

        self._in_thread(look)

    def _in_thread(self, work: Callable[[], None]) -> None:
        pane = self._pane

        def guarded() -> None:
            try:
                work()
            except Cancelled:
                pass  # another search has replaced it
            except STORE_ERRORS as error:
                tell(pane.app, error)
                pane.call_later(self._broken)

        pane.run_worker(guarded, thread=True, group="search")

    def _broken(self) -> None:
        """Stop waiting for an answer; the person has been told why there is none."""
        self._wanted, self._queued = None, []

    def _ignores_case(self) -> bool:
        return self._text == self._text.lower() if self._case == CASES[0] else self._case == CASES[2]

    def _telling(self, search: E) -> Callable[[], None]:
        """Return what a search calls when it knows more; it updates no faster than a person can read."""
        told = 0.0

        def more() -> None:
            nonlocal told
            now = time.monotonic()
            if search.complete or self._wanted is not None or now - told >= TELL_SECONDS:
                told = now
                self._pane.call_later(self._more, search)

        return more

    def _begun(self, serial: int, search: E) -> None:
        """Take a search that has started, or end it if it is no longer wanted."""
        if serial != self._serial or not is_whole(self._pane):
            search.cancel()
            return
        self._search = search
        flags = re.IGNORECASE if search.pattern.ignore_case else 0
        self._literal = re.compile(re.escape(search.pattern.text), flags) if search.pattern.literal else None
        self._redraw()

    def _more(self, search: E) -> None:
        if search is not self._search:
            return
        if self._wanted is not None:
            self._steps.ask()
        elif self.ranks and search.complete and self._step is not None and self._step.number and not self._step.rank:
            self._wanted = (False, True, self._step.number)  # its rank among all hits is known only now
            self._steps.ask()
        self._tell()

    # from hit to hit

    def step(self, *, back: bool) -> None:
        """Go to the next hit or the previous one."""
        if self._wanted is not None:
            self._queued.append(back)
            return
        if not self._text:
            self._text = self._last_text
            if not self._text:
                self._pane.notify("Nothing to search for yet: / takes it", markup=False)
                return
        number, stands_there = self._here(back=back)
        if self._search is None:
            self._begin(number, here=not stands_there)
            return
        self._wanted = back, not stands_there, number
        self._steps.ask()

    def _plan_step(self) -> Callable[[], HitStep | None] | None:
        search, wanted = self._search, self._wanted
        if search is None or wanted is None:
            return None
        back, here, number = wanted

        def read() -> HitStep | None:
            try:
                return search.step(number, back=back, here=here)
            except Cancelled:
                return None

        return read

    def _stepped(self, step: HitStep | None) -> None:
        search = self._search
        if step is None or search is None or self._wanted is None:
            return
        again = self._step is not None and self._step.number == step.number and self._wanted[1]
        self._wanted, self._step = None, step
        if not step.number:
            self._say_if_nothing()
        elif not again:
            self._go_to(step.number)
        self._tell()
        self._more(search)
        if self._queued and self._wanted is None:
            self.step(back=self._queued.pop(0))

    def _say_if_nothing(self) -> None:
        """Say that there is no hit, once that is known and typing has ended."""
        if self._search is not None and self._step == HitStep(0) and self._origin is None:
            self._pane.notify(f"No line matches {title(self._text)}", markup=False)

    # marks

    def marks(self, key: Hashable, strip: Strip) -> Marks:
        """Return the known hits in a text: (start, end) in characters."""
        if self._search is None:
            return ()
        known = self._marks.get(key)
        if known is None and self._literal is not None:
            if len(self._marks) >= _KEPT_MARKS:
                self._marks.clear()
            known = tuple(match.span() for match in self._literal.finditer(strip.text))
            self._marks[key] = known
        if known is None:
            self._marking.ask()  # an engine that no pattern can block finds them, in its own process
        return known or ()

    def drawn(self, key: Hashable, strip: Strip, *, here: bool) -> Strip:
        """Draw a text with its hits marked; `here` tells whether it is the present hit."""
        marks = self.marks(key, strip)
        return restyled(strip, marks, self._style("here" if here else "match")) if marks else strip

    def _plan_marks(self) -> Callable[[], dict[Hashable, Marks]] | None:
        search = self._search
        if search is None:
            return None
        texts = {key: text for key, text in self._on_screen().items() if key not in self._marks}
        pattern = search.pattern
        return (lambda: _marks_of(texts, pattern)) if texts else None

    def _marked(self, found: dict[Hashable, Marks]) -> None:
        if len(self._marks) >= _KEPT_MARKS:
            self._marks.clear()
        self._marks.update(found)
        self._pane.refresh()

    # what there is to say

    def notes(self) -> list[str]:
        """The state of the search in a few words, for the info bar."""
        case = [self._case] if self._case and (self._text or self._origin) else []
        search, step = self._search, self._step
        if search is None:
            return case
        said = [
            f"/{cut(title(self._text), _SHOWN_COLUMNS)}",
            "literally" if search.pattern.literal and not _is_plain(self._text) else "",
            *case,
            self._counted(search, step),
            "wrapped" if step is not None and step.wrapped and step.number else "",
        ]
        return [" ".join(word for word in said if word)]

    def _counted(self, search: E, step: HitStep | None) -> str:
        """Say how many hits there are, and which one is the present."""
        total = f"{search.total:,}{'' if search.complete else '…'}"
        if step is not None and step.rank and search.complete:
            return f"{'' if step.exact else '~'}{step.rank:,} of {total}"
        return total


def _marks_of(texts: Mapping[Hashable, str], pattern: SearchPattern) -> dict[Hashable, Marks]:
    return dict(zip(texts, map(tuple, places_in(list(texts.values()), pattern)), strict=True))


def _is_plain(text: str) -> bool:
    return re.escape(text) == text or text.replace(" ", "").isalnum()
