"""Imports that load a module when it is first used, so that nobody waits for what a call does not need.

They stand in a ``with``, so that type checkers and the drawing of the floors see what they see of any other import::

    with late_modules(globals()):
        from sightline.shape import markers  # 3 ms of patterns: few outputs are cut

A comment says what loading the module would add to every start. Names that run at once, such as base classes and
annotations without quotes, must not be taken from such a module.
"""

import builtins
import sys
from _thread import allocate_lock

from sightline.light.typing_names import Any

_one_at_a_time = allocate_lock()  # a block replaces `__import__`, but nothing is loaded within it


class _Place:
    """A package or module that an import names, and what the import takes from it."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __getattr__(self, name: str) -> "_Late":
        return _Late(self._place, name)


class _Late:
    """Stands for a module until somebody uses it, or for a name until somebody asks for it."""

    def __init__(self, place: str, name: str) -> None:
        self._place, self._name = place, name
        self._users: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        """Load the module, and put it in its place."""
        module = _loaded(f"{self._place}.{self._name}")
        for known, value in list(self._users.items()):
            if value is self:
                self._users[known] = module
        return getattr(module, name)


def _loaded(module: str) -> Any:
    __import__(module)
    return sys.modules[module]


class _LateBlock:
    """A ``with`` whose imports load nothing.

    Args:
        names: the names of the module whose imports these are, its ``globals()``.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def __enter__(self) -> None:
        _one_at_a_time.acquire()
        self._before = set(self._names)
        self._import = builtins.__import__
        vars(builtins)["__import__"] = self._noted

    def __exit__(self, *_: object) -> None:
        builtins.__import__ = self._import
        _one_at_a_time.release()
        new = self._names.keys() - self._before  # a module can have a block of each kind
        self._settle({name: value for name, value in self._names.items() if name in new and type(value) is _Late})

    def _noted(self, name: str, names: Any = None, local: Any = None, wanted: Any = (), level: int = 0) -> Any:
        if names is not self._names:  # of another thread
            return self._import(name, names, local, wanted, level)
        if not wanted:
            raise ImportError(f"a late import is written: from PACKAGE import MODULE; not: import {name}")
        return _Place(name)

    def _settle(self, late: dict[str, _Late]) -> None:
        raise NotImplementedError


class late_modules(_LateBlock):  # noqa: N801 - used as a function is
    """Imports of modules, which the importing module uses itself: ``from PACKAGE import MODULE``."""

    def _settle(self, late: dict[str, _Late]) -> None:
        for one in late.values():
            one._users = self._names


class late_names(_LateBlock):  # noqa: N801 - as above
    """Imports of names that the importing module hands on: others find them there, and nothing is loaded before."""

    def _settle(self, late: dict[str, _Late]) -> None:
        for name in late:
            del self._names[name]

        def found(name: str) -> Any:
            if name not in late:
                raise AttributeError(f"module {self._names['__name__']!r} has no attribute {name!r}")
            return getattr(_loaded(late[name]._place), late[name]._name)

        self._names["__getattr__"] = found
