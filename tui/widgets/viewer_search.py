"""Searching in the viewer: as one types, from hit to hit, with every hit on the screen marked."""

import re
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from sightline.store.query.errors import Cancelled
from sightline.store.query.hits import Pattern, pattern_of, places_in
from sightline.store.store import Target
from sightline.tui.errand import Errand
from sightline.tui.failures import STORE_ERRORS, tell
from sightline.tui.output.folding import Place
from sightline.tui.output.hexdump import open_dump
from sightline.tui.output.painting import restyled
from sightline.tui.output.searching import Search, Step
from sightline.tui.reading import Reading, open_reading
from sightline.tui.safe import title
from sightline.tui.strips import cut
from textual.strip import Strip

if TYPE_CHECKING:
    from sightline.tui.widgets.output_view import OutputView
    from sightline.tui.widgets.viewer_opening import Opened

TYPING_SECONDS = 0.02  # between letters that are pasted or typed ahead: none of them is worth a search of its own
TELL_SECONDS = 0.05  # a count that grows is told so often
_SHOWN_COLUMNS = 24  # of a pattern
CASES = ("", "match case", "ignore case")
"""How letters match: small ones either case and capitals themselves, all themselves, all either case."""

Marks = tuple[tuple[int, int], ...]


class Searching:
    """The search of a viewer."""

    def __init__(self, viewer: "OutputView") -> None:
        self._viewer = viewer
        self._text = self._last_text = ""
        self._case = CASES[0]
        self._search: Search | None = None
        self._serial = 0  # of the search that is meant; what older ones tell is dropped
        self._wanted: tuple[bool, bool, int] | None = None  # back, here, from which line: the hit that one waits for
        self._step: Step | None = None
        self._origin: tuple[Place, int] | None = None  # where one was before typing
        self._literal: re.Pattern[str] | None = None
        self._marks: dict[int, Marks] = {}
        self._queued: list[bool] = []  # steps asked for while one is under way
        self._steps: Errand[Step | None] = Errand(viewer, self._plan_step, self._stepped, self._broken)
        self._marking: Errand[dict[int, Marks]] = Errand(viewer, self._plan_marks, self._marked)

    # the prompt

    def opened(self) -> None:
        """Typing begins."""
        self._origin = self._viewer.window.top, self._viewer.target

    def typed(self, text: str) -> None:
        """What is searched for so far: the first hit from where one was is shown as one types."""
        if self._origin is None:
            return
        self._forget()
        self._text = text
        if text:
            self._viewer.set_timer(TYPING_SECONDS, partial(self._look_as_typed, self._serial))
        else:
            self._viewer.back_to(*self._origin)

    def _look_as_typed(self, serial: int) -> None:
        """Search for what was typed, unless more was typed since, or it was meant already."""
        if serial == self._serial and self._origin is not None:
            place, target = self._origin
            self._begin(target if target and self._viewer.window.on_screen(target) else place.line, here=True)

    def answered(self, text: str) -> None:
        """What was typed is meant; nothing means the last one again."""
        typing, self._origin = self._origin, None
        if text != self._text or self._search is None:
            self._text = text or self._last_text
            self._last_text = self._text
            if self._text:
                place, target = typing or (self._viewer.window.top, 0)
                self._begin(target or place.line, here=bool(text))
        self._last_text = self._text
        self._say_if_nothing()

    def left(self) -> None:
        """Never mind: back to where one was."""
        origin, self._origin = self._origin, None
        self.clear()
        if origin is not None:
            self._viewer.back_to(*origin)

    def switch_case(self) -> None:
        """Match letters in another way."""
        self._case = CASES[(CASES.index(self._case) + 1) % len(CASES)]
        if self._origin is not None:
            self.typed(self._text)
        self._viewer.changed()

    # searching

    def clear(self) -> bool:
        """End the search; whether there was one."""
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
        """Other lines are shown, or the same ones in another look: what was known of them goes."""
        self._marks = {}
        if not same and self._text:
            self._forget()
            self._begin(self._viewer.window.top.line, jump=False)

    def went_on(self) -> None:
        """The output has grown."""
        self._marks = {}
        search = self._search
        if search is not None and search.complete:
            self._run(search, search.run_on)

    def _begin(self, number: int, *, here: bool = False, jump: bool = True) -> None:
        """Search from a line on."""
        opened = self._viewer.opened
        self._forget()
        if opened is None:
            return
        self._wanted = (False, here, number) if jump else None
        serial, text, ignore_case = self._serial, self._text, self._ignores_case()

        def look() -> None:
            search = Search(
                pattern_of(text, ignore_case=ignore_case),
                lambda: self._reading(opened),
                lambda name: self._path(opened, name),
                number,
                matches=opened.hex,
            )
            self._viewer.call_later(self._begun, serial, search)
            search.run(self._telling(search))

        self._in_thread(look)

    def _run(self, search: Search, run: Callable[[Callable[[], None]], None]) -> None:
        self._in_thread(lambda: run(self._telling(search)))

    def _in_thread(self, work: Callable[[], None]) -> None:
        viewer = self._viewer

        def guarded() -> None:
            try:
                work()
            except Cancelled:
                pass  # another search has taken its place
            except STORE_ERRORS as error:
                tell(viewer.app, error)
                viewer.call_later(self._broken)

        viewer.run_worker(guarded, thread=True, group="search")

    def _broken(self) -> None:
        """It was said why there is no answer: wait for none."""
        self._wanted, self._queued = None, []

    def _ignores_case(self) -> bool:
        return self._text == self._text.lower() if self._case == CASES[0] else self._case == CASES[2]

    def _telling(self, search: Search) -> Callable[[], None]:
        """What a search calls when it knows more: not more often than a person can read."""
        told = 0.0

        def more() -> None:
            nonlocal told
            now = time.monotonic()
            if search.complete or self._wanted is not None or now - told >= TELL_SECONDS:
                told = now
                self._viewer.call_later(self._more, search)

        return more

    def _reading(self, opened: "Opened") -> Reading:
        store = self._viewer.store
        return (open_dump if opened.hex else open_reading)(store, opened.buffer, opened.stream)

    def _path(self, opened: "Opened", stream: str) -> str:
        store, target = self._viewer.store, Target(opened.buffer, stream)
        return store.path(target) if opened.hex else store.text_path(target)

    def _begun(self, serial: int, search: Search) -> None:
        """A search is under way; one that nobody wants any more is ended."""
        if serial != self._serial or not self._viewer.is_attached:
            search.cancel()
            return
        self._search = search
        flags = re.IGNORECASE if search.pattern.ignore_case else 0
        self._literal = re.compile(re.escape(search.pattern.text), flags) if search.pattern.literal else None
        self._viewer.changed()

    def _more(self, search: Search) -> None:
        if search is not self._search:
            return
        if self._wanted is not None:
            self._steps.ask()
        elif search.complete and self._step is not None and self._step.number and not self._step.rank:
            self._wanted = (False, True, self._step.number)  # where it stands among all is known only now
            self._steps.ask()
        self._viewer.tell_place()

    # from hit to hit

    def step(self, *, back: bool) -> None:
        """Go to the next hit, or to the one before."""
        if self._wanted is not None:
            self._queued.append(back)
            return
        if not self._text:
            self._text = self._last_text
            if not self._text:
                self._viewer.notify("Nothing to search for yet: / takes it", markup=False)
                return
        window, target = self._viewer.window, self._viewer.target
        on_screen = bool(target) and window.on_screen(target)
        number = target if on_screen else window.top.line
        if self._search is None:
            self._begin(number, here=not on_screen)
            return
        self._wanted = back, not on_screen, number
        self._steps.ask()

    def _plan_step(self) -> Callable[[], Step | None] | None:
        search, wanted = self._search, self._wanted
        if search is None or wanted is None:
            return None
        back, here, number = wanted

        def read() -> Step | None:
            try:
                return search.step(number, back=back, here=here)
            except Cancelled:
                return None

        return read

    def _stepped(self, step: Step | None) -> None:
        search, viewer = self._search, self._viewer
        if step is None or search is None or self._wanted is None or not viewer.is_attached:
            return
        again = self._step is not None and self._step.number == step.number and self._wanted[1]
        self._wanted, self._step = None, step
        if not step.number:
            self._say_if_nothing()
        elif not again:
            viewer.go_near(step.number)
            self._bring_into_view(step.number)
        viewer.tell_place()
        self._more(search)
        if self._queued and self._wanted is None:
            self.step(back=self._queued.pop(0))

    def _say_if_nothing(self) -> None:
        """Say that there is no hit, once it is known and no longer typed at."""
        if self._search is not None and self._step == Step(0) and self._origin is None:
            self._viewer.notify(f"No line matches {title(self._text)}", markup=False)

    def _bring_into_view(self, number: int) -> None:
        """Show the first match of a line, where it lies beyond an edge."""
        strip = self._viewer.drawn(number).strip
        if spans := self.marks(number, strip):
            self._viewer.show_match(number, *spans[0])

    # marks

    def marks(self, number: int, strip: Strip) -> Marks:
        """Where the hits in a line are, as far as is known: (start, end) in characters."""
        search, opened = self._search, self._viewer.opened
        if search is None or opened is None or opened.hex:
            return ()
        known = self._marks.get(number)
        if known is None and self._literal is not None:
            known = tuple(match.span() for match in self._literal.finditer(strip.text))
            self._marks[number] = known
        if known is None:
            self._marking.ask()  # an engine that no pattern can hurt finds them, in a process of its own
        return known or ()

    def draw(self, number: int, strip: Strip) -> Strip:
        """A line with its hits marked."""
        marks = self.marks(number, strip)
        if not marks:
            return strip
        return restyled(strip, marks, self._viewer.part_style("here" if number == self._viewer.target else "match"))

    def _plan_marks(self) -> Callable[[], dict[int, Marks]] | None:
        search, viewer = self._search, self._viewer
        if search is None:
            return None
        numbers = sorted({place.line for place in viewer.window.places()} - self._marks.keys())
        texts = [viewer.drawn(number).strip.text for number in numbers]
        pattern = search.pattern
        return (lambda: _marks_of(numbers, texts, pattern)) if numbers else None

    def _marked(self, found: dict[int, Marks]) -> None:
        self._marks.update(found)
        self._viewer.refresh()
        if self._step is not None and self._step.number in found:
            self._bring_into_view(self._step.number)

    def notes(self) -> list[str]:
        """What there is to say of it."""
        case = [self._case] if self._case and (self._text or self._origin) else []
        search, step = self._search, self._step
        if search is None:
            return case
        said = [
            f"/{cut(title(self._text), _SHOWN_COLUMNS)}",
            "literally" if search.pattern.literal and not _is_plain(self._text) else "",
            *case,
        ]
        total = f"{search.total:,}{'' if search.complete else '…'}"
        if step is not None and step.rank and search.complete:
            said.append(f"{'' if step.exact else '~'}{step.rank:,} of {total}")
        else:
            said.append(total)
        said.append("wrapped" if step is not None and step.wrapped and step.number else "")
        return [" ".join(word for word in said if word)]


def _marks_of(numbers: list[int], texts: list[str], pattern: Pattern) -> dict[int, Marks]:
    return dict(zip(numbers, map(tuple, places_in(texts, pattern)), strict=True))


def _is_plain(text: str) -> bool:
    return re.escape(text) == text or text.replace(" ", "").isalnum()
