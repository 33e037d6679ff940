"""The diff screen: two outputs compared, side by side if there is room; keys choose what to ignore."""

import asyncio
import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer

from sightline.audit.failure_changes import FailureChanges
from sightline.base.records import Buffer
from sightline.base.refs import are_of_two_hosts, format_ref, parse_ref
from sightline.light.named_tuple import NamedTuple
from sightline.search.diff.engines import Ignore
from sightline.search.diff.hunks import Hunks
from sightline.search.diff.sides import Side
from sightline.shape.summary import human_bytes
from sightline.store import Reading, Target
from sightline.verbs.previous_run import previous_run
from sightline_tui.common import messages
from sightline_tui.common.bar import Bar
from sightline_tui.common.clipboard import copy
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named
from sightline_tui.common.notice import Notice, Said
from sightline_tui.common.phrases import age, counted, ending, facts, name_of, state_of
from sightline_tui.common.search_screen import SEARCH_KEY, SearchScreen
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import is_whole
from sightline_tui.common.strips import StripPart
from sightline_tui.common.visible_text import title
from sightline_tui.diff.comparison import ComparisonJob, ComparisonResult
from sightline_tui.diff.comparison_view import DiffPaneSearch
from sightline_tui.diff.diff_view import DiffView
from sightline_tui.diff.side_text import text_of

_NAMED = 20  # failures of each kind whose names are drawn, as far as they fit
_FACTS = 3  # facts of a buffer: how it ended, lines, bytes


class DiffFacts(NamedTuple):
    """What the header shows.

    Attributes:
        ignore: the differences that are ignored.
        hunks: number of hunks; None before the comparison is done.
        hunk: the hunk that the cursor is in or behind, from 1.
        capped: whether there are more hunks than these.
        doing: what is running, and how far it is; empty for nothing.
        searched: what is searched, and what was found; empty for nothing.
        changes: which failures differ; None if that is not known.
    """

    ignore: Ignore = Ignore()
    hunks: Hunks | None = None
    hunk: int = 0
    capped: bool = False
    doing: str = ""
    searched: str = ""
    changes: FailureChanges | None = None


