"""What is read of another store than this machine's: its bytes come from there, and the reply is logged here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.base.errors import UnknownRef
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.settings.config import Settings
from sightline.store import Store
from sightline.verbs import list_outputs as listing
from sightline.verbs import query as querying
from tests.store.verbs.conftest import Caller


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Store]:
    """A store that others write, with one output of theirs."""
    with Store(str(tmp_path / "shared"), Settings()) as theirs:
        Caller(theirs, "other-1", "claude-code").run("seq 3000; echo wrong >&2; exit 3")
        yield theirs


def test_a_reply_about_a_shared_store_is_logged_in_the_readers_own(agent: Caller, store: Store, shared: Store) -> None:
    theirs = shared.resolve("@last").buffer
    before = len(list_views(shared))
    agent.asking = agent.asking._replace(shared=shared)
    assert "2042\n" in agent.read(theirs.ref, lines="2040-2050").text
    assert "matches_total" in agent.read(theirs.ref, search="wrong", stream="err").fields
    assert agent.deliver(querying.query(agent.asking, querying.QueryRequest(f"tail -1 {theirs.ref}"))).text == "3000\n"
    agent.deliver(listing.list_outputs(agent.asking, listing.ListRequest()))
    views = list_views(store)
    assert len(views) == 4 and len(list_views(shared)) == before
    assert [one.view.refs for one in views[1:]] == [(theirs.name,)] * 3
    assert view_text(store, views[1]) == "3000\n"
    with pytest.raises(UnknownRef):
        store.resolve(theirs.ref)


def test_a_long_reply_about_a_shared_store_has_its_text_in_the_log(agent: Caller, store: Store, shared: Store) -> None:
    theirs = shared.resolve("@last").buffer
    agent.asking = agent.asking._replace(shared=shared)
    reply = agent.read(theirs.ref, lines="1-1800", limit=20_000)
    told = agent.told
    shared.close()
    assert len(reply.text) > 4096
    assert view_text(store, list_views(store)[0]) == told
