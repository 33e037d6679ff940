"""Names keys in the configuration and on the screen, and checks a person's own keys.

``config.toml`` has a table for each pane with a key for each action, named as in the help::

    [keys.list]
    sort = "s"
    page-down = "ctrl+f, space"
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from textual.binding import Binding, BindingType
from textual.keys import Keys

from sightline.base.errors import SettingError
from sightline_tui.common.textual_internals import key_name

_WRITTEN = {
    "down": "↓",
    "up": "↑",
    "left": "←",
    "right": "→",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "space": "Space",
    "backspace": "⌫",
    "delete": "Del",
}
_KNOWN_KEYS = {key.value for key in Keys} - {"<any>", "<ignore>"}
_CHARACTERS = {key_name(chr(code)): chr(code) for code in range(0x21, 0x7F)}


def named(pane: str, bindings: Iterable[BindingType]) -> list[BindingType]:
    """Give bindings the ids by which the configuration knows them: ``PANE.what-it-does``.

    Args:
        pane: ``app``, ``list``, ``viewer`` …
        bindings: bindings of a class; one without a description cannot get another key.
    """
    return [
        replace(binding, id=f"{pane}.{_slug(binding.description)}")
        if isinstance(binding, Binding) and binding.description
        else binding
        for binding in bindings
    ]


def _slug(description: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", description.lower().partition(",")[0]).strip("-")


def written(key: str) -> str:
    """Write a key as the screen shows it: ``↓``, ``^F``, ``/``."""
    *modifiers, last = key.split("+")
    signs = {"ctrl": "^", "shift": "⇧", "alt": "⌥"}
    shown = _WRITTEN.get(last) or _CHARACTERS.get(last, last)
    return "".join(signs.get(modifier, modifier + "+") for modifier in modifiers) + (
        shown.upper() if "ctrl" in modifiers and len(shown) == 1 else shown
    )


def keymap_of(wanted: Sequence[tuple[str, str]], panes: Sequence[Sequence[BindingType]], path: str) -> dict[str, str]:
    """Return the person's keys as Textual takes them, by binding id, several with commas.

    Args:
        wanted: (``PANE.action``, keys) as in the configuration.
        panes: the bindings of each class.
        path: path of the configuration file, which errors name.

    Raises:
        SettingError: there is no such pane, action or key, or two actions of a pane want the same key.
    """
    known = [binding.id for bindings in panes for binding in bindings if isinstance(binding, Binding) and binding.id]
    keymap, taken = dict[str, str](), dict[tuple[str, str], str]()
    for name, text in wanted:
        pane, _, action = name.partition(".")
        actions = sorted({id_.partition(".")[2] for id_ in known if id_.startswith(pane + ".")})
        if not actions:
            names = sorted({id_.partition(".")[0] for id_ in known})
            raise SettingError(f"{path}: keys.{pane}: there is no such pane", f"panes are: {', '.join(names)}")
        if action not in actions:
            raise SettingError(f"{path}: keys.{name}: there is no such action", f"known are: {', '.join(actions)}")
        keys = [_key(key, f"{path}: keys.{name}") for key in text.split(",")]
        for key in keys:
            other = taken.setdefault((pane, key), name)
            if other != name:
                raise SettingError(
                    f"{path}: keys.{name}: {written(key)!r} is what keys.{other} has",
                    "give each action keys of its own",
                )
        keymap[name] = ",".join(keys)
    return keymap


def _key(text: str, place: str) -> str:
    text = text.strip()
    *modifiers, last = text.split("+") if len(text) > 1 else [text]
    last = key_name(last) if len(last) == 1 else last
    if set(modifiers) <= {"ctrl", "alt", "shift"} and (
        last in _KNOWN_KEYS or last in _CHARACTERS or (len(last) == 1 and last.isprintable() and last != " ")
    ):
        return "+".join([*modifiers, last])
    raise SettingError(
        f"{place}: {text!r} is no key",
        'a character, or a name such as "enter", "pagedown", "f5", "ctrl+f"; several with commas ("comma" is one, too)',
    )
