"""The bottom row: the keys that matter where one is."""

from sightline.tui.keys import written
from sightline.tui.strips import Part
from sightline.tui.widgets.bar import Bar
from textual.binding import Binding


class KeyBar(Bar):
    """Taken from the bindings that are active, so that it cannot tell of a key that does nothing."""

    def __init__(self) -> None:
        super().__init__(id="keys")

    def on_mount(self) -> None:
        """Follow what is active."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._tell())
        self._tell()

    def _tell(self) -> None:
        bindings = [active.binding for active in self.screen.active_bindings.values() if active.enabled]
        parts = [Part(" ")]
        for key, what in shown_keys(bindings):
            parts += [Part(f" {key}", "key"), Part(f" {what} ", "dim")]
        self.say((parts, ()))


def shown_keys(bindings: list[Binding]) -> list[tuple[str, str]]:
    """(key, what it does) of the bindings that are meant to be shown; of several keys for one thing the first."""
    shown = dict[str, str]()
    for binding in bindings:
        if binding.show:
            shown.setdefault(binding.description, binding.key_display or written(binding.key))
    return [(key, what) for what, key in shown.items()]
