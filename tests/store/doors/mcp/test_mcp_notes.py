"""A person's notes reach an agent that asks over MCP: in the fields of its next reply, once."""

from collections.abc import Callable
from typing import Any

import pytest

from sightline.base.records import Session
from sightline.log.notes import list_notes, send_note, write_note
from sightline.store import Store

PERSON = Session("person", "shell", "", "", "/", 1.0)


@pytest.fixture
def ref(client: Any) -> str:
    """An output of the agent's, with a note on its way."""
    ref = str(client.call("run_command", command="seq 1 5000")[0]["output_id"])
    with client.store() as store:
        _send(store, ref)
    return ref


def _send(store: Store, ref: str) -> None:
    target = store.resolve(f"{ref}:2-3")
    send_note(store, PERSON, write_note(store, PERSON, target, "look\nhere"), target.buffer.session)


def test_the_next_reply_of_the_agent_carries_the_note_once(
    client: Any, ref: str, until: Callable[[Callable[[], object]], None]
) -> None:
    fields, body = client.call("read_output", ref=ref, lines="1-2")
    assert fields["notes"] == [{"ref": f"{ref}:2-3", "text": "look\nhere"}]
    assert body == "1\n2\n"
    assert "notes" not in client.call("read_output", ref=ref, lines="1-2")[0]
    with client.store() as store:  # that it went out is logged behind the reply
        until(lambda: [note.sent > 0 for note in list_notes(store)] == [True])


def test_of_many_replies_at_once_one_carries_the_note(client: Any, ref: str) -> None:
    numbers = [client.begin("query", pipeline=f"head -n 1 {ref}") for _ in range(16)]
    assert sum("notes" in client.reply(number)[0] for number in numbers) == 1


def test_a_resource_that_is_read_leaves_the_note_to_a_call(client: Any, ref: str) -> None:
    resources = client.request("resources/list")["resources"]
    client.request("resources/read", uri=resources[0]["uri"])
    assert "notes" in client.call("list_outputs")[0]
