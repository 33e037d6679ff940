"""Puts our entries into the text of a settings file and takes them out again; pure functions over texts."""

from collections.abc import Callable, Iterator

from sightline.agents.install.json_edit import Keys, NoPlace, append, put, remove, remove_item
from sightline.agents.install.jsonc import JsoncItem, JsoncNode, find, parse, plain
from sightline.agents.install.toml_edit import put_table, remove_table, table_at
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

Ours = Callable[[Any], bool]


class Put(NamedTuple):
    """A member or table of ours. Where it exists already, keys that a person added to it stay.

    Attributes:
        keys: its names, one a level.
        value: what it holds.
    """

    keys: Keys
    value: dict[str, Any]


class Add(NamedTuple):
    """An element of ours in a list of many.

    Attributes:
        keys: the names that lead to the list, one for each level.
        value: the element.
    """

    keys: Keys
    value: Any


class SettingsEntries(NamedTuple):
    """All entries of ours for one file.

    Attributes:
        form: ``json``, ``toml``, or ``text`` for a file that we write whole.
        ours: tells whether some version of us wrote a value.
        puts: members that are ours.
        adds: elements of lists that are ours.
        sweeps: the names below which to look for elements of ours when they are to be removed.
        fills: members without which the harness does not read the file; added where they are missing.
        sets: members that get this value, whatever they had.
        text: the whole file, of the form ``text``.
        is_program: whether the file must be executable.
    """

    form: str
    ours: Ours
    puts: tuple[Put, ...] = ()
    adds: tuple[Add, ...] = ()
    sweeps: tuple[Keys, ...] = ()
    fills: tuple[tuple[Keys, Any], ...] = ()
    sets: tuple[tuple[Keys, Any], ...] = ()
    text: str = ""
    is_program: bool = False


class Undo(NamedTuple):
    """What is needed, beside the text, to take our entries out.

    Attributes:
        created: lists and objects that were made to hold something of ours.
        replaced: the values that members of ours replaced.
        set: members whose value we changed, or added.
    """

    created: tuple[Keys, ...] = ()
    replaced: tuple[tuple[Keys, Any], ...] = ()
    set: tuple[Keys, ...] = ()

    def after(self, earlier: "Undo") -> "Undo":
        """The undo data after a second installation, when a person has changed the file since the first."""
        created = tuple(dict.fromkeys(earlier.created + self.created))
        changed = tuple(dict.fromkeys(earlier.set + self.set))
        return Undo(created, earlier.replaced + self.replaced, set=changed)


def with_ours(text: str, content: SettingsEntries) -> tuple[str, Undo]:
    """The text with all of our entries, and without those of older versions.

    Args:
        text: the text.
        content: our entries.

    Raises:
        NotJson, NotToml: the text is not in its format.
        NoPlace: a value of another type stands where our entry belongs.
    """
    if content.form == "text":
        return content.text, Undo()
    if content.form == "toml":
        return _toml_with(text, content)
    return _json_with(text or "{}\n", content)


def without_ours(text: str, content: SettingsEntries, undo: Undo) -> str:
    """The text without our entries. Raises as `with_ours`."""
    if content.form == "text":
        return "" if content.ours(text) else text
    return _toml_without(text, content, undo) if content.form == "toml" else _json_without(text, content, undo)


def of_ours(text: str, content: SettingsEntries) -> list[Any]:
    """Our members and elements in a text, members first. Raises as `with_ours`."""
    if content.form == "text":
        return [text] if content.ours(text) else []
    if content.form == "toml":
        tables = [table_at(text, one.keys) for one in content.puts]
        return [table for table in tables if table is not None and content.ours(table)]
    root = parse(text or "{}")
    members = [find(root, one.keys) for one in content.puts]
    values = [plain(node) for node in members if node is not None]
    return [value for value in values if content.ours(value)] + [
        plain(item.node) for _, item in _elements(root, content)
    ]


def _toml_with(text: str, content: SettingsEntries) -> tuple[str, Undo]:
    replaced = []
    for keys, value in content.puts:
        there = table_at(text, keys)
        if there is not None and not content.ours(there):
            replaced.append((keys, there))
            text = remove_table(text, keys)
        text = put_table(text, keys, value)
    return text, Undo(replaced=tuple(replaced))


def _toml_without(text: str, content: SettingsEntries, undo: Undo) -> str:
    for keys, _ in content.puts:
        there = table_at(text, keys)
        if there is not None and content.ours(there):
            text = remove_table(text, keys)
            for earlier, value in undo.replaced:
                if earlier == keys:
                    text = put_table(text, keys, value)
    return text


