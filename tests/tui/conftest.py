"""What the inspector's tests must not be surprised by."""

import pytest

from sightline.tui.buffers import buffer_list


@pytest.fixture(autouse=True)
def _shares_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """How much was seen of a buffer comes into its row when no test looks at it any more, but for those about it."""
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 3600.0)
