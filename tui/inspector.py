"""The main screen: buffers at the left, the selected one's output at the right. It passes on what its parts tell."""

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from sightline.project import Project, project_of
from sightline.records import Buffer
from sightline.store import Reading, Target
from sightline.tui import asking, buffers, late
from sightline.tui.buffer_actions import BufferActions
from sightline.tui.buffers.buffer_list import AGES_SECONDS, BufferList
from sightline.tui.buffers.list_title import ListTitle
from sightline.tui.buffers.order import GROUPS, Order
from sightline.tui.common import messages
from sightline.tui.common.key_bar import KeyBar
from sightline.tui.common.keys import named, written
from sightline.tui.common.notice import Notice, Said, nothing_found, nothing_here, welcome
from sightline.tui.common.output_reader import shown_ref
from sightline.tui.common.pace import Pace
from sightline.tui.common.phrases import is_void, tombstone_text
from sightline.tui.common.places import Hit, shown_number, viewer_line
from sightline.tui.common.preferences import Preferences
from sightline.tui.common.prompt import PROMPTS, Prompt, SearchPrompt
from sightline.tui.common.split import Divider, Split
from sightline.tui.common.store_errors import STORE_ERRORS, tell
from sightline.tui.common.store_read import is_whole
from sightline.tui.common.strips import Part
from sightline.tui.header import Header
from sightline.tui.misses import Misses
from sightline.tui.viewer.info_bar import Info
from sightline.tui.viewer.viewer import Viewer

BURST_SECONDS = 0.5
"""Between two looks at the store while captures come one upon another; the first of them is seen at once."""


