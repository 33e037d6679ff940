"""The order of the list, as buffers are used, appear and go, whatever part of it has been read."""

import gc
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from sightline.store import Store
from sightline_tui.buffers import list_loader
from sightline_tui.buffers.list_loader import load
from sightline_tui.buffers.list_model import BufferRows
from sightline_tui.buffers.order import ListOrder
from tests.tui.tui_kit import add, begin, numbered, open_store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(list_loader, "PAGE", 4)
    monkeypatch.setattr(list_loader, "BULK_PAGE", 4)
    monkeypatch.setattr("sightline_tui.buffers.list_model.PAGE", 4)
    monkeypatch.setattr("sightline_tui.buffers.list_model.AHEAD_ROWS", 0)
    with open_store(tmp_path) as store:
        for number in range(30):
            add(store, f"cmd_{number:06x}", f"command {number}")
        yield store


def names(*numbers: int) -> list[str]:
    return [f"cmd_{number:06x}" for number in numbers]


def read(store: Store, rows: BufferRows, first: int = 0, last: int = 2, *, everything: bool = False) -> int:
    shift = 0
    while request := rows.request(first, last, everything=everything):
        shift += rows.take(load(store, request))
    return shift


def known(rows: BufferRows) -> list[str]:
    return [entry.name for entry in rows.catalog.entries]


def test_only_what_is_looked_at_is_read(store: Store) -> None:
    rows = BufferRows()
    read(store, rows)
    assert known(rows) == names(29, 28, 27, 26)
    assert len(rows) == 30
    assert rows.selected == names(29)[0]


def test_scrolling_reads_on(store: Store) -> None:
    rows = BufferRows()
    read(store, rows)
    read(store, rows, 8, 10)
    assert known(rows) == names(*range(29, 17, -1))
    assert rows.record(rows.name(10)).command == "command 19"


def test_what_all_are_ordered_by_is_the_same_however_it_was_read(store: Store) -> None:
    store.amend("cmd_000002", label="Nightly")
    rows, others = BufferRows(), BufferRows()
    read(store, rows, everything=True)
    read(store, others, 0, 30)
    assert list(rows.catalog.entries) == list(others.catalog.entries)


def test_everything_can_be_read(store: Store) -> None:
    rows = BufferRows()
    read(store, rows, everything=True)
    assert known(rows) == names(*range(29, -1, -1))
    assert rows.catalog.complete


def test_a_used_buffer_moves_to_the_top_and_the_selected_one_stays_selected(store: Store) -> None:
    rows = BufferRows()
    read(store, rows, 0, 10)
    rows.move_to(2)
    store.touch("cmd_00000f")
    rows.index_changed()
    assert read(store, rows, 0, 10) == 1
    assert known(rows)[:3] == names(15, 29, 28)
    assert known(rows).count("cmd_00000f") == 1
    assert (rows.selected, rows.cursor) == ("cmd_00001b", 3)


def test_the_selected_one_is_followed_to_the_top(store: Store) -> None:
    rows = BufferRows()
    read(store, rows, 0, 10)
    rows.move_to(5)
    store.touch(rows.selected)
    rows.index_changed()
    read(store, rows, 0, 10)
    assert rows.cursor == 0


def test_more_new_buffers_than_a_page_are_all_found(store: Store) -> None:
    rows = BufferRows()
    read(store, rows)
    for number in range(100, 111):
        add(store, f"cmd_{number:06x}", "new")
    rows.index_changed()
    read(store, rows)
    assert known(rows)[:12] == names(*range(110, 99, -1), 29)


def test_a_buffer_that_the_person_removes_leaves_the_list_and_the_cursor_its_row(store: Store) -> None:
    rows = BufferRows()
    read(store, rows)
    rows.move_to(1)
    rows.let_go(rows.selected)
    store.remove(store.index.buffer(rows.selected), "removed")
    rows.index_changed()
    read(store, rows)
    assert (rows.selected, rows.cursor) == (names(27)[0], 1)


def test_an_empty_store_and_its_first_buffer(tmp_path: Path) -> None:
    rows = BufferRows()
    with open_store(tmp_path / "empty") as store:
        read(store, rows)
        assert (len(rows), rows.selected) == (0, "")
        add(store, "cmd_aaaaaa", "true")
        rows.index_changed()
        read(store, rows)
        assert (len(rows), rows.selected) == (1, "cmd_aaaaaa")


def test_matches_take_the_place_of_the_order(store: Store) -> None:
    rows = BufferRows()
    read(store, rows)
    read(store, rows, everything=True)
    matches = [rows.entries().position(name) for name in names(3, 7)]
    rows.show_matches(
        rows.entries()[matches[0] : matches[0] + 1] + rows.entries()[matches[1] : matches[1] + 1], best=True
    )
    read(store, rows)
    assert (len(rows), rows.selected) == (2, names(3)[0])
    assert rows.record(names(7)[0]) is not None
    rows.show_matches(None)
    read(store, rows, everything=True)
    assert rows.name(rows.cursor) == rows.selected


def test_a_capture_that_ends_is_ordered_by_how_it_ended(store: Store) -> None:
    recording = begin(store, "cmd_aaaaaa", "make")
    recording.register()
    recording.append("out", numbered(9))
    rows = BufferRows(ListOrder("lines"))
    read(store, rows)
    assert rows.catalog.running == {"cmd_aaaaaa"}
    recording.append("out", numbered(90))
    recording.seal(exit_code=3)
    rows.move_to(20)
    rows.index_changed()
    read(store, rows, 20, 22)
    assert rows.name(0) == "cmd_aaaaaa"
    assert (rows.entries()[0].lines, rows.entries()[0].exit) == (99, 3)
    assert not rows.catalog.running


