"""Lines that an agent saw before its context was compacted look other than those that it still has."""

from pathlib import Path

from benchmarks.evidence.sessions import SESSIONS
from benchmarks.evidence.transcripts import write_transcript
from sightline.agents.past_sessions.importer import Importer
from sightline.base.records import Buffer
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from sightline_tui.viewer.audit_model import of_line
from sightline_tui.viewer.marks import GONE, gather

AGAIN = next(one for one in SESSIONS if one.name.startswith("a failure that was seen again"))


def runs(store: Store, tmp_path: Path) -> list[Buffer]:
    write_transcript(AGAIN.harness, "5e55", AGAIN.steps, str(tmp_path))
    Importer(store).run(find_sources(str(tmp_path / AGAIN.harness)))
    found = (item.buffer for item in store.listed(100))
    return sorted((one for one in found if one.command == "pytest -q"), key=lambda one: one.created)


def test_a_line_that_went_with_a_compaction_is_gone(store: Store, tmp_path: Path) -> None:
    before, after, _ = runs(store, tmp_path)
    assert gather(store, before).fate("out", 1) == GONE
    assert gather(store, after).fate("out", 1) == ""


def test_the_line_under_the_cursor_says_that_it_is_no_longer_held(store: Store, tmp_path: Path) -> None:
    before, after, _ = runs(store, tmp_path)
    told = ["".join(part.text for part in of_line(gather(store, one), "out", 1)) for one in (before, after)]
    assert ["no longer held" in one for one in told] == [True, False]
