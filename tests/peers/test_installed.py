"""Harnesses with our hooks, in every mode, beside the same harness without them: what is run, shown, kept and told?

`README.md` beside this says how to run these, and what was seen.
"""

import json
import re
from pathlib import Path

import pytest

from tests.peers.installed import INSTALLED, NOTE, WHOLE, Installed, Outcome, play, sightline
from tests.peers.scripted_model import Seen, Step, Use

pytestmark = pytest.mark.peers_node

MODES = ("record", "keep", "shape")
AT_ONCE = ("echo one é", "echo two é")
BUILD, SHORT, FORBIDDEN, ALLOWED, UNLISTED = "./build", "echo short é", "touch forbidden", "mkdir made", "mkfifo asked"


def _steps(one: Installed, home: Path, mode: str) -> list[Step]:
    def noted(_: list[Seen]) -> Use:
        """A person remarks on the last output while the agent works."""
        if mode:
            sightline(home, "note", f"{_ref(home)}:1", NOTE, "--send")
        return one.shell("echo more")

    return [
        *(lambda _, command=command: one.shell(command) for command in (BUILD, SHORT, FORBIDDEN, ALLOWED, UNLISTED)),
        noted,
        lambda _: tuple(map(one.shell, AT_ONCE)),
    ]


def _ref(home: Path) -> str:
    listed = json.loads(sightline(home, "list", "--json"))
    return str(next(buffer["ref"] for buffer in listed if buffer["command"] == BUILD))


@pytest.fixture(scope="module", params=[pytest.param(n, marks=pytest.mark.xdist_group(n)) for n in INSTALLED])
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Installed, dict[str, Outcome]]:
    """A harness, and its runs by mode; the one without us is called nothing."""
    one = INSTALLED[request.param]
    homes = {mode: tmp_path_factory.mktemp(f"{request.param}-{mode or 'alone'}") for mode in ("", *MODES)}
    return one, {mode: play(one, mode, home, _steps(one, home, mode), results=8) for mode, home in homes.items()}


Runs = tuple[Installed, dict[str, Outcome]]


def test_hooks_never_fail(runs: Runs) -> None:
    assert [outcome.mishaps for outcome in runs[1].values()] == [""] * 4


def test_what_is_allowed_runs_and_what_is_forbidden_does_not(runs: Runs) -> None:
    _, outcomes = runs
    assert "made" in outcomes[""].made
    assert "forbidden" not in outcomes[""].made
    for mode in MODES:
        assert outcomes[mode].made == outcomes[""].made, mode


@pytest.mark.parametrize("mode", ["record", "keep"])
def test_the_model_is_shown_what_it_would_be_shown_without_us(runs: Runs, mode: str) -> None:
    one, outcomes = runs
    for place, command in enumerate((BUILD, SHORT)):
        told, alone = outcomes[mode].shown(place), outcomes[""].shown(place)
        has_ends = all(text.rstrip("\n").endswith(WHOLE.rstrip("\n")[-20:]) for text in (told, alone))
        if one.harness.name == LOSING and command == BUILD and not has_ends:
            continue
        assert not _difference(told, alone), command


def _difference(told: str, alone: str) -> tuple[str, ...]:
    """Where two texts begin to differ: pytest would compare all of them, which takes for ever."""
    if told == alone:
        return ()
    at = next((at for at, (one, other) in enumerate(zip(told, alone, strict=False)) if one != other), 0)
    return f"after {at:,} of {len(told):,} and {len(alone):,} characters", told[at : at + 200], alone[at : at + 200]


@pytest.mark.parametrize("mode", MODES)
def test_what_commands_wrote_is_kept(runs: Runs, mode: str) -> None:
    one, outcomes = runs
    outcome = outcomes[mode]
    assert outcome.streams[SHORT].rstrip("\n") == "short é"
    for command in AT_ONCE:
        assert outcome.streams[command].rstrip("\n") == command.removeprefix("echo ")
    build = outcome.buffers[BUILD]
    assert build.exit_code == 3
    if build.partial:
        assert (one.harness.name, mode) in PARTIAL or one.harness.name == LOSING
        return
    assert _is_whole(one, outcome)


