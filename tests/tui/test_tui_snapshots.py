"""How the screens look, in three sizes."""

import json
from collections.abc import Callable, Iterator

import pytest
from textual.pilot import Pilot

from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.viewer import annotations
from tests.tui.tui_kit import NOW, add, begin, press, rest

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def unaudited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has seen what comes later, and is another screen."""
    monkeypatch.setattr(annotations, "AUDIT_SECONDS", 3600)


@pytest.fixture
def project(store: Store) -> Iterator[Store]:
    add(store, "file_0badf0", "src/parser.py", b"def parse(text):\n\treturn text\n", ago=86_400 * 3, exit_code=None)
    add(store, "cmd_5e1f00", "cat data/日本語.json", '{"名前": "試験"}\n'.encode(), ago=7_300, label="fixture")
    add(store, "cmd_c0ffee", "cargo build --release", b"Compiling\n" * 900, ago=3_700, pinned=True)
    killed = add(store, "cmd_dead01", "sleep 1000", b"x\n", ago=1_900, exit_code=None)
    store.index.put_buffer(killed._replace(state="interrupted"))
    store.remove(add(store, "cmd_90be00", "curl https://example.org", b"x\n", ago=900), "evicted")
    out = b"".join(b"tests/test_parser.py::test_case_%d PASSED\n" % number for number in range(1, 120))
    add(store, "cmd_a1b2c3", "pytest -q tests", out, b"warning: slow \xe2\x80\xae marker\n", ago=95, exit_code=1)
    recording = begin(store, "cmd_f00d00", "tail -F app.log")
    recording.append("out", b"listening\n")
    store.index.put_buffer(recording.buffer._replace(created=NOW - 5, accessed=NOW - 5))
    yield store  # the writer lives as long as the test
    recording.abandon()


def shown(compare: Compare, store: Store, size: tuple[int, int], *keys: str) -> bool:
    async def before(pilot: Pilot[None]) -> None:
        await rest(pilot)
        for key in keys:  # what one opens is read before the next: a busy machine may take long
            await press(pilot, key)

    return compare(InspectorApp(store, clock=lambda: NOW, live=False), terminal_size=size, run_before=before)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=["small", "medium", "large"])
def test_inspector(snap_compare: Compare, project: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, project, size, "j")


def test_light(snap_compare: Compare, project: Store) -> None:
    assert shown(snap_compare, project, (120, 36), "C", "down", "enter", "j", "enter")


def test_filter(snap_compare: Compare, project: Store) -> None:
    assert shown(snap_compare, project, (120, 36), "slash", "c", "a", "r")


def test_evicted(snap_compare: Compare, project: Store) -> None:
    assert shown(snap_compare, project, (120, 36), "j", "j")


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=["small", "medium", "large"])
def test_result(snap_compare: Compare, project: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, project, size, "j", *":grep -n 7 | sort -n", "enter", "j", "j", "enter")


def test_query_bar(snap_compare: Compare, project: Store) -> None:
    assert shown(snap_compare, project, (120, 36), "j", *":grep x | s", "tab", "tab")


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=["small", "medium", "large"])
def test_json(snap_compare: Compare, store: Store, size: tuple[int, int]) -> None:
    value = {"items": [{"id": id_, "name": "试" * id_, "tags": []} for id_ in range(12)], "next": None, "é ü": 1.5e3}
    add(store, "cmd_150115", "curl https://example.org/items", json.dumps(value, ensure_ascii=False).encode())
    assert shown(snap_compare, store, size, "J", "j", "enter", "j", "j", "enter", "j", "j")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["small", "medium"])
def test_empty(snap_compare: Compare, store: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, store, size)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["small", "medium"])
def test_help(snap_compare: Compare, project: Store, size: tuple[int, int]) -> None:
    assert shown(snap_compare, project, size, "question_mark")
