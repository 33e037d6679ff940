"""What tests of the timeline and its like share: sessions that asked, at fixed times."""

from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot

from sightline.base.records import Buffer, Session, Shown, View
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.tui.tui_kit import NOW, text

AGENT, OTHER = "claude-code-7f3a", "codex-11"


def session(name: str) -> Session:
    return Session(name, name.rpartition("-")[0], name, "cli 1.0", "/home/ada/project", NOW - 3600)


def ask(
    store: Store,
    buffer: Buffer | None,
    ranges: Iterable[tuple[int, int]] = (),
    *,
    by: str = AGENT,
    ago: float = 60.0,
    verb: str = "read_output",
    reply: str = "what was shown\n",
    stream: str = "out",
    **more: Any,
) -> View:
    """A call that was shown some lines of a buffer."""
    name = buffer.name if buffer else ""
    request = more.pop("request", {"command": buffer.command} if buffer else {})
    fields = {
        "verb": verb,
        "request": request,
        "refs": (name,) if name else (),
        "shown": tuple(Shown(name, stream, first, last) for first, last in ranges),
        "lines_total": buffer.lines if buffer else 0,
        "bytes_total": buffer.bytes if buffer else 0,
        **more,
    }
    with patch("time.time", lambda: NOW - ago):
        return record_view(store, session(by), Shows(**fields), [Segment(reply)])


def bar(pilot: Pilot[None], name: str) -> str:
    """What a bar of the screen on top says."""
    return "\n".join(text(pilot.app.screen.query_one(f"#{name}")))


def rows(pilot: Pilot[None], name: str) -> list[str]:
    """The rows of a pane of the screen on top."""
    return text(pilot.app.screen.query_one(f"#{name}"))
