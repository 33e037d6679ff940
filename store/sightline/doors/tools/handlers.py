"""Answers what needs the store, calls of tools and resources, and finds out who asks."""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping

from sightline.base.errors import SightlineError, UsageError
from sightline.base.profile import Profile, load_profile
from sightline.base.project import working_directory
from sightline.base.records import Session, joined_notes, storable
from sightline.capture.file import LONGEST_PATH
from sightline.doors.tools import resources
from sightline.doors.tools.index_thread import IndexThread
from sightline.doors.tools.protocol import INVALID_PARAMS, Context, OpenCall, Rejected, Withdrawn
from sightline.doors.tools.running_commands import Commands
from sightline.doors.tools.subscriptions import Watch
from sightline.doors.tools.tools import Options, schema_of
from sightline.doors.tools.worker_threads import WorkerThreads
from sightline.harnesses import of_client
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.log.log import LogWriter
from sightline.log.sessions import SHELL, current_session, header_of, safe_name
from sightline.log.views import Shows
from sightline.search.processes import Cancel
from sightline.shape.budgets import ROOMY, Room
from sightline.shape.segments import Segment
from sightline.store import IndexFailed, Reading, Store
from sightline.verbs import list_outputs, query, read_file, read_output, requests, run_command
from sightline.verbs.asker import Asker, Calls
from sightline.verbs.delivery import deliver
from sightline.verbs.next_call import calls_in
from sightline.verbs.reply import Render, Reply, error_reply

# Keys of `_meta` that clients were seen to send, by their last part.
_SESSION_KEYS = ("sessionId", "session_id", "threadId")
_TOOL_USE_KEYS = ("toolUseId", "tool_use_id", "callId", "itemId")
_ID_CHARACTERS = 200


class Caller(NamedTuple):
    """One caller.

    Attributes:
        harness: ``claude-code``, ``codex``, …, else the client's own name; ``mcp`` where it has none.
        harness_session: the harness' id of its session; empty if it gives none.
        tool_use: its id of the tool call; empty if it gives none.
        client: name and version of the client; empty if it gives none.
    """

    harness: str
    harness_session: str
    tool_use: str
    client: str

    def logged(self) -> dict[str, str]:
        """What is known of the caller, for the log of a view."""
        known = {"client": self.client, "harness_session": self.harness_session, "tool_use": self.tool_use}
        return {name: storable(value) for name, value in known.items() if value}


def caller_of(context: Context, around: Session) -> Caller:
    """The caller of a request.

    The session of the environment may come from another harness, so it counts only if it agrees with the client.
    """
    name = _name_of(context.client)
    known = of_client(name)
    harness = known.name if known else safe_name(name) if name else around.harness
    session = _first(context.meta, _SESSION_KEYS)
    if not session and around.harness == harness != SHELL:
        session = around.harness_id
    if harness == SHELL:  # to the verbs an empty name means a person
        harness = "mcp"
    return Caller(harness, session, _first(context.meta, _TOOL_USE_KEYS), context.client)


def _name_of(client: str) -> str:
    """A client's name as one word: ``Visual-Studio-Code`` for ``Visual Studio Code 1.106.0``."""
    first, *more = client.split() or [""]
    if more and re.match(r"v?[0-9]", more[-1]):
        more.pop()
    return "-".join([first, *more])


def room_of(caller: Caller) -> Room:
    """The largest reply that the caller's harness leaves whole; if it cut one, the log would be wrong."""
    known = of_client(caller.harness)
    return Room(known.reply_bytes, known.reply_lines) if known and known.reply_bytes else ROOMY


