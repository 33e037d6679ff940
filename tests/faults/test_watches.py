"""Where the system has no more watches to give, changes are looked for instead, and that is said."""

import asyncio
import queue
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from sightline.agents.past_sessions.follower import Follower
from sightline.disk.changes import Change, Changes
from sightline.store import Store
from sightline_tui.app import InspectorApp
from tests.faults.fault_kit import PATIENCE_SECONDS

REFUSALS = [
    OSError('OS file watch limit reached. about ["/x/live"] (Error { kind: MaxFilesWatch, paths: ["/x/live"] })'),
    WatchfilesRustInternalError("Error creating recommended watcher: Too many open files (os error 24)"),
    OSError("Function not implemented (os error 38)"),
]
"""As the library gives them: no more watches; no more instances, or descriptors; none on this system."""


@pytest.fixture(params=REFUSALS, ids=["watches", "instances", "none"])
def refused(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Exception:
    """What the library raises wherever it is asked to watch."""

    def refuse(*_: object) -> None:
        raise request.param

    monkeypatch.setattr("sightline.base.folder_watch.native_watcher", refuse)
    error: Exception = request.param
    return error


def as_told(refused: Exception) -> str:
    return "38" if "38" in str(refused) else "a limit is reached"


def test_the_feed_polls_and_says_why(store: Store, refused: Exception) -> None:
    told, reasons = queue.Queue[Change](), queue.Queue[str]()
    feed = Changes(store.layout, store.index.data_version, told.put, polls=reasons.put)
    feed.start()
    assert as_told(refused) in reasons.get(timeout=PATIENCE_SECONDS)
    recording = store.begin("cmd", "make", "/", "s")
    while recording.name not in told.get(timeout=PATIENCE_SECONDS).live:
        pass
    recording.seal(exit_code=0)
    feed.close()


def test_the_inspector_polls_and_says_why(store: Store, refused: Exception) -> None:
    async def body() -> None:
        app = InspectorApp(store)
        async with app.run_test() as pilot:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not app._notifications:
                    await pilot.pause(0.02)
            assert as_told(refused) in next(iter(app._notifications)).message
            assert app.is_running

    asyncio.run(body())


class Importer:
    """Stands for the importing of transcripts, of which there are none."""

    class counts:  # noqa: N801
        calls = 0

    def settle(self) -> None:
        pass


def test_following_sessions_polls_and_says_why(tmp_path: Path, refused: Exception) -> None:
    stop, reasons = threading.Event(), list[str]()

    def polls(reason: str) -> None:
        reasons.append(reason)
        stop.set()

    Follower(Importer(), [str(tmp_path)]).follow(stop, polls=polls)  # type: ignore[arg-type]
    assert len(reasons) == 1
    assert as_told(refused) in reasons[0]


WATCH = """
import os, resource, sys, threading
import watchfiles._rust_notify
from sightline.disk.changes import Changes
from sightline.store import Store

with Store(sys.argv[1]) as store:
    said = threading.Event()
    def polls(reason):
        print(reason, flush=True)
        said.set()
    changes = Changes(store.layout, store.index.data_version, lambda change: None, polls=polls)
    if sys.argv[2] == "no descriptor is left":
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        try:
            while True:
                os.dup(0)
        except OSError:
            pass
    changes.start()
    said.wait(30)
    changes.close()
"""


def watched(store: Store, *before: str, how: str = "") -> str:
    """What a process says that watches for itself."""
    words = [*before, sys.executable, "-c", WATCH, store.root, how]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    return done.stdout + done.stderr


def test_a_limit_of_open_files_is_met_in_earnest(store: Store) -> None:
    assert "a limit is reached" in watched(store, how="no descriptor is left")


def _may_limit_itself() -> bool:
    """Whether a user's own namespace can be had, in which limits can be set for oneself alone."""
    return (
        shutil.which("unshare") is not None
        and not subprocess.run(
            ["unshare", "-Ur", "sh", "-c", "echo 0 > /proc/sys/user/max_inotify_instances"], capture_output=True
        ).returncode
    )


@pytest.mark.skipif(not _may_limit_itself(), reason="no user namespace of one's own can be had here")
@pytest.mark.parametrize("limit", ["max_inotify_instances", "max_inotify_watches"])
def test_a_limit_of_inotify_is_met_in_earnest(store: Store, limit: str) -> None:
    script = f'echo 0 > /proc/sys/user/{limit}; exec "$@"'
    assert "a limit is reached" in watched(store, "unshare", "-Ur", "sh", "-c", script, "sh")
