"""Sorts records by a key on disk, so that memory does not grow with how many there are, where the disk has room."""

import pickle
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from sightline.errors import StoreFailed

T = TypeVar("T")
R = TypeVar("R")


class SortingFailed(StoreFailed):
    """There is no room for temporary files, or they cannot be made."""


def with_sorter(work: Callable[["Sorter[T]"], R]) -> R:
    """Do something with an empty one, on disk; once more from its beginning in memory, where there is no room there."""
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
    """Takes records in any order and gives them back in that of their keys; of the same key, as they came.

    Many lie in a file that SQLite makes where temporary ones go; it has no name there and is gone with the process.
    """

    def __init__(self, *, in_memory: bool = False) -> None:
        self._connection = sqlite3.connect(":memory:" if in_memory else "", isolation_level=None)
        if in_memory:
            self._connection.execute("PRAGMA temp_store = MEMORY")  # or it would sort in a file all the same
        self._connection.execute("CREATE TABLE records (number INTEGER PRIMARY KEY, key REAL, record BLOB)")
        self._connection.execute("BEGIN")
        self.count = 0

    def __enter__(self) -> "Sorter[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def put(self, key: float, record: T) -> None:
        """Take one. Raises SortingFailed."""
        with _told():
            self._connection.execute("INSERT INTO records (key, record) VALUES (?, ?)", (key, pickle.dumps(record)))
        self.count += 1

    def __iter__(self) -> Iterator[T]:
        """All of them. Raises SortingFailed, be it after some."""
        with _told():
            for (record,) in self._connection.execute("SELECT record FROM records ORDER BY key, number"):
                yield pickle.loads(record)  # noqa: S301 - from our own private file
