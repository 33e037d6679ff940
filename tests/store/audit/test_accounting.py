"""What harnesses would have shown by themselves, beside what was shown."""

import json
from typing import Any

import pytest

from sightline.audit.accounting import Accounted, accounted, alone_of
from sightline.base.records import View
from sightline.harnesses import find


def view(verb: str, request: dict[str, Any], *, total: int = 0, refs: tuple[str, ...] = ("cmd_a1b2c3",)) -> View:
    """A call as the log has it."""
    return View("s:1", "s", 1, 0.0, verb, json.dumps(request), refs, (), 0, 0, 10, total, None, False, "")


def caller(client: str) -> dict[str, Any]:
    """What the log says of who called."""
    return {"caller": {"client": client}}


@pytest.mark.parametrize(
    ("harness", "what", "size", "failed", "shown"),
    [
        ("claude-code", "cmd", 30_000, False, 30_000),
        ("claude-code", "cmd", 30_001, False, 2_250),
        ("claude-code", "cmd", 10_001, True, 10_040),
        ("claude-code", "tool", 50_001, False, 2_250),
        ("claude-code", "file", 200_000, False, 200_000),
        ("gemini", "cmd", 40_001, True, 40_250),
        ("opencode", "tool", 1_000_000, False, 51_200),
        ("codex", "cmd", 3, False, 3),
        ("cursor", "cmd", 3, False, None),
        ("shell", "cmd", 3, False, None),
    ],
)
def test_a_harness_has_its_own_limits(harness: str, what: str, size: int, failed: bool, shown: int | None) -> None:
    known = find(harness)
    assert (known.alone_bytes(what, size, failed=failed) if known else None) == shown


def test_of_what_is_cut_the_ends_are_sure() -> None:
    gemini, cursor = find("gemini"), find("cursor")
    assert gemini
    assert cursor
    text = "a" * 8_000 + "b" * 100_000 + "c" * 32_000
    assert gemini.surely_shown("cmd", text, failed=False) == "a" * 8_000 + "\n" + "c" * 32_000
    assert gemini.surely_shown("cmd", "short", failed=False) is None
    assert cursor.surely_shown("cmd", text, failed=False) is None


def test_what_was_noted_with_a_call_counts() -> None:
    assert alone_of(view("tool", {"alone_bytes": 7, **caller("codex")}), failed=False) == 7
    assert alone_of(view("tool", {"alone_bytes": None, **caller("codex")}), failed=False) is None


def test_calls_of_our_own_server_are_held_against_what_the_harness_would_have_run() -> None:
    client = caller("claude-code 2.1.329")
    assert alone_of(view("run_command", client, total=100_000), failed=False) == 2_250
    assert alone_of(view("run_command", client, total=100_000), failed=True) == 10_040
    assert alone_of(view("read_file", client, total=9_000), failed=False) == 9_000
    assert alone_of(view("run_command", caller("codex-mcp-client 1"), total=9), failed=False) == 9


def test_a_look_at_a_ref_comes_on_top() -> None:
    for verb in ("read_output", "query", "list_outputs"):
        assert alone_of(view(verb, caller("claude-code 2")), failed=False) == 0


def test_nothing_is_said_of_callers_that_are_not_known() -> None:
    for request in ({}, caller(""), caller("somebody 1"), {"caller": "odd"}):
        assert alone_of(view("run_command", request, total=9), failed=False) is None
    assert alone_of(view("tool", caller("codex"), total=9, refs=()), failed=False) is None  # it passed as it was
    assert alone_of(view("run", caller("codex"), total=9), failed=False) is None


def test_what_was_shown_on_top_is_not_hidden() -> None:
    total = accounted([(100, 1_000), (5_000, 0), (7, None)])
    assert total == Accounted(2, 5_100, 1_000)
    assert total.saved_bytes == -4_100


def test_what_it_comes_to_is_claimed_only_of_known_harnesses_and_told_when_it_cost_more() -> None:
    assert accounted([(7, None)]).told == ""
    assert accounted([(100, 1_124)]).told == "1.0 KiB saved"
    assert accounted([(1_124, 100)]).told == "1.0 KiB more"
