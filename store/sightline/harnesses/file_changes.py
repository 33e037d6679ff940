"""Finds the files that a call of an editing tool changes, by its arguments; for the tools of all known harnesses."""

import re

from sightline.harnesses.tool_call import dict_of, list_of, text_of
from sightline.light.typing_names import Any

EDITS = frozenset(
    ("Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "write_file", "replace", "edit", "write", "patch")
)
"""Tools that change files, and name them in their arguments."""

WRITES = frozenset(("Write", "write_file", "write"))
"""Those of them that write a file whole."""

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
