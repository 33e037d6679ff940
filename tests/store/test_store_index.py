"""The store's index: opened once, whoever asks for it, and closed where it turns out to be of no use."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.records import Buffer
from sightline.disk import index_filling
from sightline.disk.sqlite import sqlite3
from sightline.settings.config import Settings
from sightline.store import Store

THREADS = 8


class Connections:
    """The connections that are open; each is made once nobody needs to be waited for."""

    def __init__(self) -> None:
        self.open = set[int]()
        self.before: Callable[[], object] = lambda: None
        self._connect = sqlite3.connect

    def connect(self, *words: Any, **named: Any) -> sqlite3.Connection:
        """As `sqlite3.connect`."""
        self.before()
        return self._connect(*words, factory=self._counted(), **named)

    def _counted(self) -> type[sqlite3.Connection]:
        counted = self.open

        class Counted(sqlite3.Connection):
            def __init__(self, *words: Any, **named: Any) -> None:
                super().__init__(*words, **named)
                counted.add(id(self))

            def close(self) -> None:
                super().close()
                counted.discard(id(self))

        return Counted


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Connections:
    """Counts connections from here on."""
    made = Connections()
    monkeypatch.setattr(sqlite3, "connect", made.connect)
    return made


def test_threads_that_need_it_at_once_open_it_once(tmp_path: Path, connections: Connections) -> None:
    all_are_there = threading.Barrier(THREADS)
    last_has_come = threading.Event()
    connections.before = lambda: last_has_come.wait(20)

    def look() -> None:
        if all_are_there.wait(20) == 0:
            last_has_come.set()
        assert store.index.totals().buffers == 0

    with Store(str(tmp_path / "root"), Settings()) as store:
        threads = [threading.Thread(target=look) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(connections.open) == 1
    assert not connections.open


@pytest.mark.parametrize(
    "error", [ValueError("odd"), OSError("odd"), sqlite3.OperationalError("odd"), KeyboardInterrupt]
)
def test_one_that_cannot_be_filled_is_closed(
    tmp_path: Path,
    keep: Callable[..., Buffer],
    store: Store,
    connections: Connections,
    monkeypatch: pytest.MonkeyPatch,
    error: Any,
) -> None:
    keep(b"one\n")
    store.close()
    Path(store.layout.index).unlink()

    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(index_filling, "rebuild_buffers", fails)
    with Store(store.root) as again:
        with pytest.raises(BaseException, match=r"odd|^$"):
            again.listed(5)
        assert not connections.open


def test_threads_wait_for_one_that_was_made_anew(tmp_path: Path, connections: Connections) -> None:
    with Store(str(tmp_path / "root"), Settings()) as store, Store(str(tmp_path / "root")) as other:
        first = store.index
        other.access.start_anew()
        opening, go_on, found = threading.Event(), threading.Event(), list[object]()

        def before() -> None:
            opening.set()
            go_on.wait(20)

        connections.before = before
        threads = [threading.Thread(target=lambda: found.append(store.index)) for _ in range(2)]
        threads[0].start()
        assert opening.wait(20)
        threads[1].start()
        threads[1].join(0.1)  # it cannot end before the other one has opened it
        go_on.set()
        for thread in threads:
            thread.join()
        assert found == [store.index] * 2
        assert store.index is not first
