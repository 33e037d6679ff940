"""What is remembered from one time to the next."""

import os
import stat
from pathlib import Path

import pytest

from sightline.store import Store
from sightline_tui.common.preferences import FILE, Preferences
from tests.tui.tui_kit import add, opened, press, run, text, viewer


def test_the_theme_is_that_of_the_last_time(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "C", "down", "enter")
        async with opened(store) as pilot:
            assert pilot.app.theme == "sightline-light"

    run(body)


def test_lines_are_wrapped_as_the_last_time(store: Store) -> None:
    add(store, "cmd_00000a", "wide", b"word " * 100)

    async def body() -> None:
        async with opened(store) as pilot:
            assert len(text(viewer(pilot))) == 1
            await press(pilot, "enter", "w")
        async with opened(store) as pilot:
            assert len(text(viewer(pilot))) > 5

    run(body)


def test_the_file_is_private_and_written_only_for_a_change(tmp_path: Path) -> None:
    remembered = Preferences(str(tmp_path))
    remembered.save()
    assert not (tmp_path / FILE).exists()
    remembered.put("wrap", True)
    remembered.save()
    assert stat.S_IMODE(os.stat(tmp_path / FILE).st_mode) == 0o600
    assert Preferences(str(tmp_path)).get("wrap", False) is True


@pytest.mark.parametrize("data", [b"", b"[]", b'{"wrap": 1}', b"\xff\xfe", b'{"wrap": "yes"}'])
def test_a_file_that_makes_no_sense_is_as_good_as_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FILE).write_bytes(data)
    assert Preferences(str(tmp_path)).get("wrap", False) is False


def test_what_cannot_be_written_is_let_be(tmp_path: Path) -> None:
    remembered = Preferences(str(tmp_path / "gone"))
    remembered.put("wrap", True)
    remembered.save()
    assert remembered.get("wrap", False) is True
