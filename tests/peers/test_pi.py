"""pi with our extension, beside pi without it: what its model is shown, what is kept, and what its notes bring.

`README.md` beside this says how to run these, and what was seen. pi has no permissions, so it is not among those of
`installed.py`.
"""

import json
import re
from pathlib import Path

import pytest

from tests.peers.harnesses import Harness, Run
from tests.peers.installed import NOTE, WHOLE, Installed, Outcome, play, sightline
from tests.peers.scripted_model import Chat, Json, Seen, Step, Use

pytestmark = [pytest.mark.peers_node, pytest.mark.xdist_group("pi")]

_REF = re.compile(r"@cmd_\w+")
BUILD, SHORT, LONG = "./build", "echo short é", "seq 1 30000"


def _prepare(run: Run) -> tuple[list[str], dict[str, str]]:
    provider = {"baseUrl": f"{run.model.url}/v1", "api": "openai-completions", "apiKey": "none"}
    run.settings(
        ".pi/agent/models.json", json.dumps({"providers": {"scripted": {**provider, "models": [{"id": "s"}]}}})
    )
    tools = ["--tools", "+codemode"]
    return ["--provider", "scripted", "--model", "s", *tools, "-p", "go"], {"PI_OFFLINE": "1"}


class _Chat(Chat):
    prefix = "mcp__sightline__"


def _arguments(command: str) -> Json:
    return {"command": command}


def _text(seen: Seen) -> str:
    return "".join(seen.blocks)


def _no_rules(_: Run) -> None:
    """It has none."""


PI = Installed(
    Harness("pi", "", "@earendil-works/pi-coding-agent", _Chat, _prepare), "bash", _arguments, _no_rules, _text, _text
)


def _played(mode: str, home: Path) -> Outcome:
    def noted(_: list[Seen]) -> Use:
        """A person remarks on the build while the agent works."""
        if mode:
            listed = json.loads(sightline(home, "list", "--json"))
            ref = next(one["ref"] for one in listed if one["command"] == BUILD)
            sightline(home, "note", f"{ref}:1", NOTE, "--send")
        return PI.shell("echo more")

    steps: list[Step] = [*(lambda _, one=one: PI.shell(one) for one in (BUILD, SHORT, LONG)), noted]
    home.mkdir()
    return play(PI, mode, home, steps, results=4)


def _unnamed(text: str) -> str:
    """A result without the name of the file that the whole lies in."""
    head, cut, rest = text.partition("Full output: ")
    return head + cut + rest.partition("]")[2]


@pytest.mark.parametrize("mode", ["keep", "shape"])
def test_every_command_is_kept_whole_and_its_model_is_shown_what_the_log_says(mode: str, tmp_path: Path) -> None:
    alone, ours = _played("", tmp_path / "alone"), _played(mode, tmp_path / mode)
    assert ours.mishaps == ""
    assert ours.streams[BUILD] == WHOLE
    assert ours.buffers[BUILD].exit_code == 3
    assert not any(buffer.partial for buffer in ours.buffers.values())
    logged = [look.text for look in ours.views if "alone_bytes" in look.request]  # not what the person listed
    assert logged == [_text(seen) for seen in ours.seen]
    if mode == "keep":
        assert [_unnamed(_text(one)) for one in ours.seen[:3]] == [_unnamed(_text(one)) for one in alone.seen[:3]]
    else:
        assert "output_id=@cmd_" in _text(ours.seen[0])
        assert "error: no é luck" in _text(ours.seen[0])
    assert NOTE in _text(ours.seen[3])


def test_its_model_asks_our_server_and_what_its_programs_run_is_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    script = 'const ran = await tools.bash({ command: "seq 3" }); return ran.exit_code'
    steps: list[Step] = [
        lambda _: PI.shell(BUILD),
        lambda seen: Use("query", {"pipeline": f"grep luck {_REF.search(_text(seen[0]))[0]}"}),  # type: ignore[index]
        lambda _: Use("codemode", {"code": script}, ours=False),
    ]
    ours = play(PI, "shape", home, steps, results=3)
    assert ours.mishaps == ""
    assert "error: no é luck" in _text(ours.seen[1])
    assert ours.streams["seq 3"] == "1\n2\n3\n"
    logged = [look.text for look in ours.views]
    assert "\n".join(ours.seen[1].blocks) in logged
    assert _text(ours.seen[2]) in logged
