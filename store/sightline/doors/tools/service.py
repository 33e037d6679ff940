"""Answers all requests to the MCP server, whatever carries them, in both eras.

This module loads neither the store nor a verb before one is asked for, so the server is small and starts fast.
"""

import sys
import threading

from sightline.base.errors import SightlineError
from sightline.base.threads import share_one_heap
from sightline.doors.tools.protocol import INTERNAL_ERROR, METHOD_NOT_FOUND, OpenCall, Rejected
from sightline.doors.tools.tools import Options, definitions, instructions
from sightline.doors.tools.worker_threads import WorkerThreads
from sightline.light.json_text import dumps
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from sightline.doors.tools.handlers import Handlers
    from sightline.doors.tools.roots import ClientRoots
    from sightline.verbs.asker import Calls


class Service:
    """The server without its transport. Any thread may use it.

    Attributes:
        options: how it is to behave.
        threads: answer calls and run commands.
        roots: the roots of the one client; None if it has none.
    """

    def __init__(self, options: Options, calls: "Calls | None" = None) -> None:
        """Make the server; it opens nothing before that is needed.

        Args:
            options: how it is to behave.
            calls: how a next call is written, if the tools have other names than their own.
        """
        self.options = options
        self.threads = WorkerThreads()
        self.roots: ClientRoots | None = None
        self._calls = calls
        self._lock = threading.Lock()
        self._handlers: Handlers | None = None
        self._closed = False

    def answer(self, call: OpenCall, handler: "Handler | None" = None) -> None:
        """Answer a call; an error is an answer, too.

        Args:
            call: the call.
            handler: what answers, for a method that a transport handles in its own way; by default that of METHODS.
        """
        try:
            handler = handler or METHODS.get(call.method)
            if handler is None:
                raise Rejected(METHOD_NOT_FOUND, f"Method not found: {call.method[:100]}")
            handler(self, call)
        except Rejected as rejection:
            call.answer(rejection)
        except SightlineError as error:  # the store cannot be opened
            call.answer(_trouble(call, error.message, error.hint))
        except Exception as error:
            if type(error).__module__ == "sqlite3":  # known by its name, since importing it would load the store
                from sightline.settings.config import default_root  # loaded already by whatever raised it
                from sightline.store import cause_of

                call.answer(_trouble(call, *cause_of(error, default_root())))
                return
            sys.excepthook(type(error), error, error.__traceback__)  # clients keep what a server writes there
            call.answer(Rejected(INTERNAL_ERROR, f"{type(error).__name__}: {error}"[:500]))

    def handlers(self) -> "Handlers":
        """The handlers with the open store, which is opened now if it was not; what was answered is in its index.

        Raises:
            SightlineError: it cannot be opened, or the settings are wrong now.
            Rejected: the server has ended.
        """
        with self._lock:
            if self._closed:
                raise Rejected(INTERNAL_ERROR, "the server has ended")
            if self._handlers is None:
                from sightline.doors.tools.handlers import Handlers  # loads the store and its index: 60 ms

                share_one_heap()
                self._handlers = Handlers(self.options, self._calls, self.threads)
            handlers = self._handlers
        handlers.obey_settings()
        handlers.sent.settle()
        return handlers

    def close(self) -> None:
        """End the commands that run; what needs the store is rejected from now on."""
        with self._lock:
            self._closed = True
            handlers = self._handlers
        if handlers is not None:
            handlers.close()

    def settle(self) -> None:
        """Have the index take in what calls have left that ended after `close`."""
        if self._handlers is not None:
            self._handlers.settle()

    def instructions(self) -> str:
        """How the server introduces itself to a model."""
        return instructions(self.options.tools)


def _trouble(call: OpenCall, message: str, hint: str) -> dict[str, Any] | Rejected:
    """The answer if the store fails; a tool's call gets one that the model can read, with what to do."""
    if call.method != "tools/call":
        return Rejected(INTERNAL_ERROR, f"{message}: {hint}" if hint else message)
    fields = {"error": message, **({"hint": hint} if hint else {})}
    return {"content": [{"type": "text", "text": dumps(fields, ensure_ascii=False)}], "isError": True}


def _list_tools(service: Service, call: OpenCall) -> None:
    call.answer({"tools": definitions(service.options.tools)})


def _list_templates(_: Service, call: OpenCall) -> None:
    from sightline.doors.tools.resources import templates  # with the verbs; the store need not be there

    call.answer(templates())


def _call_tool(service: Service, call: OpenCall) -> None:
    note = service.roots.settled() if service.roots else ""
    service.handlers().call_tool(call, note)


Handler = Callable[[Service, OpenCall], None]
"""Answers a call, or raises an error, which `Service.answer` turns into an answer."""

METHODS: dict[str, Handler] = {
    "tools/list": _list_tools,
    "tools/call": _call_tool,
    "resources/list": lambda service, call: service.handlers().list_resources(call),
    "resources/templates/list": _list_templates,
    "resources/read": lambda service, call: service.handlers().read_resource(call),
    "completion/complete": lambda service, call: service.handlers().complete(call),
}
"""The methods that both eras have, and that all transports serve alike."""
