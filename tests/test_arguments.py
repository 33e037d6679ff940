"""Each argument of a verb is declared once, and every door has it: the command line, MCP, Python and the query bar."""

import importlib.util
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sightline
import sightline.doors.python as python_door
from sightline.doors.cli.commands import command_of
from sightline.doors.terminal.arguments import CommandParser, add_arguments, request_of
from sightline.doors.tools import tools
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Annotated
from sightline.verbs.arguments import Argument, arguments_of, schema_of
from sightline.verbs.reply import Reply
from sightline_tui.asking import question

COMMANDS = {
    "run_command": "run",
    "read_file": "read",
    "read_output": "show",
    "query": "query",
    "list_outputs": "list",
}
NOT_OFFERED = {
    ("command line", "read_file", "start_line"): "lines stand behind the path, as compilers write them: FILE:A-B",
    ("command line", "read_file", "end_line"): "likewise",
    ("MCP", "run_command", "label"): "each argument costs every agent tokens, and an agent has the ref",
    ("MCP", "read_output", "schema"): "the view of a long JSON result shows its structure anyway",
    ("MCP", "list_outputs", "project"): "an agent is in one project, and finds outputs of others by match",
    ("Python", "list_outputs", "session"): "it is captured_by there: session names who asks",
}
"""What a door does not have of a verb's arguments, and why."""


def _of_command_line(verb: str) -> set[str]:
    return {one.dest for one in command_of(COMMANDS[verb])[0].declared}


def _of_tool(verb: str) -> set[str]:
    return set(tools.schema_of(verb)["properties"])


def _of_function(verb: str) -> set[str]:
    return set(inspect.signature(getattr(sightline, verb)).parameters) - {"store", "session"}  # which all have


DOORS: dict[str, Callable[[str], set[str]]] = {
    "command line": _of_command_line,
    "MCP": _of_tool,
    "Python": _of_function,
}


@pytest.mark.parametrize("verb", python_door.VERBS)
@pytest.mark.parametrize("door", DOORS)
def test_each_door_has_all_arguments_of_a_verb_but_those_with_a_reason(door: str, verb: str) -> None:
    declared = {one.name for one in arguments_of(python_door.VERBS[verb][0])}
    left_out = {name for place, of, name in NOT_OFFERED if (place, of) == (door, verb)}
    assert left_out <= declared
    assert DOORS[door](verb) & declared == declared - left_out


def test_the_query_bar_has_all_options_of_show() -> None:
    made = command_of("show")[0]
    shared = {"--json", "--profile", "--store", "--offline"}
    options = {name for one in made.declared for name in one.names if name.startswith("-")} - shared
    assert set(question.show_options()) == options


class MadeRequest(NamedTuple):
    """A verb's arguments, with all kinds of values."""

    ref: Annotated[str, Argument("an output", "REF", "a ref")]
    depth: Annotated[int | None, Argument("look so deep", "N", "levels", least=1, most=9)] = None
    pause: Annotated[float, Argument("wait so long", "SECONDS", "seconds")] = 0.5
    loud: Annotated[bool, Argument("say it loud", agent="loudly")] = False
    fold: Annotated[bool | None, Argument("fold lines", agent="folds", other=("--no-folds", "keep lines"))] = None
    colour: Annotated[str, Argument("paint it", "COLOUR", option="--paint", choices=("red", "blue"))] = ""
    own: str = ""


def test_a_new_option_appears_on_the_command_line() -> None:
    made = CommandParser(prog="sightline made", description="Made.", epilog="")
    add_arguments(made, MadeRequest)
    given = made.parse_args(["@last", "--depth", "3", "--pause=2", "--loud", "--no-folds", "--paint", "red"])
    assert request_of(MadeRequest, given) == MadeRequest("@last", 3, 2.0, True, False, "red")
    assert request_of(MadeRequest, made.parse_args(["@last"]), own="x") == MadeRequest("@last", own="x")
    assert re.search(r"--paint COLOUR +paint it\n", made.whole().format_help())


def test_a_new_option_appears_in_the_tool() -> None:
    assert schema_of(MadeRequest) == {
        "ref": {"type": "string", "description": "a ref"},
        "depth": {"type": "integer", "description": "levels", "minimum": 1, "maximum": 9},
        "pause": {"type": "number", "description": "seconds"},
        "loud": {"type": "boolean", "description": "loudly"},
        "fold": {"type": "boolean", "description": "folds"},
    }


def test_a_new_option_appears_in_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = Path(__file__).parents[1] / "docs/python_functions.py"
    if not place.is_file():
        pytest.skip("the tests lie outside a checkout")
    spec = importlib.util.spec_from_file_location("python_functions", place)
    assert spec
    assert spec.loader
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    asked: list[Any] = []

    def answer(_: Any, request: Any) -> Reply:
        """Do what was made up."""
        asked.append(request)
        return Reply({}, (), python_door.read_file(__file__).shows)

    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "store"))
    monkeypatch.setitem(python_door.VERBS, "made", (MadeRequest, answer))
    source = writer.functions({"made": (MadeRequest, answer)})
    names = dict(vars(python_door))
    exec(source, names)
    names["made"]("@last", depth=3, fold=False, colour="red")
    assert asked == [MadeRequest("@last", 3, fold=False, colour="red")]
    assert "depth: look so deep." in names["made"].__doc__
    with pytest.raises(TypeError, match="depht"):
        names["made"]("@last", depht=3)


def test_a_new_option_appears_in_the_query_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "ReadRequest", MadeRequest)
    asked = question.parse_question("show @cmd_a1b2c3 --depth 3 --pause 1.5 --no-folds --loud --paint red", "")
    assert isinstance(asked, question.PartQuestion)
    assert asked.request == MadeRequest("@cmd_a1b2c3", 3, 1.5, True, False, "red")  # type: ignore[comparison-overlap]
    assert "--paint" in question.completions("show @cmd_a1b2c3 --p", ()).words
