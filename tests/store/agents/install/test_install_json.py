"""Changes to JSON settings: what is not changed stays to the byte, and taking out what was put in leaves no trace."""

import re
from typing import Any

import pytest
from hypothesis import given

from sightline.agents.install.json_edit import NoPlace, append, put, remove, remove_item
from sightline.agents.install.jsonc import NotJsonc, find, parse, plain
from tests.store.agents.install.settings_kit import documents, unhurried

SERVER = {"command": "/a b/python", "args": ["-m", "é"], "env": {}}
KEYS = ("servers", "ours")


def _comments(text: str) -> list[str]:
    return re.findall(r"// (?:note|above|alone|head|end).*|/\* a.*?\*/", text)


@unhurried
@given(documents())
def test_any_settings_are_read(document: tuple[str, Any]) -> None:
    text, value = document
    assert plain(parse(text)) == value


@unhurried
@given(documents())
def test_putting_a_member_in_changes_nothing_else(document: tuple[str, Any]) -> None:
    text, value = document
    after = put(text, KEYS, SERVER)
    assert plain(parse(after)) == {**value, "servers": {**value.get("servers", {}), "ours": SERVER}}
    assert _comments(after) == _comments(text)
    if "\n" in text:
        assert set(re.findall("\r?\n", after)) == set(re.findall("\r?\n", text)), "lines end as they did"


@unhurried
@given(documents())
def test_taking_it_out_again_leaves_no_trace(document: tuple[str, Any]) -> None:
    text, value = document
    after = remove(put(text, KEYS, SERVER), KEYS)
    if "servers" not in value:
        after = remove(after, KEYS[:1])
    assert after == text


@unhurried
@given(documents(listing=True))
def test_an_element_comes_and_goes_without_a_trace(document: tuple[str, Any]) -> None:
    text, value = document
    after = append(text, ("hooks",), SERVER)
    assert plain(parse(after))["hooks"] == [*value["hooks"], SERVER]
    array = find(parse(after), ("hooks",))
    assert array is not None
    assert remove_item(after, array, array.items[-1]) == text


@unhurried
@given(documents(listing=True))
def test_whatever_item_is_removed_the_others_stay(document: tuple[str, Any]) -> None:
    text, value = document
    for place, key in enumerate(value):
        root = parse(text)
        after = remove_item(text, root, root.items[place])
        assert plain(parse(after)) == {name: one for name, one in value.items() if name != key}


def test_a_new_member_is_written_as_its_neighbours_are() -> None:
    assert put('{\n\t"a": 1\n}\n', ("b",), {"c": 2}) == '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 2\n\t}\n}\n'
    assert put('{"a": 1}', ("b",), {"c": 2}) == '{"a": 1, "b": {"c": 2}}'
    assert put('{\n  "a": 1, // why\n}', ("b",), 2) == '{\n  "a": 1, // why\n  "b": 2,\n}'


def test_of_two_members_of_one_name_the_last_one_counts_as_for_every_reader() -> None:
    assert put('{"a": 1, "a": 2}', ("a",), 3) == '{"a": 1, "a": 3}'


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", (1, 1)),
        ('{"a": 1', (1, 8)),
        ('{\n  "a" 1\n}', (2, 7)),
        ('{"a": 1} x', (1, 10)),
        ('{"a": 1 "b": 2}', (1, 9)),
        ("{a: 1}", (1, 2)),
        ('{"a": "\n"}', (1, 7)),
        ('{"a": 01}', (1, 7)),
        ("{ /* never closed", (1, 3)),
        ("[" * 1000, (1, 202)),
        ('{"a": ,}', (1, 7)),
        ("{,}", (1, 2)),
    ],
)
def test_what_is_no_json_is_told_with_its_place(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(NotJsonc) as told:
        parse(text)
    assert (told.value.line, told.value.column) == place


def test_what_stands_in_the_way_is_named() -> None:
    with pytest.raises(NoPlace, match="servers is no object"):
        put('{"servers": []}', KEYS, SERVER)
    with pytest.raises(NoPlace, match="hooks is no array"):
        append('{"hooks": {}}', ("hooks",), SERVER)
