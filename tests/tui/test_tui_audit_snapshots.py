"""How the audit looks: beside an output of which an agent overlooked something, and as the replies it got."""

import time
from collections.abc import Callable, Iterator
from unittest.mock import patch

import pytest
from textual.pilot import Pilot

from sightline.base.records import Session, Shown
from sightline.log.notes import write_note
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store, Target
from sightline_tui.app import InspectorApp
from sightline_tui.viewer.viewer import Viewer
from tests.tui.tui_kit import NOW, add, rest, until

AGENT = Session("claude-code-7f3a", "claude-code", "", "", "/", 1.0)
OTHER = Session("codex-41", "codex", "", "", "/", 1.0)
LINES = [f"test parser::case_{number} ... ok" for number in range(1, 201)]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times of day that are the same everywhere."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def audited(store: Store) -> Store:
    lines = [*LINES]
    lines[19] = lines[119] = "ERROR: case is broken"
    buffer = add(store, "cmd_a1b2c3", "cargo test", "\n".join([*lines, ""]).encode(), b"warning: slow\n", exit_code=101)

    def show(ago: float, session: Session, verb: str, said: str, *ranges: tuple[int, int], **more: object) -> None:
        shown = tuple(Shown(buffer.name, "out", first, last) for first, last in ranges)
        fields = {"request": {}, "lines_total": 201, "bytes_total": buffer.bytes, **more}
        with patch("time.time", lambda: NOW - ago):
            record_view(store, session, Shows(verb=verb, refs=(buffer.name,), shown=shown, **fields), [Segment(said)])

    head = "\n".join([*LINES[:15], "[… 184 lines elided: @cmd_a1b2c3:16-199 …]", LINES[199], ""])
    show(50, AGENT, "run_command", head, (1, 15), (200, 200), truncated=True)
    show(40, AGENT, "read_output", "\n".join(lines[9:25]), (10, 25), request={"lines": "10-25"})
    show(30, OTHER, "query", "\n".join(LINES[109:113]), request={"pipeline": "sort @cmd_a1b2c3 | grep 11"})
    show(20, OTHER, "query", "3\n", asked=(Shown(buffer.name, "out", 100, 116),), request={"pipeline": "wc -l"})
    with patch("time.time", lambda: NOW - 10):
        write_note(store, OTHER, Target(buffer, "out", 119, 120), "this one is the real bug")
    return store


def shown(compare: Callable[..., bool], store: Store, size: tuple[int, int], theme: str, *keys: str) -> bool:
    async def before(pilot: Pilot[None]) -> None:
        await rest(pilot)
        pilot.app.theme = theme
        viewer = pilot.app.query_one(Viewer)
        await until(pilot, lambda: viewer.known_audit is not None and viewer.known_audit.marks is not None)
        for key in keys:
            await pilot.press(key)
            await rest(pilot)

    return compare(InspectorApp(store, clock=lambda: NOW, live=False), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["small", "medium"])
def test_overlooked(snap_compare: Callable[..., bool], audited: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, audited, size, "sightline-dark", "enter", "exclamation_mark")


def test_overlooked_light(snap_compare: Callable[..., bool], audited: Store) -> None:
    assert shown(snap_compare, audited, (120, 36), "sightline-light", "enter", "exclamation_mark")


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_replies(snap_compare: Callable[..., bool], audited: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, audited, size, "sightline-dark", "V", "k", "k")


def test_replies_lead_to_their_lines(snap_compare: Callable[..., bool], audited: Store) -> None:
    assert shown(snap_compare, audited, (120, 36), "sightline-dark", "V", "k", "k", "enter")