PARTIAL = {("claude-code", "record"), *(("codex", mode) for mode in MODES)}
"""Where hooks are given no more than the model, and no command is rewritten."""


LOSING = "opencode"
"""On a busy machine it was seen to lose 12,288 bytes of an output's beginning or end, in its own file too, silently.

Where its file ends otherwise than what it shows, the output is marked partial.
"""


def _is_whole(one: Installed, outcome: Outcome) -> bool:
    kept, whole = outcome.streams[BUILD].rstrip("\n"), WHOLE.rstrip("\n")
    return kept == whole or (one.harness.name == LOSING and len(kept) > len(whole) // 2 and kept in whole)


def test_in_shape_the_model_is_shown_our_view_as_it_is_logged(runs: Runs) -> None:
    one, outcomes = runs
    shown = one.text(outcomes["shape"].seen[0])
    if one.harness.name == LOSING and outcomes["shape"].streams[BUILD].rstrip("\n") != WHOLE.rstrip("\n"):
        return  # it may show what it likes of an output that it lost a part of
    if (one.harness.name, "shape") in PARTIAL:
        assert shown == one.text(outcomes[""].seen[0])
        return
    assert shown.startswith("[output_id=@cmd_")
    assert "error: no é luck" in shown
    assert len(shown) < len(one.text(outcomes[""].seen[0]))
    (view,) = (view for view in outcomes["shape"].views if view.text.startswith("[output_id=@cmd_"))
    assert view.text.rstrip("\n") == shown.rstrip("\n")


@pytest.mark.parametrize("mode", MODES)
def test_each_command_that_ran_has_its_view(runs: Runs, mode: str) -> None:
    _, outcomes = runs
    commands = [view.request.get("command") for view in outcomes[mode].views]
    for command in (BUILD, SHORT, ALLOWED, "echo more", *AT_ONCE):
        assert command in commands


@pytest.mark.parametrize("mode", ["record", "keep"])
def test_the_log_says_what_the_model_was_shown(runs: Runs, mode: str) -> None:
    """All of it: what hooks are not told, the transcript tells."""
    one, outcomes = runs
    outcome = outcomes[mode]
    texts = {view.request["command"]: view.text for view in outcome.views if "command" in view.request}
    seen = [*outcome.seen[:-2], *sorted(outcome.seen[-2:])]  # by their ids: they come as they ended
    shown = dict(zip((BUILD, SHORT, FORBIDDEN, ALLOWED, UNLISTED, "echo more", *AT_ONCE), seen, strict=True))
    for command in texts:
        assert texts[command].rstrip("\n") == one.told(shown[command]).rstrip("\n"), command


@pytest.mark.parametrize("mode", MODES)
def test_a_note_reaches_the_model_once(runs: Runs, mode: str) -> None:
    _, outcomes = runs
    last = json.dumps(outcomes[mode].asked[-1], ensure_ascii=False)
    assert last.count(NOTE) == 1
    assert NOTE not in json.dumps(outcomes[mode].asked[-4], ensure_ascii=False)


def test_the_model_is_told_what_refs_are_where_it_meets_them(runs: Runs) -> None:
    _, outcomes = runs
    first = {mode: json.dumps(outcome.asked[0], ensure_ascii=False) for mode, outcome in outcomes.items()}
    assert re.search(r"@cmd_a1b2c3", first["shape"])
    assert "@cmd_" not in first[""]


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.xdist_group(n)) for n in INSTALLED])
def test_a_store_that_was_named_at_installing_is_used_by_server_hooks_and_rewritten_commands(
    name: str, tmp_path: Path
) -> None:
    one = INSTALLED[name]
    steps: list[Step] = [
        lambda _: one.shell(BUILD),
        lambda _: Use("list_outputs", {"limit": 1}),
        lambda _: one.shell(SHORT),
    ]
    outcome = play(one, "keep", tmp_path, steps, results=3, root=tmp_path / "a store of one's own")
    assert {BUILD, SHORT} <= set(outcome.streams)
    assert len(outcome.views) == 3
    if (name, "keep") not in PARTIAL:
        assert _is_whole(one, outcome)
    assert not (tmp_path / ".local" / "state" / "sightline").exists()
