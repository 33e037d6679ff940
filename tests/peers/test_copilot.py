"""Copilot CLI with our hooks, beside it without them: what its model is shown, what is kept, what stays forbidden.

`README.md` beside this says how to run these, and what was seen. It gets its rules from its command line.
"""

import re
from pathlib import Path

import pytest

from tests.peers.harnesses import Harness, Run
from tests.peers.installed import WHOLE, Installed, Outcome, play
from tests.peers.scripted_model import Chat, Json, Seen, Step

pytestmark = [pytest.mark.peers_node, pytest.mark.xdist_group("copilot")]

BUILD, SHORT, LONG, FORBIDDEN = "./build", "echo short é", "seq 1 30000", "touch forbidden"


def _prepare(run: Run) -> tuple[list[str], dict[str, str]]:
    provider = {"COPILOT_PROVIDER_BASE_URL": f"{run.model.url}/v1", "COPILOT_MODEL": "scripted"}
    rules = ["--allow-all-tools", "--deny-tool", "shell(touch:*)"]
    return ["-p", "go", *rules], {"COPILOT_OFFLINE": "true", **provider}


def _arguments(command: str) -> Json:
    return {"command": command, "description": "x", "mode": "sync", "initial_wait": 30}


def _text(seen: Seen) -> str:
    return "".join(seen.blocks)


def _no_rules(_: Run) -> None:
    """They stand in its command line."""


COPILOT = Installed(
    Harness("copilot", "copilot-cli", "@github/copilot", Chat, _prepare), "bash", _arguments, _no_rules, _text, _text
)


def _played(mode: str, home: Path) -> Outcome:
    steps: list[Step] = [lambda _, one=one: COPILOT.shell(one) for one in (BUILD, SHORT, LONG, FORBIDDEN)]
    home.mkdir()
    return play(COPILOT, mode, home, steps, results=4)


def _unnamed(seen: Seen) -> str:
    """A result without the name of the file that the whole lies in."""
    return re.sub(r"Saved to: \S+", "Saved to: …", _text(seen))


@pytest.mark.parametrize("mode", ["record", "keep", "shape"])
def test_every_command_is_kept_whole_and_its_model_is_shown_what_the_log_says(mode: str, tmp_path: Path) -> None:
    alone, ours = _played("", tmp_path / "alone"), _played(mode, tmp_path / mode)
    assert ours.mishaps == ""
    assert "forbidden" not in ours.made
    assert (ours.streams[BUILD], ours.buffers[BUILD].exit_code) == (WHOLE, 3)
    assert ours.streams[LONG] == "".join(f"{number}\n" for number in range(1, 30_001))
    assert not any(buffer.partial for buffer in ours.buffers.values())
    logged = [look.text for look in ours.views]
    assert logged == [_text(seen) for seen in ours.seen[:3]]
    if mode == "shape":
        assert "error: no é luck" in _text(ours.seen[0])
    else:
        assert [_unnamed(one) for one in ours.seen] == [_unnamed(one) for one in alone.seen]
