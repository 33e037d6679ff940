"""Who calls, as far as a request and the environment tell: client, harness, its session and its tool call."""

import os
import re
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from sightline.disk.recording import storable
from sightline.doors.mcp.protocol import Context
from sightline.harnesses import find, of_client
from sightline.log.sessions import SHELL, current_session, safe_name, working_directory
from sightline.records import Session
from sightline.shape.budgets import ROOMY, Room

# Keys of `_meta` that clients were seen to send, as the last part of them goes.
_SESSION_KEYS = ("sessionId", "session_id", "threadId")
_TOOL_USE_KEYS = ("toolUseId", "tool_use_id", "callId", "itemId")
_ID_CHARACTERS = 200


class Caller(NamedTuple):
    """One caller.

    Attributes:
        harness: ``claude-code``, ``codex``, …, else the client's own name; ``mcp`` where it has none.
        harness_session: the harness' id of its session, empty where none is told.
        tool_use: its id of the tool call, likewise.
        client: name and version of the client, likewise.
    """

    harness: str
    harness_session: str
    tool_use: str
    client: str

    def logged(self) -> dict[str, str]:
        """What is known, for the log of a view."""
        known = {"client": self.client, "harness_session": self.harness_session, "tool_use": self.tool_use}
        return {name: storable(value) for name, value in known.items() if value}


def caller_of(context: Context, environment: Mapping[str, str] = os.environ) -> Caller:
    """The caller of a request.

    The environment may be inherited from another harness: it speaks for the client only where they agree.
    """
    return _caller(context, current_session(environment, name="unused"))


def _caller(context: Context, around: Session) -> Caller:
    name = _name_of(context.client)
    known = of_client(name)
    harness = known.name if known else safe_name(name) if name else around.harness
    session = _first(context.meta, _SESSION_KEYS)
    if not session and around.harness == harness != SHELL:
        session = around.harness_id
    if harness == SHELL:  # to the verbs that means a person
        harness = "mcp"
    return Caller(harness, session, _first(context.meta, _TOOL_USE_KEYS), context.client)


def _name_of(client: str) -> str:
    """``Visual-Studio-Code`` of ``Visual Studio Code 1.106.0``."""
    first, *more = client.split() or [""]
    if more and re.match(r"v?[0-9]", more[-1]):
        more.pop()
    return "-".join([first, *more])


def room_of(caller: Caller) -> Room:
    """How large a reply the caller's harness leaves whole: one that it cuts would not be what the log says."""
    known = find(caller.harness)
    return Room(known.reply_bytes, known.reply_lines) if known and known.reply_bytes else ROOMY


def _first(meta: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    by_name = {key.rpartition("/")[2]: value for key, value in meta.items() if isinstance(value, str)}
    return next((by_name[key][:_ID_CHARACTERS] for key in keys if by_name.get(key)), "")


class Sessions:
    """The sessions of one server's callers.

    Args:
        name: the session of all of them, where one was given.
        environment: where a harness leaves what tells its session.
    """

    def __init__(self, name: str = "", environment: Mapping[str, str] = os.environ) -> None:
        self._name = name or environment.get("SIGHTLINE_SESSION", "")
        self._around = current_session(environment, name="unused")
        self._known: dict[Caller, Session] = {}
        self._own = os.urandom(4).hex()  # for clients that tell nothing: one session a server
        self._started = time.time()

    def of(self, context: Context) -> tuple[Session, Caller]:
        """The session of a request, and its caller."""
        caller = _caller(context, self._around)
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
