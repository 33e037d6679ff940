"""Words of an agent, and the tokens it took, leave the machine only where a person says so; needs no server."""

from typing import Any

import pytest

pytest.importorskip("zstandard", reason="the extra `fleet` is not installed")

from sightline.base.records import Session
from sightline.base.request_usage import RequestUsage
from sightline.fleet.content import BatchContent
from sightline.fleet.queue import QueueItem
from sightline.log import log
from sightline.log.session_events import (
    COMPACTED,
    AgentMessage,
    ContextChange,
    Prompt,
    SessionEvent,
    SessionSubject,
    append_events,
)
from sightline.log.usage import write_usage
from sightline.settings.config import FleetSettings, Settings
from sightline.store import Store

AGENT = Session("claude-code-1", "claude-code", "1", "", "/", 100.0)


class _Sent:
    """Stands for the queue and the packer: takes what would be sent."""

    def __init__(self) -> None:
        self.data = b""

    def left_out(self) -> dict[str, Any]:
        return {}

    def known(self) -> dict[str, Any]:
        return {}

    def add(self, data: bytes, frames: list[Any]) -> None:
        self.data += data


@pytest.mark.parametrize("messages", [False, True])
def test_words_are_sent_only_where_a_person_says_so(tmp_path: Any, messages: bool) -> None:
    settings, sent = Settings(fleet=FleetSettings(db="postgresql://x", messages=messages)), _Sent()
    with Store(str(tmp_path / "root"), settings) as store:
        told: list[SessionEvent] = [
            AgentMessage(1.0, "what it said"),
            ContextChange(2.0, COMPACTED, summary="what it summed up"),
        ]
        told.append(Prompt(2.5, "what it is to do"))
        append_events(store.root, AGENT, [*told, SessionSubject(3.0, "what it was asked")])
        write_usage(store, AGENT, [RequestUsage("claude-code:m1", 4.0, "claude-opus-4-5", output=77_123)])
        content: Any = BatchContent
        made = content(store, sent, sent, lambda _: True, lambda: None)
        item = dict.fromkeys(QueueItem._fields, 0) | {"kind": "log", "name": AGENT.name, "first": 0, "last": 5}
        made.add(QueueItem(**item))
    words = (b"what it said", b"what it summed up", b"what it was asked", b"what it is to do")
    assert [one in sent.data for one in (*words, b"claude-opus-4-5", b"77123")] == [messages] * 6
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(sent.data)
    assert log.verify(str(copy)) == 6  # the chain holds without the words
