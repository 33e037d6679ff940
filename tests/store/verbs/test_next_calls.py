"""The next call of a reply works as it stands: no door escapes anything in it, and bash takes it as it is."""

import ast
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sightline.base.records import Buffer
from sightline.capture.result import ResultBlock, capture_result
from sightline.store import Store
from sightline.verbs import query as querying
from sightline.verbs import read_output as reading
from sightline.verbs.next_call import TOOLS, calls_in, cli_call
from sightline.verbs.read_file import read_file
from sightline.verbs.reply import Reply
from sightline.verbs.requests import FileRequest

MANY = "seq -f 'out line %g of a longer text' 1 3000"
COMMANDS = {
    "success": MANY,
    "two streams": f"{MANY}; {MANY} >&2",
    "failure": f"{MANY}; echo 'error: it broke'; {MANY} >&2; echo 'a.c:1: error: bad' >&2; exit 1",
    "many errors": "for n in $(seq 900); do echo \"a.c:$n: error: 'x' is bad\"; done; exit 1",
    "pytest": "cat tests.txt; exit 1 # pytest",
    "one line": "printf %70000s | tr ' ' x",
    "json": "cat odd.json",
    "json lines": "cat lines.jsonl",
    "diff": "cat x.diff",
}
ODD = {"a key": {'the "items"': [{"n": n} for n in range(900)], "it's": list(range(2000))}, "b": list(range(3000))}
QUERIES = [
    "cat {ref}",
    "grep -v 'xy z' {ref}",
    'grep "line" {ref} | sort -n',
    "grep -E 'line [0-9]+\\b' {ref}",
]
SEARCHES = ["line", "out line", r"line \d+", '"?line"?', "it's|line"]
DOORS = {"cli": cli_call, "mcp": calls_in(TOOLS)}


@pytest.fixture
def outputs(agent: Any, tmp_path: Path, store: Store) -> dict[str, Buffer]:
    """An output of each kind, each too long to be shown whole."""
    (tmp_path / "tests.txt").write_text(
        "E   assert 1\n" + "tests/test_a.py::test_x PASSED\n" * 900 + "1 failed, 900 passed in 1s\n"
    )
    (tmp_path / "odd.json").write_text(json.dumps(ODD))
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps({"n": n, "said": "x" * 40}) + "\n" for n in range(500)))
    hunk = "--- a/f%d\n+++ b/f%d\n@@ -1 +1 @@\n-a\n+b\n"
    (tmp_path / "x.diff").write_text("".join(hunk % (n, n) for n in range(900)))
    for command in COMMANDS.values():
        agent.run(command)
    newest = [listed.buffer for listed in store.listed(len(COMMANDS))]
    made = dict(zip(COMMANDS, reversed(newest), strict=True))
    tool = capture_result(
        store, [ResultBlock([json.dumps(ODD).encode()])], command="list", cwd=str(tmp_path), session="s"
    )
    assert isinstance(tool, Buffer)
    return {**made, "tool": tool}


def replies(asking: Any, outputs: dict[str, Buffer], folder: Path) -> list[tuple[str, Reply]]:
    """Views, pages, searches and answers to queries of all outputs; each with its pipeline, if it had one."""
    (folder / "m.py").write_text("def f():\n    return 1\n" * 900)
    made = [("", read_file(asking, FileRequest("m.py")))]
    for buffer in outputs.values():
        asked: list[dict[str, Any]] = [{"verbosity": one} for one in ("silent", "concise", "normal", "auto")]
        asked += [{"offset": 0, "limit": 2000}, {"lines": "1-", "limit": 2000}, *({"search": one} for one in SEARCHES)]
        made += [("", reading.read_output(asking, reading.ReadRequest(buffer.ref, **one))) for one in asked]
    for pipeline in QUERIES:
        asked_for = pipeline.format(ref=outputs["success"].ref)
        made.append((asked_for, querying.query(asking, querying.QueryRequest(asked_for))))
    return made


@pytest.mark.parametrize("door", DOORS)
def test_each_next_call_brings_what_was_missing(
    door: str, agent: Any, outputs: dict[str, Buffer], tmp_path: Path
) -> None:
    asking = agent.asking._replace(calls=DOORS[door])
    made = replies(asking, outputs, tmp_path)
    told = [(pipeline, reply, str(reply.fields["next"])) for pipeline, reply in made if "next" in reply.fields]
    assert len(told) > 50
    for pipeline, reply, call in told:
        assert not set(call) & set('\\"'), call
        following = _made(asking, call, reply, pipeline)
        assert "error" not in following.fields
        assert following.text
        assert following.text != reply.text


def test_bash_takes_each_next_call_as_it_is(agent: Any, outputs: dict[str, Buffer], tmp_path: Path) -> None:
    made = replies(agent.asking, outputs, tmp_path)
    calls = sorted({str(reply.fields["next"]) for _, reply in made if "next" in reply.fields})
    whole = [call for call in calls if call.startswith("sightline ")]
    script = "sightline() { printf '%s\\0' sightline \"$@\"; printf '\\n'; }\n" + "\n".join(whole) + "\n"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert [line.split("\0")[:-1] for line in done.stdout.splitlines()] == [shlex.split(call) for call in whole]
    assert whole
    assert all(call.startswith(("| sed -n ", "--lines ")) for call in calls if call not in whole)


def _made(asking: Any, call: str, reply: Reply, pipeline: str) -> Reply:
    """The answer to a next call; to one that says what to add, together with the call before."""
    if call.startswith("| "):
        return querying.query(asking, querying.QueryRequest(f"{pipeline} {call}"))
    verb, given = _given(call)
    if verb == "query":
        return querying.query(asking, querying.QueryRequest(given["pipeline"]))
    if not verb:
        given = {**reply.shows.request, **given}
    for name in ("offset", "limit"):
        if name in given:
            given[name] = int(given[name])
    return reading.read_output(asking, reading.ReadRequest(**given))


def _given(call: str) -> tuple[str, dict[str, Any]]:
    """The verb and the arguments of a call of either door."""
    words = shlex.split(call)
    if words[0] == "sightline" and words[1] == "query":
        return "query", {"pipeline": words[2]}
    if words[0] == "sightline" or words[0].startswith("--"):
        options = words[3:] if words[0] == "sightline" else words
        given = {name.removeprefix("--"): text for name, text in zip(options[::2], options[1::2], strict=True)}
        return ("read_output", {"ref": words[2], **given}) if words[0] == "sightline" else ("", given)
    called = ast.parse(call if "(" in call else f"none({call})", mode="eval").body
    assert isinstance(called, ast.Call)
    assert isinstance(called.func, ast.Name)
    name = called.func.id.removeprefix("none")
    return name, {str(one.arg): ast.literal_eval(one.value) for one in called.keywords}
