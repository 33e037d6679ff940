"""What can be done with the selected buffer from the main screen. Each is loaded when it is first wanted."""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.screen import Screen

from sightline.base.project import Project
from sightline.base.records import Buffer
from sightline.light.late_imports import late_modules
from sightline.store import Reading
from sightline_tui import brief, buffers, diff, evidence, json, merged, notes, timeline
from sightline_tui.buffers.buffer_list import BufferList
from sightline_tui.common.clipboard import copy
from sightline_tui.common.keys import named
from sightline_tui.common.messages import LineChosen
from sightline_tui.viewer.viewer import Viewer

if TYPE_CHECKING:
    from sightline_tui.common.outside_program import Copies

with late_modules(globals()):
    from sightline_tui.common import outside_program  # 3 ms

OPENING_SECONDS = 0.25
"""Seconds that the next key waits for a screen to open; the inspector does nothing else meanwhile."""


class BufferActions(Screen[None]):
    """The keys for a buffer, wherever on the screen one is."""

    BINDINGS: ClassVar[list[BindingType]] = named(
        "buffer",
        [
            Binding("y", "copy_ref", "Copy ref", show=False),
            Binding("i", "info", "Info"),
            Binding("V", "shown", "Shown"),
            Binding("d", "diff", "Diff"),
            Binding("M", "merged", "Merge the marked outputs by time", show=False),
            Binding("J", "json", "JSON as a tree", show=False),
            Binding("P", "outside('pager')", "Open in the pager", show=False),
            Binding("O", "outside('editor')", "Open a copy in the editor", show=False),
            Binding("ctrl+s", "save", "Save copies in a folder", show=False),
            Binding("p", "pin", "Pin or unpin", show=False),
            Binding("D", "delete", "Delete", show=False),
            Binding("X", "end_command", "End a running command", show=False),
            Binding("t", "timeline", "Timeline"),
            Binding("I", "why", "Why"),
            Binding("b,B", "brief", "Brief"),
            Binding("K", "claims", "Claims"),
            Binding("W", "sessions", "Sessions, who asked and read what", show=False),
            Binding("a", "note", "Write a note on the lines", show=False),
            Binding("A", "notes", "Notes", show=False),
        ],
    )

    def __init__(self, store: Reading, clock: Callable[[], float]) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._project: Project | None = None
        self._buffer: Buffer | None = None
        self._copies: Copies | None = None
        self._first_shown = 0
        self._removals: buffers.Removals | None = None

    def close_copies(self) -> None:
        """Remove the copies that editors were given."""
        if self._copies is not None:
            self._copies.close()

    def action_copy_ref(self) -> None:
        """Put the refs of the marked buffers, or else the selected one's, on the clipboard."""
        if refs := " ".join(buffer.ref for buffer in self._wanted()):
            copy(self.app, refs)
            self.notify(f"Copied {refs}", markup=False)

    def _wanted(self) -> list[Buffer]:
        """Return the marked buffers, or else the selected one, as far as there is any."""
        return self.query_one(BufferList).marked_records() or ([self._buffer] if self._buffer is not None else [])

    def action_info(self) -> None:
        """Show all that is known of the buffer."""
        if self._buffer is not None:
            self.app.push_screen(evidence.InfoScreen(self._store, self._buffer.name, clock=self._clock))

    def action_shown(self) -> None:
        """Show the replies in which the buffer was shown; one that is chosen stands out in the viewer."""
        if self._buffer is not None and self._buffer.state != "evicted":
            audit = self.query_one(Viewer).audit
            at, session = audit.pointed_to, audit.session
            shown = evidence.ShownScreen(self._store, self._buffer, session=session, at=at, clock=self._clock)
            self.app.push_screen(shown, partial(self._point_out, self._buffer))

    def _point_out(self, buffer: Buffer, located: "evidence.LinesWanted | None") -> None:
        """Have the lines of a reply stand out in the viewer, until they are forgotten."""
        if located is not None:
            viewer = self.query_one(Viewer)
            viewer.audit.point(located.reply.lines, located.what, located.reply.view.id)
            self.set_focus(viewer)
            self.post_message(LineChosen(buffer, *located.start))

    async def action_json(self) -> None:
        """Show the buffer's JSON as a tree."""
        if self._buffer is not None and self._buffer.state != "evicted":
            stream = self.query_one(Viewer).stream
            await self._opened(json.open_json(self.app, self._store, self._buffer, stream))

    def action_outside(self, program: str) -> None:
        """Open the buffer in the person's pager, or a copy of it in their editor."""
        if self._buffer is not None:
            self._copies = self._copies or outside_program.Copies()
            shown = outside_program.ViewerState(self._buffer, self.query_one(Viewer).stream, self._first_shown)
            self.run_worker(outside_program.leave_for(self.app, self._store, shown, program, self._copies))

    def action_save(self) -> None:
        """Ask for a folder, and copy the marked buffers into it, or else the selected one."""
        if self.app.is_web:
            self.notify(
                "A browser has no folder here: `sightline path REF` names the file",
                markup=False,
            )
        elif self._wanted():
            self.open_prompt("save")

    @abstractmethod
    def open_prompt(self, name: str) -> None:
        """Open a line to type in."""

    def save_in(self, folder: str) -> None:
        """Copy the marked buffers, or else the selected one, into a folder."""
        if folder and (wanted := self._wanted()):
            self.run_worker(outside_program.save(self.app, self._store, wanted, folder))

    async def action_diff(self) -> None:
        """Compare the two marked buffers, or the selected one with the run before it."""
        await self._opened(diff.open_diff(self.app, self._store, self._buffer, self.query_one(BufferList).marks))

    def action_merged(self) -> None:
        """Show the marked buffers as one, their lines in the order in which they came."""
        marked = [buffer for buffer in self.query_one(BufferList).marked_records() if buffer.state != "evicted"]
        if len(marked) < 2:
            self.notify("Mark two or more outputs with m, then M merges them by time", severity="warning", markup=False)
            return
        self.app.push_screen(merged.MergedScreen(self._store, marked, self._clock))

    async def _opened(self, opening: Awaitable[None]) -> None:
        """Wait until a screen has been read and opened, so that it gets the next key; give up if that takes long."""
        is_open = asyncio.Event()

        async def opens() -> None:
            try:
                await opening
            finally:
                is_open.set()

        self.run_worker(opens(), exclusive=True, group="opening")
        with suppress(TimeoutError):
            async with asyncio.timeout(OPENING_SECONDS):
                await is_open.wait()

    def action_brief(self) -> None:
        """Show what was run and what was missed, on one screen."""
        self.app.push_screen(brief.BriefScreen(self._store, self._project, clock=self._clock))

    def action_claims(self) -> None:
        """Show what agents claim, and the runs and edits that bear on it."""
        self.app.push_screen(evidence.ClaimsScreen(self._store, self._project))

    def action_timeline(self) -> None:
        """Show what was asked, call by call."""
        self._open_timeline()

    def open_session(self, session: str) -> None:
        """Show the calls of a session."""
        self._open_timeline((session,))

    def _open_timeline(self, chosen: tuple[str | None] | None = None) -> None:
        """Show the calls of the session that is chosen, or of all for (None,); by default of the one before."""
        if self.app.is_screen_installed("timeline"):
            there = self.app.get_screen("timeline", timeline.TimelineScreen)
            there.show_project(self._project)
            if chosen is not None:
                there.show_session(*chosen)
        else:  # the screen is kept: reading many calls takes a while
            session = chosen[0] if chosen else None
            made = timeline.TimelineScreen(self._store, session, project=self._project, clock=self._clock)
            self.app.install_screen(made, "timeline")
        self.app.push_screen("timeline")

    def action_why(self) -> None:
        """Go to the words before the call that captured the buffer, in the timeline of its session."""
        if self._buffer is not None:
            self._open_timeline((self._buffer.session,))
            there = self.app.get_screen("timeline", timeline.TimelineScreen)
            there.seek_reason(self._buffer.session, self._buffer.created)

    def action_sessions(self) -> None:
        """List the sessions; the one that is chosen is shown call by call."""

        def choose(chosen: tuple[str | None] | None) -> None:
            if chosen is not None:
                self._open_timeline(chosen)

        board = timeline.SessionsScreen(self._store, project=self._project, clock=self._clock)
        self.app.push_screen(board, choose)

    async def action_note(self) -> None:
        """Write a note on the selected lines, or on the line last gone to."""
        viewer = self.query_one(Viewer)
        if (opened := viewer.opened) is None:
            self.notify("There is no output here to write a note on", markup=False)
            return
        first, last = viewer.selection.range or (viewer.target, viewer.target)
        passage = notes.Passage(opened.buffer, opened.reading, first, last)

        def written() -> None:
            viewer.selection.clear()
            viewer.changed()

        await self._opened(notes.write_on(self.app, self._store, passage, self._clock(), written))

    def action_notes(self) -> None:
        """List the remarks."""
        self.app.push_screen(notes.NotesScreen(self._store, self._project, clock=self._clock))

    def action_pin(self) -> None:
        """Pin the marked buffers, or else the selected one, so that no limit evicts them; or unpin them."""
        if wanted := self._wanted():
            self.run_worker(buffers.pin(self.app, self._store, wanted))

    async def action_end_command(self) -> None:
        """End the command of the selected buffer, once it is confirmed."""
        if self._buffer is not None:
            await self._opened(buffers.end(self.app, self._store, self._buffer))

    def action_delete(self) -> None:
        """Delete the marked buffers, or else the selected one, once it is confirmed; or take them back."""
        if wanted := self._wanted():
            shown = self.query_one(BufferList)
            if self._removals is None:
                self._removals = buffers.Removals(lambda: self.app, self._store, self._deleted)
            self._removals.ask(wanted, shown.rows.let_go)

    def _deleted(self) -> None:
        if self._removals is not None:
            self.query_one(BufferList).show_deleted(frozenset(self._removals.waiting))

    def carry_out_removals(self) -> None:
        """Remove what was deleted, since it can no longer be taken back."""
        if self._removals is not None:
            self._removals.carry_out()
