"""Filtering the list."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest
from textual.pilot import Pilot

from sightline.audit.buffer_filter import BufferFilter
from sightline.store import Store
from sightline_tui.buffers.filter import FilterText
from sightline_tui.buffers.list_title import ListTitle
from sightline_tui.buffers.matcher import Guesses, Term
from sightline_tui.buffers.packed_entries import Entries
from sightline_tui.common.messages import ListFiltered
from sightline_tui.common.prompt import Prompt
from tests.tui.tui_kit import add, buffers, burst, opened, press, rest, run, text, until, viewer


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path)) as store:
        add(store, "cmd_00000a", "cargo test --all", b"a\n")
        add(store, "cmd_00000b", "pytest -q", b"b\n", label="nightly")
        add(store, "cmd_00000c", "git status", b"c\n")
        yield store


def names(pilot: Pilot[None]) -> list[str]:
    rows = buffers(pilot).rows
    return [rows.name(at) for at in range(len(rows))]


def test_it_narrows_as_one_types(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "slash", "t")
            assert len(names(pilot)) == 3
            await press(pilot, "e", "s", "t")
            assert names(pilot) == ["cmd_00000a", "cmd_00000b"]
            assert "2 matches" in text(pilot.app.query_one("#list-title"))[0]

    run(body)


def test_it_looks_at_command_label_and_ref(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            for typed, found in (("crgtst", "a"), ("nightly", "b"), ("00000c", "c"), ("pytset -q", "b")):
                words = ("space" if key == " " else "minus" if key == "-" else key for key in typed)
                await press(pilot, "slash", *words)
                assert names(pilot)[:1] == [f"cmd_00000{found}"], typed
                assert buffers(pilot).rows.selected == f"cmd_00000{found}", typed
                await press(pilot, "escape")
                assert len(names(pilot)) == 3

    run(body)


def test_enter_keeps_it_and_escape_clears_it(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"/git", "enter")
            assert names(pilot) == ["cmd_00000c"]
            assert buffers(pilot).has_focus
            await press(pilot, "slash")
            assert pilot.app.query_one("#filter", Prompt).value == "git"
            await press(pilot, "escape")
            assert len(names(pilot)) == 3
            assert buffers(pilot).rows.selected == "cmd_00000c"

    run(body)


def test_keys_typed_ahead_arrive_in_the_prompt(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, "/q:/?")
            assert pilot.app.query_one("#filter", Prompt).value == "q:/?"

    run(body)


def test_a_letter_and_what_it_finds_are_there_at_once(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "slash")
            pilot.app.query_one("#filter", Prompt).value = "git"
            assert names(pilot) == ["cmd_00000c"]  # and not only with a message, a frame later

    run(body)


def test_what_is_read_while_one_types_is_looked_through_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline_tui.buffers.list_loader.PAGE", 5)  # so that the first screen knows five of them
    monkeypatch.setattr("sightline_tui.buffers.list_loader.BULK_PAGE", 7)
    monkeypatch.setattr("sightline_tui.buffers.list_model.PAGE", 5)
    monkeypatch.setattr("sightline_tui.buffers.list_model.AHEAD_ROWS", 0)
    looked_for = list[int]()
    look_for = FilterText.look_for

    def counted(self: FilterText, terms: Sequence[Term], entries: Entries) -> None:
        looked_for.append(len(entries))
        look_for(self, terms, entries)

    monkeypatch.setattr(FilterText, "look_for", counted)

    async def body() -> None:
        with Store(str(tmp_path / "many")) as many:
            for number in range(40):
                add(many, f"cmd_0000{number:02x}", f"{'make' if number % 2 else 'ls'} {number}", b"x\n")
            async with opened(many) as pilot:
                assert not buffers(pilot).rows.catalog.complete
                buffers(pilot).filter("make")
                await until(pilot, lambda: buffers(pilot).rows.catalog.complete)
                await rest(pilot)
                assert sorted(names(pilot)) == [f"cmd_0000{number:02x}" for number in range(40) if number % 2]
                assert len(looked_for) == 1  # and not again for each page

    run(body)


def test_what_is_typed_before_all_is_read_finds_what_comes_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline_tui.buffers.list_loader.PAGE", 5)
    monkeypatch.setattr("sightline_tui.buffers.list_loader.BULK_PAGE", 5)
    monkeypatch.setattr("sightline_tui.buffers.list_model.PAGE", 5)
    monkeypatch.setattr("sightline_tui.buffers.list_model.AHEAD_ROWS", 0)
    told = list[ListFiltered]()
    monkeypatch.setattr(ListTitle, "filtered", lambda _self, _query, found: told.append(found))
    guessing = Mock(wraps=Guesses)
    monkeypatch.setattr("sightline_tui.buffers.filter.Guesses", guessing)

    async def body() -> None:
        with Store(str(tmp_path / "many")) as many:
            add(many, "cmd_0000ff", "cargo test", b"x\n", ago=500.0)
            for number in range(40):
                add(many, f"cmd_0000{number:02x}", f"make {number}", b"x\n")
            async with opened(many) as pilot:
                assert not buffers(pilot).rows.catalog.complete
                await burst(pilot, "/crgtst\r\r")
                await until(pilot, lambda: viewer(pilot).has_focus)
                assert viewer(pilot).shows("cmd_0000ff")
                assert {found.found for found in told if found.done} == {1}
                assert {len(call.args[1]) for call in guessing.call_args_list} == {41}  # only when all is there

    run(body)


def test_nothing_found_is_said(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"/zzzzqqqq", "enter")
            assert names(pilot) == []
            assert "No buffer matches" in text(pilot.app.query_one("#notice"))[0]
            await press(pilot, "escape")
            assert len(names(pilot)) == 3

    run(body)


def test_a_new_buffer_joins_what_was_found(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, *"/git", "enter")
            add(store, "cmd_00000d", "git log", b"d\n")
            buffers(pilot).store_changed(index=True, live=frozenset())
            await rest(pilot)
            assert names(pilot) == ["cmd_00000d", "cmd_00000c"]
            assert buffers(pilot).rows.selected == "cmd_00000c"

    run(body)


def test_words_narrow_the_list_beside_text_and_are_completed(store: Store) -> None:
    add(store, "cmd_00000d", "cargo build", b"ERROR: x\n", exit_code=101)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "slash", *"exit:0")
            assert sorted(names(pilot)) == ["cmd_00000a", "cmd_00000b", "cmd_00000c"]
            await press(pilot, "space", *"cargo", "enter")
            assert names(pilot) == ["cmd_00000a"]
            assert "1 match" in text(pilot.app.query_one("#list-title"))[0]
            await press(pilot, "escape", "slash", *"is:fa", "tab")
            assert pilot.app.screen.query_one("#filter", Prompt).value == "is:failed"
            assert names(pilot) == ["cmd_00000d"]
            await press(pilot, "escape")
            assert len(names(pilot)) == 4

    run(body)


def test_what_a_slow_word_accepts_appears_as_it_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline_tui.buffers.filter._SHARE_SECONDS", 0.0)
    goes_on = threading.Event()
    names_of = BufferFilter.names

    def slow(self: BufferFilter) -> Iterator[str]:
        found = names_of(self)
        yield next(found)
        goes_on.wait(30)
        yield from found

    monkeypatch.setattr(BufferFilter, "names", slow)

    def head(pilot: Pilot[None]) -> str:
        return text(pilot.app.query_one("#list-title"))[0]

    async def body() -> None:
        async with opened(store) as pilot:
            buffers(pilot).filter("kind:cmd")
            await until(pilot, lambda: names(pilot) == ["cmd_00000c"])
            await until(pilot, lambda: "reading… 1 match so far" in head(pilot))
            goes_on.set()
            await until(pilot, lambda: names(pilot) == ["cmd_00000c", "cmd_00000b", "cmd_00000a"])
            await until(pilot, lambda: "3 matches" in head(pilot) and "so far" not in head(pilot))

    run(body)


def test_a_word_that_is_none_is_named_beside_the_matches(store: Store) -> None:
    async def body() -> None:
        async with opened(store, size=(200, 30)) as pilot:
            await press(pilot, "slash", *"befor", "colon", *"mon", "enter")
            assert "no word befor: (did you mean before:?)" in text(pilot.app.query_one("#list-title"))[0]

    run(body)
