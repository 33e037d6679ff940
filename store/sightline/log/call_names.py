"""Names calls for people: by what each is about, never by its JSON.

Examples are ``Edit phase_test.go``, ``Grep "TestPost"``, ``Read a.py:10-40``, ``Task review the diff``. These are pure
functions of records; a search for calls looks through the records themselves.
"""

import os

from sightline.base.records import Buffer, View
from sightline.light.json_text import loads
from sightline.light.late_pattern import late_pattern, re
from sightline.light.library import lru_cache
from sightline.light.typing_names import Any, Mapping, Sequence

_CHARACTERS = 200
_KEPT = 2_000  # names: visible ones are redrawn again and again
_LOOKED_FOR = ("pattern", "regex", "query", "search_term", "search", "q")
_PATHS = (
    *("file_path", "filePath", "absolute_path", "notebook_path", "target_file", "filename", "file", "path"),
    *("dir_path", "directory"),
)
_SAID = ("command", "cmd", "description", "url", "uri", "title", "name", "skill", "message", "question", "prompt")
_PATCHED = late_pattern(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_ONE_BASED = ("Read",)
"""Tools whose ``offset`` is a line number from 1; for others it counts from 0, or its meaning is not known."""


def call_name(buffer: Buffer) -> str:
    """Return a buffer in one line: a command as typed, a tool's call by what it is about, a file by its path.

    The path begins at the project in which the file lies. The command of piped input may be unknown,
    and that of a purged output is.
    """
    if buffer.kind == "tool":
        return tool_name(buffer.command)
    line = " ".join(buffer.command.split())
    if buffer.kind == "file" and (root := buffer.project or buffer.cwd) and line.startswith(root.rstrip("/") + "/"):
        return line[len(root.rstrip("/")) + 1 :] or line
    return line or ("(not kept)" if buffer.state == "evicted" else "(piped in)")


@lru_cache(maxsize=_KEPT)
def tool_name(command: str) -> str:
    """Return a tool's call from a buffer's command: the tool, and perhaps its arguments as JSON."""
    tool, brace, rest = command.partition(" {")
    if not brace:
        return " ".join(command.split())
    try:
        arguments = loads("{" + rest)
    except ValueError:
        return " ".join(command.split())
    return name_of_call(tool, arguments)


def name_of_call(tool: str, arguments: Any) -> str:
    """Return a tool's call in one line: its name, and the argument that says what it is about."""
    patched = _PATCHED.findall(arguments) if isinstance(arguments, str) else ()
    words = ", ".join(map(_last_names, patched)) or _text(arguments)
    about = _about(tool, arguments) if isinstance(arguments, Mapping) else words
    line = " ".join(f"{tool} {about}".split())
    return line if len(line) <= _CHARACTERS else line[: _CHARACTERS - 1] + "…"


def _about(tool: str, arguments: Mapping[str, Any]) -> str:
    path = next((text for name in _PATHS if (text := _text(arguments.get(name)))), "")
    for name in _LOOKED_FOR:
        if text := _text(arguments.get(name)):
            return f'"{text}"' + (f" in {_last_names(path)}" if path else "")
    if path:
        return _last_names(path) + _lines(tool, arguments)
    for name in _SAID:
        if text := _text(arguments.get(name)):
            return text
    for value in arguments.values():
        if isinstance(value, str) and (patched := _PATCHED.findall(value)):
            return ", ".join(map(_last_names, patched))
    for name, value in arguments.items():
        if isinstance(value, list) and value:
            texts = [one for one in value if isinstance(one, str)]
            return ", ".join(map(_last_names, texts)) if len(texts) == len(value) else f"{len(value):,} {name}"
    return next((text for value in arguments.values() if (text := _text(value))), "")


def _last_names(path: str) -> str:
    """Return the last name of a path, with a slash if it is a folder."""
    kept = path.rstrip("/")
    return (os.path.basename(kept) or path) + ("/" if kept and path != kept else "")


def _lines(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return the lines that were asked for, if they are known: ``:10-40``."""
    first, last = _number(arguments.get("start_line")), _number(arguments.get("end_line"))
    between = arguments.get("view_range")
    if isinstance(between, Sequence) and len(between) == 2:
        first, last = _number(between[0]), _number(between[1])
    if not first and tool in _ONE_BASED:
        first = _number(arguments.get("offset"))
        limit = _number(arguments.get("limit"))
        first = first or (1 if limit else 0)
        last = first + limit - 1 if limit else 0
    if not first:
        return f":1-{last}" if last else ""
    return f":{first}-{last}" if last >= first else f":{first}-"


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(value: Any) -> str:
    """Return a value that is a text, or a list of words, in one line; empty for anything else."""
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return " ".join(" ".join(value).split())
    return ""


def name_of_view(view: View) -> str:
    """Return in one line what a view was asked for, from the log."""
    return name_of_request(loads(view.request))


def use_of_view(view: View) -> str:
    """Return the harness' id of the tool use that a view answered, from the log; empty if it has none."""
    return _use_of(view.request)


@lru_cache(maxsize=_KEPT)
def _use_of(request: str) -> str:
    caller = loads(request).get("caller") if '"tool_use"' in request else None
    use = caller.get("tool_use") if isinstance(caller, Mapping) else ""
    return use if isinstance(use, str) else ""


def name_of_request(request: Mapping[str, Any]) -> str:
    """Return in one line what a view was asked for, from the request in the log.

    A file that was read is given by its path and the lines that were asked for.
    """
    arguments = request.get("arguments")
    tool = request.get("tool")
    for key in _ASKED:
        value = request.get(key)
        if not value:
            continue
        if key == "tool" and isinstance(value, str):
            is_told = isinstance(arguments, Mapping) or (isinstance(arguments, str) and _PATCHED.search(arguments))
            return name_of_call(value, arguments) if is_told else tool_name(value)
        text = " ".join(str(value if isinstance(value, str) else " ".join(map(str, value))).split())
        if key == "path" and "ref" not in request:
            given = arguments if isinstance(arguments, Mapping) else request
            return text + _lines(tool if isinstance(tool, str) else "", given)
        return text
    return ""


_ASKED = ("command", "pipeline", "ref", "path", "argv", "match", "diff", "tool")
"""The members of a request that can say what it is about, in the order of the search."""


def left_out_of_path(path: str, characters: int) -> int:
    """Return how many characters at the beginning of a path to leave out, so that it fits with an ellipsis.

    The end of a path tells files apart: whole names are left out from the beginning, of the last one only what must be.
    """
    if len(path) <= characters:
        return 0
    least = len(path) - max(characters - 1, 1)
    slash = path.find("/", least)
    return slash if slash >= 0 else least
