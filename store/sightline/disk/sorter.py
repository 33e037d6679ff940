"""Sorts any number of records by a key on disk, in bounded memory; in memory if the disk has no room."""

import pickle
from collections.abc import Callable, Iterator

from sightline.base.errors import StoreFailed
from sightline.disk.sqlite import sqlite3
from sightline.light.library import contextmanager
from sightline.light.typing_names import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class SortingFailed(StoreFailed):
    """There is no room for temporary files, or they cannot be made."""


def with_sorter(work: Callable[["Sorter[T]"], R]) -> R:
    """Call a function with an empty sorter on disk and, if there is no room there, again with one in memory."""
    try:
        with Sorter[T]() as sorter:
            return work(sorter)
    except SortingFailed:
        with Sorter[T](in_memory=True) as sorter:
            return work(sorter)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise SortingFailed(f"records could not be sorted: {error}", "make room where temporary files go") from error


class Sorter(Generic[T]):
    """Takes records in any order, and yields them in the order of their keys; equal keys keep their order.

    Many records lie in a temporary file of SQLite's, which has no name and is gone with the process.
    """

    def __init__(self, *, in_memory: bool = False) -> None:
        self._connection = sqlite3.connect(":memory:" if in_memory else "", isolation_level=None)
        if in_memory:
            self._connection.execute("PRAGMA temp_store = MEMORY")  # otherwise it would still sort in a file
        self._connection.execute("CREATE TABLE records (number INTEGER PRIMARY KEY, key REAL, record BLOB)")
        self._connection.execute("BEGIN")
        self.count = 0

    def __enter__(self) -> "Sorter[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def put(self, key: float, record: T) -> None:
        """Take a record. Raises SortingFailed."""
        with _told():
            self._connection.execute("INSERT INTO records (key, record) VALUES (?, ?)", (key, pickle.dumps(record)))
        self.count += 1

    def __iter__(self) -> Iterator[T]:
        """Yield all records. Raises SortingFailed, perhaps after some."""
        with _told():
            for (record,) in self._connection.execute("SELECT record FROM records ORDER BY key, number"):
                yield pickle.loads(record)  # noqa: S301 - from our own private file
