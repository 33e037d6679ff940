"""The proxy: handles each line between a client and a server, and keeps large results on their way.

A server's line is parsed only while an answer to ``tools/list`` or ``tools/call`` is awaited, and only once. If nothing
in it changes, it is passed on as it came; otherwise it is written anew. No error here loses a line.
"""

import contextlib
import os
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator

from sightline.base.errors import OutOfProcesses, SightlineError
from sightline.base.profile import check_profile_name
from sightline.base.project import working_directory
from sightline.base.threads import start_thread
from sightline.doors.proxy.calls import (
    LOOKS_LIKE_OURS,
    CallLedger,
    Listing,
    LongLine,
    ProxiedCall,
    asked_of,
    dumped,
    is_id,
    opened_by,
    parsed,
    written,
)
from sightline.doors.tools.line_io import LineWriter
from sightline.doors.tools.protocol import (
    INTERNAL_ERROR,
    META,
    Context,
    Id,
    OpenCall,
    Outcome,
    Rejected,
    encode,
    error_of,
    finished,
    result_of,
)
from sightline.doors.tools.service import Service
from sightline.doors.tools.tools import Options, definitions
from sightline.light.json_text import loads
from sightline.light.typing_names import TYPE_CHECKING, Any
from sightline.settings.config import default_root, load_settings
from sightline.store import Layout
from sightline.verbs.next_call import calls_in

if TYPE_CHECKING:  # loaded while the server starts
    from sightline.doors.proxy.recorder import CallRecorder
    from sightline.verbs.asker import Calls

_LOOK_SECONDS = 0.05

READ_OUTPUT, QUERY = "read_output", "query"
ADDED = (READ_OUTPUT, QUERY)
"""The verbs that the proxy adds, in the order in which they are listed."""

_KEPT = "Large results of the other tools here are kept whole under a ref (@tool_…) and shown to you in part. "
_READ = (
    "Read more of one, in one way: lines, bytes (offset, limit), search or JSON path. Where a result has several "
    "blocks, .0, .1 … after the ref name them."
)
_REFS = "such as @tool_a1b2c3, @tool_a1b2c3.1"
_REF = re.compile(r"@(?:(?:cmd|file|tool)_[0-9a-f]|last\b|sha256:)")


class Names:
    """The names of our two tools, which must differ from the server's.

    Until all pages of the server's own list have passed, a call is recognised by its arguments, since a client may know
    the list from an earlier run.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._given: dict[str, str] = {}

    def begin(self) -> None:
        """Begin with the first page of the list."""
        self._taken = set()

    def take(self, name: str) -> None:
        """Note the name of a tool in the server's list."""
        self._taken.add(name)

    def definitions(self) -> list[dict[str, Any]]:
        """Give each of the two tools a name that is free, once the list is complete."""
        self._given = {verb: self._free(verb) for verb in ADDED}
        return [
            {
                **tool,
                "name": self._given[tool["name"]],
                "description": _KEPT + (_READ if tool["name"] == READ_OUTPUT else _of_results(tool["description"])),
                "inputSchema": _schema(tool["inputSchema"]),
            }
            for tool in definitions(ADDED)
        ]

    def of(self, verb: str) -> str:
        """The name of a verb's tool."""
        return self._given.get(verb, verb)

    def verb(self, name: str, arguments: Any) -> str | None:
        """The verb that a call is for; None where it is for the server."""
        if self._given:
            return next((verb for verb, given in self._given.items() if given == name), None)
        verb = next((verb for verb in ADDED if name == verb or _is_renamed(name, verb)), None)
        told = arguments if isinstance(arguments, dict) else {}
        first = told.get("ref" if verb == READ_OUTPUT else "pipeline")
        return verb if isinstance(first, str) and _REF.search(first) else None

    def _free(self, verb: str) -> str:
        names = (verb, *(_renamed(verb, number) for number in range(1, len(self._taken) + 2)))
        return next(name for name in names if name not in self._taken)


def _of_results(text: str) -> str:
    """A text about commands, made to speak of results: the proxy runs no command that ``@last`` could mean."""
    return text.replace("@cmd_", "@tool_")


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = schema["properties"]
    if "ref" in properties:
        properties = {**properties, "ref": {**properties["ref"], "description": _REFS}}
    return {**schema, "properties": properties}


