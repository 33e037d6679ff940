"""What tests of importing share: a run over transcripts."""

from pathlib import Path

import pytest

from sightline.agents.past_sessions.importer import Importer
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from tests.store.harnesses.past_kit import Import


@pytest.fixture
def imported(store: Store) -> Import:
    """Imports a transcript, or all below a folder, with a new importer."""

    def run(path: Path) -> Importer:
        importer = Importer(store)
        importer.run(find_sources(str(path)))
        return importer

    return run
