"""The feed of changes: what other processes write is told of, soon and in few words."""

import os
import queue
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from sightline.disk.changes import (
    _WAIT_MS,
    DEBOUNCE_MS,
    QUICK_SECONDS,
    QUICK_STEP_MS,
    STEP_MS,
    Change,
    Changes,
)
from sightline.store import Store

PATIENCE_SECONDS = 30.0


class Listener:
    """Collects what a feed tells."""

    def __init__(self, store: Store) -> None:
        self.told = queue.Queue[Change]()
        self.reasons = queue.Queue[str]()
        self.feed = Changes(store.layout, store.index.data_version, self.told.put, polls=self.reasons.put)
        self.feed.start()
        first = self.told.get(timeout=PATIENCE_SECONDS)
        assert first.records

    def until(self, name: str = "", *, index: bool = False) -> Change:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            change = self.told.get(timeout=max(deadline - time.monotonic(), 0.01))
            if (not name or name in change.live) and (not index or change.records):
                return change


@pytest.fixture(params=["watched", "polled"])
def listener(request: pytest.FixtureRequest, store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    if request.param == "polled":
        monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", None)
    listener = Listener(store)
    yield listener
    listener.feed.close()


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    """The same store with a connection of its own, as another process has it."""
    with Store(store.root, store.settings) as opened:
        opened.index.totals()
        yield opened


def test_a_capture_is_told_of_from_beginning_to_end(listener: Listener, other: Store) -> None:
    recording = other.begin("cmd", "make", "/", "s")
    listener.until(recording.name)
    recording.register()
    listener.until(index=True)
    recording.append("out", b"hello\n")
    listener.until(recording.name)
    recording.seal(exit_code=0)
    assert listener.until(recording.name).live == {recording.name}


def test_a_use_is_told_of(listener: Listener, other: Store) -> None:
    recording = other.begin("cmd", "make", "/", "s")
    recording.register()
    recording.seal(exit_code=0)
    listener.until(index=True)
    while not listener.told.empty():
        listener.told.get()
    other.touch(recording.name)
    assert listener.until(index=True)


def test_nothing_is_told_of_after_closing(listener: Listener, other: Store) -> None:
    listener.feed.close()
    while not listener.told.empty():
        listener.told.get()
    other.begin("cmd", "make", "/", "s").register()
    assert listener.told.empty()


def test_why_it_polls_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", None)
    listener = Listener(store)
    assert listener.reasons.get(timeout=PATIENCE_SECONDS) == listener.feed.polling == "watchfiles is not installed"
    listener.feed.close()


def test_reading_the_list_is_no_change(store: Store, other: Store) -> None:
    recording = other.begin("cmd", "make", "/", "s")
    recording.register()
    listener = Listener(store)
    for _ in range(5):
        store.listed(10)
    recording.append("out", b"x\n")
    listener.until(recording.name)
    assert listener.told.qsize() <= 1
    listener.feed.close()
    recording.seal(exit_code=0)


class Watcher:
    """Stands for the library's: gives what it is told to, one wait after another, and notes how long each may take."""

    def __init__(self, answers: list[set[tuple[int, str]] | str]) -> None:
        self.answers = answers
        self.steps = list[tuple[int, int]]()
        self.ran_out = threading.Event()

    def __call__(self, *_: object) -> "Watcher":
        return self

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def watch(self, debounce_ms: int, step_ms: int, wait_ms: int, stop: threading.Event) -> set[tuple[int, str]] | str:
        assert debounce_ms == DEBOUNCE_MS
        self.steps.append((step_ms, wait_ms))
        if self.answers:
            return self.answers.pop(0)
        self.ran_out.set()
        stop.wait()
        return "stop"


def test_it_looks_more_often_only_while_captures_go_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    growth = {(2, os.path.join(store.layout.live, "cmd_00000a"))}
    use = {(2, os.path.join(store.layout.root, "index.sqlite-wal"))}
    watcher = Watcher([use, growth, growth, "timeout", growth, use])
    monkeypatch.setattr("sightline.base.folder_watch.native_watcher", watcher)
    listener = Listener(store)
    assert watcher.ran_out.wait(PATIENCE_SECONDS)
    listener.feed.close()
    quick, calm = (QUICK_STEP_MS, int(QUICK_SECONDS * 1_000)), (STEP_MS, _WAIT_MS)
    assert watcher.steps == [calm, calm, quick, quick, calm, quick, calm]
    assert [listener.told.get_nowait().live for _ in range(listener.told.qsize())] == [
        frozenset(names) for names in ([], ["cmd_00000a"], ["cmd_00000a"], ["cmd_00000a"], [])
    ]
