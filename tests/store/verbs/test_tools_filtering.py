"""A command that filters its own output: its answer, and the ref to what an agent cut away."""

import os
from collections import Counter
from typing import Any

import pytest

from sightline.base.errors import StoreFailed
from sightline.capture.filters import left_side
from sightline.disk.buffer_writer import BufferWriter
from sightline.verbs.reply import FIELD_ORDER

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="pipes have no size here")


@pytest.fixture(autouse=True)
def _a_plain_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BASH_ENV", "SHELLOPTS", "BASHOPTS"):
        monkeypatch.delenv(name, raising=False)


def test_reply_names_what_was_cut_away_and_how_much_it_is(agent: Any) -> None:
    reply = agent.run("seq 1 3000 | tail -2")
    ref = reply.fields["unfiltered_output"]
    assert reply.fields == {
        "exit_code": 0,
        "unfiltered_output": ref,
        "unfiltered_lines": 3000,
        "unfiltered_bytes": 13_893,
    }
    assert (
        agent.told
        == f"[exit_code=0 unfiltered_output={ref} unfiltered_lines=3000 unfiltered_bytes=13893]\n2999\n3000\n"
    )
    kept = agent.store.resolve(ref).buffer
    assert (kept.kind, kept.command, kept.session, kept.exit_code) == ("cmd", "seq 1 3000", "claude-code-1", None)
    assert kept.note == f"unfiltered side of {agent.newest().ref}"
    assert agent.newest().command == "seq 1 3000 | tail -2"
    assert agent.read(ref, lines="1500-1501").text == "1500\n1501\n"


def test_field_comes_after_the_counts_and_before_the_notes(agent: Any) -> None:
    reply = agent.run("seq 1 9000 | sed s/1/one/")
    names = list(reply.fields)
    assert names == [name for name in FIELD_ORDER if name in names]
    assert names.index("total_bytes") < names.index("unfiltered_output") < names.index("next")


@pytest.mark.parametrize("command", ["true | sort", "seq 1 5 | grep .", "seq 1 5"])
def test_nothing_that_was_cut_away_is_no_field(agent: Any, command: str) -> None:
    assert agent.run(command).fields == {"exit_code": 0}


@pytest.mark.parametrize(
    "command", ["cat {} | grep 7", "grep 1 {} | head -3", 'cat "{}" | tail -1', "cat {}.err | wc -l"]
)
def test_buffer_that_is_read_is_not_kept_again(agent: Any, command: str) -> None:
    ref = agent.run("seq 1 3000; seq 1 3 >&2").fields["output_id"]
    count = len(agent.store.listed(99))
    assert "unfiltered_output" not in agent.run(command.format(ref), verbosity="normal").fields
    assert len(agent.store.listed(99)) == count + 1


def test_what_a_program_makes_of_a_buffer_is_kept_under_the_command_as_it_was_given(agent: Any) -> None:
    ref = agent.run("seq 1 3000").fields["output_id"]
    reply = agent.run(f"paste {ref} {ref} | tail -1", verbosity="normal")
    assert reply.text == "3000\t3000\n"
    assert agent.store.resolve(reply.fields["unfiltered_output"]).buffer.command == f"paste {ref} {ref}"


def test_query_of_a_ref_makes_no_buffer_at_all(agent: Any) -> None:
    from sightline.verbs import query

    ref = agent.run("seq 1 3000").fields["output_id"]
    reply = agent.deliver(query.query(agent.asking, query.QueryRequest(f"cat {ref} | grep 7 | tail -2")))
    assert reply.text == "2987\n2997\n"
    assert "unfiltered_output" not in reply.fields
    assert len(agent.store.listed(9)) == 1


def test_store_that_fails_for_the_left_side_is_told_and_offers_no_ref(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = BufferWriter.append
    written: Counter[BufferWriter] = Counter()

    def failing(self: BufferWriter, stream: str, data: Any) -> None:
        written[self] += len(data)
        if written[self] > 10_000:
            raise StoreFailed("storing failed: no space left on device")
        append(self, stream, data)

    monkeypatch.setattr(BufferWriter, "append", failing)
    reply = agent.run("head -c 20000 /dev/zero | wc -c")
    assert reply.text == "20000\n"
    assert reply.fields == {
        "exit_code": 0,
        "warning": "storing failed: no space left on device; what went into the filter was not kept",
    }
    assert [item.buffer.name for item in agent.store.listed(9)] == [agent.newest().name]


@pytest.mark.parametrize("name", ["BASH_ENV", "SHELLOPTS"])
def test_shell_whose_settings_are_not_known_expands_nothing_under_our_hands(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert left_side("echo $X | head", ["/bin/bash", "-c", "echo $X | head"])
    monkeypatch.setenv(name, "nounset")
    assert left_side("echo $X | head", ["/bin/bash", "-c", "echo $X | head"]) is None
    assert left_side("echo x | head", ["/bin/bash", "-c", "echo x | head"])


def test_background_run_is_left_to_the_shell(agent: Any, until: Any) -> None:
    reply = agent.run("seq 1 5 | tail -1", background=True)
    ref = reply.fields["output_id"]
    until(lambda: agent.store.resolve(ref).buffer.state == "sealed")
    assert agent.raw(agent.store.resolve(ref).buffer) == b"5\n"
    assert len(agent.store.listed(9)) == 1