def _json_with(text: str, content: SettingsEntries) -> tuple[str, Undo]:
    if parse(text).kind != "object":
        raise NoPlace((), "object")
    root = parse(text)
    created = {prefix for prefix in _containers(content) if find(root, prefix) is None}
    replaced = []
    for keys, value in content.fills:
        if find(parse(text), keys) is None:
            text = put(text, keys, value)
    for keys, value in content.puts:
        there = find(parse(text), keys)
        if there is not None and content.ours(plain(there)):
            text = _merged(text, keys, value)
            continue
        if there is not None:
            replaced.append((keys, plain(there)))
        text = put(text, keys, value)
    changed = [keys for keys, value in content.sets if (node := find(root, keys)) is None or plain(node) != value]
    for keys, value in content.sets:
        if keys in changed:
            there = find(root, keys)
            replaced += [(keys, plain(there))] if there is not None else []
            text = put(text, keys, value)
    text = _swept(text, content, keep=content.adds)
    for keys, value in content.adds:
        if value not in _list_at(parse(text), keys):
            text = append(text, keys, value)
    return text, Undo(tuple(sorted(created)), tuple(replaced), set=tuple(changed))


def _json_without(text: str, content: SettingsEntries, undo: Undo) -> str:
    for keys, _ in content.puts:
        there = find(parse(text), keys)
        if there is not None and content.ours(plain(there)):
            text = _restored(text, keys, undo)
    for keys in undo.set:
        text = _restored(text, keys, undo)
    text = _swept(text, content, keep=())
    for keys in sorted(undo.created, key=len, reverse=True):
        there = find(parse(text), keys)
        if there is not None and not there.items and there.kind != "scalar":
            text = remove(text, keys)
    return text


def _restored(text: str, keys: Keys, undo: Undo) -> str:
    """The text with the value that stood at a place before us, or with none there."""
    earlier = [value for place, value in undo.replaced if place == keys]
    return put(text, keys, earlier[0]) if earlier else remove(text, keys)


def _list_at(root: JsoncNode, keys: Keys) -> list[Any]:
    array = find(root, keys)
    return list(plain(array)) if array is not None and array.kind == "array" else []


def _containers(content: SettingsEntries) -> Iterator[Keys]:
    """Every object and list that holds an entry of ours."""
    members = [*(one.keys for one in content.puts), *(keys for keys, _ in content.sets)]
    for keys in [*(keys[:-1] for keys in members), *(one.keys for one in content.adds)]:
        yield from (keys[:length] for length in range(1, len(keys) + 1))


def _merged(text: str, keys: Keys, value: dict[str, Any]) -> str:
    """The text with these keys set in a member that is there."""
    for key, one in value.items():
        there = find(parse(text), (*keys, key))
        if there is not None and isinstance(one, dict) and there.kind == "object":
            text = _merged(text, (*keys, key), one)
        elif there is None or plain(there) != one:
            text = put(text, (*keys, key), one)
    return text


def _swept(text: str, content: SettingsEntries, keep: tuple[Add, ...]) -> str:
    """The text without elements of ours, except those that belong there."""
    while True:
        kept: list[Add] = []
        for keys, container, item in _located(parse(text), content):
            found = Add(keys, plain(item.node))
            if found in keep and found not in kept:  # a second copy is removed
                kept.append(found)
                continue
            text = remove_item(text, container, item)
            break
        else:
            return text


def _elements(root: JsoncNode, content: SettingsEntries) -> Iterator[tuple[JsoncNode, JsoncItem]]:
    for _, container, item in _located(root, content):
        yield container, item


def _located(root: JsoncNode, content: SettingsEntries) -> Iterator[tuple[Keys, JsoncNode, JsoncItem]]:
    """Every element of ours below the swept names: its list's names, the list, the element.

    An element counts as ours if we wrote it, or if it holds a list of nothing but our elements.
    """
    for keys in content.sweeps:
        top = find(root, keys)
        if top is not None:
            yield from _within(keys, top, content.ours)


def _within(keys: Keys, node: JsoncNode, ours: Ours) -> Iterator[tuple[Keys, JsoncNode, JsoncItem]]:
    for item in node.items:
        below = (*keys, item.key) if item.key else keys
        if node.kind == "array" and _wholly(item.node, ours):
            yield keys, node, item
        else:
            yield from _within(below, item.node, ours)


def _wholly(node: JsoncNode, ours: Ours) -> bool:
    if ours(plain(node)):
        return True
    lists = [item.node for item in node.items if item.key and item.node.kind == "array" and item.node.items]
    return bool(lists) and all(ours(plain(item.node)) for one in lists for item in one.items)
