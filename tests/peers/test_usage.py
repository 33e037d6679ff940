"""What harnesses write down of the tokens that a scripted model states: counted the same live as after an import.

`README.md` beside this says how to run these.
"""

import json
from pathlib import Path

import pytest

from sightline.base.request_usage import RequestUsage
from sightline.store import Store
from tests.peers.installed import INSTALLED, play, sightline
from tests.peers.scripted_model import Dialect, Json, Messages, Responses

pytestmark = pytest.mark.peers_node

_Counts = tuple[int, int, int, int, int]
"""Fresh tokens, read from the cache, written to it for 5 minutes, for an hour, and output."""


def _counts(number: int) -> _Counts:
    return 3 + number, 1000 * number, 40, 60 + number, 10 + number


class _Claude(Messages):
    """States disjoint counts; the output at the beginning of a reply is not that at its end."""

    def usage(self, number: int) -> Json:
        fresh, read, short, hour, output = _counts(number)
        return {
            "input_tokens": fresh,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": short + hour,
            "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": hour},
            "output_tokens": output,
        }


class _Codex(Responses):
    """States the input with what was cached, and reasoning within the output."""

    def usage(self, number: int) -> Json:
        fresh, read, *_, output = _counts(number)
        return {
            "input_tokens": fresh + read,
            "input_tokens_details": {"cached_tokens": read},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": fresh + read + output,
        }


def _requests(root: Path) -> dict[str, list[RequestUsage]]:
    with Store(str(root)) as store:
        return store.index.requests.of()


@pytest.mark.parametrize(
    ("name", "dialect", "transcripts"),
    [
        pytest.param(name, dialect, transcripts, id=name, marks=pytest.mark.xdist_group(name))
        for name, dialect, transcripts in (
            ("claude-code", _Claude, ".claude/projects"),
            ("codex", _Codex, ".codex/sessions"),
        )
    ],
)
def test_the_tokens_that_a_model_states_are_the_same_live_and_after_an_import(
    name: str, dialect: type[Dialect], transcripts: str, tmp_path: Path
) -> None:
    home, live, other = tmp_path / "home", tmp_path / "home/.local/state/sightline", tmp_path / "other"
    home.mkdir()
    one = INSTALLED[name]
    one = one._replace(harness=one.harness._replace(dialect=dialect))
    steps = [
        lambda _: one.shell("echo first"),
        lambda _: (one.shell("echo second"), one.shell("echo third")),  # a reply of two blocks
    ]
    asked = len(play(one, "record", home, steps, results=3).asked)
    assert asked == 3

    told = json.loads(sightline(home, "cost", "--by", "session", "--json"))
    sightline(home, "import", str(home / transcripts), root=other)
    assert _requests(live) == _requests(other)
    assert told == json.loads(sightline(home, "cost", "--by", "session", "--json", root=other))

    (found,) = _requests(live).values()
    counts = [(one.fresh, one.cache_read, one.cache_write or 0, one.cache_write_1h or 0, one.output) for one in found]
    stated = [_counts(number) for number in range(1, 20)]
    if name == "codex":  # it states nothing of what was written
        stated = [(fresh, read, 0, 0, output) for fresh, read, _, _, output in stated]
    first = stated.index(counts[0])  # after requests about something else, such as a title
    assert counts == stated[first : first + asked]
    assert not any(one.at_least for one in found)
    sightline(home, "import", str(home / transcripts))
    assert _requests(live) == _requests(other)
