"""An index that is made anew by several processes: each record once, whatever becomes of them."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.base.records import Buffer
from sightline.disk import index_filling
from sightline.disk.index_filling import rebuild_buffers
from sightline.store import Store


@pytest.fixture(autouse=True)
def _three_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_filling, "MANY", 3)
    monkeypatch.setattr(index_filling, "available_processors", lambda: 3)


def _lost(store: Store, keep: Callable[..., Buffer]) -> tuple[list[Buffer], Buffer]:
    made = [keep(b"%d\n" % number, command=f"made {number}") for number in range(12)]
    spoiled = made.pop(5)
    meta = Path(store.layout.meta(spoiled.name))
    meta.write_text("not a record")
    store.access.start_anew()
    return made, spoiled


def _is_anew(store: Store, made: list[Buffer], spoiled: Buffer) -> None:
    rebuilt = rebuild_buffers(store.layout, store.index)
    assert (rebuilt.buffers, rebuilt.unreadable) == (len(made), [spoiled.name])
    assert [item.buffer.command for item in store.listed(99)] == [one.command for one in reversed(made)]
    found = [store.index.buffer(one.name) for one in made]
    assert [one and one._replace(accessed=0.0) for one in found] == [one._replace(accessed=0.0) for one in made]


def test_each_of_many_records_comes_once_and_in_order(
    store: Store, keep: Callable[..., Buffer], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, spoiled = _lost(store, keep)
    monkeypatch.setattr(index_filling, "rows_read_here", lambda *_: pytest.fail("the processes have not read all"))
    _is_anew(store, made, spoiled)


def test_a_record_that_a_person_has_set_out_anew_is_read_and_one_with_more_after_it_is_not(
    store: Store, keep: Callable[..., Buffer]
) -> None:
    set_out, lengthened = keep(b"1\n"), keep(b"2\n")
    meta = Path(store.layout.meta(set_out.name))
    meta.write_text("\n" + json.dumps(json.loads(meta.read_text()), indent=2) + "\n")
    meta = Path(store.layout.meta(lengthened.name))
    meta.write_text(meta.read_text() + "{}")
    rebuilt = rebuild_buffers(store.layout, store.index)
    assert rebuilt == (1, [lengthened.name])
    assert store.index.buffer(set_out.name) == set_out._replace(accessed=set_out.ended)


@pytest.mark.parametrize("tombstones", [1, 4])
def test_what_a_dead_remover_left_is_removed_and_not_read(
    store: Store, keep: Callable[..., Buffer], tombstones: int
) -> None:
    stays, *gone = (keep(b"%d\n" % number) for number in range(1 + tombstones))
    for one in gone:
        Path(store.layout.tombstone(one.name)).write_text("{}")
    assert rebuild_buffers(store.layout, store.index) == (1, [])
    assert os.listdir(store.layout.buffers) == [stays.name]


@pytest.mark.parametrize("interpreter", ["/nowhere/python", "false", "true"])
def test_where_no_process_helps_all_are_read_by_this_one(
    store: Store, keep: Callable[..., Buffer], monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    made, spoiled = _lost(store, keep)
    monkeypatch.setattr(sys, "executable", shutil.which(interpreter) or interpreter)
    _is_anew(store, made, spoiled)
