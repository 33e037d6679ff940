"""What the inspector's tests must not be surprised by."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from sightline.tui import misses
from sightline.tui.buffers import buffer_list


@pytest.fixture(autouse=True)
def _shares_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read behind the screen comes when no test looks at it any more, but for those about it."""
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 3600.0)
    monkeypatch.setattr(misses, "FIRST_SECONDS", 3600.0)


@pytest.fixture(autouse=True, scope="session")
def _sheets_read_once() -> Iterator[None]:
    """Hundreds of applications are opened: the rules that the first has read in a sheet of styles serve them all."""
    read, rules = Stylesheet._parse_rules, dict[object, list[RuleSet]]()

    def once(sheet: Stylesheet, css: str, **told: Any) -> list[RuleSet]:
        asked = (css, *told.items(), frozenset(sheet._variables.items()))
        if asked not in rules:
            rules[asked] = read(sheet, css, **told)
        return rules[asked]

    with patch.object(Stylesheet, "_parse_rules", once):
        yield
