"""A budget counts the head and the body, as the command line prints them."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.base.profile import load_profile
from sightline.verbs.head_line import SMALL_BYTES, head_bytes
from sightline.verbs.read_file import read_file
from sightline.verbs.requests import FileRequest

FAILING = (
    "seq -f 'step %g of many went well' 1 900; "
    'for n in $(seq 12); do echo "FAILED tests/test_basket_of_the_depot.py::test_number_$n - assert $n == 0"; done; '
    "seq -f 'step %g of many went well' 1 900; exit 1"
)


@pytest.mark.parametrize("verbosity", ["silent", "concise", "normal", "verbose"])
@pytest.mark.parametrize(
    "command",
    [
        FAILING,
        "seq 1 40000",
        f"({FAILING}) >&2",
        "seq 1 9000; seq 1 9000 >&2; exit 2",
        "head -c 99999 /dev/zero; exit 1",
    ],
)
def test_a_reply_is_no_larger_than_its_budget(agent: Any, verbosity: str, command: str) -> None:
    budget = getattr(agent.asking.profile.budgets, verbosity)
    reply = agent.run(command, verbosity=verbosity)
    assert len(agent.told.encode()) <= budget
    assert reply.fields["truncated"]


@pytest.mark.parametrize("verbosity", ["silent", "concise", "normal", "verbose"])
@pytest.mark.parametrize("name", ["shop.py", "notes.txt", "rows.json"])
def test_the_view_of_a_file_is_no_larger_than_its_budget(agent: Any, tmp_path: Path, verbosity: str, name: str) -> None:
    texts = {
        "shop.py": "".join(f"def add_to_the_basket_number_{n}(line):\n    return line + {n}\n\n\n" for n in range(900)),
        "notes.txt": "".join(f"some words of note {n}\n" for n in range(3000)),
        "rows.json": json.dumps([{"id": n, "name": f"item {n}"} for n in range(3000)], indent=1),
    }
    (tmp_path / name).write_text(texts[name])
    whole = read_file(agent.asking, FileRequest(str(tmp_path / name)))
    reply = agent.read(whole.ref, verbosity=verbosity)
    assert len(agent.told.encode()) <= getattr(agent.asking.profile.budgets, verbosity)
    assert reply.fields["truncated"]
    assert "lines" in reply.fields["summary"]


def test_a_small_budget_names_what_failed_before_any_hint(agent: Any) -> None:
    fields = agent.run(FAILING, verbosity="concise").fields
    assert head_bytes(fields) <= 300
    assert "next" not in fields and "stdout_shown" not in fields
    assert "1,812 lines" in fields["summary"]
    assert "next" in agent.run(FAILING, verbosity="normal").fields


def test_a_small_view_of_what_went_well_keeps_its_next_call(agent: Any) -> None:
    reply = agent.run("seq 1 40000", verbosity="auto")
    assert len(agent.told.encode()) <= agent.asking.profile.budgets.auto_ok < SMALL_BYTES
    assert agent.follow(reply.fields["next"]).text


def test_what_fits_without_a_head_is_not_cut_for_one(agent: Any) -> None:
    reply = agent.run("seq -f 'line %04g of the output' 1 338", verbosity="normal")
    assert "truncated" not in reply.fields
    assert 8_000 < len(agent.told.encode()) <= 8_192


def test_notes_and_warnings_come_on_top(agent: Any) -> None:
    plain = agent.run("seq 1 40000", verbosity="concise").text
    noted = agent.run("seq 1 40000; sleep 60", verbosity="concise", timeout_secs=1)
    assert len(noted.text.encode()) > len(plain.encode()) // 2


@pytest.mark.parametrize("name", ["codescout", "everruns", "roo", "gh-aw"])
def test_other_profiles_keep_their_measure_and_their_markers(name: str) -> None:
    profile = load_profile(name)
    assert (profile.budgets.measure, profile.cut.markers) == ("body", "full")
