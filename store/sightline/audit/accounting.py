"""Compares what was shown with what a harness would have shown by itself. If that is unknown, no saving is claimed.

The limits are kept with each harness: they are what it was seen to do with outputs of known sizes.
"""

from collections.abc import Iterable

from sightline.base.records import View
from sightline.harnesses import of_client
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.shape.summary import human_bytes

_VERBS = {"run_command": "cmd", "capture": "cmd", "read_file": "file", "tool": "tool"}
_EXTRA = ("read_output", "query", "list_outputs")
"""Calls that exist only because of Sightline, so that all they show counts as extra."""


class Accounted(NamedTuple):
    """Calls of harnesses whose own limits are known.

    Attributes:
        calls: number of calls.
        shown_bytes: bytes shown in them.
        alone_bytes: bytes that their harnesses would have shown by themselves.
    """

    calls: int = 0
    shown_bytes: int = 0
    alone_bytes: int = 0

    @property
    def saved_bytes(self) -> int:
        """Bytes that Sightline did not show; negative if it showed more."""
        return self.alone_bytes - self.shown_bytes

    @property
    def told(self) -> str:
        """The saving in words; empty if there are no such calls."""
        if not self.calls:
            return ""
        return f"{human_bytes(abs(self.saved_bytes))} {'saved' if self.saved_bytes >= 0 else 'more'}"


def alone_of(view: View, *, failed: bool) -> int | None:
    """Return the bytes that the harness of a logged call would have shown by itself; None if that is not known.

    Args:
        view: the call.
        failed: whether its command failed, as far as is known by now.
    """
    request = loads(view.request)
    if "alone_bytes" in request:
        noted = request["alone_bytes"]
        return noted if isinstance(noted, int) else None
    caller = request.get("caller")
    name = str(caller.get("client", "")).partition(" ")[0] if isinstance(caller, dict) else ""
    harness = of_client(name)
    if harness is None or not harness.limits:
        return None
    if view.verb in _EXTRA:
        return 0
    kind = _VERBS.get(view.verb) if view.refs else None  # a call that passed unchanged may have no buffer in the log
    return harness.alone_bytes(kind, view.bytes_total, failed=failed) if kind else None


def accounted(calls: Iterable[tuple[int, int | None]]) -> Accounted:
    """Sum up calls.

    Args:
        calls: for each call the bytes shown, and those that its harness would have shown by itself, None for unknown.
    """
    known = [(shown, alone) for shown, alone in calls if alone is not None]
    return Accounted(len(known), sum(shown for shown, _ in known), sum(alone for _, alone in known))
