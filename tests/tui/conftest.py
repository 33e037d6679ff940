"""What the inspector's tests must not be surprised by."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.parse import parse
from textual.css.tokenize import Token

from sightline.store import Store
from sightline_tui import misses
from sightline_tui.app import InspectorApp
from sightline_tui.buffers import buffer_list, now_lines
from tests.tui.tui_kit import open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store, with limits that do not change with the defaults."""
    with open_store(tmp_path / "root") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _shares_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read behind the screen comes when no test looks at it any more, but for those about it."""
    monkeypatch.setattr(buffer_list, "SEEN_FIRST_SECONDS", 3600.0)
    monkeypatch.setattr(misses, "FIRST_SECONDS", 3600.0)
    monkeypatch.setattr(now_lines, "FIRST_SECONDS", 3600.0)


@pytest.fixture(autouse=True)
def _notices_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notice goes after five seconds, which a busy machine may take to the next line of a test."""
    monkeypatch.setattr(InspectorApp, "NOTIFICATION_TIMEOUT", 3600.0)


@pytest.fixture(autouse=True, scope="session")
def _sheets_read_once() -> Iterator[None]:
    """Hundreds of applications are opened: the rules that the first has read in a sheet of styles serve them all."""
    rules = dict[object, list[RuleSet]]()

    def once(scope: str, css: str, place: Any, variable_tokens: Mapping[str, Sequence[Token]], **told: Any) -> Any:
        variables = frozenset((name, *(token.value for token in tokens)) for name, tokens in variable_tokens.items())
        asked = (scope, css, place, variables, *told.items())
        if asked not in rules:
            rules[asked] = list(parse(scope, css, place, variable_tokens=dict(variable_tokens), **told))
        return rules[asked]

    with patch("textual.css.stylesheet.parse", once):
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_frames() -> Iterator[None]:
    """Have each widget drawn as far as it has changed, without the frames around them, which no terminal shows.

    That takes half of the time. A test that looks at a whole screen asks for its rows, which are put together as ever.
    """
    whole = Compositor.render_update

    def drawn(compositor: Compositor, full: bool = False, screen_stack: Any = None, simplify: bool = False) -> Any:
        if full:
            return whole(compositor, full, screen_stack, simplify)
        visible_screen_stack.set(screen_stack or [])
        changed = compositor._dirty_regions.copy()
        compositor._dirty_regions.clear()
        for widget, (region, clip) in compositor.visible_widgets.items():
            seen = region.intersection(clip)
            if any(map(seen.overlaps, changed)):
                widget.render_lines(seen.translate(-region.offset))
        return None

    with patch.object(Compositor, "render_update", drawn):
        yield
