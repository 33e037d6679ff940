"""Opens the inspector, after loading Textual without what only its own command palette and downloads need.

`run` owns the process: asyncio stays without TLS in it.
"""

import sys
from importlib import import_module
from types import ModuleType, new_class
from typing import Any

_LEFT_OUT = ("textual.command", "rich.table", "platformdirs")
"""They take a tenth of the time until the first screen, since the palette loads a dozen kinds of widgets."""


class _Late(type):
    """A class or function of a module that is left out; whoever calls it, or looks into it, gets the real one."""

    def _real(cls) -> Any:
        module = import_module(cls.__module__)
        found = getattr(module, cls.__name__)
        if found is cls:  # Textual's own subclass of a stand-in, which it made while loading
            bases = tuple(base._real() if isinstance(base, _Late) else base for base in cls.__bases__)
            body = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
            found = new_class(cls.__name__, bases, exec_body=lambda space: space.update(body))
            setattr(module, cls.__name__, found)
        return found

    def __call__(cls, *args: Any, **options: Any) -> Any:
        return cls._real()(*args, **options)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls._real(), name)


class _LeftOut(ModuleType):
    """Stands for a module while Textual is loaded."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Late(name, (), {"__module__": self.__name__})


def _load_textual() -> None:
    """Load it, where nothing has yet, with stand-ins that are gone afterwards; asyncio gets no TLS, unused here."""
    stand_ins: dict[str, ModuleType | None] = {name: _LeftOut(name) for name in _LEFT_OUT}
    stand_ins["ssl"] = None  # asyncio does without, as where Python is built without it
    own = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(own)  # type: ignore[arg-type]
    try:
        import_module("textual.app")
    finally:
        for name in own:
            del sys.modules[name]


if "textual.app" not in sys.modules:
    _load_textual()

from sightline_tui.app import run as run  # noqa: E402 (Textual first)
