"""What reads a store needs no more of it than `Reading` names."""

import sys
from collections.abc import Callable
from typing import Any, cast

import pytest

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.buffer_failures import failures_of, overlooked
from sightline.audit.report.report import gather
from sightline.audit.timeline import calls_of
from sightline.log.log_index import list_views
from sightline.log.session_list import list_sessions
from sightline.log.view_text import view_text
from sightline.store import Reading, Rows, Store


class _Lent:
    """Something that is no `Store`, and has of one only what a protocol names."""

    def __init__(self, given: Any, protocol: type) -> None:
        self._given = given
        self._named = {name for name in dir(protocol) if not name.startswith("_")}

    def __getattr__(self, name: str) -> Any:
        if name not in self._named:
            raise AttributeError(f"Reading does not name {name}")
        value = getattr(self._given, name)
        return _Lent(value, Rows) if name == "index" else value


@pytest.fixture
def lent(agent: Any) -> Reading:
    """A store in which a command has failed, and was shown to an agent."""
    agent.run(f'{sys.executable} -c \'print("x\\n" * 4000); raise SystemExit("boom: error")\'')
    return cast("Reading", _Lent(agent.store, Reading))


@pytest.mark.parametrize(
    "asks",
    [
        list_sessions,
        list_views,
        calls_of,
        lambda store: gather(store).totals,
        lambda store: [view_text(store, one) for one in list_views(store)],
        lambda store: [coverage_of(store, one.buffer) for one in store.listed(9)],
        lambda store: [failures_of(store, one.buffer) for one in store.listed(9)],
        lambda store: overlooked(store, [one.buffer for one in store.listed(9)]),
    ],
)
def test_another_kind_of_store_answers_as_a_store_does(
    lent: Reading, agent: Any, asks: Callable[[Reading], Any]
) -> None:
    own: Store = agent.store
    assert str(asks(lent)) == str(asks(own))
