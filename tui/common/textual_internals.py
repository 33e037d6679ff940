"""Every private name of textual that the inspector relies on, each with what for: any release may take one away.

So pyproject has a ceiling on textual, and a test holds that no other module of ours uses any.
"""

from abc import abstractmethod

from rich.console import RenderableType
from textual import events
from textual._styles_cache import StylesCache as StylesCache  # of which a widget's rows are made, see `keep_rows_in`
from textual.app import App, ReturnType
from textual.geometry import Size
from textual.keys import _character_to_key
from textual.message import Message
from textual.message_pump import MessagePump
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.widget import Widget
from textual.widgets import Input


def key_name(character: str) -> str:
    """What a key is called that a person names in the settings by its character."""
    return _character_to_key(character)


def parent_of(receiver: MessagePump) -> MessagePump | None:
    """To whom a key goes on that a receiver will do nothing with; None for nobody."""
    return receiver._parent


def is_stopped(message: Message) -> bool:
    """Whether a message has been dealt with, and goes no further."""
    return message._stop_propagation


def keep_rows_in(widget: Widget, cache: StylesCache) -> None:
    """Have a widget's rows made by something that does not ask a dozen style rules about each."""
    widget._styles_cache = cache


class OwnScrollbar(ScrollView):
    """A pane with a scrollbar of our own."""

    @abstractmethod
    def new_scrollbar(self) -> ScrollBar:
        """The bar beside it; asked for once."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """What Textual has it scrolled by, started as the one in whose place it stands."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = self.new_scrollbar()
            self._vertical_scrollbar.display = False
            self.app._start_widget(self, self._vertical_scrollbar)
        return self._vertical_scrollbar

    def set_scrolled_size(self, size: Size) -> None:
        """Have the scrollbar know the size of what is scrolled, without a layout of the whole screen.

        Assigned as Textual has it, the whole screen would be laid out and painted anew, although nothing but the
        scrollbar depends on it; where that comes or goes, it has the layout done itself.
        """
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)


class KeysFirst(Input):
    """A line to type in that sees a key in its own task before Textual's input does."""

    @abstractmethod
    async def key_came(self, event: events.Key) -> None:
        """Take a key, and stop it there where nothing else is to happen."""

    async def _on_key(self, event: events.Key) -> None:
        await self.key_came(event)


class FaultTold(App[ReturnType]):
    """An application that ends at a fault of its own with a sentence, not with a traceback of many screens."""

    @abstractmethod
    def fault_told(self, fault: BaseException | None) -> RenderableType:
        """What is said of it, printed once the terminal is as it was."""

    def _fatal_error(self) -> None:
        self._exit_renderables.append(self.fault_told(self._exception))
        self._close_messages_no_wait()  # what it would wait for may never come