class DiffHeader(Bar):
    """Three rows: the counts, the left side, the right side; and a fourth with the failures, where they are known."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__(id="diff-header")
        self._clock = clock

    def tell(self, left: Target, right: Target, told: DiffFacts) -> None:
        """Update the rows."""
        ignored = [name for name, on in zip(("whitespace", "volatile tokens"), told.ignore, strict=True) if on]
        head = [StripPart(" ◉ ", "accent"), StripPart("Diff", "strong")]
        if ignored:
            head += [StripPart("  without ", "dim"), StripPart(" and ".join(ignored), "running")]
        if told.searched:
            head.append(StripPart(f"  {told.searched}", "accent"))
        rows = [(head, _counts(told)), self._side("-", left), self._side("+", right)]
        if told.changes is not None:
            rows.append((_failures(told.changes), []))
        self.styles.height = len(rows)
        self.say(*rows)

    def _side(self, mark: str, target: Target) -> tuple[list[StripPart], list[StripPart]]:
        buffer, now = target.buffer, self._clock()
        style = "failed" if mark == "-" else "ok"
        left = [StripPart(f" {mark} ", style), StripPart(target.ref.removesuffix(".all"), "accent"), StripPart("  ")]
        left.append(StripPart(name_of(buffer), "strong"))
        told = [StripPart(ending(buffer), state_of(buffer))]
        told += [StripPart(f" · {fact}", "dim") for fact in facts(buffer, now)[1:_FACTS]]
        return left, [*told, StripPart(f" · {age(max(now - buffer.created, 0.0))} ", "dim")]


def _failures(changes: FailureChanges) -> list[StripPart]:
    """What fails, in counts, and then which failures are new and which are gone."""
    parts = [StripPart(f" = {changes.words}", "strong")]
    for sign, style, failures in (("+", "failed", changes.new), ("-", "ok", changes.fixed)):
        parts += [StripPart(f"  {sign} {title(one.name)}", style) for one in failures[:_NAMED]]
    return parts


def _counts(told: DiffFacts) -> list[StripPart]:
    doing = [StripPart(f"{told.doing} ", "running")] if told.doing else []
    if told.hunks is None:
        return doing
    hunks = told.hunks
    if doing:
        doing.append(StripPart(" ·  ", "dim"))
    if not hunks:
        return [*doing, StripPart("no changes ")]
    return [
        *doing,
        StripPart(f"-{hunks.removed:,} ", "failed"),
        StripPart(f"+{hunks.added:,}", "ok"),
        StripPart("  ·  ", "dim"),
        StripPart(f"{told.hunk:,} of {counted(len(hunks), 'change')}" + (" or more " if told.capped else " ")),
    ]


SIDE_BY_SIDE_COLUMNS = 120  # on fewer, each side has less than 50 for its text
PROGRESS_SECONDS = 0.2
LONG_BYTES = 200 << 20  # of both sides; from this size on it takes seconds


class DiffScreen(SearchScreen):
    """Two outputs and their differences. Closing it cancels a running comparison."""

    CSS_PATH: ClassVar = ["diff.tcss", "diff_view.tcss"]
    AUTO_FOCUS = "#diff-view"
    SEARCHED = "#diff-view"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "diff",
        [
            Binding("vertical_line", "switch_layout", "Layout", key_display="|"),
            Binding("w", "ignore('whitespace')", "Whitespace"),
            Binding("W", "ignore('volatile')", "Volatile"),
            Binding("s", "next_stream", "All streams, or one", show=False),
            Binding("R", "compare", "Compare again", show=False),
            Binding("escape", "stop", "Stop, or back", show=False),
            SEARCH_KEY,
            Binding("q", "leave", "Back"),
        ],
    )

    def __init__(
        self, store: Reading, left: Target | Buffer, right: Target | Buffer, *, clock: Callable[[], float] = time.time
    ) -> None:
        """Make the screen.

        Args:
            store: the store that has the outputs.
            left: the older side; of a buffer, all of its streams.
            right: the newer side.
            clock: the time from which ages are counted.
        """
        super().__init__()
        self._store = store
        self._targets = _target(left), _target(right)
        self._clock = clock
        self._ignore = Ignore(volatile=are_of_two_hosts(*(target.buffer.name for target in self._targets)))
        self._shown = self._targets, self._ignore
        self._unified: bool | None = None  # None lets the width decide
        self._compared: ComparisonResult | None = None
        self._comparing: ComparisonJob | None = None
        self._timer: Timer | None = None
        self._hunk = 0
        self._searched = ""

    @property
    def search(self) -> DiffPaneSearch:
        """The search of the comparison."""
        return self.query_one(DiffView).search

    def compose(self) -> ComposeResult:
        """Lay out header, comparison and keys."""
        yield DiffHeader(clock=self._clock)
        yield DiffView()
        notice = Notice()
        notice.display = False
        yield notice
        yield KeyBar()

    def on_mount(self) -> None:
        """Start comparing."""
        self.action_compare()

    def on_unmount(self) -> None:
        """Cancel what is running."""
        if self._comparing is not None:
            self._comparing.cancel()

    # comparing

    def action_compare(self) -> None:
        """Compare, and cancel a running comparison."""
        if self._comparing is not None:
            self._comparing.cancel()
        self._comparing = ComparisonJob(self._store, *self._targets, self._ignore)
        self.run_worker(self._compare(self._comparing))
        if self._timer is None:
            self._timer = self.set_interval(PROGRESS_SECONDS, self._tell)
        self._tell()

    async def _compare(self, comparing: ComparisonJob) -> None:
        compared = None
        try:
            compared = await asyncio.to_thread(comparing.run)
        except STORE_ERRORS as error:
            if comparing is self._comparing:
                tell(self.app, error)
        if comparing is not self._comparing or not is_whole(self):
            if compared is not None:
                compared.close()
            return
        self._comparing = None
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if compared is not None:
            self._compared, self._shown, self._hunk = compared, (self._targets, self._ignore), 0
            self.query_one(DiffView).show(compared, unified=self._is_unified())
        self._targets, self._ignore = self._shown  # it was cancelled, so the screen still shows the old one
        self._tell()

    def _tell(self) -> None:
        """Show the state of the comparison in the header."""
        compared, comparing = self._compared, self._comparing
        told = DiffFacts(self._ignore, hunk=self._hunk, searched=self._searched)
        if compared is not None:
            found = compared.comparison
            told = told._replace(hunks=found.hunks, capped=found.capped, changes=compared.changes)
        if comparing is not None:
            told = told._replace(doing=f"comparing {comparing.done:.0%}" if comparing.done else "comparing")
        elif compared is not None:
            told = told._replace(ignore=compared.ignore)
        self.query_one(DiffHeader).tell(*self._targets, told)
        self._say(self._notice())

    def _say(self, said: list[Said]) -> None:
        notice, view = self.query_one(Notice), self.query_one(DiffView)
        notice.display, view.display = bool(said), not said
        if said:
            notice.say(*said)
        elif self.focused is None:
            self.set_focus(view)

    def _notice(self) -> list[Said]:
        """Return what to say in place of a comparison."""
        compared, comparing = self._compared, self._comparing
        if compared is None and comparing is not None:
            size = sum(target.buffer.bytes for target in self._targets)
            long = f"{human_bytes(size)} to compare: this takes a while" if size > LONG_BYTES else ""
            return [[StripPart(f"Comparing {comparing.done:.0%}", "strong")], [StripPart(long, "dim")], _stops()]
        if compared is None:
            return [
                [StripPart("Not compared", "strong")],
                [],
                [StripPart("R", "accent"), StripPart(" compares again", "dim")],
            ]
        if compared.comparison.hunks or comparing is not None:
            return []
        without = [name for name, on in zip(("whitespace", "volatile tokens"), compared.ignore, strict=True) if on]
        told = f"They differ at most in {' and '.join(without)}." if without else "Line for line the same."
        return [[StripPart("No differences", "strong")], [], [StripPart(told, "dim")]]

    # what the parts tell

    def on_diff_moved(self, message: messages.DiffMoved) -> None:
        """Show the place in the header."""
        if (message.hunk, message.notes) != (self._hunk, self._searched) and self._compared is not None:
            self._hunk, self._searched = message.hunk, message.notes
            self._tell()

    def on_side_lines_chosen(self, message: messages.SideLinesChosen) -> None:
        """Copy a ref of lines, or open them in their buffer, which the caller of this screen does."""
        if self._compared is None:
            return
        side = self._compared.right if message.right else self._compared.left
        target = self._targets[message.right]
        ref = side.ref_of(message.first, message.last)
        if message.copied == "ref":
            copy(self.app, ref)
            self.notify(f"Copied {ref}", markup=False)
        elif message.copied:
            self._copy_text(side, message.first, message.last, ref)
        else:
            place = parse_ref(ref)
            self.app.post_message(messages.LineChosen(target.buffer, place.stream or "out", place.first))

    def _copy_text(self, side: Side, first: int, last: int, ref: str) -> None:
        try:
            text = text_of(side, first, last)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return
        if text is None:
            self.notify("That is more than a terminal takes: Y copies the ref", severity="warning", markup=False)
            return
        copy(self.app, text)
        self.notify(f"Copied {counted(last + 1 - first, 'line')} of {ref.partition(':')[0]}", markup=False)

    def on_resize(self) -> None:
        """Show one side below the other if the screen is too narrow for both."""
        if self._unified is None:
            self._lay_out()

    # keys

    def _is_unified(self) -> bool:
        return self.app.size.width < SIDE_BY_SIDE_COLUMNS if self._unified is None else self._unified

    def _lay_out(self) -> None:
        if view := self.query_one_optional(DiffView):
            view.lay_out(unified=self._is_unified())

    def action_switch_layout(self) -> None:
        """Switch between side by side and one below the other."""
        self._unified = not self._is_unified()
        self._lay_out()

    def action_ignore(self, what: str) -> None:
        """Ignore a kind of difference, or count it again."""
        self._ignore = self._ignore._replace(**{what: not getattr(self._ignore, what)})
        self.action_compare()

    def action_next_stream(self) -> None:
        """Compare all streams, or the next stream that either side has."""
        names = {name for target in self._targets for name, info in target.buffer.streams.items() if info.bytes}
        streams = ["all", *sorted(names, key=lambda name: (name != "out", len(name), name))]
        now = self._targets[0].stream
        stream = streams[(streams.index(now) + 1) % len(streams)] if now in streams else "all"
        left, right = (target._replace(stream=stream) for target in self._targets)
        self._targets = left, right
        self.action_compare()
        self.notify({"all": "All streams"}.get(stream, f"Only {stream}"), timeout=2, markup=False)

    def action_stop(self) -> None:
        """Cancel a running comparison, else close the screen."""
        if self._comparing is None:
            self.dismiss()
            return
        self._comparing.cancel()

    def action_leave(self) -> None:
        """Close the screen."""
        self.dismiss()


def _target(side: Target | Buffer) -> Target:
    return Target(side, "all") if isinstance(side, Buffer) else side


def _stops() -> list[StripPart]:
    return [StripPart("Esc", "accent"), StripPart(" stops it", "dim")]


async def open_diff(app: App[None], store: Reading, buffer: Buffer | None, marks: tuple[str, ...]) -> None:
    """Open the diff, or say what is missing for it.

    Args:
        app: the app that shows it.
        store: the store.
        buffer: the selected buffer.
        marks: names of the marked buffers; a single one is compared with the selected one.
    """
    try:
        sides = await asyncio.to_thread(sides_of, store, buffer, marks)
    except STORE_ERRORS as error:
        tell(app, error)
        return
    if sides is None:
        if len(marks) > 2:
            app.notify(f"{len(marks)} outputs are marked: d compares two", severity="warning", markup=False)
            return
        what = f"{buffer.ref} is the first run of its command that is kept" if buffer else "There is nothing to compare"
        app.notify(f"{what}: mark two outputs with m, then d", severity="warning", markup=False)
        return
    await app.push_screen(DiffScreen(store, *sides))


def sides_of(store: Reading, buffer: Buffer | None, marks: tuple[str, ...]) -> tuple[Buffer, Buffer] | None:
    """Return the two to compare, the older first; None if there are none. Raises what the store raises."""
    names = list(marks)
    if len(names) == 1 and buffer is not None and buffer.name != names[0]:
        names.append(buffer.name)
    if len(names) == 2:
        left, right = sorted((store.resolve(format_ref(name)).buffer for name in names), key=lambda side: side.created)
        return left, right
    earlier = previous_run(store, buffer) if buffer is not None and len(names) < 2 else None
    return (earlier, buffer) if earlier is not None and buffer is not None else None
