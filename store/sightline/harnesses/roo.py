"""Roo Code, by its source: persisted outputs, ``tasks/TASK/command-output/cmd-MILLISECONDS.txt`` in its storage.

An artifact is the whole of a command's output, both streams in one; its number is the ``ts``
of the message in the task's ``ui_messages.json`` (``{ts, type: "ask", ask: "command", text}``) that approved it. What
the model was shown is in ``api_conversation_history.json``: the result that names the artifact.
"""

import os
import re
from collections.abc import Iterator, Mapping

from sightline.base.request_usage import RequestUsage, without_zeros
from sightline.harnesses.base import Harness
from sightline.harnesses.tool_call import (
    Beside,
    CallSession,
    ToolCall,
    ToolPart,
    dict_of,
    list_of,
    number,
    open_beside,
    plain,
    shown_of,
    size_beside,
    text_of,
)
from sightline.harnesses.transcript import DOCUMENT_BYTES, BadRecord, ToldUsage, TranscriptItem, count_of
from sightline.light.json_text import loads
from sightline.light.typing_names import Any

_ARTIFACT = re.compile(r"cmd-(\d{1,16})\.txt")
_STORAGE = "User/globalStorage/rooveterinaryinc.roo-cline/tasks"
_EXIT = re.compile(r"Exit code: (-?\d{1,10})\b")
_COUNTS = ("tokensIn", "tokensOut", "cacheReads", "cacheWrites")
_NO_COMMAND = "(the command was not written down)"


class Roo(Harness):
    """Only past sessions are read."""

    name, title = "roo", "Roo Code"
    transcript_folder = "command-output"
    reader = __name__

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """They lie in the storage of each editor of VS Code's family."""
        settings = environment.get("XDG_CONFIG_HOME", "") or os.path.join(home, ".config")
        editors = ("Code", "Code - Insiders", "VSCodium", "Cursor")
        bases = (settings, os.path.join(home, "Library/Application Support"))
        places = [os.path.join(base, editor, _STORAGE) for base in bases for editor in editors]
        return [*places, os.path.join(home, ".vscode-server/data", _STORAGE)]


HARNESS = Roo()


def is_part(name: str) -> bool:
    """Return whether a file in such a folder is an output."""
    return bool(_ARTIFACT.fullmatch(name))


class FolderReading:
    """Reads the artifacts of one task."""

    waiting = False
    newest = 0.0

    def __init__(self, path: str) -> None:
        """Prepare to read a ``command-output`` folder."""
        self._path = os.path.abspath(path)
        self._task = os.path.dirname(self._path)
        self._given: set[str] = set()
        self.position = 0

    def close(self) -> None:
        """Do nothing, because nothing is open."""

    def finish(self) -> Iterator[TranscriptItem]:
        """Yield nothing, because nothing waits."""
        return iter(())

    def advance(self) -> Iterator[TranscriptItem]:
        """Yield artifacts that are new."""
        try:
            found = sorted(name for name in os.listdir(self._path) if _ARTIFACT.fullmatch(name))
        except OSError as error:
            yield BadRecord(0, f"the folder cannot be read: {error.strerror}")
            return
        new = [name for name in found if name not in self._given]
        if not new:
            return
        messages = self._document("ui_messages.json")
        yield from self._requests(messages)
        commands = _commands(messages)
        shown: dict[str, str] = {}
        for name, text in _shown(self._document("api_conversation_history.json")):
            shown.setdefault(name, text)
        for name in new:
            self._given.add(name)
            artifact = Beside(self._path, (name,))
            if (size := size_beside(artifact)) < 0:
                yield BadRecord(0, f"{name} is not a file that can be read")
                continue
            self.position += size
            yield self._call(name, artifact, size, commands, shown.get(name))

    def _call(self, name: str, artifact: Beside, size: int, commands: dict[int, str], shown: str | None) -> ToolCall:
        match = _ARTIFACT.fullmatch(name)
        stamp = int(match[1]) if match else 0
        command = commands.get(stamp, _NO_COMMAND)
        ended = _EXIT.search(shown or "")
        return ToolCall(
            session=CallSession(HARNESS.name, os.path.basename(self._task), HARNESS.name, "", stamp / 1000),
            id=name,
            use="",
            line=0,
            asked=stamp / 1000,
            answered=stamp / 1000,
            tool="execute_command",
            arguments={"command": command},
            kind="cmd",
            command=plain(command),
            cwd="",
            shown=() if shown is None else (plain(shown),),
            parts=(ToolPart("out", artifact),) if size else (),
            exit_code=int(ended[1]) if ended else None,
            note="merged",
        )

    def _requests(self, messages: Any) -> Iterator[TranscriptItem]:
        """Yield what requests took. Whether ``tokensIn`` holds what was cached depends on the version and provider."""
        task = os.path.basename(self._task)
        for message in map(dict_of, list_of(messages)):
            told = _object(message.get("text")) if message.get("say") == "api_req_started" else {}
            whole, output, read, written = (count_of(told.get(name)) for name in _COUNTS)
            if output is None:
                continue  # it has not ended
            at = number(message.get("ts")) / 1000
            usage = RequestUsage(
                id=f"roo:{task}:{int(at * 1000)}",
                time=at,
                model="",
                fresh=None if read or written else whole,
                cache_read=read or 0,
                cache_write=written or 0,
                output=output,
                own_price=number(told.get("cost")) or None,
            )
            session = CallSession(HARNESS.name, task, HARNESS.name, "", at)
            yield ToldUsage(session, without_zeros(usage, has_content=True))

    def _document(self, name: str) -> Any:
        """Return one of the task's documents; None if it cannot be read."""
        try:
            fd = open_beside(Beside(self._task, (name,)))
        except OSError:
            return None
        with os.fdopen(fd, "rb") as file:
            if os.fstat(file.fileno()).st_size > DOCUMENT_BYTES:
                return None
            try:
                return loads(file.read())
            except ValueError:
                return None


def _object(text: Any) -> dict[str, Any]:
    try:
        return dict_of(loads(text_of(text)))
    except ValueError:
        return {}


def _commands(document: Any) -> dict[int, str]:
    """Return command lines by the time (milliseconds) of the message that approved them."""
    return {
        int(number(message.get("ts"))): text_of(message.get("text"))
        for message in map(dict_of, list_of(document))
        if message.get("ask") == "command"
    }


def _shown(document: Any) -> Iterator[tuple[str, str]]:
    """Yield (artifact, text) for each result that names an artifact."""
    for message in map(dict_of, list_of(document)):
        for block in list_of(message.get("content")):
            fields = dict_of(block)
            content = fields.get("content", fields.get("text")) if fields.get("type") != "text" else fields.get("text")
            text = "\n".join(shown_of(content))
            for match in _ARTIFACT.finditer(text):
                yield match[0], text
