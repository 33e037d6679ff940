"""What a harness would have shown its model by itself, beside what was shown: nothing is said to be saved without it.

The limits are what the harnesses were seen to do, each of which showed outputs of known sizes to a scripted model:
Claude Code 2.1.329, Codex 0.169.0 with a model that it does not know, Gemini CLI 0.61.0, opencode 1.18.33. All are
bytes; those that a harness counts in characters are right for ASCII.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from sightline.records import View

COMMAND, FILE, TOOL = "command", "file", "tool"
"""Of what an output is: a shell command's, a file's, any other tool's."""


class Limit(NamedTuple):
    """What a harness shows of one kind of output.

    Attributes:
        whole: up to this size it shows all.
        over: of more it shows about so much.
        head: of more it surely shows so much of the beginning; tail, of the end.
    """

    whole: int
    over: int
    head: int = 0
    tail: int = 0


_CLAUDE_PREVIEW = 2_250
"""A preview of 2 KB in a frame that names the file where the whole is."""

_SUCCEEDED: dict[str, dict[str, Limit]] = {
    "claude-code": {
        COMMAND: Limit(30_000, _CLAUDE_PREVIEW),
        FILE: Limit(1 << 18, 300),  # an error that suggests to read a part
        TOOL: Limit(50_000, _CLAUDE_PREVIEW),
    },
    # Models that Codex knows are shown four times as much, which a hook is not told: so rather too little is said to be
    # saved.
    "codex": dict.fromkeys((COMMAND, FILE, TOOL), Limit(10_500, 10_500, head=5_000, tail=5_000)),
    "gemini": dict.fromkeys((COMMAND, FILE, TOOL), Limit(40_000, 40_250, head=8_000, tail=32_000)),
    "opencode": dict.fromkeys((COMMAND, FILE, TOOL), Limit(50 << 10, 50 << 10)),
}
_FAILED: dict[str, Limit] = {
    "claude-code": Limit(10_000, 10_040),  # head and tail of the first 30,000
}
_CLIENTS = {"codex-mcp-client": "codex", "gemini-cli-mcp-client": "gemini"}
_VERBS = {"run_command": COMMAND, "capture": COMMAND, "read_file": FILE, "tool": TOOL}
_EXTRA = ("read_output", "query", "list_outputs")
"""Calls that there would not be without us: all that they show is shown on top."""


class Accounted(NamedTuple):
    """Calls of harnesses whose own limits are known.

    Attributes:
        calls: how many.
        shown_bytes: what was shown in them.
        alone_bytes: what their harnesses would have shown by themselves.
    """

    calls: int = 0
    shown_bytes: int = 0
    alone_bytes: int = 0

    @property
    def saved_bytes(self) -> int:
        """What was not shown because of us; below zero where we showed more."""
        return self.alone_bytes - self.shown_bytes

    @property
    def told(self) -> str:
        """What that comes to, in words; empty where nobody can tell, since no such call was made."""
        if not self.calls:
            return ""
        from sightline.shape.summary import human_bytes  # hooks count, and tell nothing

        return f"{human_bytes(abs(self.saved_bytes))} {'saved' if self.saved_bytes >= 0 else 'more'}"


def what_of(*, is_command: bool = False, is_file: bool = False) -> str:
    """COMMAND, FILE or TOOL."""
    return COMMAND if is_command else FILE if is_file else TOOL


def surely_shown(harness: str, what: str, text: str, *, failed: bool) -> str | None:
    """What of a text a harness surely shows, its beginning and its end; None where it shows all, or is not known."""
    limit = _limit(harness, what, failed=failed)
    if limit is None or len(text) <= limit.whole:
        return None
    return f"{text[: limit.head]}\n{text[-limit.tail :] if limit.tail else ''}"


def alone_bytes(harness: str, what: str, size: int, *, failed: bool) -> int | None:
    """How much of an output a harness shows by itself.

    Args:
        harness: its name.
        what: COMMAND, FILE or TOOL.
        size: bytes of the output.
        failed: whether the command or the tool failed.

    Returns:
        Bytes; None where its limits are not known.
    """
    limit = _limit(harness, what, failed=failed)
    if limit is None:
        return None
    return size if size <= limit.whole else limit.over


def _limit(harness: str, what: str, *, failed: bool) -> Limit | None:
    if failed and harness in _FAILED:
        return _FAILED[harness]
    return _SUCCEEDED.get(harness, {}).get(what)


def alone_of(view: View, *, failed: bool) -> int | None:
    """What the harness of a logged call would have shown by itself; None where that is not known.

    Args:
        view: the call.
        failed: whether its command failed, as far as is known by now.
    """
    request = json.loads(view.request)
    if "alone_bytes" in request:
        noted = request["alone_bytes"]
        return noted if isinstance(noted, int) else None
    caller = request.get("caller")
    name = str(caller.get("client", "")).partition(" ")[0] if isinstance(caller, dict) else ""
    harness = _CLIENTS.get(name, name)
    if harness not in _SUCCEEDED:
        return None
    if view.verb in _EXTRA:
        return 0
    what = _VERBS.get(view.verb) if view.refs else None  # what passed as it is may not stand in the log
    return alone_bytes(harness, what, view.bytes_total, failed=failed) if what else None


def accounted(calls: Iterable[tuple[int, int | None]]) -> Accounted:
    """What calls come to.

    Args:
        calls: of each the bytes shown, and those that its harness would have shown by itself, None for unknown.
    """
    known = [(shown, alone) for shown, alone in calls if alone is not None]
    return Accounted(len(known), sum(shown for shown, _ in known), sum(alone for _, alone in known))
