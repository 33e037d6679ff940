"""One request on its way to its answer: answered once, or cancelled and then never."""

import threading
from collections.abc import Callable
from typing import Any

from sightline.doors.mcp.protocol import Context, Rejected

Outcome = dict[str, Any] | Rejected
"""A result, or the error in its place."""


class Cancelled(Exception):
    """The client has withdrawn the request: whatever it waited for, nobody waits any more."""


class Call:
    """One request that is being answered; all of it may be used from any thread.

    Attributes:
        method: its method.
        params: its parameters.
        context: its era, its client, its ``_meta``.
        telling: says how far it is, for notifications of progress; empty while there is nothing to say.
    """

    def __init__(self, method: str, params: dict[str, Any], context: Context, reply: Callable[[Outcome], None]) -> None:
        """Take a request on.

        Args:
            method: its method.
            params: its parameters.
            context: what it says of itself.
            reply: sends its outcome to the client; called at most once.
        """
        self.method = method
        self.params = params
        self.context = context
        self.telling: Callable[[], str] = str
        self._reply = reply
        self._lock = threading.Lock()
        self._open = True
        self._cancelled = False
        self._at_cancel: list[Callable[[], None]] = []

    @property
    def cancelled(self) -> bool:
        """Whether the client has withdrawn it."""
        return self._cancelled

    @property
    def progress_token(self) -> int | str | None:
        """What its notifications of progress must name; None where the client wants none."""
        token = self.context.meta.get("progressToken")
        return token if isinstance(token, int | str) and not isinstance(token, bool) else None

    def answer(self, outcome: Outcome) -> None:
        """Send the outcome, unless there was one already or nobody waits for it."""
        with self._lock:
            if not self._open:
                return
            self._open = False
        self._reply(outcome)

    def cancel(self) -> None:
        """The client has withdrawn it: end what can be ended, and answer nothing."""
        with self._lock:
            if not self._open:
                return
            self._open, self._cancelled = False, True
            acts, self._at_cancel = self._at_cancel, []
        for act in acts:
            act()

    def at_cancel(self, act: Callable[[], None]) -> None:
        """Have something done when the call is cancelled; at once where it is already."""
        with self._lock:
            if not self._cancelled:
                self._at_cancel.append(act)
                return
        act()

    def while_open(self, send: Callable[[], None]) -> bool:
        """Send something that may not follow the answer; whether that was still possible."""
        with self._lock:
            if self._open:
                send()
            return self._open
