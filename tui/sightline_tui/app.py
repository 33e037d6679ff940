"""The inspector: a terminal UI on a store. Each feature is a folder beside this file, which `inspector.py` joins."""

import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from textual import events, on
from textual.actions import ActionParseResult, parse
from textual.app import ScreenStackError
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, Screen
from textual.theme import Theme
from textual.widget import Widget

from sightline.base.project import Project, find_project, project_here, project_of
from sightline.base.threads import give_back_memory, share_one_heap
from sightline.light.late_imports import late_modules
from sightline.store import Reading, Store, Target
from sightline_tui import asking, evidence
from sightline_tui.common import messages
from sightline_tui.common.key_order import KeyOrder
from sightline_tui.common.keys import keymap_of, named
from sightline_tui.common.messages import PollingBegun, StoreChanged
from sightline_tui.common.preferences import Preferences
from sightline_tui.common.scoped_screen import ScopedScreen
from sightline_tui.common.textual_internals import FaultTold, draw_on_standard_output
from sightline_tui.common.theme import DARK, LIGHT, TERMINAL, THEMES
from sightline_tui.common.visible_text import visible
from sightline_tui.inspector import Inspector
from sightline_tui.shutdown import end_when_told, end_with_terminal, keep, told

_LOOK_SECONDS = 2.0  # between two looks for new lines in the harnesses' own logs, mostly one listing of a folder
_CATCH_UP = (sys.executable, "-P", "-m", "sightline.doors.cli.main", "sessions", "--limit", "1")
"""Any command logs the views that wait before it starts; this one adds nothing to the log itself."""


