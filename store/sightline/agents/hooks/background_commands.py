"""Keeps the outputs of commands that a harness moved to the background, once it says that they have ended."""

import os

from sightline.agents.hooks.hook_session import open_store, session_of
from sightline.agents.hooks.pending_commands import PendingCommand, forget, is_use, key_of, recall, remember
from sightline.agents.hooks.recorded_tasks import take_recorded_file
from sightline.agents.hooks.tool_result import buffer_of_use, log_view
from sightline.base.records import Buffer, Session
from sightline.harnesses.base import Harness, Json
from sightline.harnesses.claude_code import use_of_notice
from sightline.harnesses.tool_call import Beside, ToolCall, open_beside, own_file
from sightline.log.sessions import use_key
from sightline.settings.config import default_root, load_settings
from sightline.store import Store

_ADDED_BYTES = 32  # a line at the end of a file, which the harness may have added
LARGEST_FILE_BYTES = 256 << 20  # bytes; a hook has seconds
_READ_BYTES = 1 << 18
_TAIL_BYTES = 8 << 20  # of a transcript; no turn that was looked at is longer
_BOUND = f"of its file only the first {LARGEST_FILE_BYTES >> 20} MiB were taken in"


def note_background(harness: Harness, call: ToolCall) -> None:
    """Write down a command that goes on after its tool has answered. Raises OSError, SettingError."""
    settings = load_settings(os.path.join(default_root(), "config.toml"))
    if call.kind != "cmd" or not is_use(call.use) or not settings.captures(call.cwd):
        return
    if written := recall(key_of(call.use, call.session.id)):  # it was rewritten
        remember(written._replace(background=True), settings)
        return
    remember(
        PendingCommand(
            use=call.use,
            harness=harness.name,
            session=call.session.id,
            command=call.command,
            kept=call.command,
            merged=True,
            filtered=False,
            shape=False,
            agent=call.session.agent,
            background=True,
        ),
        settings,
    )


def take_in(harness: Harness, given: Json) -> None:
    """Keep the outputs of commands that have ended, as a prompt says. Raises StoreFailed."""
    text = prompt if isinstance(prompt := given.get("prompt"), str) else ""
    cwd, harness_session = str(given.get("cwd", "")), str(given.get("session_id", ""))
    with open_store() as store:
        for use, path, ends, code in harness.ended_commands(text, harness_session):
            key = key_of(use, harness_session)
            pending = recall(key)
            if pending is None or pending.session != harness_session:
                continue
            if not store.settings.captures(cwd):
                forget(key)
                continue
            session = session_of(harness.name, harness_session, cwd, pending.agent)
            buffer = buffer_of_use(store, session, use, since=pending.written)
            if buffer is None and harness.shell_start:
                buffer = take_recorded_file(store, session, pending, os.path.basename(path), code)
            if buffer is None or buffer.state == "evicted":
                buffer = _kept(store, session, harness, pending, own_file(path, ends), code)
            if buffer and code is not None:
                buffer = store.amend(buffer.name, exit_code=code)
            forget(key)
            if buffer:
                _log_notice(store, session, harness, pending, buffer, text)


def take_in_told(harness: Harness, given: Json) -> None:
    """Keep the outputs of commands of whose end a running turn was told, as the transcript says.

    Raises:
        StoreFailed: they could not be kept.
        OSError: the transcript could not be read.
    """
    path = given.get("transcript_path")
    if not isinstance(path, str) or not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
        for line in file:
            if told := harness.told_within(line):
                take_in(harness, {**given, "prompt": told})


def _log_notice(
    store: Store, session: Session, harness: Harness, pending: PendingCommand, buffer: Buffer, text: str
) -> None:
    """Log that the model was shown a prompt that reports a command as ended."""
    caller = {
        "client": harness.name,
        "harness_session": pending.session,
        "tool_use": use_of_notice(pending.use),
    }
    size = len(text.encode(errors="surrogatepass"))
    request = {"tool": "attachment", "command": pending.command, "alone_bytes": size, "caller": caller}
    unknown = f"{harness.title} does not tell its hooks what it puts around a notice"
    log_view(store, session, request, text, buffer, unknown=unknown)


def _kept(
    store: Store, session: Session, harness: Harness, pending: PendingCommand, own: Beside | None, code: int | None
) -> Buffer | None:
    try:
        fd = _open(own)
    except OSError:
        return None
    artifact = use_key(session.name, pending.use)
    with open(fd, "rb", buffering=0) as file:
        size = os.fstat(fd).st_size
        size -= harness.added_bytes(os.pread(fd, _ADDED_BYTES, max(0, size - _ADDED_BYTES)))
        recording = store.begin("cmd", pending.command, session.cwd, session.name, artifact=artifact)
        try:
            left = min(size, LARGEST_FILE_BYTES)
            while left > 0 and (data := file.read(min(_READ_BYTES, left))):
                recording.append("out", data)
                left -= len(data)
            partial = _BOUND if size > LARGEST_FILE_BYTES else ""
            began = recording.buffer.created  # only now, so how long it took is not known
            return recording.seal(exit_code=code, ended=began, note="merged", partial=partial)
        except BaseException:
            recording.discard()
            raise


def _open(file: Beside | None) -> int:
    """Open the output file of such a command; only files in a folder that belongs to the person can be opened.

    Raises:
        OSError: the file is missing, not regular, not the person's, or behind a symbolic link.
    """
    if file is None or os.path.islink(file.root) or os.stat(file.root).st_uid != os.getuid():
        raise FileNotFoundError(2, "not a folder of the person's own")
    return open_beside(file)
