"""Python's `sqlite3` without what it adds in Python: converters of dates, for which it loads `datetime`, 2 ms."""

from sightline.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3 as sqlite3
else:
    try:
        import _sqlite3 as sqlite3  # has all that the other hands on
    except ImportError:  # not every Python has to have it
        import sqlite3

__all__ = ["sqlite3"]
