"""What a person must know of the store is said in the inspector, too."""

import asyncio
from pathlib import Path

import pytest

from sightline.disk import index_place
from sightline.settings.config import Settings
from sightline.store import Store
from sightline_tui.app import InspectorApp


def test_a_store_on_a_network_disk_is_said_when_the_inspector_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_place, "file_system", lambda _: "nfs4")

    async def opened() -> list[str]:
        with Store(str(tmp_path / "root"), Settings()) as store:
            app = InspectorApp(store)
            async with app.run_test() as pilot:
                await pilot.pause()
                return [one.message for one in app._notifications]

    assert any("is on a network's disk (nfs4)" in message for message in asyncio.run(opened()))
