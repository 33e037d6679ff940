"""Harnesses that others wrote, each with a model that follows a script: what did its model really see?

`README.md` beside this says how to run these, and what was seen.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from sightline.base.records import Session
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.store import Store
from tests import node_peers
from tests.peers.harnesses import HARNESSES, PROXY, SANDBOXED, SERVER, Harness, Run, run_harness
from tests.peers.scripted_model import Json, ScriptedModel, Seen, Step, Use

LONG = "seq -f 'line %g of a text' 1 20000; echo 'error: no é luck' >&2; exit 3"
SLOW = "sleep 1; echo late é"


def _ref(seen: Seen) -> str:
    """The output that a result is about."""
    found = re.search(r"@(?:cmd|tool)_[0-9a-f]+", " ".join(seen.blocks))
    assert found, seen
    return found.group()


STEPS: tuple[Step, ...] = (
    lambda _: Use("run_command", {"command": LONG}),
    lambda seen: Use("read_output", {"ref": _ref(seen[0]), "lines": "42-80"}),
    lambda seen: Use("read_output", {"ref": _ref(seen[0])}),
    lambda seen: Use("query", {"pipeline": f"grep -n 777 {_ref(seen[0])} | head -5"}),
    lambda _: Use("run_command", {"command": SLOW, "background": True}),
    lambda seen: Use("read_output", {"ref": _ref(seen[4]), "wait": 20}),
    lambda _: Use("run_command", {"command": "echo short"}),
    lambda _: Use("run_command", {"command": "seq -f %040g 1 20000 > numbers"}),
    lambda _: Use("read_file", {"path": "numbers", "start_line": 1}),
    lambda _: Use("read_output", {"ref": "@cmd_000000"}),
)
FAILING = len(STEPS) - 1


class Viewed(NamedTuple):
    """One view of the log.

    Attributes:
        session: whose it is.
        request: the request, with what is known of the caller.
        text: exactly what was sent.
    """

    session: Session
    request: Json
    text: str

    @property
    def blocks(self) -> tuple[str, ...]:
        """The blocks that the text was sent as: its fields, and its body where it has one."""
        fields, _, body = self.text.partition("\n")
        return tuple(part for part in (fields, body) if part)


class Outcome(NamedTuple):
    """What one harness made of the script.

    Attributes:
        harness: which one.
        home: its home.
        model: the model that it asked.
        views: the log, oldest first.
    """

    harness: Harness
    home: Path
    model: ScriptedModel
    views: list[Viewed]

    def pairs(self) -> list["Pair"]:
        """What the model saw, beside the log."""
        return [Pair(seen, view) for seen, view in zip(self.model.seen, self.views, strict=True)]


class Pair(NamedTuple):
    """One result, as the model saw it and as the log has it."""

    seen: Seen
    view: Viewed


def _views(root: Path) -> list[Viewed]:
    with Store(str(root)) as store:
        sessions = {session.name: session for session in store.index.sessions()}
        return [
            Viewed(sessions[one.view.session], json.loads(one.view.request), view_text(store, one))
            for one in reversed(list_views(store))
        ]


EACH = [pytest.param(one, id=one.name, marks=pytest.mark.xdist_group(one.name)) for one in HARNESSES]


def perform(
    harness: Harness, home: Path, steps: Sequence[Step], server: list[str], *, results: int = 0, patience: float = 0
) -> Outcome:
    """Run a harness through a script, of one result a step where nothing else is said."""
    with ScriptedModel(harness.dialect(), steps) as model:
        said = run_harness(harness, Run(home, home / "a store", model, server, patience))
        assert not model.failures, said[-2000:]
        assert len(model.seen) == (results or len(steps)), said[-2000:]
    return Outcome(harness, home, model, _views(home / "a store"))


@pytest.fixture(scope="module", params=EACH)
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The whole script, once for each harness."""
    return perform(request.param, tmp_path_factory.mktemp(request.param.name), STEPS, SERVER)


pytestmark = pytest.mark.peers_node


def test_the_model_is_shown_what_the_log_says(outcome: Outcome) -> None:
    """Byte for byte and whole: nothing that a harness cuts, and nothing that it leaves out."""
    assert len(outcome.views) == len(STEPS)
    for step, (seen, view) in enumerate(zip(outcome.model.seen, outcome.views, strict=True)):
        if step != FAILING:
            assert not seen.failed
            assert seen.blocks == outcome.harness.form(view.blocks)
    assert max(len(view.text) for view in outcome.views) > 30_000


