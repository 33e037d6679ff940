"""Runs a filter in steps between keys and frames, in the UI's own thread.

Another thread would not help: Python runs one at a time, and hands over only every 5 ms, which is felt at each key. A
step takes one to two milliseconds, and the first is taken at once, so that quick results appear with the key.
"""

import asyncio
import time
from array import array
from collections.abc import Callable, Iterator, Sequence

from textual.timer import Timer
from textual.widget import Widget

from sightline.audit.buffer_filter import BufferFilter, Condition, completions, parsed
from sightline.light.named_tuple import NamedTuple
from sightline.search.matcher import terms_of
from sightline.store import Reading
from sightline_tui.buffers.matcher import AnyTerm, Guesses, MatchPass, NamedOnly, wants_guesses
from sightline_tui.buffers.packed_entries import Columns, Entries
from sightline_tui.common.store_errors import STORE_ERRORS
from sightline_tui.common.store_read import StoreRead

_FIRST_STEP = 400  # entries tried before a letter is drawn: half a millisecond
_STEP = 2_000  # entries tried before the screen gets its turn: 2 to 3 ms
_GUESS_STEP = 1_000  # the same time, for guesses at typos
_FRAME_SECONDS = 1 / 60  # results are drawn in that time; a step in between would delay that
_TELL_SECONDS = 0.15  # between two answers before the last: each costs a list of all that was found


_SHARE_SECONDS = 0.1  # of reading which buffers words accept, before those so far are shown
_AGAIN_SECONDS = 0.5  # to wait after a change, since many come together

Conditions = tuple[Condition, ...]

_NOBODY_YET = NamedOnly(frozenset(("",)))  # a name that no buffer has: unlike no name, it means "not read yet"
_NOTHING = Entries(Columns(), array("I"))


class FilterResult(NamedTuple):
    """What a text finds.

    Attributes:
        entries: the best first.
        close: how many of them, at the end, are only guesses.
        done: whether all entries have been tried.
    """

    entries: Entries
    close: int
    done: bool


class AcceptedNames(NamedTuple):
    """The buffers that words accept, as far as they were read.

    Attributes:
        conditions: the words.
        names: the names of the buffers.
        rest: what reads the others, and the names so far; None if there are no others.
    """

    conditions: Conditions
    names: frozenset[str]
    rest: tuple[Iterator[str], set[str]] | None


