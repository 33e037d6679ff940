"""What an agent types by habit, and what should come: `habits.toml` has the rows, each goes through every door."""

import ast
import json
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sightline.base.records import Buffer
from sightline.capture.file import capture_file
from sightline.capture.result import ResultBlock, capture_result
from sightline.doors.proxy.relay import ADDED, Names, next_call
from sightline.doors.tools.protocol import Context, OpenCall, Outcome
from sightline.doors.tools.service import Service
from sightline.doors.tools.tools import Options
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.store import Store
from tests.command_line import run_here
from tests.each import each

ROWS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "habits.toml").read_text())["row"]
SESSION, RUNNING = "habits", "habits-running"
"""Who reads, and who runs: so `@last` of the first is always the same."""

FAILING = "".join(
    [
        "============================= test session starts ==============================\n",
        *(f"tests/test_many.py::test_{number} PASSED\n" for number in range(400)),
        "tests/test_many.py::test_parse FAILED\n",
        "=================================== FAILURES ===================================\n",
        "__________________________________ test_parse __________________________________\n",
        "    def test_parse():\n",
        ">       assert parse('x') == 1\n",
        "E       AssertionError: assert None == 1\n",
        "tests/test_many.py:12: AssertionError\n",
        "=========================== short test summary info ============================\n",
        "FAILED tests/test_many.py::test_parse - AssertionError: assert None == 1\n",
        "======================== 1 failed, 400 passed in 3.21s =========================\n",
    ]
)
SOURCE = "import os\n\n\nclass Reader:\n    def read(self):\n        return 1\n\n\n" + "".join(
    f"VALUE_{number} = {number}  # a line of code\n" for number in range(600)
)


CALLED = {"cargo": ("rust", "cargo-test"), "jest": ("jest", "jest"), "go": ("go", "go-test"), "tsc": ("js-lint", "tsc")}
"""Tools that scripts call, and the files and names of their rules, whose first examples are what they print."""
CALLERS = {
    "ci.sh": ("", ""),
    "npm.sh": ("\n> shop@1.0.0 check\n> ./check\n\n", ""),
    "make.sh": ("./check\n", "make: *** [Makefile:2: check] Error 1\n"),
}
"""What is printed before and behind that by those who call them."""


def _write_scripts() -> None:
    rules = files("sightline.shape") / "rules"
    for name, (file, tool) in CALLED.items():
        example = tomllib.loads((rules / f"{file}.toml").read_text())[tool]["example"][0]
        Path(f"{name}.out").write_text(example["output"])
    for script, (before, behind) in CALLERS.items():
        printed = f"printf %s {shlex.quote(before)}; seq -f 'built part %g' 900; cat $1.out"
        Path(script).write_text(f"{printed}; printf %s {shlex.quote(behind)}; exit 2\n")


def _kept(store: Store, command: str, out: str = "", err: str = "", exit_code: int = 0) -> Buffer:
    recording = store.begin("cmd", command, os.getcwd(), SESSION)
    recording.register()
    for stream, text in (("out", out), ("err", err)):
        if text:
            recording.append(stream, text.encode())
    return recording.seal(exit_code=exit_code)


