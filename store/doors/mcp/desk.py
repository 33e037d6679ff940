"""What answering needs once the store is needed: opened with the first call that does, shared by all threads."""

from typing import Any

from sightline.doors.mcp import resources
from sightline.doors.mcp.call import Call
from sightline.doors.mcp.caller import Caller, Sessions, room_of
from sightline.doors.mcp.calls import Errand, call_tool, calls_in, with_caller
from sightline.doors.mcp.commands import Commands
from sightline.doors.mcp.options import Options
from sightline.doors.mcp.protocol import Context, Rejected
from sightline.doors.mcp.subscriptions import Watch
from sightline.doors.mcp.wire import INVALID_PARAMS
from sightline.profile import load_profile
from sightline.records import Session
from sightline.store import Store
from sightline.verbs.asking import Asking, Calls
from sightline.verbs.delivery import deliver


class Desk:
    """The open store, its profile, who has asked so far, and what runs.

    Attributes:
        store: the store; threads share it.
        watch: the subscriptions.
        profile: what goes inline.
    """

    def __init__(self, options: Options, calls: Calls | None = None) -> None:
        """Open the store.

        Args:
            options: how to behave.
            calls: how a next call is written; by default as a call of the tools that are offered.

        Raises:
            SightlineError: a setting is wrong, or the store cannot be used.
        """
        self.store = Store()
        _ = self.store.index  # what is wrong with it is told now
        self.watch = Watch(lambda: self.store)
        self._options = options
        self.profile = load_profile(
            options.profile or self.store.settings.profile, "--profile" if options.profile else "profile"
        )
        self._sessions = Sessions(options.session)
        self._commands = Commands(options.patience_secs)
        self._calls = calls or calls_in(options.tools)

    def close(self) -> None:
        """End what runs. The index stays open where a thread may still be at it: the process ends anyway."""
        self.watch.close()
        self._commands.close()

    def asking(self, context: Context) -> tuple[Asking, Caller]:
        """Who makes a request, for the verbs and for the log."""
        session, caller = self.caller(context)
        return Asking(self.store, session, self._calls, self.profile, room=room_of(caller)), caller

    def caller(self, context: Context) -> tuple[Session, Caller]:
        """The session of a request, and who makes it."""
        return self._sessions.of(context)

    def call_tool(self, call: Call) -> None:
        """Answer ``tools/call``. Raises Rejected where there is no such tool."""
        name, arguments = call.params.get("name"), call.params.get("arguments") or {}
        if not isinstance(name, str) or name not in self._options.tools:
            raise Rejected(INVALID_PARAMS, f"Unknown tool: {str(name)[:100]}", {"tools": list(self._options.tools)})
        if not isinstance(arguments, dict):
            raise Rejected(INVALID_PARAMS, "arguments is no object")
        call_tool(Errand(*self.asking(call.context), call, self._options, self._commands), name, arguments)

    def list_resources(self, call: Call) -> None:
        """Answer ``resources/list``. Raises Rejected for a cursor that is none."""
        call.answer(resources.listed(self.store, call.params.get("cursor")))

    def read_resource(self, call: Call) -> None:
        """Answer ``resources/read``, logged as any other reply. Raises Rejected where there is no such resource."""
        asking, caller = self.asking(call.context)
        uri = call.params.get("uri")
        reply = with_caller(resources.read(asking, str(uri), call.context), caller)
        deliver(asking, reply, lambda made: made.body, lambda text: call.answer(resources.contents(str(uri), text)))

    def complete(self, call: Call) -> None:
        """Answer ``completion/complete``. Raises Rejected for what cannot be completed."""
        call.answer(resources.completed(self.store, call.params))

    def ref_of(self, uri: Any, call: Call) -> str:
        """The ref of the output that a URI names. Raises Rejected where there is none."""
        address = resources.address_of(uri, call.context)
        return resources.target_of(self.asking(call.context)[0], address, str(uri), call.context).ref
