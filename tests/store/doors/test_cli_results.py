"""``sightline capture --tool``, and reading JSON on, at the command line."""

import json
import os
from pathlib import Path
from typing import Any

IN_PROCESS = True

ROWS = [{"id": n, "name": f"Item {n}", "data": "X" * 30} for n in range(2000)]


def capture(cli: Any, value: object, *words: str) -> Any:
    return cli("capture", "--tool", "list_rows", *words, stdin=json.dumps(value).encode())


def test_a_result_is_kept_and_sampled(cli: Any) -> None:
    ran = capture(cli, ROWS, "--arguments", '{"all": true}')
    assert ran.code == 0
    assert 'description="[{id, name, data}] (2000 items)"' in ran.out.splitlines()[0]
    assert cli.seen() == ran.out
    listed = cli("list", "--json").data[0]
    assert listed["command"] == 'list_rows {"all":true}'
    shown = cli("show", listed["ref"], "--path", "$[1999].name")
    assert (shown.code, shown.out) == (0, "Item 1999")
    assert json.loads(cli("show", listed["ref"], "--schema").out) == [
        {"id": "number", "name": "string", "data": "string"}
    ]
    raw = Path(cli("path", listed["ref"]).out.strip()).read_bytes()
    assert raw == json.dumps(ROWS).encode()


def test_an_mcp_result_is_taken_apart(cli: Any) -> None:
    content = [
        {"type": "text", "text": json.dumps(ROWS)},
        {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
    ]
    ran = capture(cli, {"content": content, "isError": True})
    assert "the tool reported an error" in ran.out.splitlines()[0]
    assert "\n[part 1]\n[… 4 bytes of image/png: @tool_" in ran.out


def test_a_short_result_is_printed_as_it_came(cli: Any) -> None:
    ran = capture(cli, {"ok": True})
    assert ran.out == '{"ok": true}'


def test_options_that_do_not_go_together_are_refused(cli: Any) -> None:
    for words in (["--exit-code", "1"], ["-p"], ["--command", "x"], ["--arguments", "{"]):
        ran = capture(cli, {}, *words)
        assert ran.code == 2, words
    ran = cli("capture", "--arguments", "{}", stdin=b"x")
    assert (ran.code, "--tool" in ran.err) == (2, True)


def test_a_missing_key_is_an_error_that_lists_the_keys(cli: Any) -> None:
    capture(cli, {"rows": ROWS})
    ref = cli("list", "--json").data[0]["ref"]
    ran = cli("show", ref, "--path", "$.columns")
    assert ran.code != 0
    assert "its keys: rows" in ran.err


def test_a_profile_decides_which_fields_are_streams_and_where_the_whole_is(cli: Any) -> None:
    value = {"body": "x" * 20_000}
    default = capture(cli, value, "--json").data
    other = capture(cli, value, "--json", "--profile", "gh-aw").data
    assert [name.startswith("part.") for name in map(os.path.basename, default["output_files"])] == [True, True]
    assert [name.endswith(".json") for name in other["output_files"]] == [True]


def test_a_wrong_verbosity_keeps_nothing(cli: Any) -> None:
    ran = capture(cli, ROWS, "--verbosity", "loud")
    assert (ran.code, "loud" in ran.err) == (2, True)
    assert cli("list", "--json").data == []


def test_a_captured_pipe_states_no_duration_of_its_command(cli: Any) -> None:
    lines = b"".join(b"line %d\n" % number for number in range(2000))
    told = cli("capture", "--exit-code", "1", stdin=lines + b"row 17 is broken\n").out.splitlines()[0]
    assert 'summary="failed with exit 1: 2,001 lines' in told
    assert 'summary="failed with exit 1: 2,001 lines' in cli("show", "@last").out.splitlines()[0]
