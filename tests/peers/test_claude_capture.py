"""Claude Code where our part in its commands breaks, commands crash, or go on in the background: as without us.

`README.md` beside this says how to run these, and what was seen.
"""

import re
import sys
from pathlib import Path

import pytest

from sightline.agents.hooks.capture_script import FILE
from sightline.agents.hooks.command_line import ENTRY
from tests.peers.harnesses import Run
from tests.peers.installed import INSTALLED, Installed, Outcome, play
from tests.peers.scripted_model import Json, Step, Use

pytestmark = [pytest.mark.peers_node, pytest.mark.xdist_group("claude-code")]

ONE = INSTALLED["claude-code"]
MODES = ("record", "keep", "shape")
FAILS, LONG = "./build", "seq 1 4000"


def _with() -> Installed:
    """Claude Code as a person has it, who allows more."""

    def rules(run: Run) -> None:
        ONE.rules(run)
        path = run.home / ".claude" / "settings.json"
        path.write_text(path.read_text().replace('"Bash(echo:*)"', '"Bash(echo:*)", "Bash(seq:*)", "Bash(sh:*)"'))

    return ONE._replace(rules=rules)


def _play(mode: str, home: Path, *commands: Json) -> Outcome:
    home.mkdir(parents=True)
    steps: list[Step] = [
        lambda _, one=one: Use("Bash", {"description": "a step", **one}, ours=False) for one in commands
    ]
    return play(_with(), mode, home, steps, results=len(commands))


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What the model is shown without us."""
    return _play("", tmp_path_factory.mktemp("alone") / "home", {"command": FAILS}, {"command": LONG})


@pytest.mark.parametrize("mode", ["shape"])
@pytest.mark.parametrize("broken", ["no interpreter", "a module is missing"])
def test_where_the_capture_cannot_start_the_model_is_shown_what_it_would_be_without_us(
    mode: str, broken: str, alone: Outcome, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    script = home / ".claude" / FILE
    part = {"no interpreter": sys.executable, "a module is missing": Path(ENTRY).name}[broken]

    def breaking(_: object) -> Use:
        text = script.read_text()
        assert part in text
        script.write_text(text.replace(part, part + ".none"))
        return Use("Bash", {"description": "a step", "command": FAILS}, ours=False)

    home.mkdir()
    steps: list[Step] = [
        lambda _: Use("Bash", {"description": "a step", "command": "echo first"}, ours=False),
        breaking,
        lambda _: Use("Bash", {"description": "a step", "command": LONG}, ours=False),
    ]
    outcome = play(_with(), mode, home, steps, results=3)
    assert outcome.shown(1) == alone.shown(0)


@pytest.mark.parametrize("mode", MODES)
def test_no_view_says_that_an_exit_code_is_unknown_which_the_harness_states(mode: str, tmp_path: Path) -> None:
    """Some of these have ended before anything of ours could look at them, others have not."""
    commands = (FAILS, LONG, "seq 1 20000", "sh -c 'seq 1 4000; exit 7'", "sh -c 'sleep 1; seq 1 4000; exit 8'")
    outcome = _play(mode, tmp_path / "home", *({"command": one} for one in commands))
    for place in range(len(commands)):
        assert "unknown" not in outcome.shown(place)
    assert [outcome.buffers[one].exit_code for one in commands] == [3, 0, 0, 7, 8]
    if mode == "shape":
        assert 'summary="ok in ' in outcome.shown(1)
        assert "failed with exit 8" in outcome.shown(4)


@pytest.mark.parametrize("mode", MODES)
def test_what_goes_on_in_the_background_is_kept_once_it_has_ended(mode: str, tmp_path: Path) -> None:
    asked, moved = "sh -c 'seq 3; exit 4'", "sh -c 'echo slow; sleep 2; echo end; exit 5'"
    outcome = _play(
        mode,
        tmp_path / "home",
        {"command": asked, "run_in_background": True},
        {"command": moved, "timeout": 1500},
        {"command": "sh -c 'sleep 3'"},
    )
    assert outcome.streams[asked] == "1\n2\n3\n"
    assert outcome.streams[moved] == "slow\nend\n"
    assert [outcome.buffers[one].exit_code for one in (asked, moved)] == [4, 5]
    assert outcome.mishaps == ""


def test_of_a_crash_the_model_is_shown_what_it_is_without_us(tmp_path: Path) -> None:
    crash = "sh -c 'echo before; kill -SEGV $$'"
    told, alone = (_play(mode, tmp_path / (mode or "alone"), {"command": crash}).shown(0) for mode in ("keep", ""))
    numbers = re.compile(r"\d{3,}")
    assert numbers.sub("", told) == numbers.sub("", alone)
    assert "Segmentation fault" in told
