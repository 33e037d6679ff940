"""The run before: same command, older, in the same folder first."""

from collections.abc import Callable

import pytest

from sightline.base.records import Buffer
from sightline.store import Store
from sightline.verbs.previous_run import previous_run

Keep = Callable[..., Buffer]


@pytest.fixture
def ran(store: Store) -> Keep:
    """Captures a command in a folder."""

    def keep(command: str, cwd: str = "/a", kind: str = "cmd", origin: str = "") -> Buffer:
        recording = store.begin(kind, command, cwd, "s", origin=origin)
        recording.register()
        recording.append("out", b"x\n")
        return recording.seal(exit_code=0)

    return keep


def test_it_is_the_newest_older_one_of_the_same_command(store: Store, ran: Keep) -> None:
    first, _, second, third = ran("make"), ran("make all"), ran("make"), ran("make")
    store.touch(first.name)  # use is not age
    assert previous_run(store, third) == store.index.buffer(second.name)
    assert previous_run(store, second) == store.index.buffer(first.name)
    assert previous_run(store, first) is None


def test_the_same_folder_comes_first(store: Store, ran: Keep) -> None:
    here, _ = ran("make"), ran("make", "/b")
    now, elsewhere = ran("make"), ran("make", "/c")
    assert previous_run(store, now) == store.index.buffer(here.name)
    assert previous_run(store, elsewhere) == store.index.buffer(now.name)


def test_what_went_into_filters_is_no_run_of_the_command(store: Store, ran: Keep) -> None:
    source = ran("make", origin="cmd_aaaaaa")
    ran("make", kind="tool")
    now = ran("make")
    assert previous_run(store, now) is None
    assert previous_run(store, ran("make", origin="cmd_bbbbbb")) == store.index.buffer(source.name)


def test_what_is_evicted_cannot_be_compared(store: Store, ran: Keep) -> None:
    first, gone, now = ran("make"), ran("make"), ran("make")
    store.remove(gone, "evicted")
    assert previous_run(store, now) == store.index.buffer(first.name)


def test_the_previous_runs_of_many_are_found_at_once(store: Store, ran: Keep) -> None:
    made = [ran("make", cwd) for cwd in "aabab"] + [ran("ls", "c"), ran("ls", "a"), ran("make", origin="cmd_aaaaaa")]
    store.remove(ran("ls", "a"), "evicted")
    found = store.index.previous_runs([buffer.name for buffer in made])
    singly = {one.name: before.name for one in made if (before := previous_run(store, one))}
    assert found == singly
    assert len(found) == 5
