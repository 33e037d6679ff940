"""Notes: written on lines, kept or handed to an agent, listed, taken back."""

import pytest
from textual.pilot import Pilot

from sightline.base.records import Buffer
from sightline.log.notes import ANYONE, hold_waiting, list_notes, release
from sightline.store import Store
from sightline_tui.inspector import Inspector
from sightline_tui.notes.note_screen import NoteScreen
from sightline_tui.notes.screen import NotesScreen
from tests.tui.audit_kit import AGENT, OTHER, ask, bar, rows, session
from tests.tui.tui_kit import add, burst, numbered, opened, press, rest, run, until, viewer


@pytest.fixture
def buffer(store: Store) -> Buffer:
    made = add(store, "cmd_00000a", "make paint", numbered(60))
    ask(store, made, [(1, 3)], ago=50)
    ask(store, made, [(1, 3)], by=OTHER, ago=40)
    return made


async def written(pilot: Pilot[None], store: Store, count: int = 1) -> None:
    await until(pilot, lambda: len(list_notes(store)) == count)
    await rest(pilot)


def test_a_note_is_about_the_lines_that_are_selected(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *":12,14", "enter")
            await burst(pilot, "athis test is [stale], quit\r")  # typed ahead: no letter may do anything else
            await written(pilot, store)
            note = list_notes(store)[0]
            assert (note.ref, note.text, note.to) == ("@cmd_00000a:12-14", "this test is [stale], quit", "")
            assert isinstance(pilot.app.screen, Inspector)
            assert viewer(pilot).selection.range is None

    run(body)


def test_a_note_is_about_the_line_that_was_gone_to_or_else_the_output(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, "aall of it\r")
            await written(pilot, store)
            await press(pilot, "enter", *":7", "enter")
            await burst(pilot, "athe seventh\r")
            await written(pilot, store, 2)
            assert [note.ref for note in list_notes(store)] == ["@cmd_00000a", "@cmd_00000a:7-7"]

    run(body)


def test_of_two_streams_a_note_names_the_one_that_the_lines_are_of(store: Store) -> None:
    add(store, "cmd_00000b", "make", b"one\ntwo\n", b"three\nfour\n")

    async def body() -> None:
        async with opened(store) as pilot:
            for place in ("3,4", "2,3"):
                await press(pilot, "enter", *f":{place}", "enter")
                await burst(pilot, "alook\r")
            await written(pilot, store, 2)
            assert {note.ref for note in list_notes(store)} == {"@cmd_00000b.err:1-2", "@cmd_00000b.all:2-3"}

    run(body)


def test_a_note_goes_to_whom_one_chooses(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            for downs in range(1, 4):
                await press(pilot, "a")
                shown = rows(pilot, "recipients")
                assert [row.split()[-1] for row in shown] == ["nobody", "is", "next", "ago"]
                await press(pilot, *"look", *["down"] * downs, "enter")
                await written(pilot, store, downs)
            assert [note.to for note in list_notes(store)] == [AGENT, ANYONE, OTHER]

    run(body)


def test_nothing_is_written_without_a_text_or_when_left(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "a", "enter")
            assert isinstance(pilot.app.screen, NoteScreen)
            await press(pilot, "x", "escape")
            assert isinstance(pilot.app.screen, Inspector)
            assert list_notes(store) == []

    run(body)


def test_notes_are_listed_with_what_has_become_of_them(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "a", *"first", "enter")
            await press(pilot, "a", *"second", "down", "enter")
            await written(pilot, store, 2)
            release(store, hold_waiting(store, AGENT, anyone=True), session(AGENT))
            await press(pilot, "a", *"third", "down", "down", "enter")
            await written(pilot, store, 3)
            await press(pilot, "A")
            third, second, first = rows(pilot, "notes")
            assert "◔" in third and "waits for whoever asks next" in third
            assert "●" in second and f"sent to {AGENT}" in second
            assert "○" in first and "first" in first
            assert "○ 1 kept  ◔ 1 waiting  ● 1 delivered" in bar(pilot, "notes-head")

    run(body)


def test_a_note_of_the_list_can_be_sent_taken_back_and_gone_to(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "enter", *":12,14", "enter", "a", *"look", "enter")
            await written(pilot, store)
            await press(pilot, "A", "s", "down", "enter")
            assert [note.to for note in list_notes(store)] == [AGENT]
            assert "waits for" in rows(pilot, "notes")[0]
            await press(pilot, "x")
            assert [note.to for note in list_notes(store)] == [""]
            assert "waits for" not in rows(pilot, "notes")[0]
            await press(pilot, "x", "enter")
            await until(pilot, lambda: viewer(pilot).selection.range == (12, 14))
            assert not isinstance(pilot.app.screen, NotesScreen)

    run(body)


def test_without_notes_the_list_says_how_to_write_one(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "A", "s", "x", "y", "enter")
            assert "No notes yet" in bar(pilot, "notes-detail")
            await press(pilot, "escape", "a")
            assert isinstance(pilot.app.screen, Inspector)

    run(body)
