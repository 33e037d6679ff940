"""JSON as a tree: what is read of it when, and how it folds."""

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from sightline.disk.streams import StreamReader
from sightline.shape.json.path import find, parse_path
from sightline.shape.json.scanner import NotJson
from sightline.store import Store
from sightline_tui.commands import actions_of
from sightline_tui.inspector import Inspector
from sightline_tui.json.json_view import JsonView
from sightline_tui.json.node_rows import JsonRows
from sightline_tui.json.nodes import NEAR_BYTES, PAGE, NobodyWaits, TreeNode, key_of, read_children, read_root
from sightline_tui.json.screen import JsonScreen
from tests.tui.tui_kit import add, burst, opened, press, rest, run, text, until

DOCUMENT: Any = {
    "items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
    "odd key": {"x.y": [True, None, "é\n"]},
    "empty": [],
}


class Files:
    """Makes readers of texts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "text"

    def reader(self, data: bytes) -> StreamReader:
        self._path.write_bytes(data)
        return StreamReader(os.open(self._path, os.O_RDONLY), "@x")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def whole(source: StreamReader) -> tuple[JsonRows, TreeNode]:
    """The tree with everything read and shown."""
    root = read_root(source)
    tree = JsonRows(root)
    while (node := tree.wanted(0, len(tree))) is not None:
        tree.take(node, read_children(source, node))
        for at in range(len(tree) - 1, -1, -1):
            if tree.rows[at].is_container and not tree.rows[at].is_open:
                tree.toggle(at)
    return tree, root


def value_of(node: TreeNode) -> Any:
    """What a node stands for, from what was read of it."""
    if node.kind == "object":
        return {child.key: value_of(child) for child in node.children}
    if node.kind in ("array", "lines"):
        return [value_of(child) for child in node.children]
    return json.loads(node.text)


def leaves(node: TreeNode) -> Iterator[TreeNode]:
    yield node
    for child in node.children:
        yield from leaves(child)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=5), inside, max_size=4),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    value=st.lists(VALUES, max_size=4) | st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    indent=st.none() | st.just(1),
)
def test_a_tree_holds_what_the_text_says_and_its_paths_lead_there(files: Files, value: Any, indent: int | None) -> None:
    with files.reader(json.dumps(value, indent=indent).encode()) as source:
        _, root = whole(source)
        assert value_of(root) == value
        for node in leaves(root):
            found = find(source, parse_path(node.path))
            assert (found.start, found.end, found.kind) == (node.start, node.end, node.kind)


@pytest.mark.parametrize("between", [b"\n", b"\r\n", b"\n\n"])
def test_lines_of_json_are_values_of_one_tree(files: Files, between: bytes) -> None:
    lines = [{"a": 1}, {"a": [2]}, {"a": "x"}]
    with files.reader(between.join(json.dumps(line).encode() for line in lines) + b"\n") as source:
        _, root = whole(source)
        assert root.kind == "lines"
        assert value_of(root) == lines
        assert [(node.line, node.path) for node in leaves(root) if node.key == "a"] == [
            (1, "$.a"),
            (2, "$.a"),
            (3, "$.a"),
        ]


@pytest.mark.parametrize("data", [b"", b"hello\n", b"12", b'"text"', b"  \n"])
def test_anything_else_is_no_tree(files: Files, data: bytes) -> None:
    with files.reader(data) as source, pytest.raises(NotJson):
        read_root(source)


def test_a_page_of_children_is_read_at_a_time(files: Files) -> None:
    with files.reader(json.dumps(list(range(PAGE * 2 + 5))).encode()) as source:
        root = read_root(source)
        tree = JsonRows(root)
        for count in (PAGE, 2 * PAGE, 2 * PAGE + 5):
            node = tree.wanted(0, len(tree))
            assert node is root
            tree.take(root, read_children(source, root))
            assert len(root.children) == count
        assert tree.wanted(0, len(tree)) is None
        assert root.count == 2 * PAGE + 5


def test_what_lies_behind_a_large_value_is_read_only_when_it_is_wanted(files: Files) -> None:
    large = {"data": ["x" * 1000] * (NEAR_BYTES // 500), "after": 1}
    with files.reader(json.dumps(large).encode()) as source:
        root = read_root(source)
        tree = JsonRows(root)
        tree.take(root, read_children(source, root))
        assert [child.key for child in root.children] == ["data"]
        assert root.children[0].end == 0
        tree.take(root, read_children(source, root))
        assert [child.key for child in root.children] == ["data", "after"]
        assert root.children[0].end > NEAR_BYTES
        assert root.is_complete


def test_reading_ends_when_nobody_waits(files: Files) -> None:
    with files.reader(b"[1]") as source, pytest.raises(NobodyWaits):
        read_children(source, read_root(source), is_left=lambda: True)


@pytest.mark.parametrize(
    ("data", "offset"),
    [(b'{"a": 1, "b": tru}', 14), (b'{"a": 1} rest', 9), (b"[1, 2", 5), (b'{"a":1}\n{"b":2}\nend\n', 16)],
)
def test_where_the_text_is_no_json_any_more_is_told(files: Files, data: bytes, offset: int) -> None:
    with files.reader(data) as source:
        tree, _ = whole(source)
        assert [(node.kind, node.start) for node in tree.rows if node.kind in ("broken", "more")] == [
            ("broken", offset)
        ]


def test_folding_hides_what_is_within_and_keeps_what_was_open(files: Files) -> None:
    with files.reader(json.dumps(DOCUMENT).encode()) as source:
        tree, root = whole(source)
        before = list(tree.rows)
        items = tree.rows.index(root.children[0])
        tree.toggle(items)
        assert [node.path for node in tree.rows[:3]] == ["$", "$.items", '$["odd key"]']
        tree.toggle(items)
        assert tree.rows == before
        assert tree.parent_of(items + 1) == items
        assert tree.parent_of(0) == 0


@pytest.mark.parametrize(
    ("written", "key"), [(b'"a"', "a"), (b'"\\u00e9\\n"', "é\n"), ('"é"'.encode(), "é"), (b'"long', "long…")]
)
def test_keys(written: bytes, key: str) -> None:
    assert key_of(written) == key


def tree(pilot: Pilot[None]) -> JsonView:
    return pilot.app.screen.query_one(JsonView)


def head(pilot: Pilot[None]) -> str:
    return "\n".join(text(pilot.app.screen.query_one("#json-head")))


@pytest.mark.parametrize(
    ("keys", "path"), [("Jjljjy", "$.items[1]"), ("Jjj\rjljy", '$["odd key"]["x.y"][0]'), ("Jjlljhhy", "$.items")]
)
def test_keys_typed_ahead_are_for_what_the_one_before_has_opened(store: Store, keys: str, path: str) -> None:
    add(store, "cmd_00000a", "curl", json.dumps(DOCUMENT).encode())

    async def body() -> None:
        async with opened(store) as pilot:
            await burst(pilot, keys)
            assert pilot.app.clipboard == path

    run(body)


def test_j_shows_the_tree_with_the_path_of_the_node(store: Store) -> None:
    add(store, "cmd_00000a", "curl", json.dumps(DOCUMENT).encode())

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "J")
            await rest(pilot)
            assert isinstance(pilot.app.screen, JsonScreen)
            offered = {action.what for action in actions_of(pilot.app.screen, {})}
            assert "Search" in offered and not offered & {"Filter", "Query"}  # those act on the main screen only
            assert text(tree(pilot))[1].startswith("   ▸ items: […] 2 items")
            assert text(tree(pilot))[3] == "     empty: [] 0 items, 2 B"
            await press(pilot, "j", "enter", "j", "l", "j", "j")
            assert "$.items[0].name" in head(pilot)
            assert '"a"' in text(tree(pilot))[tree(pilot).cursor]
            await press(pilot, "y")
            assert pilot.app.clipboard == "$.items[0].name"
            await press(pilot, "h", "h")
            assert "$.items[0]" in head(pilot)
            await press(pilot, "h", "h")
            assert len(text(tree(pilot))) == 4
            await press(pilot, "escape")
            assert isinstance(pilot.app.screen, Inspector)

    run(body)


def test_a_long_array_is_read_on_as_one_goes_down(store: Store) -> None:
    add(store, "cmd_00000a", "seq", json.dumps(list(range(1000))).encode())

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "J")
            await rest(pilot)
            for _ in range(5):
                await press(pilot, "G")
                await rest(pilot)
            await press(pilot, "G")
            assert text(tree(pilot))[-1] == "     [999]: 999"
            assert text(tree(pilot))[0] != " ▾ […] 1,000 items, 4.8 KiB"

    run(body)


def test_what_is_no_json_is_said(store: Store) -> None:
    add(store, "cmd_00000a", "echo", b"hello [b]\n")

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "J")
            await rest(pilot)
            assert isinstance(pilot.app.screen, Inspector)
            assert "is no JSON" in next(iter(pilot.app._notifications)).message

    run(body)


def test_a_hostile_text_is_drawn_safely(store: Store) -> None:
    add(store, "cmd_00000a", "evil", '{"\\u001b]0;x\\u0007k": "[red]\u202e\u009b31m", "[/b]": {"\u202e": 1}}'.encode())

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "J")
            await rest(pilot)
            await press(pilot, "j", "j", "enter", "j")
            shown = "\n".join([*text(tree(pilot)), head(pilot)])
            assert not set(shown) & set("\x1b\x07\x9b\u202e")
            assert "[red]" in shown
            assert "‹U+202E›" in shown

    run(body)


def test_leaving_ends_what_is_being_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "cmd_00000a", "curl", b"[1,2,3]")
    ended = threading.Event()

    def endless(source: object, node: object, is_left: Any) -> None:
        while not is_left():
            threading.Event().wait(0.001)
        ended.set()
        raise NobodyWaits

    monkeypatch.setattr("sightline_tui.json.json_view.read_children", endless)

    async def body() -> None:
        async with opened(store) as pilot:
            await pilot.press("J")
            while not isinstance(pilot.app.screen, JsonScreen):
                await pilot.pause()
            await pilot.press("q")
            await until(pilot, ended.is_set)

    run(body)