class StoreFeed:
    """Posts a `StoreChanged` to one receiver for each burst of changes, from `start` until `close`."""

    def __init__(self, store: Reading, receiver: MessagePump) -> None:
        self._receiver = receiver
        self._store = store
        self._stop = threading.Event()
        self._looking: threading.Thread | None = None
        self._changes = store.changes(self._tell, polls=self._polls)

    def start(self) -> None:
        """Begin. Call it after the first screen: it loads the code that watches the store."""
        self._changes.start()
        self._looking = threading.Thread(target=self._look, name="sightline-transcripts", daemon=True)
        self._looking.start()

    def close(self) -> None:
        """End."""
        self._stop.set()
        self._changes.close()
        if self._looking is not None:
            self._looking.join()
            self._looking = None

    def _look(self) -> None:
        """Log the views that wait for a harness's own log, since no other event may say that it grew."""
        while True:
            if self._store.local.layout.waiting_sessions():
                environment = {**os.environ, "SIGHTLINE_HOME": self._store.local.root}
                with suppress(OSError):  # it is tried again
                    subprocess.run(_CATCH_UP, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
            if self._stop.wait(_LOOK_SECONDS):
                return

    def _tell(self, change: "Change") -> None:
        self._receiver.post_message(StoreChanged(change.records, change.live))

    def _polls(self, reason: str) -> None:
        self._receiver.post_message(PollingBegun(reason))


if TYPE_CHECKING:
    from sightline.store import Change
    from sightline_tui.commands import Action

with late_modules(globals()):
    from sightline_tui import (
        commands,  # 8 ms
        first_steps,  # 20 ms: most stores hold something
    )
    from sightline_tui.common import (
        popular_themes,  # few choose one
        theme_choice,
    )

WRITING = frozenset(("pin", "delete", "save", "end_command", "note", "send", "take_back", "rename", "outside", "begin"))
"""Actions by which a store is changed, an agent is told something, or a program is run."""

GARBAGE_THRESHOLDS = 10_000, 2, 2
"""A frame makes some 4,000 objects: at Python's usual 700, each would collect garbage. What one collection leaves is
soon looked at again: each drawn row, which Textual lets hold itself, is garbage once it has left the screen, and with
Python's usual 10 and 10 an inspector in live mode held 70,000 such objects. What waits in between is spread over memory
that Python cannot give back while anything lies beside it.
"""

GIVING_BACK_SECONDS = 60.0
"""Time between two returns of free memory to the system. In an inspector that is used, some 4 MiB gather meanwhile."""

TOAST_SECONDS = 0.5  # nobody has read one that is younger
FEED_DELAY_SECONDS = 0.1  # the code that watches takes 30 ms to load, and the first screen must not wait for it


class InspectorApp(FaultTold[None]):
    """Shows a store, live."""

    TITLE = "Sightline"
    CSS_PATH = ["inspector.tcss", "viewer/viewer.tcss"]  # noqa: RUF012 (a default screen's own is not loaded)
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *named(
            "app",
            [
                # With priority: they act before the key is sent on, and no widget can take them.
                Binding("slash", "filter", "Filter", key_display="/", priority=True),
                Binding("colon", "query", "Query", key_display=":", priority=True),
                Binding("question_mark", "help", "Keys", key_display="?"),
                Binding("ctrl+p", "palette", "All that can be done", show=False),
                Binding("q", "quit", "Quit"),
                Binding("C", "choose_theme", "Theme", show=False),
            ],
        ),
        Binding("ctrl+q,ctrl+c", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "To the shell; fg comes back", show=False, priority=True),
    ]

    _found_theme: Theme | None = None

    def __init__(
        self,
        store: Reading,
        *,
        target: Target | None = None,
        project: Project | None = None,
        clock: Callable[[], float] = time.time,
        live: bool = True,
        read_only: bool = False,
        session: str = "",
    ) -> None:
        """Make the application.

        Args:
            store: what it shows; it stays open when the application ends.
            target: what it opens on; the most recently used buffer by default.
            project: the only one whose outputs it shows at first; None for all.
            clock: what ages are counted from.
            live: whether it listens for changes.
            read_only: whether nothing can be deleted, pinned, written or sent in it.
            session: the session whose calls it opens on; empty for the list.
        """
        super().__init__()
        self._session = session
        self._store = store
        self._read_only = read_only
        self._target = target
        self._store_identity = store.local.access.identity
        self._is_filled = False
        self._failures_told = dict[tuple[str, str], float]()  # when each was last told, by the monotonic clock
        self.remembered = Preferences(store.local.root)
        self._last_toast = 0.0  # by the monotonic clock
        self._key_order = KeyOrder(self, super().on_event)
        self._registered_ours = {theme.name for theme in THEMES}
        self._keys = self._keymap_of(store) if store.settings.keys else {}
        self.set_keymap(self._keys)
        self.animation_level = "none"  # a page key is on the screen in 8 ms, with smooth scrolling in 40
        for theme in THEMES:
            self.register_theme(theme)
        if "TEXTUAL_THEME" not in os.environ:
            self._take_up_theme(self._known_theme(self.remembered.get("theme", DARK.name)))
        self._inspector = Inspector(store, self.remembered, target=target, project=project, clock=clock)
        self._feed = StoreFeed(store, self) if live else None

    @staticmethod
    def _keymap_of(store: Reading) -> dict[str, str]:
        from sightline_tui.bindings import all_bindings  # all features, 250 ms: few have keys of their own

        panes = [InspectorApp.BINDINGS, *all_bindings()]
        return keymap_of(store.settings.keys, panes, store.local.layout.config)

    def _take_up_theme(self, theme: str) -> None:
        if theme == TERMINAL.name:
            self.theme = theme  # its colours are the terminal's own, so not only the style sheet changes
            return
        # Assigned, it would have every style sheet parsed once more before the first screen.
        self.set_reactive(InspectorApp.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def _known_theme(self, name: str) -> str:
        """The name of a theme that can be shown; the dark one's for what is none."""
        if name not in self._registered_ours and name in popular_themes.POPULAR:
            self.register_theme(popular_themes.popular_theme(name))
            self._registered_ours.add(name)
        return name if name in self._registered_ours else DARK.name

    @property
    def current_theme(self) -> Theme:
        """The theme, kept here because Textual builds all themes anew for each row to find it."""
        if self._found_theme is None or self._found_theme.name != self.theme:
            self._found_theme = super().current_theme
        return self._found_theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colours, for a theme of Textual's (set by ``TEXTUAL_THEME``) that lacks them."""
        return (DARK if self.current_theme.dark else LIGHT).variables

    def get_default_screen(self) -> Inspector:
        """The only screen that is always there."""
        return self._inspector

    def on_ready(self) -> None:
        """Listen for changes, once there is something on the screen."""
        if not gc.isenabled():  # see `run`
            gc.freeze()  # garbage collection skips the objects made so far: looking through them would slow scrolling
            gc.set_threshold(*GARBAGE_THRESHOLDS)
            gc.enable()
        share_one_heap()
        self.set_interval(GIVING_BACK_SECONDS, give_back_memory)
        if self._feed is not None:
            self.set_timer(FEED_DELAY_SECONDS, self._feed.start)
        if self._session:
            self._inspector.open_session(self._session)
        elif self._store.settings.starts_with == "brief" and self._target is None and self._inspector.listed_names():
            self._inspector.action_brief()
        if why := self._store.local.index.unwritable:
            self.notify(visible(f"Nothing can be written to the store, which is only read: {why}"), markup=False)
        for notice in self._store.local.notices:
            self.notify(visible(notice), markup=False)

    def on_unmount(self) -> None:
        """Stop listening."""
        if self._feed is not None:
            self._feed.close()
        self._remember()

    def leave(self) -> None:
        """End the application without leaving anything behind when its terminal has gone; any thread may call it."""
        self._inspector.close_copies()
        self._inspector.carry_out_removals()
        self._remember()

    def _remember(self) -> None:
        if not self._read_only:
            self.remembered.save()

    def fault_told(self, fault: BaseException | None) -> RenderableType:
        """A fault of ours ends the application: the user reads one sentence, and a file keeps the traceback."""
        return told(keep(self._store.local.root, fault))

    # what happens

    def on_store_changed(self, message: messages.StoreChanged) -> None:
        """The store's changes enter here."""
        self._notice_another_store()
        if self._store.place and not self._is_filled:
            self._is_filled = True
            self._inspector.start_afresh(keep_cursor=True)  # what came first were the newest alone
        self._inspector.store_changed(message)
        for screen in self.screen_stack[1:]:
            if (hear := getattr(screen, "store_changed", None)) is not None:
                hear(message)

    def _notice_another_store(self) -> None:
        """If the store or its index was removed and made anew, say so and read everything again."""
        before, now = self._store_identity, self._store.local.access.identity
        if now is None or now == before:
            return
        self._store_identity = now
        if before is None:
            return  # it was empty, and nothing was listed
        same = any(os.path.isdir(self._store.local.layout.folder(name)) for name in self._inspector.listed_names())
        what = "The store's index was made anew" if same else "The store was removed and made anew"
        self.notify("All is read again from here on", title=what, markup=False)
        self._start_afresh(keep_cursor=same)

    def _start_afresh(self, *, keep_cursor: bool) -> None:
        shown = self.screen_stack
        while len(self.screen_stack) > 1:
            self.pop_screen()
        if self.is_screen_installed("timeline"):
            timeline = self.get_screen("timeline")
            self.uninstall_screen("timeline")
            if timeline not in shown:  # else it goes with the others
                timeline.remove()
        self._inspector.start_afresh(keep_cursor=keep_cursor)

    def action_switch_scope(self) -> None:
        """Show all projects, or again the one before, on each screen that is open."""
        project = self._inspector.switch_scope()
        for screen in self.screen_stack[1:]:
            if (show := getattr(screen, "show_project", None)) is not None:
                show(project)

    def on_polling_begun(self, message: messages.PollingBegun) -> None:
        """Say it once, and keep a word of it in the header."""
        self._inspector.polling_begun()
        if self._store.place:
            self.notify(visible(f"{message.reason}"), title="What is here can still be read", markup=False)
            return
        self.notify(visible(f"Looking for changes instead of watching: {message.reason}"), markup=False)

    def on_read_failed(self, message: messages.ReadFailed) -> None:
        """Say what happened and what to do, once as long as it can still be read."""
        what, hint = visible(message.message), visible(message.hint) or "Try again"
        if not os.path.isdir(self._store.local.root):
            what, hint = visible(f"The store is gone: {self._store.local.root}"), "What is listed was in it"
        now = time.monotonic()
        if now - self._failures_told.get((what, hint), -self.NOTIFICATION_TIMEOUT) >= self.NOTIFICATION_TIMEOUT:
            self._failures_told[what, hint] = now
            self.notify(hint, title=what, severity="error", markup=False)

    # screens

    def on_notify(self) -> None:
        """A toast is shown."""
        self._last_toast = time.monotonic()

    @property
    def screen(self) -> Screen[Any]:
        """The screen on top. Late reads and keys find the main one, detached, when the application has ended."""
        try:
            return super().screen
        except ScreenStackError:
            return self._inspector

    def push_screen(self, *args: Any, **kwargs: Any) -> Any:
        """Put a screen above the one that is shown, unless the application ends."""
        if not self.is_running:
            return AwaitComplete()  # a screen would wait for ever for its first message
        self._leave_toasts()
        return super().push_screen(*args, **kwargs)

    def pop_screen(self) -> AwaitComplete:
        """Go back to the screen below, unless the application ends."""
        if not self.is_running:
            return AwaitComplete()
        self._leave_toasts()
        return super().pop_screen()

    def _leave_toasts(self) -> None:
        """Remove the old screen's toasts, but keep one just shown: it says why the next screen opened."""
        if time.monotonic() - self._last_toast > TOAST_SECONDS:
            self.clear_notifications()
            for screen in self.screen_stack:  # Textual removes a toast, and leaves the widget around it for ever
                screen.query("ToastHolder").remove()

    # keys

    async def on_event(self, event: events.Event) -> None:
        """Keys one after another; everything else as it comes."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._key_order.take(event)
        else:
            await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """If a pressed key belongs to the other pane, say where it acts, since here it does nothing."""
        if self.screen is self._inspector and (told := self._inspector.key_elsewhere(event.key, self._keys)):
            self.notify(told, markup=False)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Carry out an action asked for by a key, menu or click; in read-only mode refuse those that write."""
        name = (parse(action) if isinstance(action, str) else action)[1]
        if self._read_only and name in WRITING:
            self.notify("Here one can only read: nothing is deleted, pinned, ended, written or sent", markup=False)
            return True
        return await super().run_action(action, default_namespace, namespaces)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a prompt is open, a key that would open one is an ordinary letter."""
        if action in ("help", "palette") and isinstance(self.screen, ModalScreen):
            return False
        if action in ("filter", "search", "query"):
            typing = self.focused is not None and self.focused.check_consume_key("a", "a")
            there = self.screen is self._inspector and not typing
            return there and (action == "query" or (action == "search") == self._inspector.reads)
        return super().check_action(action, parameters)

    def action_filter(self) -> None:
        """Filter the list."""
        self._inspector.open_prompt("filter")

    def action_search(self) -> None:
        """Search in the output."""
        self._inspector.open_prompt("search")

    def action_query(self) -> None:
        """Ask, or go to a line."""
        self._inspector.open_query()

    def action_begin(self) -> None:
        """Offer the first steps that fill a store, and do the chosen one."""
        first_steps.offer_first_steps(self, self._store.local.root)

    def action_choose_theme(self) -> None:
        """Choose a theme, with a preview of each; it is kept."""
        before = self.theme

        def show(name: str) -> None:
            self.theme = self._known_theme(name)

        def choose(chosen: str | None) -> None:
            self.theme = before if chosen is None else self._known_theme(chosen)
            self.remembered.put("theme", self.theme)

        self.push_screen(theme_choice.ThemeChoice(before, show), choose)

    def action_help(self) -> None:
        """Show the keys of the screen that is shown."""
        sections = commands.help_of(commands.actions_of(self.screen, self._keys), self.focused)
        if self.screen is self._inspector:
            sections.append(("What can be asked after :", list(asking.FORMS)))
        self.push_screen(commands.Help(sections))

    def action_palette(self) -> None:
        """Offer every action of the screen that is shown."""
        actions = commands.as_looked_for(commands.actions_of(self.screen, self._keys), self.focused)
        self.push_screen(commands.Palette(actions), self._carry_out)

    async def _carry_out(self, action: "Action | None") -> None:
        if action is not None:
            if isinstance(action.node, Widget) and action.node.focusable:
                self.screen.set_focus(action.node)
            await self.run_action(action.call, action.node)

    async def on_view_chosen(self, message: messages.ViewChosen) -> None:
        """Show a reply as it was sent, above the screen that named it."""
        await evidence.open_view(self, self._store, message.view)

    async def on_beginning_wanted(self) -> None:
        """Offer the first steps that fill a store."""
        await self.run_action("begin")

    @on(Driver.SignalResume)
    def _resumed(self) -> None:
        """Draw all of the screen, which the shell has written over since Ctrl-Z."""
        self.refresh(layout=True)

    def on_session_followed(self, message: messages.SessionFollowed) -> None:
        """Go back to the main screen to watch a session live."""
        self._go_back()
        self._inspector.follow_session(message.session)

    def _go_back(self) -> None:
        while self.screen is not self._inspector:
            self.pop_screen()

    def on_line_chosen(self, message: messages.LineChosen) -> None:
        """Go back to the main screen to show a line in its buffer; a step back from there opens the screen again."""
        opened = next((one.opened_by for one in self.screen_stack if isinstance(one, ScopedScreen)), "")
        self._go_back()
        self._inspector.show_line(message.buffer, message.stream, message.line, message.last)
        self._inspector.came_from = opened, message.buffer.name


def _project(store: Reading, folder: str) -> Project | None:
    """The project of a folder, by default of the current one."""
    rows = store.index.folders()
    try:
        return project_of(find_project(os.path.realpath(folder)), rows) if folder else project_here(os.getcwd(), rows)
    except OSError:
        return None  # the current folder is gone


def run(
    store_root: str | None = None,
    ref: str | None = None,
    *,
    folder: str = "",
    everything: bool = False,
    read_only: bool = False,
    session: str = "",
    opened: Callable[[Store], contextlib.AbstractContextManager[Reading]] | None = None,
) -> int:
    """Open the inspector and stay in it until it is left.

    Args:
        store_root: the store's folder; the usual one by default.
        ref: what to open it on, a unique prefix will do; with a range, at its first line.
        folder: of the project that it shows; by default the repository that it is started in, where the store has
            anything of that, else all.
        everything: whether it shows all projects wherever it is started.
        read_only: whether nothing can be deleted, pinned, written or sent in it.
        session: the session whose calls it opens on; empty for the list.
        opened: gives what is shown instead of the store, such as what other hosts have shipped.

    Returns:
        The exit code.

    Raises:
        SightlineError: the store cannot be opened, or there is no such buffer.
    """
    gc.disable()  # the first screen makes no garbage: looking for some would take a tenth of its time
    with contextlib.ExitStack() as held:
        local = held.enter_context(Store(store_root))
        store: Reading = held.enter_context(opened(local)) if opened else local
        everything = everything or opened is not None  # the current folder is one of this machine
        target = store.resolve(ref, prefixes=True) if ref else None
        project = None if everything or target else _project(store, folder)
        draw_on_standard_output()
        app = InspectorApp(store, target=target, project=project, read_only=read_only, session=session)
        end_when_told(app)
        if os.isatty(0):
            end_with_terminal(0, app.leave)
        app.run()
        return app.return_code or 0
