"""query and list_outputs as verbs: what they reply, and what is logged of it."""

import shlex
from typing import Any

import pytest

from sightline.base.errors import ExpiredRef, QueryRefused, UnknownRef, UsageError
from sightline.log import retention
from sightline.verbs import list_outputs as listing
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.query import query
from sightline.verbs.reply import Reply, state_in_words
from sightline.verbs.requests import QueryRequest


def _query(caller: Any, pipeline: str) -> Reply:
    return caller.deliver(query(caller.asking, QueryRequest(pipeline)))  # type: ignore[no-any-return]


def _list(caller: Any, **given: Any) -> Reply:
    return caller.deliver(listing.list_outputs(caller.asking, listing.ListRequest(**given)))  # type: ignore[no-any-return]


@pytest.fixture
def ref(agent: Any) -> str:
    """The numbers 1 to 3000."""
    agent.run("seq 1 3000; echo oh >&2")
    return str(agent.newest().ref)


def test_answer_that_fits_is_nothing_but_the_answer(agent: Any, ref: str) -> None:
    reply = _query(agent, f"grep '^50$' {ref}")
    assert reply.fields == {"exit_code": 0}
    assert reply.text == agent.told == "50\n"


def test_exit_code_is_the_last_stage_s(agent: Any, ref: str) -> None:
    assert _query(agent, f"grep zebra {ref}").exit_code == 1
    assert _query(agent, f"grep zebra {ref} | wc -l").exit_code == 0


def test_hundred_lines_come_whole_and_more_are_cut_with_true_counts(agent: Any, ref: str) -> None:
    assert "truncated" not in _query(agent, f"head -100 {ref}").fields
    reply = _query(agent, f"cat {ref}")
    assert (reply.fields["stdout_shown"], reply.fields["stdout_total"]) == (100, 3000)
    assert reply.fields["truncated"] is True
    assert reply.fields["total_bytes"] == 13_893
    assert len(reply.text.splitlines()) == 100


def test_next_pages_are_everything_once(agent: Any, ref: str) -> None:
    reply, pages = _query(agent, f"head -450 {ref}"), []
    while True:
        pages += reply.text.split()
        if "next" not in reply.fields:
            break
        words = shlex.split(reply.fields["next"])
        assert words[:2] == ["sightline", "query"]
        reply = _query(agent, words[2])
    assert pages == [str(number) for number in range(1, 451)]


def test_large_lines_are_cut_by_bytes(agent: Any) -> None:
    agent.run("for i in $(seq 101); do printf '%0200d\\n' $i; done")
    reply = _query(agent, "cat @last")
    assert len(reply.text.encode()) <= 8000
    assert reply.fields["stdout_total"] == 101
    assert 0 < reply.fields["stdout_shown"] < 100


def test_one_line_larger_than_a_reply_is_clipped_and_counted(agent: Any) -> None:
    agent.run("head -c 11000 /dev/zero | tr '\\0' x")
    reply = _query(agent, "cat @last")
    assert reply.fields["truncated"] is True
    assert "larger than a reply" in reply.fields["note"]
    assert len(reply.text.encode()) <= 8000


def test_query_makes_no_new_ref(agent: Any, ref: str) -> None:
    _query(agent, f"cat {ref}")
    assert [item.buffer.ref for item in agent.store.listed(10)] == [ref]


def test_refs_stand_where_programs_name_their_files(agent: Any, ref: str) -> None:
    text = _query(agent, f"wc -l {ref} {ref}.err").text
    assert f"3000 {ref}\n" in text
    assert f"1 {ref}.err\n" in text
    assert agent.store.root not in text


def test_exact_lines_shown_are_logged(agent: Any, ref: str) -> None:
    _query(agent, f"sed -n '42,80p' {ref}")
    [shown] = agent.views()[-1].shown
    assert (shown.first, shown.last) == (42, 80)
    _query(agent, f"grep -n '^1234$' {ref}")
    [shown] = agent.views()[-1].shown
    assert (shown.first, shown.last) == (1234, 1234)
    _query(agent, f"grep -c . {ref}")
    assert agent.views()[-1].shown == ()


def test_what_writes_or_runs_is_refused_by_name(agent: Any, ref: str) -> None:
    for pipeline in (f"cat {ref} > x", f"sed -i d {ref}", "grep x /etc/passwd", f"cat {ref}; ls", f"rm {ref}"):
        with pytest.raises(QueryRefused):
            _query(agent, pipeline)


def test_unknown_and_expired_refs_are_errors(agent: Any, ref: str) -> None:
    with pytest.raises(UnknownRef):
        _query(agent, "cat @cmd_deadbeef")
    retention.evict(agent.store, agent.store.resolve(ref).buffer)
    with pytest.raises(ExpiredRef):
        _query(agent, f"cat {ref}")


def test_list_has_the_most_recently_used_first(agent: Any) -> None:
    for word in ("one", "two", "three"):
        agent.run(f"echo {word}")
    agent.read("@last~2")
    rows = _list(agent).text.splitlines()
    assert [row.rpartition(" ")[2] for row in rows] == ["one", "three", "two"]
    assert all(row.startswith("@cmd_") for row in rows)


