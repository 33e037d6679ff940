"""Which files a call of an editing tool changes, by what it was called with; the tools of all known harnesses."""

import re
from typing import Any

from sightline.harnesses.tool_call import dict_of, list_of, text_of

EDITS = frozenset(
    ("Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "write_file", "replace", "edit", "write", "patch")
)
"""Tools that change files, and say which when they are called."""

WRITES = frozenset(("Write", "write_file", "write"))
"""Those of them that write a file whole."""

_PATHS = ("file_path", "filePath", "notebook_path", "path", "absolute_path")
_PATCHES = ("input", "patch", "patchText", "patch_text", "command")
_PATCHED = re.compile(r"(?m)^\*\*\* (?:Update|Add|Delete) File: (.+?)\s*$|^\*\*\* Move to: (.+?)\s*$")
_MOST_FILES = 200


def files_changed(tool: str, arguments: Any) -> list[str]:
    """The paths as the tool was given them, each once; none for a tool that changes no files.

    Args:
        tool: its name.
        arguments: what it was called with, whole.
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


def patched_in(command: str) -> list[str]:
    """The files that a command line changes which hands a patch to ``apply_patch``; none for any other."""
    if "apply_patch" not in command:
        return []
    return list(dict.fromkeys(first or second for first, second in _PATCHED.findall(command)))[:_MOST_FILES]
