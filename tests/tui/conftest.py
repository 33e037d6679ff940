"""What the inspector's tests must not be surprised by."""

import pytest

from sightline.tui import misses
from sightline.tui.buffers import buffer_list


@pytest.fixture(autouse=True)
def _shares_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read behind the screen comes when no test looks at it any more, but for those about it."""
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 3600.0)
    monkeypatch.setattr(misses, "FIRST_SECONDS", 3600.0)
