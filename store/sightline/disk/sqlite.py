"""Python's `sqlite3` without what it adds in Python: converters of dates, for which it loads `datetime`, 2 ms."""

import sys

from sightline.light.library import lru_cache
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3 as sqlite3
else:
    from _thread import _count as _threads

    class _Functools:
        """All that the C code asks of `functools`, which takes three times as long to load as SQLite."""

        lru_cache = staticmethod(lru_cache)

    # As long as no other thread could want the real one meanwhile.
    _stands_in = not _threads() and sys.modules.setdefault("functools", _Functools) is _Functools
    try:
        import _sqlite3 as sqlite3  # has all that the other hands on
    except ImportError:  # not every Python has to have it
        sqlite3 = None
    finally:
        if _stands_in:
            del sys.modules["functools"]
    if sqlite3 is None:
        import sqlite3

__all__ = ["sqlite3"]
