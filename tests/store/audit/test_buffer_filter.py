"""The words of a filter: what each accepts, what is left to text, and what may be typed next."""

import time
from pathlib import Path
from unittest.mock import patch

import pytest

from sightline.audit.buffer_filter import WORDS, BufferFilter, Condition, completions, doubtful, parsed
from sightline.base.errors import UsageError
from sightline.base.records import Session, Shown
from sightline.base.time_words import span_of
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.each import each
from tests.tui.tui_kit import NOW, add, begin


@pytest.fixture
def filled(store: Store) -> Store:
    add(
        store,
        "cmd_00000a",
        "uv run pytest -q",
        b"ERROR: one\n" + b"x\n" * 9,
        exit_code=1,
        session="codex-1",
        cwd="/srv/a",
    )
    half = add(store, "cmd_00000b", "cargo test", b"y\n" * 10, session="claude-1", cwd="/srv/b")
    add(store, "tool_00000c", "fetch {}", b"z" * 5000, exit_code=None, session="claude-1", cwd="/srv/b")
    add(store, "cmd_00000d", "sleep 9", b"s\n", exit_code=None, pinned=True)
    begin(store, "cmd_00000e", "tail -F log").register()
    agent = Session("claude-1", "claude-code", "", "", "/srv/b", 1.0, "release")
    lines = (Shown(half.name, "out", 1, 5),)
    record_view(store, agent, Shows("read_output", {}, refs=(half.name,), shown=lines), [Segment("text\n")])
    return store


@each(
    ("text", "found"),
    [
        ("exit:1", "a"),
        ("exit:!0", "a"),
        ("exit:0", "b"),
        ("exit:none", "d"),
        ("exit:>=0", "ab"),
        ("!", "a"),
        ("is:overlooked", "a"),
        ("seen:>0", "b"),
        ("seen:<50", "acd"),
        ("seen:50%", "b"),
        ("is:running", "e"),
        ("is:failed", "a"),
        ("is:pinned", "d"),
        ("kind:tool", "c"),
        ("tool:pytest", "a"),
        ("tool:cargo", "b"),
        ("tool:test", "b"),
        ("tool:fetch", "c"),
        ("size:>1K", "c"),
        ("size:>1KiB", "c"),
        ("size:>=1kb", "c"),
        ("lines:>=10", "ab"),
        ("cwd:srv/b", "bc"),
        ("session:codex", "a"),
        ("session:Release", "bc"),
        ("harness:claude", "bc"),
        ("kind:cmd exit:!0", "a"),
        ("since:1m", "e"),
    ],
)
def test_what_a_word_accepts(filled: Store, text: str, found: str) -> None:
    wanted = parsed(text)
    assert wanted.text == ""
    assert sorted(name[-1] for name in BufferFilter(filled, wanted.conditions).names()) == list(found)


def test_an_output_that_the_limits_removed_is_called_expired(filled: Store) -> None:
    gone = filled.resolve("@cmd_00000a").buffer
    filled.remove(gone, "evicted")
    for text in ("is:expired", "is:evicted"):
        assert list(BufferFilter(filled, parsed(text).conditions).names()) == [gone.name]
    assert gone._replace(state="evicted").shown_state == "expired"


def test_what_is_no_word_is_text_and_what_is_still_to_be_typed_asks_for_nothing() -> None:
    assert parsed("test::case exit:1 !slow http://x") == ((Condition("exit", "1"),), "test::case !slow http://x", ())
    assert parsed("exit: seen:< exit:!") == ((), "", ())


@pytest.mark.parametrize(
    "text",
    ["exit:x", "seen:<many", "is:blue", "since:>1h", "since:x", "before:2026", "on:2h", "size:1q", "kind:comand"],
)
def test_a_value_that_is_none_is_an_error_that_says_what_may_stand_there(store: Store, text: str) -> None:
    with pytest.raises(UsageError) as raised:
        BufferFilter(store, parsed(text).conditions)
    assert raised.value.hint


def test_a_value_like_a_known_one_is_told_that_one(store: Store) -> None:
    for text, near in (("kind:comand", "kind:cmd"), ("is:runing", "is:running")):
        with pytest.raises(UsageError, match=text) as raised:
            BufferFilter(store, parsed(text).conditions)
        assert f"did you mean {near}?" in raised.value.hint


def test_a_word_that_is_none_is_named_with_the_nearest() -> None:
    assert doubtful(parsed("befor:mon make")) == "no word befor: (did you mean before:?), so it is text"
    assert doubtful(parsed("error:x")) == "no word error:, so it is text"
    assert doubtful(parsed("http://x a::b C:\\x x: since:1h")) == ""


def test_times_are_read_as_people_say_them(store: Store) -> None:
    now = time.time()
    midnight = span_of("today").start
    for name, when in (("cmd_00000a", midnight - 60), ("cmd_00000b", midnight + 60), ("cmd_00000c", midnight - 90_000)):
        with patch("time.time", lambda when=when: when):
            add(store, name, "make", b"x\n", ago=NOW - when)
    found = {
        text: sorted(BufferFilter(store, parsed(text).conditions).names())
        for text in (
            "yesterday",
            "today",
            "before:today",
            "since:yesterday",
            f"on:{time.strftime('%Y-%m-%d', time.localtime(now))}",
        )
    }
    assert found["yesterday"] == ["cmd_00000a"]
    assert found["today"] == found[f"on:{time.strftime('%Y-%m-%d', time.localtime(now))}"] == ["cmd_00000b"]
    assert found["before:today"] == ["cmd_00000a", "cmd_00000c"]
    assert found["since:yesterday"] == ["cmd_00000a", "cmd_00000b"]


def test_what_a_word_may_become() -> None:
    assert completions("ex") == ["exit:"]
    assert completions("yes") == ["yesterday"]
    assert completions("is:r") == ["is:running"]
    assert completions("harness:", [Session("a", "codex", "", "", "/", 1.0)]) == ["harness:codex"]
    assert completions("pytest") == completions("") == []


def test_each_word_takes_its_own_example_and_what_completes_it(store: Store) -> None:
    with_values = [one for word in WORDS.values() for one in word.example.split()]
    offered = [f"{name}:{value}" for name, word in WORDS.items() for value in word.offers]
    assert {one.partition(":")[0] for one in with_values} == WORDS.keys()
    for one in (*with_values, *offered):
        (condition,) = parsed(one).conditions
        BufferFilter(store, [condition])


def test_the_page_of_the_inspector_names_each_word() -> None:
    page = Path(__file__).parents[3] / "docs/inspector.md"
    if page.is_file():
        assert [name for name in WORDS if f"`{name}:" not in page.read_text()] == []