class Answer(NamedTuple):
    """What came.

    Attributes:
        text: all of it.
        wrong: whether it is an error.
        next: the ready-made next call; empty where there is none.
    """

    text: str
    wrong: bool
    next: str


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A store with an output of each kind; their names, by what the rows call them."""
    folder = tmp_path_factory.mktemp("habits")
    here = os.getcwd()
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("SIGHTLINE_", "CLAUDE", "CODEX_", "GEMINI_")):
                patch.delenv(name)
        patch.setenv("SIGHTLINE_HOME", str(folder / "store"))
        patch.setenv("SIGHTLINE_SESSION", SESSION)
        os.chdir(folder)
        Path("module.py").write_text(SOURCE)
        Path("notes.txt").write_text("short\n")
        _write_scripts()
        with Store() as store:
            tool = capture_result(
                store, [ResultBlock([json.dumps({"items": [{"name": f"item {n}"} for n in range(900)]}).encode()])],
                command="list_items", cwd=str(folder), session=SESSION,
            )  # fmt: skip
            assert isinstance(tool, Buffer)
            made = {
                "FAIL": _kept(store, "pytest -v", FAILING, exit_code=1),
                "WARN": _kept(store, "cc -c x.c", "", "x.c:3: warning: unused\n" * 3),
                "LINE": _kept(store, "cat bundle.js", "a" * 500_000 + "NEEDLE" + "b" * 500_000 + "\nlast\n"),
                "FILE": capture_file(store, "module.py", SESSION),
                "TOOL": tool,
            }
            live = store.begin("cmd", "npm start", str(folder), SESSION)
            live.register()
            live.append("out", b"compiling\nListening on 3000\n")
            made |= {"LIVE": live.buffer, "SEQ": _kept(store, "seq 1 5000", "".join(f"{n}\n" for n in range(1, 5001)))}
            yield {key: buffer.name for key, buffer in made.items()}
            live.seal(exit_code=0)
        os.chdir(here)


@pytest.fixture(scope="module")
def doors(names: dict[str, str]) -> Iterator[dict[str, Callable[[str], Answer | None]]]:
    """What asks at each door: takes a call, gives the answer; None where the door has no such verb."""
    reading, running = Service(Options(session=SESSION)), Service(Options(session=RUNNING))
    proxy = Service(Options(session=SESSION, tools=ADDED), next_call(Names()))
    yield {
        "cli": _at_cli,
        "mcp": lambda ask: _at_service(running if ask.startswith("run_command") else reading, ask),
        "proxy": lambda ask: _at_service(proxy, ask),
    }
    for service in (reading, running, proxy):
        store = service.handlers().store
        service.close()
        store.close()  # a server's process ends with it open


def _read(ask: str) -> tuple[str, dict[str, Any]]:
    """A call as MCP writes it: the verb and its arguments."""
    called = ast.parse(ask, mode="eval").body
    assert isinstance(called, ast.Call)
    assert isinstance(called.func, ast.Name)
    words = {"true": True, "false": False}
    arguments = {
        str(one.arg): words[one.value.id] if isinstance(one.value, ast.Name) else ast.literal_eval(one.value)
        for one in called.keywords
    }
    return called.func.id, arguments


def _at_service(service: Service, ask: str) -> Answer | None:
    if ask.startswith("sightline "):
        return None
    verb, arguments = _read(ask)
    tool = verb.removeprefix("sightline_")
    if tool not in service.options.tools:
        return None
    told: list[Outcome] = []
    called = {"name": tool, "arguments": arguments}
    service.answer(OpenCall("tools/call", called, Context("2025-11-25", "agent 1"), told.append))
    assert isinstance(told[0], dict)
    texts = [block["text"] for block in told[0]["content"]]
    fields = json.loads(texts[0])
    return Answer("\n".join(texts), bool(told[0].get("isError")), fields.get("next", ""))


_WORDS = {"run_command": "run", "read_output": "show", "read_file": "read", "query": "query", "list_outputs": "list"}


def _words_of(ask: str) -> list[str]:
    """The words of a call at the command line."""
    if ask.startswith("sightline "):
        return shlex.split(ask)[1:]
    verb, arguments = _read(ask)
    words = [_WORDS[verb]]
    if verb == "read_file" and "start_line" in arguments:
        arguments["path"] += f":{arguments.pop('start_line')}-{arguments.pop('end_line', '')}"
    for name, value in arguments.items():
        if name == "command":
            words += ["-c", value]
        elif (verb, name) in (("read_output", "ref"), ("query", "pipeline"), ("read_file", "path")):
            words.append(value)
        elif name == "ignore_case":
            words.append("--ignore-case" if value else "--case")
        elif value is True:
            words.append(f"--{name.replace('_', '-')}")
        else:
            words.append(f"--{name.replace('_', '-').removesuffix('-secs')}={value}")
    return words


def _at_cli(ask: str) -> Answer:
    session = RUNNING if ask.startswith("run_command") else SESSION
    done = run_here(_words_of(ask), env={**os.environ, "SIGHTLINE_SESSION": session}, cwd=os.getcwd())
    text = (done.stdout + done.stderr).decode()
    found = re.search(r' next=("(?:[^"\\]|\\.)*")', text.partition("\n")[0])
    return Answer(text, text.startswith(("sightline: ", "usage: ")), json.loads(found[1]) if found else "")


_NAMES = r"\b(FAIL|WARN|LINE|FILE|TOOL|LIVE|SEQ)(\d)?(?![A-Z_])"


def test_the_table_is_long_enough() -> None:
    assert len(ROWS) >= 120
    assert len({row["ask"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row["ask"] for row in ROWS])
@each("door", ["cli", "mcp", "proxy"])
def test_what_is_typed_brings_what_is_meant(
    door: str, row: dict[str, Any], names: dict[str, str], doors: dict[str, Callable[[str], Answer | None]]
) -> None:
    def named(text: str) -> str:
        return re.sub(_NAMES, lambda found: names[found[1]][: int(found[2] or 99)], text)

    if door not in row.get("doors", [door]):
        return
    if (needed := row.get("needs")) and not shutil.which(needed):
        pytest.skip(f"{needed} is not installed")
    with Store() as store:
        before = len(store.listed(1_000))
    answer = doors[door](named(row["ask"]))
    if answer is None:
        return
    assert len(answer.text.encode()) <= HARD_LIMIT_BYTES + 4_096
    assert "Traceback" not in answer.text
    for text in _several(row["comes"]):
        assert named(text) in answer.text
    for text in _several(row.get("never", [])):
        assert named(text) not in answer.text
    assert answer.wrong == row.get("wrong", False)
    if "keeps" in row:
        with Store() as store:
            assert len(store.listed(1_000)) - before == row["keeps"]
    assert not set(answer.next) & set('\\"')
    if answer.next.startswith("| "):
        answer = answer._replace(next=named(row["ask"]).removesuffix('")') + answer.next + '")')
    if answer.next and "wait=" not in answer.next and "--wait" not in answer.next:
        followed = doors[door](answer.next)
        assert followed is not None
        assert not followed.wrong


def _several(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
