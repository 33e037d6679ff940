"""What models read of the server, and how it takes what they write."""

import itertools
import json
import re
from typing import Any

import pytest

from sightline.base.errors import UsageError
from sightline.doors.tools.handlers import checked
from sightline.doors.tools.tools import definitions, instructions, schema_of
from sightline.verbs.next_call import TOOLS, calls_in


def test_all_definitions_together_stay_small() -> None:
    text = json.dumps(definitions(), ensure_ascii=False, separators=(",", ":"))
    assert len(text.encode()) / 4 <= 1600


def test_the_introduction_is_short_and_names_only_what_is_offered() -> None:
    for count in range(len(TOOLS) + 1):
        for tools in itertools.combinations(TOOLS, count):
            text = instructions(tools)
            assert len(text.split()) <= 120
            assert {tool for tool in TOOLS if re.search(rf"\b{tool}\b", text)} <= set(tools)


def test_the_introduction_begins_with_what_to_do() -> None:
    """Some clients show so much of it only, and the tools themselves when they are asked for."""
    beginning = instructions(TOOLS)[:250]
    assert all(tool in beginning for tool in ("run_command", "read_output", "query"))
    assert "without head, tail or grep" in instructions(TOOLS)[:280]


def test_every_tool_has_a_title_hints_and_a_closed_schema_with_descriptions() -> None:
    for tool in definitions():
        assert tool["title"]
        assert tool["description"]
        assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        writes = tool["name"] == "run_command"
        assert tool["annotations"]["readOnlyHint"] is not writes
        assert tool["annotations"]["destructiveHint"] is writes
        schema = tool["inputSchema"]
        assert schema["additionalProperties"] is False
        assert set(schema.get("required", ())) <= set(schema["properties"])
        assert all(kind["description"] for kind in schema["properties"].values())
        assert "outputSchema" not in tool


def test_the_two_tools_that_are_needed_first_are_always_loaded() -> None:
    always = [tool["name"] for tool in definitions() if tool.get("_meta", {}).get("anthropic/alwaysLoad")]
    assert always == ["run_command", "read_output"]


def test_what_a_description_says_of_defaults_is_so() -> None:
    from sightline.base.profile import DEFAULT
    from sightline.verbs.requests import LIMIT

    said = {name: schema_of("read_output")["properties"][name]["description"] for name in ("limit", "ignore_case")}
    assert f"default {DEFAULT.reading.page_bytes}" in said["limit"]
    assert f"default {str(DEFAULT.reading.ignore_case).lower()}" in said["ignore_case"]
    assert f"default {LIMIT}" in schema_of("list_outputs")["properties"]["limit"]["description"]
    assert (
        f"default {DEFAULT.timeout_secs:.0f}" in schema_of("run_command")["properties"]["timeout_secs"]["description"]
    )
    assert f"{DEFAULT.query.max_lines} lines" in next(t["description"] for t in definitions() if t["name"] == "query")


@pytest.mark.parametrize(
    ("tool", "given", "taken"),
    [
        ("read_output", {"ref": "@last", "lines": 42}, {"ref": "@last", "lines": "42"}),
        (
            "read_output",
            {"ref": "@last", "offset": "40960", "limit": 5.0},
            {"ref": "@last", "offset": 40960, "limit": 5},
        ),
        ("read_output", {"ref": "@last", "ignore_case": "False"}, {"ref": "@last", "ignore_case": False}),
        ("read_output", {"ref": "@last", "search": None}, {"ref": "@last"}),
        ("run_command", {"command": "ls", "timeout_secs": "1.5"}, {"command": "ls", "timeout_secs": 1.5}),
        ("list_outputs", {}, {}),
    ],
)
def test_arguments_are_taken_for_what_they_plainly_mean(
    tool: str, given: dict[str, Any], taken: dict[str, Any]
) -> None:
    assert checked(tool, given) == taken


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("run_command", {"cmd": "ls"}, "no argument cmd"),
        ("run_command", {}, "needs command"),
        ("run_command", {"command": None}, "needs command"),
        ("run_command", {"command": ["ls"]}, "must be of type string"),
        ("run_command", {"command": "a\0b"}, "command has a NUL character"),
        ("run_command", {"command": "\ud800"}, "has half a surrogate pair"),
        ("run_command", {"command": "ls", "verbosity": "loud"}, "cannot be 'loud'"),
        ("run_command", {"command": "ls", "background": "maybe"}, "must be of type boolean"),
        ("run_command", {"command": "ls", "timeout_secs": "soon"}, "must be of type number"),
        ("run_command", {"command": "ls", "timeout_secs": 1e999}, "must be of type number"),
        ("run_command", {"command": "ls", "timeout_secs": -1}, "cannot be -1"),
        ("read_output", {"ref": "@last", "offset": 1.5}, "must be of type integer"),
        ("read_output", {"ref": "@last", "offset": True}, "must be of type integer"),
        ("read_output", {"ref": "@last", "context": 101}, "cannot be 101"),
        ("read_output", {"ref": "@last", "stream": "part.0"}, "cannot be"),
    ],
)
def test_other_arguments_are_refused_with_what_would_do(tool: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as refused:
        checked(tool, given)
    assert told in refused.value.message
    assert refused.value.hint


def test_a_next_call_is_written_as_a_call_of_the_tool() -> None:
    calls = calls_in(TOOLS)
    assert calls("read_output", ref="@cmd_a1b2c3", lines="42-80") == "read_output(ref='@cmd_a1b2c3', lines='42-80')"
    assert calls("query", pipeline="rg -e 'é' @last") == "query(pipeline=\"rg -e 'é' @last\")"


def test_a_next_call_of_a_tool_that_is_not_offered_is_one_of_the_command_line() -> None:
    assert (
        calls_in(("run_command",))("read_output", ref="@cmd_a1b2c3", wait=20) == "sightline show @cmd_a1b2c3 --wait 20"
    )