def test_list_says_what_it_leaves_out(agent: Any) -> None:
    for number in range(3):
        agent.run(f"echo {number}")
    reply = _list(agent, limit=2)
    assert len(reply.text.splitlines()) == 2
    assert "of 3" in reply.fields["note"]
    assert agent.told.startswith("[note=")
    assert "note" not in _list(agent, limit=3).fields
    with pytest.raises(UsageError):
        _list(agent, limit=0)


def test_list_of_nothing_says_so(agent: Any) -> None:
    assert "nothing has been captured" in _list(agent).fields["note"]
    assert "nothing matches" in _list(agent, match="zebra").fields["note"]


def test_match_finds_words_labels_and_near_misses(agent: Any) -> None:
    agent.run("echo pytest tests/store", label="nightly")
    agent.run("echo unrelated")
    for match in ("pytest", "store pytest", "nightly", "pytset"):
        assert "pytest" in _list(agent, match=match).text.splitlines()[0]
    assert "unrelated" not in _list(agent, match="nightly").text


def test_match_finds_what_the_inspector_finds_and_in_its_order(agent: Any) -> None:
    for command in ("echo t-e-s-t", "echo run tests", ": cargo test", "echo unrelated", "echo xtestx"):
        agent.run(command)
    assert ": cargo test" in _list(agent, match="crgtst").text.splitlines()[0]
    order = [line.split("  ")[-1].strip() for line in _list(agent, match="test").text.splitlines()]
    assert order == [": cargo test", "echo run tests", "echo xtestx", "echo t-e-s-t"]
    assert [line.split("  ")[-1].strip() for line in _list(agent, match="!echo").text.splitlines()] == [": cargo test"]
    assert _list(agent, match="tests$").text.splitlines()[0].endswith("echo run tests")


def test_a_match_is_looked_for_in_all_outputs(agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in ("kestrel", "walrus", "gannet"):
        agent.run(f"echo {word}")
    monkeypatch.setattr(listing, "_PAGE_BUFFERS", 1)
    for match in ("kestrel", "kestrle", "kestrel is:ok"):
        assert "kestrel" in _list(agent, match=match).text
    assert "note" not in _list(agent, match="walrus").fields


def test_session_narrows_the_list(agent: Any, person: Any) -> None:
    agent.run("echo from the agent")
    person.run("echo from the person")
    assert "person" not in _list(person, session=agent.asking.session.name).text


def test_state_is_told_in_a_word_or_two(agent: Any) -> None:
    agent.run("true")
    agent.run("exit 3")
    agent.run("kill -TERM $$")
    agent.run("sleep 60", timeout_secs=0.05)
    agent.store.amend(agent.newest().name, pinned=True)
    states = [state_in_words(item.buffer) for item in agent.store.listed(4)]
    assert states == ["timed out pinned", "signal 15", "exit 3", "ok"]


def test_command_cannot_disturb_the_terminal(agent: Any) -> None:
    agent.run("echo '\x1b]0;title\x07' >/dev/null\necho two\tthree")
    text = _list(agent).text
    assert "\x1b" not in text
    assert "\x07" not in text
    assert text.count("\n") == 1


def test_data_has_the_fields_that_scripts_read(agent: Any) -> None:
    agent.run("echo one; echo two >&2; exit 3")
    data = listing.as_data(agent.newest())
    named = ("ref", "kind", "state", "command", "exit_code", "created", "accessed", "out", "err", "pinned", "session")
    assert set(named) <= set(data)
    assert (data["kind"], data["state"], data["exit_code"], data["pinned"]) == ("cmd", "sealed", 3, False)
    assert (data["out"]["lines"], data["out"]["bytes"], len(data["out"]["sha256"])) == (1, 4, 64)
    assert data["session"] == agent.asking.session.name


def test_a_session_s_past_calls_are_told_briefly_and_are_its_own(agent: Any, person: Any) -> None:
    ref = agent.run("seq 1 5000; exit 3").fields["output_id"]
    agent.read(ref, lines="10-20")
    person.run("echo someone else")
    reply = agent.deliver(listing.list_outputs(agent.asking, listing.ListRequest(mine=True)))
    read, ran = reply.text.splitlines()
    assert " ago  run_command  seq 1 5000; exit 3  → " in ran
    assert f"{ref} failed with exit 3" in ran
    assert f"read_output  {ref} lines=10-20  → {ref}" in read


def test_an_agent_is_told_what_it_has_not_seen_and_what_failed(agent: Any) -> None:
    agent.run("seq 1 5000; echo 'error: broken' >&2; exit 3")
    agent.run("echo short")
    short, long = agent.deliver(listing.list_outputs(agent.asking, listing.ListRequest())).text.splitlines()
    assert "all seen" in short
    assert "1 failure" in long
    assert " unseen" in long


def test_a_reply_whose_reader_has_left_counts_as_a_use_all_the_same(agent: Any) -> None:
    first, _ = (agent.run(f"echo {word}").shows.refs[0] for word in ("one", "two"))

    def leave(_: str) -> None:
        raise BrokenPipeError

    reply = query(agent.asking, QueryRequest(f"cat @{first}"))
    with pytest.raises(BrokenPipeError):
        deliver(agent.asking, reply, render_text, leave)
    assert [item.buffer.name for item in agent.store.listed(1)] == [first]
    assert [one.view.verb for one in agent.store.index.views(limit=1)] == ["query"]
