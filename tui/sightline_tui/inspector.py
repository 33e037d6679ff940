"""The main screen: buffers at the left, the selected one's output at the right. It connects its parts by messages."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widget import Widget

from sightline.base.project import Project, project_of
from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline.store import Reading, Target
from sightline_tui import asking, buffers
from sightline_tui.buffer_actions import BufferActions
from sightline_tui.buffers.buffer_list import AGES_SECONDS, CLOCK_SECONDS, BufferList
from sightline_tui.buffers.list_title import ListTitle
from sightline_tui.buffers.now_lines import NowLines
from sightline_tui.buffers.order import GROUPS, ListOrder
from sightline_tui.common import messages
from sightline_tui.common.key_bar import KeyBar
from sightline_tui.common.keys import named, written
from sightline_tui.common.notice import Notice, Said, nothing_found, nothing_here, welcome
from sightline_tui.common.output_reader import shown_ref
from sightline_tui.common.phrases import is_void, tombstone_text
from sightline_tui.common.places import FoundPlace, shown_number, viewer_line
from sightline_tui.common.preferences import Preferences
from sightline_tui.common.split import Divider, PaneSplit
from sightline_tui.common.store_errors import STORE_ERRORS, tell
from sightline_tui.common.store_read import StoreRead, is_whole
from sightline_tui.common.strips import StripPart
from sightline_tui.header import Header
from sightline_tui.misses import Misses
from sightline_tui.viewer.info_bar import Info
from sightline_tui.viewer.viewer import Viewer

if TYPE_CHECKING:
    from sightline.audit.project_scope import KnownProject

with late_modules(globals()):
    from sightline_tui import project_choice  # 50 ms
    from sightline_tui.common import prompt as prompts  # 6 ms, with Textual's input

BURST_SECONDS = 0.75
"""Seconds between two looks at the store while captures come fast; the first of them is shown at once."""


class Inspector(BufferActions):
    """The main screen: two panes that know nothing of each other, side by side, or stacked if the screen is narrow."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012 (typed so in Screen)
    AUTO_FOCUS = "#buffers"
    came_from: tuple[str, str] = ("", "")
    """The action that opens the screen which led to an output, and the name of that; empty if none did."""
    BINDINGS: ClassVar[list[BindingType]] = named(
        "anywhere",
        [
            Binding("exclamation_mark", "next_miss", "Next miss", key_display="!"),
            Binding("u", "next_unseen", "Unseen"),
            Binding("tab,shift+tab", "switch_pane", "Switch pane"),
            Binding("less_than_sign", "resize(-1)", "Smaller list", show=False),
            Binding("greater_than_sign", "resize(1)", "Larger list", show=False),
            Binding("c", "choose_project", "Project", show=False),
            Binding("asterisk", "app.switch_scope", "All projects, or the one before", key_display="*", show=False),
            Binding("e", "first_error", "First error of the output", show=False),
            Binding("escape", "step_back", "Back, or clear the filter", show=False),
            Binding("q", "back", "Quit"),
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
            remembered: the layout and filters of the last time.
            target: what it opens on; the most recently used buffer by default.
            project: the only one whose outputs it shows; None for all.
            clock: what ages are counted from.
        """
        super().__init__(store, clock)
        self._project = self._project_before = project
        self._remembered = remembered
        self._split = PaneSplit(self, remembered, "-narrow")
        self._target = target
        self._query = ""
        self._live = False
        self._contents: buffers.Contents | None = None
        self._once_open: list[Callable[[], None]] = []
        self._stone: tuple[str, dict[str, object] | None] = "", None  # what is left of the evicted buffer shown last
        self._stones: StoreRead[tuple[str, dict[str, object] | None]] = StoreRead(
            self, self._plan_stone, self._take_stone
        )
        self._index_changes = Throttle(self, BURST_SECONDS, self._index_changed)
        self._misses = Misses(self, store, project, lambda verdict: self.query_one(Header).judge(verdict))

    def compose(self) -> ComposeResult:
        """Header, panes, keys."""
        target = self._target
        # Textual sets these with the first resize, after which it would compute all styles and paint a second time.
        self.update_classes({self._width_class(self.app.size.width): True}, update=False)
        yield Header(self._store, self._scope_name)
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                order = self._remembered_order()
                yield ListTitle(order)
                selected = target.buffer.name if target else ""
                shown = BufferList(
                    self._store, clock=self._clock, selected=selected, order=order, project=self._project
                )
                yield NowLines(self._store, self._project, self._clock, shown.hold_rows)
                yield shown
            yield Divider()
            with Vertical(id="right"):
                yield Info(clock=self._clock)
                wraps = self._remembered.get("wrap", False)
                line, is_first = target.first if target else 0, target is not None
                yield Viewer(self._store, line=line, wraps=wraps, is_first=is_first)
        yield KeyBar()

    def _width_class(self, width: int) -> str:
        return next(name for least, name in reversed(self.HORIZONTAL_BREAKPOINTS) if width >= least)

    def on_mount(self) -> None:
        """Show what is there, before the first layout, so that the first screen is painted once and whole."""
        self._split.lay_out()
        self._show(self.query_one(BufferList).first_look())
        self.call_after_refresh(self._misses.ask)
        self.set_interval(CLOCK_SECONDS, self.query_one(Info).tell)  # the duration of a running capture
        if self._store.place:
            self.set_interval(AGES_SECONDS, self.query_one(Header).tell_place)
        if self._target is not None:  # whoever names an output wants to read it
            self.set_focus(self.query_one(Viewer))

    def on_unmount(self) -> None:
        """End a search, which would keep the application running, and remove the copies made for editors."""
        if self._contents is not None:
            self._contents.end()
        self.close_copies()
        self.carry_out_removals()

    @property
    def _is_whole(self) -> bool:
        """Whether all panes exist; False at the start, and while they are removed one by one."""
        return self.is_mounted and is_whole(self)

    def listed_names(self) -> list[str]:
        """Names of the buffers that its list knows."""
        return [entry.name for entry in self.query_one(BufferList).rows.catalog.entries]

    def start_afresh(self, *, keep_cursor: bool = False) -> None:
        """Read everything again, since the store now has other buffers, or more: then the cursor stays on its own."""
        if not self._is_whole:
            return
        if (
            self._contents is not None
            and self._contents.is_open
            and (prompt := self.query_one_optional("#filter", prompts.Prompt))
        ):
            prompt.clear()
        self.close_copies()
        self.query_one(BufferList).start_afresh(keep_cursor=keep_cursor)
        self.query_one(NowLines).changed()
        self._misses.start_afresh(self._project)

    # messages of the store

    def store_changed(self, message: messages.StoreChanged) -> None:
        """Pass a change on to the panes."""
        if not self._is_whole:
            return
        self.query_one(Viewer).went_on(message.live)  # first, since a reader waits for new lines
        self.query_one(BufferList).store_changed(False, message.live)
        self.query_one(NowLines).went_on(message.live)
        if message.index:
            self._index_changes.ask()

    def _index_changed(self) -> None:
        """Refresh after something was captured, shown or removed."""
        if self._is_whole:
            self.query_one(Viewer).audit_soon()
            self._misses.ask()
            self.query_one(BufferList).store_changed(True, frozenset())
            self.query_one(NowLines).changed()

    def polling_begun(self) -> None:
        """Have the header say that the store is polled for changes."""
        if not self._is_whole:
            return
        self.query_one(Header).polling()

    # messages of the panes

    def on_order_chosen(self, message: messages.OrderChosen) -> None:
        """Show the list and its title in another order."""
        order = ListOrder(message.sort, message.turned, message.group)
        self.query_one(BufferList).set_order(order)
        self.query_one(ListTitle).ordered(order)
        self._remembered.put("group", order.group)

    def _remembered_order(self) -> ListOrder:
        """The order to begin with: the grouping of the last time; a sort order is not kept."""
        group = self._remembered.get("group", "")
        return ListOrder(group=group) if group in GROUPS else ListOrder()

    def on_store_counted(self, message: messages.StoreCounted) -> None:
        """Show the counts in the header."""
        if not self._is_whole:
            return
        self.query_one(Header).count(message)

    def on_buffer_selected(self, message: messages.BufferSelected) -> None:
        """Show the selected buffer."""
        if self._is_whole and message.buffer is not None:
            self.query_one(Info).judge(message)
        if self._is_whole and message.buffer != self._buffer and not self._searches_contents:
            self._show(message.buffer)
            self._stay_at_end()

    def _show(self, buffer: Buffer | None) -> None:
        if buffer is None or self._buffer is None or buffer.name != self._buffer.name:
            self._once_open.clear()
        self._buffer = buffer
        self.query_one(Viewer).show(buffer)
        self._name_shown()
        self._say_why_empty()

    def _name_shown(self) -> None:
        """Name the selected output above the viewer, unless that still shows another, whose lines it would name."""
        opened, buffer = self.query_one(Viewer).opened, self._buffer
        if opened is None or is_void(buffer) or opened.is_of(buffer):
            self.query_one(Info).about(buffer)

    def on_place_changed(self, message: messages.PlaceChanged) -> None:
        """Show the place in the row of facts."""
        if not self._is_whole:
            return
        self._first_shown = message.first
        self._name_shown()
        self.query_one(Info).at(message)
        self._remembered.put("wrap", self.query_one(Viewer).wraps)
        self._say_why_empty()
        if self._once_open and self._is_open():
            waiting, self._once_open = self._once_open, []
            for deed in waiting:
                deed()

    def on_output_checked(self, message: messages.OutputChecked) -> None:
        """Show in its row and above it whether the shown output is still what was captured."""
        if not self._is_whole or self._buffer is None or self._buffer.name != message.buffer.name:
            return
        self._buffer = message.buffer
        self.query_one(Info).about(message.buffer)
        self._index_changes.ask()

    def on_live_switched(self, message: messages.LiveSwitched) -> None:
        """Follow the newest output, or stop; the header says so, and the viewer stays at the output's end."""
        if self._is_whole:
            self._live = message.live
            self.query_one(Header).show_live(message.live)
            self._stay_at_end()

    def _stay_at_end(self) -> None:
        """Keep the viewer at the output's end while the list follows the newest and the viewer has no focus."""
        if self._live and self._buffer is not None and not self.query_one(Viewer).has_focus:
            self._when_open(self.query_one(Viewer).action_follow)

    def on_list_filtered(self, message: messages.ListFiltered) -> None:
        """Show in the title what the filter found."""
        if not self._is_whole:
            return
        self.query_one(ListTitle).filtered(self._query, message)

    def follow_session(self, session: str | None) -> None:
        """Follow the newest output of one session, or of all; Esc shows all sessions again."""
        query = f"session:{session}" if session is not None else ""
        self.open_prompt("filter")
        prompt = self.query_one("#filter", prompts.Prompt)
        prompt.value = query
        prompt.close()
        self._filter(query)
        self.query_one(BufferList).follow()

    def _say_why_empty(self) -> None:
        """If no output is shown, say why in its place."""
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
                return []  # the cursor is on a heading
            if self._query:
                return nothing_found()
            return nothing_here(self._project.name) if self._project else welcome()
        if buffer.state == "evicted":
            what, held, how = tombstone_text(self._tombstone(buffer.name), buffer)
            return [
                [StripPart(what, "strong")],
                [StripPart(buffer.command, "command")],
                [],
                [StripPart(held, "dim")],
                [StripPart(how, "dim")],
            ]
        if not buffer.bytes:
            waiting = buffer.state == "running"
            return [[StripPart("No output yet" if waiting else "No output", "dim")]]
        return []

    def _tombstone(self, name: str) -> dict[str, object] | None:
        """What is left of a buffer: read at once, but from a shared place, which may be slow, in another thread."""
        if self._stone[0] != name:
            self._stone = name, None
            if self._store.place:
                self._stones.ask()
                return None
            try:
                self._stone = self._read_stone(name)
            except STORE_ERRORS as error:
                tell(self.app, error)
        return self._stone[1]

    def _plan_stone(self) -> Callable[[], tuple[str, dict[str, object] | None]]:
        return partial(self._read_stone, self._stone[0])

    def _read_stone(self, name: str) -> tuple[str, dict[str, object] | None]:
        return name, self._store.tombstone(name)

    def _take_stone(self, stone: tuple[str, dict[str, object] | None]) -> None:
        if stone[0] == self._stone[0] and stone != self._stone:
            self._stone = stone
            self._say_why_empty()

    # prompts, made when first opened, so that the first screen comes sooner

    def open_prompt(self, name: str) -> None:
        """Open one of `PROMPTS` at once, so that it gets the next key."""
        prompt, asks = self.query_one_optional(f"#{name}", prompts.Prompt), prompts.PROMPTS[name]
        if prompt is None:
            if name == "search":
                prompt = prompts.SearchPrompt(
                    asks, id=name, typed=lambda text: self.query_one(Viewer).search.typed(text)
                )
            elif name == "save":
                prompt = prompts.Prompt(asks, id=name, typed=lambda _: None)
                with suppress(OSError):  # the current folder is gone
                    prompt.value = os.getcwd()
            else:
                shown = self.query_one(BufferList)
                typed = self._filter
                prompt = prompts.Prompt(asks, id=name, typed=typed, settled=shown.settled, completed=shown.completed)
            self.query_one(asks.pane).mount(prompt, before=asks.above or None)
        if name == "search":
            self.query_one(Viewer).search.opened()
        elif name == "save" and self.focused is not None and self.focused.id:
            prompt.back = f"#{self.focused.id}"
        prompt.open()
        if name == "filter":
            self.query_one(BufferList).expect_filter()

    @property
    def reads(self) -> bool:
        """Whether keys go to the viewer, which itself learns of its focus only later."""
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
        self.query_one("#filter", prompts.Prompt).back = "#found" if in_contents else "#buffers"

    def on_prompt_answered(self, message: messages.PromptAnswered) -> None:
        """Enter in a prompt: search all outputs, end typing a search, or save copies; a filter just stays."""
        if message.prompt == "filter" and self._searches_contents and self._contents is not None:
            self._contents.meant()
        elif message.prompt == "search":
            self.query_one(Viewer).search.answered(message.text)
        elif message.prompt == "save":
            self.save_in(message.text.strip())

    def on_place_meant(self, message: messages.PlaceMeant) -> None:
        """Go to a place in the selected buffer, as soon as it is open."""
        self._when_open(lambda: self._go_to(message.text))

    def _go_to(self, place: str) -> None:
        if not self.query_one(Viewer).go_to(place):
            self.notify("That is no place here: type 42, 42,80, 50% or $", severity="warning", markup=False)

    def _is_open(self) -> bool:
        return self._buffer is None or self.query_one(Viewer).shows(self._buffer.name)

    def _when_open(self, deed: Callable[[], None]) -> None:
        """Do something with the selected buffer as soon as it is open, unless another one is selected by then."""
        if self._is_open():
            deed()
        else:
            self._once_open.append(deed)

    def on_prompt_left(self, message: messages.PromptLeft) -> None:
        """Cancel a search."""
        if message.prompt == "search":
            self.query_one(Viewer).search.left()

    def on_case_switched(self) -> None:
        """Change whether upper and lower case match each other."""
        self.query_one(Viewer).search.switch_case()

    # keys

    async def action_back(self) -> None:
        """Go back one place; leave from the first."""
        if not self._go_back():
            await self.app.action_quit()

    def action_step_back(self) -> None:
        """Go back one place; in the first one clear the filter."""
        if not self._go_back() and not self._clear_filter():
            self.notify("q leaves", markup=False)

    def _go_back(self) -> bool:
        """Go to the screen that led to an output, else from it to the list; return False in the first place."""
        (screen, shown), self.came_from = self.came_from, ("", "")
        if screen and self._buffer is not None and self._buffer.name == shown:
            getattr(self, f"action_{screen}")()
            return True
        viewer = self.query_one(Viewer)
        if self.focused in (None, self._list) or (viewer.is_first and self.focused is viewer):
            return False
        self.set_focus(self._list)
        return True

    @property
    def _list(self) -> Widget:
        """The list that is shown at the left."""
        return self.query_one("#found") if self._searches_contents else self.query_one(BufferList)

    def _clear_filter(self) -> bool:
        """Show every buffer again, or only end a search through all outputs; return whether there was one."""
        if self._contents is not None and self._contents.stop():
            return True
        prompt = self.query_one_optional("#filter", prompts.Prompt)
        if prompt is None or not prompt.value:
            return False
        prompt.clear()
        return True

    def action_first_error(self) -> None:
        """Go to the first error region of the selected output."""
        if self._buffer is not None and not is_void(self._buffer):
            viewer = self.query_one(Viewer)
            self.set_focus(viewer)
            self._when_open(lambda: viewer.failures.step(back=False))

    def action_read(self) -> None:
        """Go to the viewer at once, since the next key may be on its way. Stay if there is nothing to read."""
        if self._buffer is None and not len(self.query_one(BufferList).rows):
            self._go_on()
        elif not is_void(self._buffer):
            self.set_focus(self.query_one(Viewer))
            self._take_up_search()

    def _go_on(self) -> None:
        """Do what the empty list says for Enter."""
        if self._query:
            self._clear_filter()
        elif self._project:
            self.show_project(None)
        else:
            self.post_message(messages.BeginningWanted())

    def _take_up_search(self) -> None:
        """Search the shown output for the text that was searched in all outputs."""
        if self._searches_contents and self._contents is not None:
            self._when_open(partial(self.query_one(Viewer).search.take_up, self._contents.pattern))

    def on_descendant_focus(self) -> None:
        """Mark the pane that gets the keys; while the terminal itself has no focus, keep the last one marked."""
        if self._is_whole and self.focused is not None:
            at_left = self.query_one("#left") in self.focused.ancestors
            self.query_one(Divider).border(at_left)
            self.query_one(ListTitle).point(at_left)

    def key_elsewhere(self, key: str, keymap: Mapping[str, str]) -> str:
        """A hint for a key that does nothing in this pane, but acts in the other; empty for any other key."""
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

    # what no agent saw: failures and lines

    def action_next_miss(self) -> None:
        """Go to the next failure that no agent saw, in any buffer; or that the chosen session did not see."""
        viewer, found = self.query_one(Viewer), self._misses.found
        if viewer.has_focus and self._is_judged_alone(viewer):
            viewer.audit.step("overlooked")
        elif miss := self._misses.next(self._buffer.name if self._buffer else ""):
            self.show_line(miss.buffer, miss.stream, miss.line, why=miss.told)
        elif found is None or not found.verdict.is_done:
            self._misses.then(self.action_next_miss)
        elif viewer.has_focus:
            viewer.audit.step("overlooked")  # the viewer says why there is none here
        else:
            failures = found.verdict.failures
            what = f"All {failures:,} failures were seen" if failures else "There is no failure"
            self.notify("; ".join((what, *found.verdict.left_out)), markup=False)

    def _is_judged_alone(self, viewer: Viewer) -> bool:
        """Whether the shown output is not among those that are searched for failures together."""
        buffer = self._buffer
        if buffer is None or viewer.counts_one_session or viewer.shows_bytes:
            return True
        return buffer.state == "running"

    def action_next_unseen(self) -> None:
        """Go to the next lines that no agent saw, in this output or, after its last, in the next one of the list."""
        self.query_one(Viewer).audit.step("unseen", beyond=self._seek_unseen)

    def _seek_unseen(self, told: str) -> None:
        """Go to the next output in the list that has unseen lines, since none follow in this one."""
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

    # the project that is shown

    @property
    def _scope_name(self) -> str:
        """The name of the project that is shown."""
        return self._project.name if self._project else "all projects"

    def action_choose_project(self) -> None:
        """Choose another project, or all."""

        def choose(chosen: "KnownProject | None") -> None:
            if chosen is not None:
                is_all = chosen.root is None and not chosen.host
                self.show_project(None if is_all else project_of(chosen.root, offered.folders, chosen.host))

        offered = project_choice.ProjectChoice(self._store, self._project)
        self.app.push_screen(offered, choose)

    def switch_scope(self) -> Project | None:
        """Show the outputs of all projects, or again of the one before; return the scope that is shown now."""
        self.show_project(None if self._project else self._project_before)
        return self._project

    def show_project(self, project: Project | None) -> None:
        """Show the outputs of one project, or of all."""
        if project is None and self._project is None:
            self.notify("These are all projects: c chooses one", markup=False)
            return
        self._project, self._project_before = project, project or self._project
        self.query_one(Header).show_scope(self._scope_name)
        self.query_one(BufferList).show_project(project)
        self.query_one(NowLines).show_project(project)
        self._misses.start_afresh(project)
        if self._contents is not None:
            self._contents.show_project(project)

    # the split between the panes

    def on_resize(self) -> None:
        """Lay the panes out again, since a share of the width is no share of the height."""
        if self._is_whole:
            self._split.lay_out()

    def action_resize(self, steps: int) -> None:
        """Give the list more of the screen, or less."""
        self._split.step(steps)

    def on_split_dragged(self, message: messages.SplitDragged) -> None:
        """Move the line between the panes to the mouse."""
        self._split.drag(message)

    # asking

    def open_query(self) -> None:
        """Open the query bar for a place or a question."""
        asking.open_bar(self, self._store, shown_ref(self._buffer, self.query_one(Viewer).stream))

    def on_result_closed(self) -> None:
        """Hide the answer, and give the viewer the focus."""
        self.query_one("#result").display = False
        self.set_focus(self.query_one(Viewer))

    def on_line_meant(self, message: messages.LineMeant) -> None:
        """Show a line of this or of another buffer."""
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
        if self.query_one(Viewer).has_focus:  # a key typed ahead did that
            self._take_up_search()

    def _shown_number(self, message: messages.LineMeant, line: int) -> int:
        """The number that a line has in the viewer, which may show only one stream, or bytes."""
        opened = self.query_one(Viewer).opened
        if opened is None or not opened.is_of(message.buffer) or not (opened.stream or opened.hex):
            return line
        try:
            return shown_number(self._store, message.buffer, line, opened.reading)
        except STORE_ERRORS as error:
            tell(self.app, error)
            return line

    def show_line(self, buffer: Buffer, stream: str, line: int, last: int = 0, *, why: str = "") -> None:
        """Show a line of a buffer's stream, or lines up to a last one, and say why."""

        async def place() -> None:
            try:
                at, end = [
                    await asyncio.to_thread(viewer_line, self._store, buffer, FoundPlace(buffer.name, stream, number))
                    for number in (line, max(last, line))
                ]
            except STORE_ERRORS as error:
                tell(self.app, error)
            else:
                self.post_message(messages.LineMeant(buffer, at, end, why))

        self.run_worker(place())

    # the search through all outputs, loaded at its first use

    @property
    def _searches_contents(self) -> bool:
        return self._contents is not None and self._contents.is_open

    def _make_contents(self) -> "buffers.Contents":
        return buffers.Contents(self, self._store, self._project)

    def _leave_contents(self, contents: "buffers.Contents") -> None:
        shown, had_focus = self.query_one(BufferList), self.focused is self.query_one("#found")
        contents.close()
        self.query_one(ListTitle).filtered(self._query, messages.ListFiltered(None))
        shown.tell_again()
        if had_focus:
            self.set_focus(shown)

    def on_contents_searched(self, message: messages.ContentsSearched) -> None:
        """Show in the list what has been found."""
        if self._contents is not None:
            self._contents.searched(message)

    def on_hit_selected(self, message: messages.HitSelected) -> None:
        """Show the line that was found."""
        if self._contents is not None:
            self._contents.show(message)


class Throttle:
    """Keeps an action to a pace. No request is lost: the last one of a burst is carried out after it."""

    def __init__(self, widget: Widget, seconds: float, deed: Callable[[], None]) -> None:
        """Prepare the action.

        Args:
            widget: the widget that has the timers.
            seconds: least time between two actions.
            deed: the action, carried out in the UI's thread.
        """
        self._widget = widget
        self._seconds = seconds
        self._deed = deed
        self._last = float("-inf")
        self._timer: Timer | None = None

    def ask(self) -> None:
        """Carry the action out now, or as soon as the pace allows."""
        if self._timer is not None:
            return
        wait = self._last + self._seconds - time.monotonic()
        if wait <= 0:
            self._do()
        else:
            self._timer = self._widget.set_timer(wait, self._do)

    def _do(self) -> None:
        self._timer, self._last = None, time.monotonic()
        self._deed()
