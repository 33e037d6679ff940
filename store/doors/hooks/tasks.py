"""Commands that Claude Code lets go on in the background: what they wrote is kept once it says that they have ended.

Such a command has its answer long before its end. Claude Code writes what comes after that into a file of its own, and
tells of the end with a prompt, which names the tool's use, the file and how the command ended.
"""

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from sightline.doors.hooks.facts import PATIENCE_SECONDS, Facts
from sightline.doors.hooks.own_files import own_file
from sightline.doors.hooks.pending import Pending, forget, is_use, recall, remember
from sightline.doors.hooks.record import find
from sightline.doors.hooks.who import session_of
from sightline.log.sessions import use_key
from sightline.records import Buffer, Session
from sightline.store import Store

_NOTICE = re.compile(r"<task-notification>\n(.*?)\n</task-notification>", re.DOTALL)
_FIELD = re.compile(r"^<([a-z-]+)>(.*)</\1>$", re.MULTILINE)
_CODE = re.compile(r"\(?exit code (\d{1,3})\)?$")
_ADDED = re.compile(rb"\n\[exited with code \d{1,3}\]\n\Z")
_ADDED_BYTES = 32
_LARGEST_FILE = 256 << 20  # bytes; a hook has seconds
_READ_BYTES = 1 << 18
_BOUND = f"of its file only the first {_LARGEST_FILE >> 20} MiB were taken in"


class Notice(NamedTuple):
    """What is said of one command that has ended.

    Attributes:
        task: the harness' id of it.
        use: the id of the tool's use that started it.
        path: the file that has its output.
        exit_code: None where it is not told.
    """

    task: str
    use: str
    path: str
    exit_code: int | None


def note_task(facts: Facts, given: dict[str, Any]) -> None:
    """Remember a command that goes on after a tool has answered; nothing for any other event. Raises OSError."""
    response, use = given.get("tool_response"), given.get("tool_use_id")
    if given.get("tool_name") not in facts.runs or not isinstance(response, dict) or not is_use(use):
        return
    tool_input = given.get("tool_input")
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if not response.get("backgroundTaskId") or not isinstance(command, str) or recall(str(use)):
        return  # one that was rewritten is remembered already
    remember(
        Pending(
            use=str(use),
            harness=facts.name,
            session=str(given.get("session_id", "")),
            command=command,
            kept=command,
            merged=True,
            filtered=False,
            shape=False,
        )
    )


def take_in(facts: Facts, given: dict[str, Any]) -> None:
    """Keep the output of commands that a prompt says have ended. Raises StoreFailed."""
    prompt = given.get("prompt")
    notices = list(notices_in(prompt)) if isinstance(prompt, str) else []
    cwd, harness_session = str(given.get("cwd", "")), str(given.get("session_id", ""))
    with Store(patience=PATIENCE_SECONDS) as store:
        session = session_of(facts.name, harness_session, cwd)
        for notice in notices:
            pending = recall(notice.use)
            if pending is None or pending.session != harness_session or not store.settings.captures(cwd):
                continue
            buffer = find(store, session, notice.use) or _kept(store, session, pending, notice)
            if buffer and notice.exit_code is not None:
                store.amend(buffer.name, exit_code=notice.exit_code)
            forget(notice.use)


def notices_in(prompt: str) -> Iterator[Notice]:
    """The ends of commands that a prompt tells of."""
    for block in _NOTICE.findall(prompt):
        said = dict(_FIELD.findall(block))
        task, use, path = (said.get(name, "") for name in ("task-id", "tool-use-id", "output-file"))
        code = _CODE.search(said.get("summary", ""))
        if is_use(task) and is_use(use):
            yield Notice(task, use, path, int(code[1]) if code else None)


def _kept(store: Store, session: Session, pending: Pending, notice: Notice) -> Buffer | None:
    try:
        fd = _open(notice, pending.session)
    except OSError:
        return None
    artifact = use_key(session.name, notice.use)
    with open(fd, "rb", buffering=0) as file:
        end = _end(fd)
        recording = store.begin("cmd", pending.command, session.cwd, session.name, artifact=artifact)
        try:
            left = min(end, _LARGEST_FILE)
            while left > 0 and (data := file.read(min(_READ_BYTES, left))):
                recording.append("out", data)
                left -= len(data)
            partial = _BOUND if end > _LARGEST_FILE else ""
            return recording.seal(exit_code=notice.exit_code, note="merged", partial=partial)
        except BaseException:
            recording.discard()
            raise


def _end(fd: int) -> int:
    """Where in a task's file the command's own output ends: Claude Code adds a line that says how it ended."""
    size = os.fstat(fd).st_size
    added = _ADDED.search(os.pread(fd, _ADDED_BYTES, max(0, size - _ADDED_BYTES)))
    return size - len(added[0]) if added else size


def _open(notice: Notice, session: str) -> int:
    """A descriptor of ``claude-UID/PROJECT/SESSION/tasks/TASK.output``: nothing outside that folder can be reached.

    Raises:
        OSError: there is no such regular file of the person's own, or a symbolic link stands in the way.
    """
    from sightline.harnesses.transcript import open_beside

    ends = (f"claude-{os.getuid()}", "", session, "tasks", f"{notice.task}.output")
    file = own_file(notice.path, ends)
    if os.path.islink(file.root) or os.stat(file.root).st_uid != os.getuid():
        raise FileNotFoundError(2, "not a folder of the person's own")
    return open_beside(file)
