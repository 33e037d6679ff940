"""Records in the order of a key, sorted on disk: memory does not depend on how many they are."""

import pickle
from collections.abc import Iterator
from typing import Generic, TypeVar

from sightline.store.disk import sqlite

T = TypeVar("T")


class Sorter(Generic[T]):
    """Takes records in any order and gives them back in that of their keys; of the same key, as they came.

    Many lie in a file that SQLite makes where temporary ones go; it has no name there and is gone with the process.

    Raises:
        sqlite.Error: there is no room for it.
    """

    def __init__(self) -> None:
        self._connection = sqlite.connect("", isolation_level=None)
        self._connection.execute("CREATE TABLE records (number INTEGER PRIMARY KEY, key REAL, record BLOB)")
        self._connection.execute("BEGIN")
        self.count = 0

    def __enter__(self) -> "Sorter[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def put(self, key: float, record: T) -> None:
        """Take one."""
        self._connection.execute("INSERT INTO records (key, record) VALUES (?, ?)", (key, pickle.dumps(record)))
        self.count += 1

    def __iter__(self) -> Iterator[T]:
        for (record,) in self._connection.execute("SELECT record FROM records ORDER BY key, number"):
            yield pickle.loads(record)  # noqa: S301 - from our own private file