def test_another_order_reads_all_and_keeps_the_cursor_on_its_buffer(store: Store) -> None:
    rows = BufferRows()
    read(store, rows)
    rows.move_to(2)
    rows.set_order(ListOrder("command"))
    read(store, rows, 0, 30)
    assert [rows.name(at) for at in range(3)] == names(0, 1, 10)
    assert rows.name(rows.cursor) == rows.selected == names(27)[0]


def evict_oldest(store: Store, count: int) -> None:
    for name in names(*range(count)):
        if (buffer := store.index.buffer(name)) and buffer.state != "evicted":
            store.remove(buffer, "evicted")


@pytest.fixture
def few_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline_tui.buffers.list_model.ENTRIES_KEPT", 6)


@pytest.mark.usefixtures("few_kept")
def test_evicted_buffers_are_not_all_kept_and_are_read_again_when_somebody_comes_to_them(store: Store) -> None:
    store.remove(add(store, "cmd_0000fe", "what went into head -1", origin=names(3)[0]), "evicted")
    evict_oldest(store, 25)
    for name in names(*range(25, 30)):
        store.touch(name)
    add(store, "cmd_0000ff", "what went into tail -1", origin=names(29)[0])
    rows = BufferRows()
    read(store, rows, everything=True)
    order = [*names(29), "cmd_0000ff", *names(*range(28, 24, -1)), "cmd_0000fe", *names(*range(24, -1, -1))]
    assert (len(known(rows)), rows.part_of(names(3)[0])) == (32, "cmd_0000fe")
    rows.index_changed()
    read(store, rows)
    assert [rows.name(at) for at in range(len(rows))] == order[:6]
    assert (rows.catalog.complete, rows.part_of(names(3)[0])) == (False, "")
    rows.move_to(2)
    read(store, rows, 20, 29)
    assert (rows.selected, rows.name(2)) == (order[2], order[2])
    read(store, rows, everything=True)
    assert {rows.name(at) for at in range(len(rows))} == set(order)
    assert (rows.whole(1), rows.part_of(names(3)[0])) == (names(29)[0], "cmd_0000fe")


def names_held(rows: BufferRows) -> set[str]:
    """Names of buffers in all that is reached from the rows."""
    found, met, left = set[str](), set[int](), list[object]([rows])
    while left:
        if id(one := left.pop()) in met or isinstance(one, type | FunctionType | ModuleType):
            continue
        met.add(id(one))
        if isinstance(one, str) and one.startswith("cmd_"):
            found.add(one)
        left += gc.get_referents(one)
    return found


@pytest.mark.usefixtures("few_kept")
def test_no_name_of_a_buffer_that_came_and_went_is_held(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline_tui.buffers.list_model.RECORDS_KEPT", 8)
    rows = BufferRows()
    for number in range(30, 90, 2):
        evict_oldest(store, number - 4)
        for name in names(number, number + 1):
            add(store, name, "a command")
        rows.index_changed()
        read(store, rows)
    assert names_held(rows) >= set(names(87, 88, 89))
    assert len(names_held(rows)) <= 20


@pytest.mark.usefixtures("few_kept")
@pytest.mark.parametrize(("cursor", "last"), [(0, 20), (20, 0)])
def test_rows_to_which_somebody_went_during_a_read_are_kept(store: Store, cursor: int, last: int) -> None:
    evict_oldest(store, 25)
    rows = BufferRows()
    read(store, rows, everything=True)
    rows.index_changed()
    answer = load(store, rows.request(0, 2))
    rows.move_to(cursor)
    rows.take(answer, last)
    assert rows.name(19) == names(10)[0]


@pytest.mark.usefixtures("few_kept")
def test_all_entries_of_buffers_that_the_store_holds_are_kept(store: Store) -> None:
    rows = BufferRows()
    read(store, rows, everything=True)
    rows.index_changed()
    read(store, rows)
    assert (len(known(rows)), rows.catalog.complete) == (30, True)


@pytest.mark.usefixtures("few_kept")
def test_enough_entries_are_kept_and_read_for_the_rows_of_folded_bursts(store: Store) -> None:
    for number in range(100, 130):
        add(store, f"cmd_{number:06x}", "make", session=f"agent-{number // 10}")
    evict_oldest(store, 30)
    rows = BufferRows()
    rows.group_bursts(True)
    read(store, rows, 0, 12)
    assert len(rows) >= 12
    read(store, rows, everything=True)
    rows.index_changed()
    read(store, rows, 0, 12)
    assert len(rows) >= 12


def test_groups_stand_under_headings_that_fold(store: Store) -> None:
    add(store, "file_aaaaaa", "src/main.rs")
    rows = BufferRows(ListOrder(group="kind"))
    read(store, rows, 0, 30)
    assert [rows.heading(at) is not None for at in range(4)] == [True, False, True, False]
    assert (rows.heading(0).key, rows.heading(0).size, rows.heading(2).size) == ("file", 1, 30)
    assert len(rows) == 33
    rows.move_to(9)
    rows.fold(rows.heading(2))
    assert (len(rows), rows.cursor) == (3, 2)
    rows.fold(rows.heading(2))
    assert len(rows) == 33


def test_a_new_buffer_joins_its_group(store: Store) -> None:
    rows = BufferRows(ListOrder(group="kind"))
    read(store, rows, 0, 30)
    rows.move_to(5)
    selected = rows.selected
    add(store, "tool_aaaaaa", "mcp__read")
    rows.index_changed()
    read(store, rows, 0, 30)
    assert (rows.heading(0).key, rows.heading(2).key) == ("tool", "cmd")
    assert (rows.selected, rows.cursor) == (selected, 7)