def _renamed(verb: str, number: int) -> str:
    return f"sightline_{verb}" if number == 1 else f"sightline_{verb}_{number}"


def _is_renamed(name: str, verb: str) -> bool:
    base, _, number = name.partition(f"sightline_{verb}")
    return not base and (not number or (number[:1] == "_" and number[1:].isdigit()))


def next_call(names: Names) -> "Calls":
    """How a next call is written for this client: with the names that our tools have beside the server's."""

    def calls(verb: str, **arguments: Any) -> str:
        told = calls_in(ADDED)(verb, **arguments)
        return names.of(verb) + told.removeprefix(verb) if verb in ADDED else told

    return calls


def _tell(line: bytes) -> bool:
    """Write a line to standard error, short enough never to wait; False if that has no room, or no reader."""
    room = select.poll()
    room.register(2, select.POLLOUT)
    if not room.poll(0):
        return False
    with contextlib.suppress(OSError):
        os.write(2, line[: select.PIPE_BUF - 1] + b"\n")
        return True
    return False


class Proxy:
    """One client and one server. A thread hands in the client's lines, another one the server's.

    Results go to the default store, which is opened when it is first needed.

    Attributes:
        before_wait: called by the thread with the server's lines before it has to wait with a line of which
            `passes` said that there would be no wait.
    """

    before_wait: Callable[[], None] = staticmethod(lambda: None)

    def __init__(
        self,
        client: LineWriter,
        *,
        profile: str = "",
        session: str = "",
        min_bytes: int | None = None,
        only: Collection[str] = (),
    ) -> None:
        """Make the proxy; what only a result needs is neither loaded nor opened yet.

        Args:
            client: takes lines for the client.
            profile: name of the profile; empty for that of the settings.
            session: name of the session of all calls; empty to go by client and harness.
            min_bytes: results with more bytes than this, as sent, are kept; None for all that are not short.
            only: the names of the tools whose results may be kept; all by default.
        """
        self._client = client
        self._min_bytes = min_bytes
        self._only = frozenset(only)
        self._names = Names()
        self._service = Service(Options(tools=ADDED, profile=profile, session=session), next_call(self._names))
        self._ledger = CallLedger()
        self._opened = Context("")
        self._ours: dict[Id, tuple[OpenCall, threading.Thread]] = {}
        self._server_info: Any = None
        self._recorder: CallRecorder | None = None
        self._making = threading.Lock()
        self._has_warned = False

    @property
    def waits(self) -> bool:
        """Whether an answer is outstanding that must be read whole, because we may change it."""
        return any(isinstance(asked, Listing) or self._may_keep(asked.name) for asked in self._ledger.open())

    def from_client(self, line: bytes) -> bytes:
        """What the server gets of a client's line: everything except calls of our tools, which are answered here."""
        if not LOOKS_LIKE_OURS.search(line):
            return line
        try:
            value = loads(line)
            if isinstance(value, dict):
                return b"" if self._takes(value, len(line), in_batch=False) else line
            if isinstance(value, list):
                return self._batch_from_client(line, value)
        except ValueError:
            pass  # not JSON in UTF-8: the server will say so
        return line

    def _batch_from_client(self, line: bytes, messages: list[Any]) -> bytes:
        rest = [one for one in messages if not (isinstance(one, dict) and self._takes(one, len(line), in_batch=True))]
        if len(rest) == len(messages):
            return line
        return written(rest, line) if rest else b""

    def _takes(self, message: dict[str, Any], size: int, *, in_batch: bool) -> bool:
        """Note what a message asks for; return whether it is for us alone."""
        self._opened = opened_by(message) or self._opened
        if message.get("method") == "notifications/cancelled":
            return self._withdraw(message.get("params"))
        asked = asked_of(message, self._opened, size)
        if asked is None:
            return False
        number: Id = message["id"]
        verb = self._names.verb(asked.name, asked.arguments) if isinstance(asked, ProxiedCall) else None
        if verb is None or isinstance(asked, Listing):
            self._ledger.put(number, asked)
            if isinstance(asked, ProxiedCall) and self._recorder:
                self._recorder.long_calls.wake()
            return False
        self._answer(number, verb, asked, in_batch)
        return True

    def _withdraw(self, params: Any) -> bool:
        number: Any = params.get("requestId") if isinstance(params, dict) else None
        theirs = self._ledger.take(number)
        if isinstance(theirs, ProxiedCall) and self._recorder:
            self._recorder.long_calls.break_off(theirs)
        ours = self._ours.get(number) if is_id(number) else None
        if ours:
            ours[0].cancel()
        return ours is not None

    def _answer(self, number: Id, verb: str, asked: ProxiedCall, in_batch: bool) -> None:
        """Answer a call of one of our tools, on a thread of its own."""

        def reply(outcome: Outcome) -> None:
            if isinstance(outcome, Rejected):
                answer = error_of(number, outcome.code, outcome.message, outcome.data)
            else:
                if self._server_info and asked.context.modern:
                    meta = {META + "serverInfo": self._server_info}
                    outcome = {**outcome, "_meta": {**outcome.get("_meta", {}), **meta}}
                answer = result_of(number, finished(outcome, "tools/call", asked.context))
            try:
                self._client.write(encode([answer] if in_batch else answer))
            except OSError:
                pass  # the client has gone, and the thread that copies the server's lines will notice

        call = OpenCall("tools/call", {"name": verb, "arguments": asked.arguments}, asked.context, reply)

        def run() -> None:
            self._service.answer(call)
            self._ours.pop(number, None)

        thread = threading.Thread(target=run, name="sightline-answer", daemon=True)
        self._ours[number] = call, thread
        try:
            start_thread(thread)
        except OutOfProcesses as error:
            del self._ours[number]
            call.answer(Rejected(INTERNAL_ERROR, f"{error.message}: {error.hint}"))

    def prepare(self) -> None:
        """Load and open what the first result needs, while the server starts."""
        try:
            self._made_recorder().long_calls.wake()
        except Exception as error:  # whatever the error is, the server's lines pass, and nothing is kept
            self._warn(error)

    def _made_recorder(self) -> "CallRecorder":
        """What keeps and logs. Raises SightlineError if the store cannot be used."""
        with self._making:
            if self._recorder is None:
                from sightline.doors.proxy.recorder import (
                    CallRecorder,  # loads the whole store: the server starts first
                )

                self._recorder = CallRecorder(
                    self._service,
                    self._ledger,
                    min_bytes=self._min_bytes,
                    warn=self._warn,
                    before_wait=lambda: self.before_wait(),
                )
            return self._recorder

    def finish(self, seconds: float) -> None:
        """At the end, wait for answers of our tools that are still being made, while the client reads.

        Args:
            seconds: the longest wait.
        """
        until = time.monotonic() + seconds
        for call, thread in list(self._ours.values()):
            while thread.is_alive() and time.monotonic() < until and not self._client.is_cut_off:
                thread.join(_LOOK_SECONDS)
            call.cancel()
        if self._recorder:
            self._recorder.finish()

    def from_server(self, line: bytes) -> None:
        """Send a server's line, changed or not, to the client. Raises BrokenPipeError if that has gone."""
        if not self._ledger:
            self._write(line)
            return
        try:
            said = parsed(line)
        except ValueError:
            self.pass_on(iter((line,)))
            return
        if isinstance(said, list):
            self._batch_from_server(line, said)
        elif not self._answered(said, line, lambda made: self._write(written(made, line))):
            self._write(line)

    def _batch_from_server(self, line: bytes, messages: list[Any]) -> None:
        instead: list[dict[str, Any]] = []
        for at, message in enumerate(messages):
            if self._answered(message, line, instead.append):
                messages[at] = instead[-1]
        self._write(written(messages, line) if instead else line)

    def _write(self, line: bytes) -> None:
        if not self._client.write_now(line):
            self.before_wait()
            self._client.write_pieces(iter((line,)))

    def passes(self, line: bytes) -> bool:
        """Whether a line of the server can be sent as it is, with no wait but for a slow disk."""
        asked = self._ledger.open()
        if not asked:
            return True
        short_bytes = self._recorder.short_bytes if self._recorder else 0
        return len(line) <= short_bytes and not any(isinstance(one, Listing) for one in asked)

    def pass_on(self, pieces: Iterator[bytes]) -> None:
        """Send a line of the server that is not parsed, as it comes; the end of an answer only after it is logged.

        Raises BrokenPipeError.
        """
        self.before_wait()
        self._client.write_pieces(self._passing(LongLine(pieces)))

    def _passing(self, line: LongLine) -> Iterator[bytes]:
        yield from line.all_but_the_last()
        asked = self._ledger.take(line.answered())
        if isinstance(asked, ProxiedCall):
            try:
                self._made_recorder().passed_long(asked, line.size)
            except Exception as error:
                self._warn(error)
                asked.discard()
        yield line.last

    def _may_keep(self, tool: str) -> bool:
        return not self._only or tool in self._only

    def _answered(self, message: Any, line: bytes, send: Callable[[dict[str, Any]], None]) -> bool:
        """Keep or log a message that answers a call; return whether another one was sent in its place.

        Args:
            message: the server's.
            line: the line that holds it.
            send: sends the other one.
        """
        if not isinstance(message, dict) or "method" in message:
            return False
        asked = self._ledger.take(message.get("id"))
        is_sent = False

        def sending(result: Any) -> None:
            nonlocal is_sent
            is_sent = True
            send({**message, "result": result})

        try:
            if isinstance(asked, Listing) and "result" in message:
                self._listed(message["result"], asked, sending)
            elif isinstance(asked, ProxiedCall):
                self._called(message, line, asked, sending)
        except Exception as error:
            if is_sent:
                raise
            self._warn(error)
        finally:
            if isinstance(asked, ProxiedCall):
                asked.discard()
        return is_sent

    def _called(self, message: dict[str, Any], line: bytes, call: ProxiedCall, send: Callable[[Any], None]) -> None:
        recorder = self._made_recorder()
        if "result" in message:
            recorder.result(call, message["result"], line, send if self._may_keep(call.name) else None)
        elif "error" in message:
            recorder.passed(call, dumped(message["error"]), failed=True)

    def _listed(self, result: Any, asked: Listing, send: Callable[[Any], None]) -> None:
        """A page of the list of tools, without schemas that a view would not fit; the last page has our tools, too."""
        if not isinstance(result, dict) or not isinstance(theirs := result.get("tools"), list):
            return
        if asked.first:
            self._names.begin()
        tools = []
        for tool in theirs:
            if isinstance(tool, dict) and isinstance(name := tool.get("name"), str):
                self._names.take(name)
                if self._may_keep(name):
                    tool = {key: value for key, value in tool.items() if key != "outputSchema"}
            tools.append(tool)
        if result.get("nextCursor") is None:
            tools += self._names.definitions()
        if isinstance(meta := result.get("_meta"), dict):
            self._server_info = meta.get(META + "serverInfo")
        if tools != theirs:
            send({**result, "tools": tools})

    def _warn(self, error: Exception) -> None:
        """Say once on standard error, where the server's own complaints go, what is wrong with the store."""
        if not self._has_warned:
            hint = f" {error.hint}" if isinstance(error, SightlineError) else ""
            told = f"{type(error).__name__}: {error}" if not hint else f"{error}.{hint}"
            line = f"sightline proxy: results may pass unkept, or unlogged: {told}"
            self._has_warned = _tell(line.encode(errors="backslashreplace"))


def proxy_to(
    client: LineWriter, *, profile: str, session: str, min_bytes: int | None, only: Collection[str]
) -> Proxy | None:
    """A proxy with the person's settings; None if nothing may or can be kept, so that the server works in any case.

    Args:
        client: takes lines for the client; the rest as for `Proxy`.
        profile: see there.
        session: see there.
        min_bytes: see there.
        only: see there.

    Raises:
        SettingError: a setting is wrong, or there is no such profile.
    """
    layout = Layout(default_root())
    settings = load_settings(layout.config)
    if profile:
        check_profile_name(profile, "--profile")
    try:
        layout.ensure()
    except OSError as error:
        print(f"sightline: the store at {layout.root} cannot be used: {error.strerror}", file=sys.stderr, flush=True)
        return None
    if not settings.captures(working_directory()):
        return None
    return Proxy(client, profile=profile, session=session, min_bytes=min_bytes, only=only)