def test_a_refusal_says_what_to_do(outcome: Outcome) -> None:
    """Some harnesses quote an error within JSON within JSON; its words are there."""
    refusal = json.loads(outcome.views[FAILING].text)
    said = "".join(outcome.model.seen[FAILING].blocks)
    assert refusal["error"] in said
    assert refusal["hint"] in said


def test_a_command_in_the_background_outlives_the_call(outcome: Outcome) -> None:
    """Though opencode cancels each call once it has its answer."""
    assert '"status":"running"' in outcome.views[4].text
    assert outcome.views[5].blocks[1] == "late é\n"


def test_every_view_says_who_asked(outcome: Outcome) -> None:
    harness, version = outcome.harness, node_peers.version_of(outcome.harness.package)
    callers = [view.request["caller"] for view in outcome.views]
    assert {caller["client"] for caller in callers} == {f"{harness.client} {version}"}
    told = [caller["tool_use"] for caller in callers if "tool_use" in caller]
    assert len(set(told)) == (0 if harness.uses == "none" else len(STEPS))
    if harness.uses == "model":
        assert told == [seen.id for seen in outcome.model.seen]


def test_all_views_are_of_one_session_of_the_harness(outcome: Outcome) -> None:
    (session,) = {view.session for view in outcome.views}
    assert session.harness == outcome.harness.name.partition("+")[0]
    assert session.client.startswith(outcome.harness.client)
    assert session.cwd == str(outcome.home / "project")
    if outcome.harness.sessions:
        (file,) = outcome.home.glob(outcome.harness.sessions)
        assert session.harness_id
        assert file.stem.endswith(session.harness_id)
    else:
        assert not session.harness_id


def test_the_first_request_has_the_tools_and_what_to_do_with_them(outcome: Outcome) -> None:
    """The server was there in time, though some wait for it a second only."""
    first = outcome.model.asked[0]
    assert set(outcome.model.dialect.offered(first)) == set(outcome.harness.offers)
    assert "page or search it with read_output" in json.dumps(first)


def test_what_only_reads_needs_no_leave_in_a_sandbox(tmp_path: Path) -> None:
    """Codex asks a person about tools that are not said to be read-only, and refuses them where nobody can be asked."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "poem").write_text("a line é\n")
    steps: tuple[Step, ...] = (
        lambda _: Use("read_file", {"path": "poem"}),
        lambda _: Use("list_outputs", {}),
        lambda _: Use("run_command", {"command": "echo hi"}),
    )
    done = perform(SANDBOXED, tmp_path, steps, SERVER)
    read, listed, refused = done.model.seen
    assert read.blocks[-1] == "a line é\n"
    assert "@file_" in listed.blocks[-1]
    assert "approval" in refused.blocks[-1]
    assert len(done.views) == 2  # it never came to us


@pytest.mark.parametrize("harness", EACH)
def test_a_large_result_of_a_proxied_server_is_shown_as_its_view(harness: Harness, tmp_path: Path) -> None:
    """The server promises structured content, on which some harnesses insist; the proxy takes the promise back.

    The server asks in its turn: for the folders that it may read.
    """
    files = tmp_path / "project"
    files.mkdir()
    (files / "large").write_text("".join(f"line {n} é\n" for n in range(1, 20_001)))
    (files / "small").write_text("small é\n")
    filesystem = [node_peers.node(), node_peers.program("@modelcontextprotocol/server-filesystem"), str(files)]
    steps: tuple[Step, ...] = (
        lambda _: Use("read_text_file", {"path": str(files / "large")}),
        lambda seen: Use("read_output", {"ref": _ref(seen[0]), "lines": "15000-15002"}),
        lambda seen: Use("query", {"pipeline": f"grep -c 7 {_ref(seen[0])}"}),
        lambda _: Use("read_text_file", {"path": str(files / "small")}),
    )
    large, page, answer, small = perform(harness, tmp_path, steps, [*PROXY, "--", *filesystem]).pairs()
    assert large.seen.blocks == harness.form(large.view.blocks)
    assert page.seen.blocks == harness.form(page.view.blocks)
    assert page.view.blocks[1] == "line 15000 é\nline 15001 é\nline 15002 é\n"
    assert answer.seen.blocks == harness.form(answer.view.blocks)
    assert "small é" in "".join(small.seen.blocks)
    assert "sightline" not in small.view.text