class Inspector(BufferActions):
    """Two panes that know nothing of each other; beside each other or, where it is narrow, one above the other."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012 (typed so in Screen)
    AUTO_FOCUS = "#buffers"
    BINDINGS: ClassVar[list[BindingType]] = named(
        "anywhere",
        [
            Binding("exclamation_mark", "next_miss", "Next miss", key_display="!"),
            Binding("u", "next_unseen", "Unseen"),
            Binding("tab,shift+tab", "switch_pane", "Switch pane"),
            Binding("less_than_sign", "resize(-1)", "Smaller list", show=False),
            Binding("greater_than_sign", "resize(1)", "Larger list", show=False),
            Binding("c", "choose_project", "Project", show=False),
            Binding("asterisk", "all_projects", "All projects, or the one before", key_display="*", show=False),
            Binding("escape", "clear_filter", "Clear the filter", show=False),
        ],
    )

    def __init__(
        self,
        store: Reading,
        remembered: Preferences,
        *,
        target: Target | None = None,
        project: Project | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Make the screen.

        Args:
            store: what it shows.
            remembered: how it stood the last time.
            target: what it opens on; the most recently used buffer by default.
            project: the only one whose outputs it shows; None for all.
            clock: what ages are counted from.
        """
        super().__init__(store, clock)
        self._project = self._project_before = project
        self._remembered = remembered
        self._split = Split(self, remembered, "-narrow")
        self._target = target
        self._query = ""
        self._live = False
        self._contents: buffers.Contents | None = None
        self._once_open: list[Callable[[], None]] = []
        self._index_changes = Pace(self, BURST_SECONDS, self._index_changed)
        self._misses = Misses(self, store, project, lambda verdict: self.query_one(Header).judge(verdict))

    def compose(self) -> ComposeResult:
        """Header, panes, keys."""
        target = self._target
        # Textual sets these with the first resize: every style would be worked out, and all be painted, twice.
        self.update_classes({self._width_class(self.app.size.width): True}, update=False)
        yield Header(self._store.settings, self._scope_name, lambda: self._store.place)
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                order = self._remembered_order()
                yield ListTitle(order)
                selected = target.buffer.name if target else ""
                yield BufferList(self._store, clock=self._clock, selected=selected, order=order, project=self._project)
            yield Divider()
            with Vertical(id="right"):
                yield Info(clock=self._clock)
                wraps = self._remembered.get("wrap", False)
                yield Viewer(self._store, line=target.first if target else 0, wraps=wraps)
        yield KeyBar()

    def _width_class(self, width: int) -> str:
        return next(name for least, name in reversed(self.HORIZONTAL_BREAKPOINTS) if width >= least)

    def on_mount(self) -> None:
        """Show what is there, before the first layout, so that the first screen is painted once and whole."""
        self._split.lay_out()
        self._show(self.query_one(BufferList).first_look())
        self.call_after_refresh(self._misses.ask)
        self.set_interval(AGES_SECONDS, self.query_one(Info).tell)  # a running capture's duration goes on with the ages
        if self._store.place:
            self.set_interval(AGES_SECONDS, self.query_one(Header).tell_place)
        if self._target is not None:  # whoever names an output means to read it
            self.set_focus(self.query_one(Viewer))

    def on_unmount(self) -> None:
        """End a search, which would keep the application from ending; what editors were given goes."""
        if self._contents is not None:
            self._contents.end()
        self.close_copies()

    @property
    def _is_whole(self) -> bool:
        """False before the panes are there, and while they are taken away one by one."""
        return self.is_mounted and is_whole(self)

    def listed_names(self) -> list[str]:
        """Names of the buffers that its list knows."""
        return [entry.name for entry in self.query_one(BufferList).rows.catalog.entries]

    def start_afresh(self) -> None:
        """All that is known of the store's buffers is of others than it has now."""
        if not self._is_whole:
            return
        if (
            self._contents is not None
            and self._contents.is_open
            and (prompt := self.query_one_optional("#filter", Prompt))
        ):
            prompt.clear()
        self.close_copies()
        self.query_one(BufferList).start_afresh()
        self._misses.start_afresh(self._project)

    # what the store tells

    def store_changed(self, message: messages.StoreChanged) -> None:
        """Pass a change on to the panes."""
        if not self._is_whole:
            return
        self.query_one(Viewer).went_on(message.live)  # first: new lines are what one waits for
        self.query_one(BufferList).store_changed(False, message.live)
        if message.index:
            self._index_changes.ask()

    def _index_changed(self) -> None:
        """Something was captured, shown or removed, or many things were."""
        if self._is_whole:
            self.query_one(Viewer).audit_soon()
            self._misses.ask()
            self.query_one(BufferList).store_changed(True, frozenset())

    def polling_begun(self) -> None:
        """Have the header say that the store is polled for changes."""
        if not self._is_whole:
            return
        self.query_one(Header).polling()

    # what the panes tell

    def on_order_chosen(self, message: messages.OrderChosen) -> None:
        """The list and its title stand in another order."""
        order = Order(message.sort, message.turned, message.group)
        self.query_one(BufferList).set_order(order)
        self.query_one(ListTitle).ordered(order)
        self._remembered.put("group", order.group)

    def _remembered_order(self) -> Order:
        """Grouped as the last time; a sort that was chosen then ended with it."""
        group = self._remembered.get("group", "")
        return Order(group=group) if group in GROUPS else Order()

    def on_store_counted(self, message: messages.StoreCounted) -> None:
        """Show the counts in the header."""
        if not self._is_whole:
            return
        self.query_one(Header).count(message)

    def on_buffer_selected(self, message: messages.BufferSelected) -> None:
        """The selected buffer is the one shown."""
        if self._is_whole and message.buffer != self._buffer and not self._searches_contents:
            self._show(message.buffer)
            self._stay_at_end()

    def _show(self, buffer: Buffer | None) -> None:
        if buffer is None or self._buffer is None or buffer.name != self._buffer.name:
            self._once_open.clear()
        self._buffer = buffer
        self.query_one(Info).about(buffer)
        self.query_one(Viewer).show(buffer)
        self._say_why_empty()

    def on_place_changed(self, message: messages.PlaceChanged) -> None:
        """Show the place in the row of facts."""
        if not self._is_whole:
            return
        self._first_shown = message.first
        self.query_one(Info).at(message)
        self._remembered.put("wrap", self.query_one(Viewer).wraps)
        self._say_why_empty()
        if self._once_open and self._is_open():
            waiting, self._once_open = self._once_open, []
            for deed in waiting:
                deed()

    def on_live_switched(self, message: messages.LiveSwitched) -> None:
        """The list stays on the newest, or no longer, which the header says; the viewer stays at its end with it."""
        if self._is_whole:
            self._live = message.live
            self.query_one(Header).show_live(message.live)
            self._stay_at_end()

    def _stay_at_end(self) -> None:
        """Where it is live, and nobody reads what is shown."""
        if self._live and self._buffer is not None and not self.query_one(Viewer).has_focus:
            self._when_open(self.query_one(Viewer).action_follow)

    def on_list_filtered(self, message: messages.ListFiltered) -> None:
        """Show in the title what the filter found."""
        if not self._is_whole:
            return
        self.query_one(ListTitle).filtered(self._query, message)

    def follow_session(self, session: str | None) -> None:
        """Stay on the newest output of one session, whatever comes, or of all; Esc shows those of all again."""
        query = f"session:{session}" if session is not None else ""
        self.open_prompt("filter")
        prompt = self.query_one("#filter", Prompt)
        prompt.value = query
        prompt.close()
        self._filter(query)
        self.query_one(BufferList).follow()

    def _say_why_empty(self) -> None:
        """Where there is no output, say why in its place."""
        viewer, notice, lines = self.query_one(Viewer), self.query_one_optional(Notice), self._why_empty()
        if lines and notice is None:
            notice = Notice()
            self.query_one("#right").mount(notice, after=viewer)
        viewer.display = not lines
        if notice is not None:
            notice.display = bool(lines)
            notice.say(*lines)
        if is_void(self._buffer) and self.focused is viewer:
            self.set_focus(self.query_one(BufferList))

    def _why_empty(self) -> list[Said]:
        buffer = self._buffer
        if buffer is None:
            if len(self.query_one(BufferList).rows):
                return []  # on a heading
            if self._query:
                return nothing_found()
            return nothing_here(self._project.name) if self._project else welcome()
        if buffer.state == "evicted":
            what, held, how = tombstone_text(self._tombstone(buffer.name), buffer)
            return [
                [Part(what, "strong")],
                [Part(buffer.command, "command")],
                [],
                [Part(held, "dim")],
                [Part(how, "dim")],
            ]
        if not buffer.bytes:
            waiting = buffer.state == "running"
            return [[Part("No output yet" if waiting else "No output", "dim")]]
        return []

    def _tombstone(self, name: str) -> dict[str, object] | None:
        try:
            return self._store.tombstone(name)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return None

    # prompts, made when they are first opened: the first screen is there the sooner

    def open_prompt(self, name: str) -> None:
        """Ask for one of `PROMPTS`; at once, so that the next key reaches it."""
        prompt, asks = self.query_one_optional(f"#{name}", Prompt), PROMPTS[name]
        if prompt is None:
            if name == "search":
                prompt = SearchPrompt(asks, id=name, typed=lambda text: self.query_one(Viewer).search.typed(text))
            else:
                shown = self.query_one(BufferList)
                prompt = Prompt(asks, id=name, typed=self._filter, settled=shown.settled, completed=shown.completed)
            self.query_one(asks.pane).mount(prompt, before=asks.above or None)
        if name == "search":
            self.query_one(Viewer).search.opened()
        prompt.open()
        if name == "filter":
            self.query_one(BufferList).expect_filter()

    @property
    def reads(self) -> bool:
        """Whether the keys go to the output that is shown: it learns of its focus only later."""
        return self._is_whole and self.focused is self.query_one(Viewer)

    def _filter(self, text: str) -> None:
        in_contents = text.startswith("/")
        self._query = "" if in_contents else text
        self.query_one(BufferList).filter(self._query)
        if in_contents:
            self._contents = self._contents or self._make_contents()
            self._contents.typed(text[1:])
        elif self._contents is not None and self._contents.is_open:
            self._leave_contents(self._contents)
        self.query_one("#filter", Prompt).back = "#found" if in_contents else "#buffers"

    def on_prompt_answered(self, message: messages.PromptAnswered) -> None:
        """A filter stays as it is; what is looked for in the outputs is looked for now; a search is meant."""
        if message.prompt == "filter" and self._searches_contents and self._contents is not None:
            self._contents.meant()
        elif message.prompt == "search":
            self.query_one(Viewer).search.answered(message.text)

    def on_place_meant(self, message: messages.PlaceMeant) -> None:
        """Go to a place in the buffer that is selected, as soon as it is open."""
        self._when_open(lambda: self._go_to(message.text))

    def _go_to(self, place: str) -> None:
        if not self.query_one(Viewer).go_to(place):
            self.notify("That is no place here: type 42, 42,80, 50% or $", severity="warning", markup=False)

    def _is_open(self) -> bool:
        return self._buffer is None or self.query_one(Viewer).shows(self._buffer.name)

    def _when_open(self, deed: Callable[[], None]) -> None:
        """Do something with the selected buffer as soon as it is open, and never where another one is selected."""
        if self._is_open():
            deed()
        else:
            self._once_open.append(deed)

    def on_prompt_left(self, message: messages.PromptLeft) -> None:
        """Cancel a search."""
        if message.prompt == "search":
            self.query_one(Viewer).search.left()

    def on_case_switched(self) -> None:
        """Letters match in another way."""
        self.query_one(Viewer).search.switch_case()

    # keys

    def action_clear_filter(self) -> None:
        """Show every buffer again; where outputs are being searched, first stop that."""
        if self._contents is not None and self._contents.stop():
            return
        if prompt := self.query_one_optional("#filter", Prompt):
            prompt.clear()

    def action_read(self) -> None:
        """Go to the viewer, at once: the next key may be on its way. Where there is nothing to read, stay."""
        if self._buffer is None and not len(self.query_one(BufferList).rows):
            self._go_on()
        elif not is_void(self._buffer):
            self.set_focus(self.query_one(Viewer))
            self._take_up_search()

    def _go_on(self) -> None:
        """Do what the empty list says that Enter does."""
        if self._query:
            self.action_clear_filter()
        elif self._project:
            self.show_project(None)
        else:
            self.post_message(messages.BeginningWanted())

    def _take_up_search(self) -> None:
        """What was searched for in all outputs is searched for in the one that is read."""
        if self._searches_contents and self._contents is not None:
            self._when_open(partial(self.query_one(Viewer).search.take_up, self._contents.pattern))

    def on_descendant_focus(self) -> None:
        """Have it seen which pane the keys go to; while the whole terminal has them not, it stays the one before."""
        if self._is_whole and self.focused is not None:
            at_left = self.query_one("#left") in self.focused.ancestors
            self.query_one(Divider).border(at_left)
            self.query_one(ListTitle).point(at_left)

    def key_elsewhere(self, key: str, keymap: Mapping[str, str]) -> str:
        """What to say of a key that does nothing where one is, and something in the other pane; empty for any other."""
        panes = {"#buffers": "list", "#viewer": "output"}
        other = {"buffers": "#viewer", "viewer": "#buffers"}.get(self.focused.id or "" if self.focused else "")
        if other is None or key in self.active_bindings:
            return ""
        for binding in type(self.query_one(other)).BINDINGS:
            if isinstance(binding, Binding) and key in keymap.get(binding.id or "", binding.key).split(","):
                what = f" ({binding.description})" if binding.description else ""
                return f"{written(key)} is a key of the {panes[other]}{what}: Tab goes there"
        return ""

    def action_switch_pane(self) -> None:
        """Go to the next pane."""
        panes = [pane for pane in self.focus_chain if pane.id in ("buffers", "found", "viewer", "result-lines")]
        at = next((at for at, pane in enumerate(panes) if pane is self.focused), -1)
        self.set_focus(panes[(at + 1) % len(panes)])

    # what no agent saw

    def action_next_miss(self) -> None:
        """Go to the next failure that no agent saw, in whichever buffer; where one session counts, that it did not."""
        viewer, verdict = self.query_one(Viewer), self._misses.verdict
        if viewer.has_focus and self._is_judged_alone(viewer):
            viewer.audit.step("overlooked")
        elif miss := self._misses.next(self._buffer.name if self._buffer else ""):
            self.show_line(miss.buffer, miss.stream, miss.line, why=miss.told)
        elif verdict is None or not verdict.done:
            self._misses.then(self.action_next_miss)
        elif viewer.has_focus:
            viewer.audit.step("overlooked")  # which says why there is none here
        else:
            left = f"; {len(verdict.skipped):,} outputs are too large to tell" if verdict.skipped else ""
            left += "; older outputs were not looked at" if verdict.older else ""
            what = f"All {verdict.failures:,} failures were seen" if verdict.failures else "There is no failure"
            self.notify(what + left, markup=False)

    def _is_judged_alone(self, viewer: Viewer) -> bool:
        """Whether the output that is read is none of those that are looked through together."""
        buffer, verdict = self._buffer, self._misses.verdict
        if buffer is None or viewer.counts_one_session or viewer.shows_bytes:
            return True
        return buffer.state == "running" or (verdict is not None and buffer.name in verdict.skipped)

    def action_next_unseen(self) -> None:
        """Go to the next lines that no agent saw: in this output, and after its last in the next one of the list."""
        self.query_one(Viewer).audit.step("unseen", beyond=self._seek_unseen)

    def _seek_unseen(self, told: str) -> None:
        """Nothing unseen is below: go to the next output in the list of which something is."""
        rows = self.query_one(BufferList).rows
        names = [name for at in range(rows.cursor + 1, len(rows)) if (name := rows.name(at)) and " " not in name]

        async def seek() -> None:
            try:
                found = await asyncio.to_thread(self._misses.first_unseen, names)
            except STORE_ERRORS as error:
                tell(self.app, error)
                return
            if found is None:
                self.notify(f"{told}; nothing below in the list, either" if names else told, markup=False)
                return
            self.query_one(BufferList).select(found.name)
            self._show(found)
            self._when_open(lambda: self.query_one(Viewer).audit.step("unseen"))

        self.run_worker(seek(), exclusive=True, group="unseen")

    # the project that is looked at

    @property
    def _scope_name(self) -> str:
        """What the project is called that is looked at."""
        return self._project.name if self._project else "all projects"

    def action_choose_project(self) -> None:
        """Choose another project, or all."""

        def choose(root: str | None) -> None:
            if root is not None:
                self.show_project(project_of(root, self._store.index.folders()) if root else None)

        self.app.push_screen(late.ProjectChoice(self._store), choose)

    def action_all_projects(self) -> None:
        """Show the outputs of all projects, or again of the one before."""
        self.show_project(None if self._project else self._project_before)

    def show_project(self, project: Project | None) -> None:
        """Show the outputs of one project, or of all."""
        if project is None and self._project is None:
            self.notify("These are all projects: c chooses one", markup=False)
            return
        self._project, self._project_before = project, project or self._project
        self.query_one(Header).show_scope(self._scope_name)
        self.query_one(BufferList).show_project(project)
        self._misses.start_afresh(project)

    # the split between the panes

    def on_resize(self) -> None:
        """A share of the width is none of the height."""
        if self._is_whole:
            self._split.lay_out()

    def action_resize(self, steps: int) -> None:
        """Give the list more of the screen, or less."""
        self._split.step(steps)

    def on_split_dragged(self, message: messages.SplitDragged) -> None:
        """The line between the panes goes where the mouse is."""
        self._split.drag(message)

    # asking

    def open_query(self) -> None:
        """Take a place or a question."""
        asking.open_bar(self, self._store, shown_ref(self._buffer, self.query_one(Viewer).stream))

    def on_result_closed(self) -> None:
        """Hide the answer, and give the viewer the focus."""
        self.query_one("#result").display = False
        self.set_focus(self.query_one(Viewer))

    def on_line_meant(self, message: messages.LineMeant) -> None:
        """Show a line, of another buffer too."""
        if self._buffer is None or self._buffer.name != message.buffer.name:
            if not self._searches_contents:
                self.query_one(BufferList).select(message.buffer.name)
            self._show(message.buffer)
        place = str(self._shown_number(message, message.line))
        if message.last > message.line:
            place += f",{self._shown_number(message, message.last)}"
        self.on_place_meant(messages.PlaceMeant(place))
        if message.why:
            self._when_open(lambda: self.query_one(Viewer).audit.come_to(message.why))
        if self.query_one(Viewer).has_focus:  # by a key that was typed ahead
            self._take_up_search()

    def _shown_number(self, message: messages.LineMeant, line: int) -> int:
        """The number of a line in the viewer, which may show one stream only, or bytes."""
        opened = self.query_one(Viewer).opened
        if opened is None or not opened.is_of(message.buffer) or not (opened.stream or opened.hex):
            return line
        try:
            return shown_number(self._store, message.buffer, line, opened.reading)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return line

    def show_line(self, buffer: Buffer, stream: str, line: int, last: int = 0, *, why: str = "") -> None:
        """Show a line of one of a buffer's streams, or the lines up to a last one; and say why."""

        async def place() -> None:
            try:
                at, end = [
                    await asyncio.to_thread(viewer_line, self._store, buffer, Hit(buffer.name, stream, number))
                    for number in (line, max(last, line))
                ]
            except STORE_ERRORS as error:
                tell(self.app, error)
            else:
                self.post_message(messages.LineMeant(buffer, at, end, why))

        self.run_worker(place())

    # the search through all outputs, loaded when it is first wanted

    @property
    def _searches_contents(self) -> bool:
        return self._contents is not None and self._contents.is_open

    def _make_contents(self) -> "buffers.Contents":
        return buffers.Contents(self, self._store)

    def _leave_contents(self, contents: "buffers.Contents") -> None:
        shown, had_focus = self.query_one(BufferList), self.focused is self.query_one("#found")
        contents.close()
        self.query_one(ListTitle).filtered(self._query, messages.ListFiltered(None))
        shown.tell_again()
        if had_focus:
            self.set_focus(shown)

    def on_contents_searched(self, message: messages.ContentsSearched) -> None:
        """What has been found goes to its list."""
        if self._contents is not None:
            self._contents.searched(message)

    def on_hit_selected(self, message: messages.HitSelected) -> None:
        """The line that was found is the one shown."""
        if self._contents is not None:
            self._contents.show(message)
