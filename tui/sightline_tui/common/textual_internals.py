"""Every private name of textual that the inspector uses, with its purpose, since any release may remove one.

Therefore pyproject has a ceiling on textual, and a test allows no other module of ours to use any.
"""

import os
import sys
from abc import abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.console import RenderableType
from textual import events
from textual._styles_cache import StylesCache as StylesCache  # makes a widget's rows, see `keep_rows_in`
from textual.app import App, ReturnType
from textual.color import Color
from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.style import Style
from textual.widget import Widget

if TYPE_CHECKING:
    _Widget = Widget
else:
    _Widget = object  # Textual inherits CSS from a class' first base, which must not be this one


def draw_on_standard_output() -> None:
    """Have a driver that is made from now on draw on standard output where standard error leads elsewhere (``2>file``).

    Textual draws on the standard error with which the process began.
    """
    if os.isatty(1) and not os.isatty(2):
        vars(sys)["__stderr__"] = os.fdopen(os.dup(1), "w", encoding="utf-8")


def key_name(character: str) -> str:
    """Return Textual's name for a key that settings give as a character."""
    return _character_to_key(character)


def parent_of(receiver: MessagePump) -> MessagePump | None:
    """Return the next receiver of a key with which this one does nothing; None for nobody."""
    return receiver._parent


def is_stopped(message: Message) -> bool:
    """Return whether a message has been stopped, so that it goes no further."""
    return message._stop_propagation


def keep_rows_in(widget: Widget, cache: StylesCache) -> None:
    """Have a widget's rows made by a cache that does not ask a dozen style rules about each."""
    widget._styles_cache = cache


@lru_cache(256)
def _backgrounds(base: Color, background: Color) -> tuple[Style, Style]:
    return Style(background=base + background), Style(background=base)


def _inner_outer(_: StylesCache, base: Color, background: Color) -> tuple[Style, Style]:
    return _backgrounds(base, background)


StylesCache.get_inner_outer = _inner_outer  # type: ignore[method-assign, assignment]
"""The styles within a widget and around it. Textual's own function keeps the caches that ask, up to 1,024 of them, and
with them all rows that were drawn of widgets which are long removed: tens of MiB after some hundred screens."""


class PartsOnDemand(_Widget):
    """A mixin for widgets whose component classes get their styles when they are first asked for.

    Textual finds them all for each widget, each time that it styles it: 146 at the start, twice, in 18 of its 300 ms.
    """

    def _get_component_classes(self) -> frozenset[str]:  # type: ignore[override]
        """Return those asked for: the ones that Textual has to style anew."""
        return frozenset(self._component_styles)

    def get_component_styles(self, *names: str) -> RenderStyles:
        """Return the styles as Textual does. Raises KeyError for what is no component class."""
        for name in names:
            if name not in self._component_styles and name in super()._get_component_classes():
                node = DOMNode(classes=name)
                node._attach(self)
                self.app.stylesheet.apply(node)
                self._component_styles[name] = node.styles
        return super().get_component_styles(*names)


class OwnScrollbar(ScrollView):
    """A pane with a scrollbar of our own."""

    @abstractmethod
    def new_scrollbar(self) -> ScrollBar:
        """The scrollbar; Textual asks for it once."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The bar that Textual scrolls by, prepared like the one that it replaces."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = self.new_scrollbar()
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar

    def set_scrolled_size(self, size: Size) -> None:
        """Tell the scrollbar the size of the content, without a layout of the whole screen.

        If this were assigned in Textual's way, it would lay out and paint the whole screen, although only the scrollbar
        depends on it; if the bar appears or goes, it asks for a layout itself.
        """
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)


class KeysFirst(_Widget):
    """A mixin for a line to type in, which gets a key in its own task before Textual's input does."""

    @abstractmethod
    async def key_came(self, event: events.Key) -> None:
        """Handle a key, and stop it if nothing else is to happen."""

    async def _on_key(self, event: events.Key) -> None:
        await self.key_came(event)


class FaultTold(App[ReturnType]):
    """An application that reports a fault of its own in a sentence, instead of a traceback of many screens."""

    @abstractmethod
    def fault_told(self, fault: BaseException | None) -> RenderableType:
        """Return what to print about the fault, once the terminal is restored."""

    def _fatal_error(self) -> None:
        self._exit_renderables.append(self.fault_told(self._exception))
        self._close_messages_no_wait()  # waiting for them might take for ever
