"""Calls that are not alone, and calls that take too long: what becomes of them between each harness and our server."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from sightline.store import Store
from tests.peers.harnesses import SERVER, Harness
from tests.peers.scripted_model import Seen, Step, Use
from tests.peers.test_harnesses import EACH, perform

pytestmark = pytest.mark.peers_node

IMPATIENT_SECONDS = 2.0
SLOW = "echo begun; sleep 5; echo late é"

SIDE_BY_SIDE = ("gemini", "opencode")
PATIENT_WITH_PROGRESS = "opencode"

AT_ONCE = [one for one in EACH if "+" not in str(one.id)]
"""Where the model writes programs, they say themselves what runs beside what."""


def _follow(number: int) -> Step:
    """Follow the one output that was named. Never twice with the same words: opencode and Gemini CLI take offence."""

    def step(seen: list[Seen]) -> Use:
        found = re.search(r"@cmd_[0-9a-f]+", " ".join(block for one in seen for block in one.blocks))
        assert found, seen
        return Use("read_output", {"ref": found.group(), "wait": 1 + number / 10})

    return step


FOLLOWING = tuple(map(_follow, range(6)))


@pytest.mark.parametrize("harness", AT_ONCE)
def test_each_of_several_calls_at_once_gets_its_own_answer(harness: Harness, tmp_path: Path) -> None:
    steps: tuple[Step, ...] = (
        lambda _: tuple(Use("run_command", {"command": f"sleep 1; echo {n} é"}) for n in range(3)),
        lambda _: (Use("run_command", {"command": "echo one"}), Use("list_outputs", {"limit": 3})),
    )
    done = perform(harness, tmp_path, steps, SERVER, results=5)
    views = {view.text: view for view in done.views}
    assert len(views) == 5
    for number, seen in enumerate(done.model.seen[:3]):
        (view,) = (view for view in done.views if f"{number} é\n" == view.blocks[-1])
        assert seen.blocks == harness.form(view.blocks)
        if harness.uses == "model":
            assert view.request["caller"]["tool_use"] == seen.id


def _overlap(root: Path) -> bool:
    """Whether commands ran side by side."""
    with Store(str(root)) as store:
        spans = sorted((one.buffer.created, one.buffer.ended or 0.0) for one in store.listed(10))
    return any(later[0] < earlier[1] for earlier, later in pairwise(spans))


@pytest.mark.parametrize("harness", AT_ONCE)
def test_calls_at_once_run_side_by_side_where_the_harness_sends_them_so(harness: Harness, tmp_path: Path) -> None:
    steps: tuple[Step, ...] = (lambda _: tuple(Use("run_command", {"command": f"sleep 1.{n}"}) for n in range(3)),)
    done = perform(harness, tmp_path, steps, SERVER, results=3)
    assert _overlap(done.home / "a store") == (harness.name in SIDE_BY_SIDE)


@pytest.mark.parametrize("harness", AT_ONCE)
def test_a_command_outlives_the_patience_of_its_harness(harness: Harness, tmp_path: Path) -> None:
    """The call is given up; the command goes on, and is there for whoever looks."""
    steps: tuple[Step, ...] = (
        lambda _: Use("run_command", {"command": SLOW}),
        lambda _: Use("list_outputs", {"limit": 1}),
        *FOLLOWING,
    )
    done = perform(harness, tmp_path, steps, SERVER, patience=IMPATIENT_SECONDS)
    first, *others = ["".join(seen.blocks) for seen in done.model.seen]
    if harness.name == PATIENT_WITH_PROGRESS:
        assert first.endswith("begun\nlate é\n")
        return
    assert "begun\nlate" not in first
    assert "late é" in "".join(others)
    assert len(done.views) == len(steps) - 1, "what nobody was shown is not in the log"


@pytest.mark.parametrize("harness", AT_ONCE)
def test_a_server_that_answers_in_time_costs_no_call(harness: Harness, tmp_path: Path) -> None:
    steps: tuple[Step, ...] = (lambda _: Use("run_command", {"command": SLOW}), *FOLLOWING)
    done = perform(harness, tmp_path, steps, [*SERVER, "--patience", "1"], patience=IMPATIENT_SECONDS)
    assert '"status":"running"' in done.views[0].text
    for seen, view in zip(done.model.seen, done.views, strict=True):
        assert seen.blocks == harness.form(view.blocks)
    assert "late é" in "".join(view.text for view in done.views)
