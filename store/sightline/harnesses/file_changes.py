"""Finds what a call of an editing tool changes in which files, by its arguments, for all known harnesses."""

import re

from sightline.harnesses.tool_call import dict_of, list_of, text_of
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Iterator

EDITS = frozenset(
    ("Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "write_file", "replace", "edit", "write", "patch")
)
"""Tools that change files, and name them in their arguments."""

WRITES = frozenset(("Write", "write_file", "write"))
"""Those of them that write a file whole."""

EDIT_CHARACTERS = 1 << 16
"""The kept length of each text among the arguments of a tool that changes files; of other tools less is kept."""

_PATHS = ("file_path", "filePath", "notebook_path", "path", "absolute_path")
_PATCHES = ("input", "patch", "patchText", "patch_text", "command")
_PATCHED = re.compile(r"(?m)^\*\*\* (?:Update|Add|Delete) File: (.*\S).*$|^\*\*\* Move to: (.*\S).*$")
_MOST_FILES = 200


def files_changed(tool: str, arguments: Any) -> list[str]:
    """Return the paths in the tool's arguments, each once; none for a tool that changes no files.

    Args:
        tool: name of the tool.
        arguments: its arguments, whole.
    """
    if tool not in EDITS:
        return []
    given = dict_of(arguments)
    paths = [path for name in _PATHS if (path := text_of(given.get(name)))][:1]
    texts = [arguments] if isinstance(arguments, str) else [given.get(name) for name in _PATCHES]
    if not paths:
        words = [one for text in texts for one in (text if isinstance(text, list) else [text])]
        paths = [first or second for one in words for first, second in _PATCHED.findall(text_of(one))]
    for change in map(dict_of, list_of(given.get("edits"))):
        paths += [path for name in _PATHS if (path := text_of(change.get(name)))][:1]
    return list(dict.fromkeys(paths))[:_MOST_FILES]


_OLD = ("old_string", "oldString", "old_str", "oldText")
_PATCHED_FILE = re.compile(r"(?m)^\*\*\* (?:Update|Delete) File: (.*\S).*$")
_ELIDED = "characters elided …]"


def replaced_lines(arguments: Any, path: str) -> list[str]:
    """Return the lines of a file that a call of an editing tool names as those to be replaced, or around them.

    Args:
        arguments: what the tool was called with; long texts may be cut.
        path: the file, as the tool was given it.

    Returns:
        The lines without indentation, those that were cut left out; none if the call names none.
    """
    given = dict_of(arguments)
    changes = [given, *map(dict_of, list_of(given.get("edits")))]
    texts = [text for change in changes for name in _OLD if (text := text_of(change.get(name)))]
    for patch in [arguments] if isinstance(arguments, str) else [given.get(name) for name in _PATCHES]:
        parts = _PATCHED_FILE.split(text_of(patch))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name == path:
                texts.append("\n".join(line[1:] for line in body.split("\n") if line[:1] in (" ", "-")))
    return [line.strip() for text in texts for line in text.split("\n") if line.strip() and _ELIDED not in line]


def patched_in(command: str) -> list[str]:
    """Return the files that a command line changes by handing a patch to ``apply_patch``; none for any other."""
    if "apply_patch" not in command:
        return []
    return list(dict.fromkeys(first or second for first, second in _PATCHED.findall(command)))[:_MOST_FILES]


class Replacement(NamedTuple):
    """A text of a file, and the text in its place; without an old one the new one is inserted where nobody tells."""

    old: str
    new: str
    everywhere: bool = False


EDITED, WRITTEN, DELETED = "edited", "written", "deleted"


class FileChange(NamedTuple):
    """How a call changed a file, as far as its arguments state that.

    Attributes:
        path: the file, as the tool was given it.
        what: EDITED, WRITTEN (whole) or DELETED.
        pieces: the replacements in order; of a file that was written whole a single one, of nothing by all of it.
        moved: where the file was moved; empty if it was not.
        cut: whether the log lacks the end of some text.
    """

    path: str
    what: str
    pieces: tuple[Replacement, ...] = ()
    moved: str = ""
    cut: bool = False


_NEW = ("new_string", "newString", "new_str", "newText", "new_source")
_CONTENT = ("content", "contents", "file_text")
_ALL = ("replace_all", "replaceAll")
_CUT_END = re.compile(r"(?:… \([\d,]{1,15} characters\)|\[… [\d,]{1,15} characters elided …\])\Z")
_PATCH_FILE = re.compile(r"\*\*\* (Update|Add|Delete) File: (.*\S)")
_MOVE = "*** Move to: "
_KINDS = {"Update": EDITED, "Add": WRITTEN, "Delete": DELETED}


def changes_in(tool: str, arguments: Any) -> list[FileChange]:
    """Return how a call changed files, by its arguments; nothing for a tool that changes none.

    Args:
        tool: name of the tool.
        arguments: its arguments; long texts may be cut.
    """
    if tool not in EDITS:
        return []
    given = dict_of(arguments)
    path = next((path for name in _PATHS if (path := text_of(given.get(name)))), "")
    if not path:
        texts = [arguments] if isinstance(arguments, str) else [given.get(name) for name in _PATCHES]
        words = (one for text in texts for one in (text if isinstance(text, list) else [text]))
        return [change for one in words for change in changes_in_patch(text_of(one))]
    whole = next((text for name in _CONTENT if isinstance(text := given.get(name), str)), None)
    if whole is not None:
        return [FileChange(path, WRITTEN, (Replacement("", whole),), cut=_is_cut(whole))]
    if (piece := _replacement(given)) and any(given.get(name) == "" for name in _OLD):  # so a new file is begun
        return [FileChange(path, WRITTEN, (piece,), cut=_is_cut(piece.new))]
    edits = [given, *map(dict_of, list_of(given.get("edits")))]
    pieces = tuple(piece for one in edits if (piece := _replacement(one)))
    cut = any(_is_cut(text) for piece in pieces for text in (piece.old, piece.new))
    return [FileChange(path, EDITED, pieces, cut=cut)] if pieces else []


def _replacement(edit: dict[str, Any]) -> Replacement | None:
    old = next((text for name in _OLD if isinstance(text := edit.get(name), str)), None)
    new = next((text for name in _NEW if isinstance(text := edit.get(name), str)), None)
    if old is None and new is None:
        return None
    return Replacement(old or "", new or "", any(edit.get(name) is True for name in _ALL))


def _is_cut(text: str) -> bool:
    return bool(_CUT_END.search(text[-60:]))


def changes_in_patch(text: str) -> list[FileChange]:
    """Return how a patch for ``apply_patch``, or a command line with one, changes files."""
    found = list[FileChange]()
    lines = list[str]()
    for line in [*text.split("\n"), "*** End of File"]:
        begins = _PATCH_FILE.match(line)
        if line.startswith(_MOVE) and found:
            found[-1] = found[-1]._replace(moved=line.removeprefix(_MOVE).strip())
        elif begins or line.startswith("*** End"):
            if found and not found[-1].pieces:
                found[-1] = found[-1]._replace(pieces=tuple(_pieces(found[-1].what, lines)))
            lines = []
            if begins:
                found.append(FileChange(begins[2], _KINDS[begins[1]]))
        elif found:
            lines.append(line)
    return [one._replace(cut=True) for one in found] if _is_cut(text) else found


def _pieces(what: str, lines: list[str]) -> Iterator[Replacement]:
    """Yield the replacements of a file's part of a patch: for each of its places the lines before and after."""
    if what == WRITTEN:
        yield Replacement("", "".join(line[1:] + "\n" for line in lines if line[:1] == "+"))
        return
    old, new = list[str](), list[str]()
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if old != new:
                yield Replacement("".join(old), "".join(new))
            old, new = [], []
        elif line[:1] in (" ", "-", "+", ""):
            old += [line[1:] + "\n"] if line[:1] != "+" else []
            new += [line[1:] + "\n"] if line[:1] != "-" else []