def _first(meta: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    by_name = {key.rpartition("/")[2]: value for key, value in meta.items() if isinstance(value, str)}
    return next((by_name[key][:_ID_CHARACTERS] for key in keys if by_name.get(key)), "")


class Sessions:
    """The sessions of all callers of one server.

    Args:
        name: the session of all of them, if one was given.
        environment: the variables in which a harness names its session.
    """

    def __init__(self, name: str = "", environment: Mapping[str, str] = os.environ) -> None:
        self._name = name or environment.get("SIGHTLINE_SESSION", "")
        self._around = current_session(environment, name="unused")
        self._known: dict[Caller, Session] = {}
        self._own = os.urandom(4).hex()  # clients that name no session share one for each server
        self._started = time.time()

    def of(self, context: Context) -> tuple[Session, Caller]:
        """The session of a request, and its caller."""
        caller = caller_of(context, self._around)
        who = caller._replace(tool_use="")
        if who not in self._known:
            self._known[who] = self._session(who)
        return self._known[who], caller

    def _session(self, caller: Caller) -> Session:
        name = self._name or f"{caller.harness}-{caller.harness_session or self._own}"
        return Session(
            name=safe_name(name),
            harness=caller.harness,
            harness_id=storable(caller.harness_session),
            client=storable(caller.client),
            cwd=storable(working_directory()),
            started=self._started,
        )


_WORDS = {"true": True, "false": False}


def checked(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that have a value, with the types of the schema.

    Models write numbers and flags as text, and null for nothing; each is taken for what it means.

    Raises:
        UsageError: an argument is unknown or missing, or has a value that it cannot have.
    """
    schema = schema_of(tool)
    known: dict[str, dict[str, Any]] = schema["properties"]
    if strangers := [name for name in arguments if name not in known]:
        raise UsageError(f"{tool} has no argument {', '.join(strangers)}", f"it takes: {', '.join(known)}")
    values = {
        name: _value(f"{tool}: {name}", value, known[name]) for name, value in arguments.items() if value is not None
    }
    if missing := [name for name in schema.get("required", ()) if name not in values]:
        raise UsageError(f"{tool} needs {', '.join(missing)}", str(known[missing[0]]["description"]))
    return values


_UNFIT = {True: "has a NUL character", False: "has half a surrogate pair"}


def _value(place: str, value: Any, kind: dict[str, Any]) -> Any:
    made = _READERS[kind["type"]](value)
    if made is None and kind["type"] == "string" and isinstance(value, str):
        raise UsageError(f"{place} {_UNFIT[chr(0) in value]}", "leave it out: no command, path or pattern can hold it")
    if made is None:
        raise UsageError(f"{place} must be of type {kind['type']}: {str(value)[:80]!r}", str(kind["description"]))
    if "enum" in kind and made not in kind["enum"]:
        raise UsageError(f"{place} cannot be {str(made)[:80]!r}", f"it is one of {', '.join(kind['enum'])}")
    if made is not True and made is not False and not isinstance(made, str):
        least, most = kind.get("minimum", made), kind.get("maximum", made)
        if not least <= made <= most:
            upwards = f" to {most}" if "maximum" in kind else " on"
            raise UsageError(f"{place} cannot be {made}", f"give a number from {least}{upwards}")
    return made


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # lines=42
    if not isinstance(value, str) or "\0" in value:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair: no command, path or pattern can hold it
        return None
    return value


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else _WORDS.get(value.lower()) if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def _integer(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


_READERS = {"string": _text, "boolean": _flag, "number": _number, "integer": _integer}


def under(root: str, path: str) -> str:
    """The real path of a path, which must lie within a folder.

    Args:
        root: the folder, resolved.
        path: the path as given; a relative one begins at the working directory.

    Raises:
        UsageError: the path lies outside of the folder, or is too long.
    """
    if len(path) > LONGEST_PATH:  # resolving takes time by the square of its length, and no system opens a longer one
        raise UsageError(f"the path has {len(path):,} characters", f"it may have {LONGEST_PATH:,} at most")
    real = os.path.realpath(os.path.expanduser(path))
    if real != root and not real.startswith(root.rstrip("/") + "/"):
        raise UsageError(f"{path} lies outside of {root}", "this server reads only below that folder (--root)")
    return real


_LOGS_OPEN = 8
_REFS_TOLD = 8  # hashes of so many outputs at most: a query may name any number


class Invocation(NamedTuple):
    """One call of a tool, and what it needs.

    Attributes:
        asking: who asks, and of which store.
        caller: what is known of the caller, for the log.
        call: the request to answer.
        options: how the server is to behave.
        commands: runs a command.
        sent: the replies that are sent.
        note: what its reply must say besides.
    """

    asking: Asker
    caller: Caller
    call: OpenCall
    options: Options
    commands: Commands
    sent: "SentReplies"
    note: str = ""

    def cancellable(self) -> Asker:
        """The asker, whose queries and waits end when the call is cancelled."""
        cancel = Cancel()
        self.call.at_cancel(cancel.cancel)
        return self.asking._replace(cancel=cancel)

    def confined(self, path: str) -> str:
        """The path, if the server may use it. Raises UsageError."""
        return under(self.options.root, path) if self.options.root else path


def call_tool(invocation: Invocation, tool: str, arguments: dict[str, Any]) -> None:
    """Call a tool, log its reply and answer with that; a call that was withdrawn gets no answer.

    Raises:
        IndexFailed: the index cannot be read or written.
    """
    try:
        reply = _VERBS[tool](invocation, checked(tool, arguments))
    except Withdrawn:
        return
    except SightlineError as error:
        reply = error_reply(error, tool, arguments)
    if invocation.call.cancelled:  # nobody sees this reply, so it must not be in the log
        return
    reply = with_caller(reply, invocation.caller)
    if invocation.note:
        note = joined_notes(reply.fields.get("note") or "", invocation.note)
        reply = reply._replace(fields={**reply.fields, "note": note})
    asking = invocation.asking
    invocation.sent.deliver(asking, reply, render, lambda text: invocation.call.answer(result_of(asking, reply, text)))


def with_caller(reply: Reply, caller: Caller) -> Reply:
    """The reply, with the caller added to the request in its log entry."""
    logged = caller.logged()
    request = {**reply.shows.request, **({"caller": logged} if logged else {})}
    return reply._replace(shows=reply.shows._replace(request=request))


def _run_command(invocation: Invocation, values: dict[str, Any]) -> Reply:
    # A confirmation has its own folder, so that folder is known only there.
    doorway = run_command.Doorway(
        run=lambda capture: invocation.commands.run(capture, invocation.call), confine=invocation.confined
    )
    return run_command.run_command(invocation.asking, requests.RunRequest(**values), doorway)


def _read_file(invocation: Invocation, values: dict[str, Any]) -> Reply:
    path = values["path"]
    if not read_file.names_output(invocation.asking, path):
        path = invocation.confined(path)
    return read_file.read_file(
        invocation.asking, requests.FileRequest(**{**values, "path": path}, exact=bool(invocation.options.root))
    )


def _read_output(invocation: Invocation, values: dict[str, Any]) -> Reply:
    if "wait" in values:
        values["wait"] = min(values["wait"], invocation.options.patience_secs)
    return read_output.read_output(invocation.cancellable(), requests.ReadRequest(**values))


def _query(invocation: Invocation, values: dict[str, Any]) -> Reply:
    return query.query(invocation.cancellable(), requests.QueryRequest(**values))


def _list_outputs(invocation: Invocation, values: dict[str, Any]) -> Reply:
    return list_outputs.list_outputs(invocation.asking, requests.ListRequest(**values))


_VERBS: dict[str, Callable[[Invocation, dict[str, Any]], Reply]] = {
    "run_command": _run_command,
    "read_file": _read_file,
    "read_output": _read_output,
    "query": _query,
    "list_outputs": _list_outputs,
}


def render(reply: Reply) -> tuple[Segment, ...]:
    """The text of a reply: its fields as JSON on one line, then the body."""
    return (Segment(dumps(reply.fields, ensure_ascii=False, compact=True) + "\n"), *reply.body)


def result_of(asking: Asker, reply: Reply, text: str) -> dict[str, Any]:
    """The result of ``tools/call``: a block with the fields, and one with the body if there is a body.

    There is no structured content: it would double the bytes, and some clients then hide the text.
    """
    fields, _, body = text.partition("\n")
    result: dict[str, Any] = {"content": [{"type": "text", "text": part} for part in (fields, body) if part]}
    if "error" in reply.fields:
        result["isError"] = True
    if outputs := _outputs(asking, reply.shows._replace(refs=reply.shows.refs[:_REFS_TOLD])):
        result["_meta"] = {"sightline/outputs": outputs}
    return result


def _outputs(asking: Asker, shows: Shows) -> list[dict[str, Any]]:
    """For programs: the ref of each output that a reply is about, with the size and hash of its streams."""
    try:
        buffers = shows.buffers(asking.store)
    except IndexFailed:  # without them the reply still goes out
        return []
    return [
        {
            "ref": buffer.ref,
            "streams": {
                name: {"bytes": info.bytes, **({"sha256": info.sha256} if info.sha256 else {})}
                for name, info in asking.store.with_progress(buffer).streams.items()
            },
        }
        for buffer in buffers
        if buffer.state != "evicted"
    ]


def _other(local: Store, options: Options) -> Reading:
    from sightline.log.store_kinds import open_store  # loaded here, since few servers read another store

    return open_store(local, options.store, offline=options.offline)


_SETTLED_SECONDS = 1.0  # 0.3 ms are usual


class SentReplies:
    """Delivers replies, and lets a later call wait until they are in the index. Any thread may use it."""

    def __init__(self) -> None:
        self._unindexed: set[threading.Lock] = set()

    def deliver(self, asking: Asker, reply: Reply, render: Render, send: Callable[[str], None]) -> None:
        """Deliver a reply, as `deliver` of the verbs does."""
        indexing = threading.Lock()

        def sending(text: str) -> None:
            self._unindexed.add(indexing)
            send(text)

        with indexing:
            try:
                deliver(asking, reply, render, sending)
            finally:
                self._unindexed.discard(indexing)

    def settle(self) -> None:
        """Wait until what was sent is in the index, so that a client which has a reply finds it there.

        Where another process holds the index, or the client does not read, that takes a second at most.
        """
        deadline = time.monotonic() + _SETTLED_SECONDS
        for indexing in self._unindexed.copy():
            if indexing.acquire(timeout=max(deadline - time.monotonic(), 0)):
                indexing.release()


class KeptLogs:
    """The audit files of the sessions that asked last, kept open. Any thread may use it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open: dict[Session, LogWriter] = {}
        self._lock = threading.Lock()

    def of(self, session: Session) -> LogWriter:
        """The file of a session."""
        with self._lock:
            file = self._open.pop(session, None)
            if file is None:
                file = LogWriter(self._store.layout.audit_file(session.name), header_of(session))
            self._open[session] = file
            if len(self._open) > _LOGS_OPEN:
                self._open.pop(next(iter(self._open))).close()
            return file


class Handlers:
    """The open store with its profile, the sessions so far, and the commands that run.

    Attributes:
        store: the store of this machine, in which all is logged; all threads share it.
        reading: what is read: the same store, or the shared place.
        watch: the subscriptions.
        profile: what goes inline.
        sent: the replies that are sent.
    """

    def __init__(self, options: Options, calls: Calls | None, threads: WorkerThreads) -> None:
        """Open the store.

        Args:
            options: how to behave.
            calls: how a next call is written; None for a call of the tools that are offered.
            threads: run the commands.

        Raises:
            SightlineError: a setting is wrong, or the store cannot be used.
        """
        self.store = Store()
        self.store.index.expect_calls()  # an error in it is raised now
        for notice in self.store.notices:  # clients keep what a server writes there
            print(f"sightline: {notice}", file=sys.stderr)
        self._shared = _other(self.store, options) if options.store else None
        self.reading: Reading = self._shared or self.store
        self.watch = Watch(lambda: self.reading)
        self._options = options
        self.profile = self._chosen_profile()
        self.sent = SentReplies()
        self._logs = KeptLogs(self.store)
        self._sessions = Sessions(options.session)
        self._commands = Commands(options.patience_secs, threads)
        self._calls = calls or calls_in(options.tools)
        self._indexing = IndexThread(self.store)

    def _chosen_profile(self) -> Profile:
        given = self._options.profile
        return load_profile(given or self.store.settings.profile, "--profile" if given else "profile")

    def obey_settings(self) -> None:
        """Go by the settings as they are now; called before each call. Raises SettingError if they are wrong."""
        if self.store.obey_settings():
            self.profile = self._chosen_profile()

    def close(self) -> None:
        """End the commands. The index stays open while a thread may use it; the process ends anyway."""
        self.watch.close()
        self._commands.close()
        self._indexing.finish()

    def settle(self) -> None:
        """Have the index take in what calls have left that ended after `close`."""
        self._indexing.settle()

    def asking(self, context: Context) -> tuple[Asker, Caller]:
        """Who makes a request, as an asker for the verbs and as a caller for the log."""
        session, caller = self.caller(context)
        room, log = room_of(caller), self._logs.of(session)
        return Asker(self.store, session, self._calls, self.profile, room=room, shared=self._shared, log=log), caller

    def caller(self, context: Context) -> tuple[Session, Caller]:
        """The session and the caller of a request."""
        return self._sessions.of(context)

    def call_tool(self, call: OpenCall, note: str = "") -> None:
        """Answer ``tools/call``, with a note in the reply. Raises Rejected where there is no such tool."""
        name, arguments = call.params.get("name"), call.params.get("arguments") or {}
        if not isinstance(name, str) or name not in self._options.tools:
            raise Rejected(INVALID_PARAMS, f"Unknown tool: {str(name)[:100]}", {"tools": list(self._options.tools)})
        if not isinstance(arguments, dict):
            raise Rejected(INVALID_PARAMS, "arguments is no object")
        call_tool(
            Invocation(*self.asking(call.context), call, self._options, self._commands, self.sent, note),
            name,
            arguments,
        )

    def list_resources(self, call: OpenCall) -> None:
        """Answer ``resources/list``. Raises Rejected for a cursor that we did not give."""
        call.answer(resources.listed(self.reading, call.params.get("cursor")))

    def read_resource(self, call: OpenCall) -> None:
        """Answer ``resources/read``, logged as any other reply. Raises Rejected where there is no such resource."""
        asking, caller = self.asking(call.context)
        uri = call.params.get("uri")
        reply = with_caller(resources.read(asking, str(uri), call.context), caller)
        self.sent.deliver(
            asking, reply, lambda made: made.body, lambda text: call.answer(resources.contents(str(uri), text))
        )

    def complete(self, call: OpenCall) -> None:
        """Answer ``completion/complete``. Raises Rejected for what cannot be completed."""
        call.answer(resources.completed(self.reading, call.params))

    def ref_of(self, uri: Any, call: OpenCall) -> str:
        """The ref of the output that a URI names. Raises Rejected where there is none."""
        address = resources.address_of(uri, call.context)
        return resources.target_of(self.asking(call.context)[0], address, str(uri), call.context).ref