class FilterText:
    """One text at a time; a longer text starts from what the last one found, if it can."""

    def __init__(
        self,
        widget: Widget,
        store: Reading,
        tell: Callable[[FilterResult], None],
        has_all: Callable[[], bool],
        accepted: Callable[[], None],
    ) -> None:
        """Prepare.

        Args:
            widget: the list that is filtered.
            store: the store with the buffers.
            tell: called with what was found, for the first time before `look_for` returns.
            has_all: tells whether no more entries will come; guesses wait until then.
            accepted: called when the buffers that words accept are read anew, so that `terms_of` answers differently.
        """
        self._widget = widget
        self._store = store
        self._tell = tell
        self._all_there = has_all
        self._accepted = accepted
        self._conditions: Conditions = ()
        self._named: NamedOnly | None = None
        self._timer: Timer | None = None
        self._is_named = False  # whether these are all that the words accept
        self._accepting: tuple[Iterator[str], set[str]] | None = None  # what reads them, and those read so far
        self._reads: StoreRead[AcceptedNames] = StoreRead(widget, self._plan_names, self._take_names, self._not_read)
        self._search: MatchPass | None = None
        self._entries = _NOTHING
        self._turn = 0
        self._working = False  # whether the last text is being looked for
        self._settled = asyncio.Event()
        self._settled.set()

    def terms_of(self, text: str) -> list[AnyTerm]:
        """The terms of a text. A word of `buffer_filter` becomes the buffers that it accepts, once they are known."""
        wanted = parsed(text)
        if wanted.conditions != self._conditions:
            self._conditions, self._named, self._is_named, self._accepting = wanted.conditions, None, False, None
            if wanted.conditions:
                self._reads.ask()
        only = [self._named or _NOBODY_YET] if wanted.conditions else []
        return [*terms_of(wanted.text), *only]

    def completed(self, text: str) -> str | None:
        """How a text may go on; None if nothing is known to follow."""
        before, blank, word = text.rpartition(" ")
        try:
            found = completions(word, self._store.index.sessions() if ":" in word else ())
        except STORE_ERRORS:
            return None  # whoever lists says so
        return before + blank + found[0] if found else None

    def store_changed(self) -> None:
        """Read anew which buffers the words accept."""
        if self._conditions and self._timer is None:
            self._timer = self._widget.set_timer(_AGAIN_SECONDS, self._ask_again)

    def _ask_again(self) -> None:
        self._timer, self._accepting = None, None
        self._reads.ask()

    def _plan_names(self) -> Callable[[], AcceptedNames] | None:
        conditions, store, accepting = self._conditions, self._store, self._accepting
        if not conditions:
            return None

        def read() -> AcceptedNames:
            names, known = accepting or (BufferFilter(store, conditions).names(), set[str]())
            until = time.monotonic() + _SHARE_SECONDS
            for name in names:
                known.add(name)
                if time.monotonic() > until:
                    return AcceptedNames(conditions, frozenset(known), (names, known))
            return AcceptedNames(conditions, frozenset(known), None)

        return read

    def _take_names(self, read: AcceptedNames) -> None:
        if read.conditions != self._conditions:
            return
        is_all, self._accepting = read.rest is None, read.rest
        if is_all or not self._is_named:  # names that are read again replace the old ones once all are known
            changed = self._named is None or self._named.names != read.names
            self._named, self._is_named = NamedOnly(read.names), is_all
            if changed:
                self._accepted()
            elif not self._working:
                self._go_on()  # to guesses, and to the end
        if not is_all:
            self._reads.ask()

    def look_for(self, terms: Sequence[AnyTerm], entries: Entries) -> None:
        """Look for terms, at least one, in entries."""
        narrowed = self._search.narrowed(terms) if self._search and self._entries is entries else None
        self._search, self._entries = narrowed or MatchPass(terms, entries), entries
        self._turn += 1
        self._search.step(_FIRST_STEP)
        if self._search.done and not self._wants_guesses(self._search):
            self._end(FilterResult(self._search.best(), 0, done=self._has_all()))
            return
        if self._search.found:  # the old rows may stay until there are new ones
            self._tell(FilterResult(self._search.best(), 0, done=False))
        self._go_on()

    def look_on(self, terms: Sequence[AnyTerm], entries: Entries) -> None:
        """Look for the same terms in entries to which others were added at their end."""
        before, known = self._entries, len(self._entries)
        if self._search is None or entries.columns is not before.columns or entries.places[:known] != before.places:
            self.look_for(terms, entries)  # some entries are gone, too
            return
        self._search.extend(entries[known:])
        self._entries = entries
        if not self._working:
            self._go_on()

    def _not_read(self) -> None:
        self._named, self._is_named = NamedOnly(frozenset()), True
        self._accepted()

    def _has_all(self) -> bool:
        return self._all_there() and (self._is_named or not self._conditions)

    def stop(self) -> None:
        """Stop filtering."""
        self._conditions, self._named, self._is_named, self._accepting = (), None, False, None
        self._turn += 1
        self._search, self._entries, self._working = None, _NOTHING, False
        self._settled.set()

    async def settled(self) -> None:
        """Go on until all entries are tried, and no more will come."""
        await self._settled.wait()

    def _go_on(self) -> None:
        if self._search is not None:
            self._working = True
            self._settled.clear()
            self._widget.run_worker(self._work(self._search, self._turn))

    def _end(self, found: FilterResult) -> None:
        self._working = False
        if found.done:
            self._tell(found)
            self._settled.set()
            return
        self._settled.clear()
        if found.entries or (self._named is not None and not self._is_named):
            self._tell(found)  # "nothing found" is told only once it is known, but what does not match goes at once

    async def _work(self, search: MatchPass, turn: int) -> None:
        close = Entries(self._entries.columns, array("I"))
        await self._look(search, turn)
        while turn == self._turn and self._wants_guesses(search):
            close = await self._guess(search, turn)
            if search.done:
                break
            await self._look(search, turn)  # more came in meanwhile
        if turn == self._turn:
            self._end(FilterResult(search.best() + close, len(close), done=self._has_all()))

    def _wants_guesses(self, search: MatchPass) -> bool:
        return self._has_all() and wants_guesses(search)

    async def _look(self, search: MatchPass, turn: int) -> None:
        told, pause = time.monotonic(), _FRAME_SECONDS if search.found else 0.0
        while not search.done:
            await asyncio.sleep(pause)
            pause = 0.0
            if turn != self._turn:
                return
            search.step(_STEP)
            if not search.done and search.found and time.monotonic() - told > _TELL_SECONDS:
                self._tell(FilterResult(search.best(), 0, done=False))
                told, pause = time.monotonic(), _FRAME_SECONDS

    async def _guess(self, search: MatchPass, turn: int) -> Entries:
        await asyncio.to_thread(__import__, "rapidfuzz.process")
        guesses = Guesses(search.terms, self._entries, search.found)
        while not guesses.done and turn == self._turn:
            guesses.step(_GUESS_STEP)
            await asyncio.sleep(0)
        return guesses.best()
