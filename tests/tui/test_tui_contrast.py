"""Text and signs stand out from what is behind them, in all themes, in each style that a screen can draw with."""

from collections.abc import Sequence

import pytest
from textual.color import Color
from textual.pilot import Pilot
from textual.widget import Widget

from sightline.store import Store
from sightline_tui.common.popular_themes import POPULAR, popular_theme
from sightline_tui.common.theme import DARK, LIGHT
from tests.tui.audit_kit import ask
from tests.tui.tui_kit import add, numbered, opened, press, run

TEXT, SIGNS, TINT = 4.5, 3.0, 1.3
"""The least ratios: WCAG 2.2, 1.4.3 and 1.4.11; a tint of many rows beside rows without one is seen with less."""

_BEHIND = ("cursor", "selected", "pointed", "unseen", "removed", "added", "removed-word", "added-word", "blank")
_NO_WORDS = ("gutter", "ignored")  # they stand beside the words of a line, never on them
_SIGN_WIDGETS = ("OverviewStrip", "Divider")
SCREENS = (
    *((key,) for key in ("b", "K", "t", "W", "A", "i", "V", "d", "J", "question_mark", "c", "D", "C")),
    (),
    ("m", "m", "M"),
)


def ratio(one: Color, other: Color) -> float:
    """The contrast of two opaque colours, 1 to 21 (WCAG 2.2, relative luminance)."""

    def luminance(color: Color) -> float:
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in (color.r / 255, color.g / 255, color.b / 255)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def faint(widget: Widget) -> list[str]:
    """The parts of a widget that do not stand out enough, with their ratios."""
    own = widget.background_colors[1]
    parts = {name.rpartition("--")[2]: widget.get_component_styles(name) for name in widget.COMPONENT_CLASSES}
    behind = {"": own} | {
        name: own + parts[name].background for name in _BEHIND if name in parts and parts[name].has_rule("background")
    }
    least = SIGNS if type(widget).__name__ in _SIGN_WIDGETS else TEXT
    found = list[str]()
    for name, styles in {"": widget.styles, **parts}.items():
        if name in _NO_WORDS:
            grounds = {where: ground for where, ground in behind.items() if not where.endswith("-word")}
        elif styles.has_rule("background") and name:
            grounds = {name: own + styles.background}
        else:
            grounds = behind
        for where, ground in grounds.items():
            color = styles.color if styles.has_rule("color") else widget.styles.color
            if styles.auto_color or color.a == 0:
                continue
            has = ratio(ground + color, ground)
            if has < least:
                found.append(f"{type(widget).__name__} {name or 'text'} on {where or 'its own'}: {has:.2f}")
    return found


async def looked_at(pilot: Pilot[None], themes: Sequence[str]) -> list[str]:
    found = list[str]()
    for keys in SCREENS:
        await press(pilot, *keys)
        for theme in themes:
            pilot.app.theme = theme
            await pilot.pause()
            for widget in pilot.app.screen.query("*"):
                if type(widget).__module__.startswith("sightline_tui."):
                    found += [f"{theme}: {one}" for one in faint(widget)]
        while len(pilot.app.screen_stack) > 1:
            await press(pilot, "escape")
    return sorted(set(found))


def test_text_and_signs_stand_out_in_each_theme(store: Store) -> None:
    first = add(store, "cmd_00000a", "make paint", b'{"a": 1}\n', ago=9)
    add(store, "cmd_00000b", "make paint", numbered(60), exit_code=2)
    ask(store, first, [(1, 1)])

    async def body() -> None:
        async with opened(store) as pilot:
            for name in POPULAR:
                pilot.app.register_theme(popular_theme(name))
            found = await looked_at(pilot, (DARK.name, LIGHT.name, *POPULAR))
            assert found == [], "\n".join(found)

    run(body)


@pytest.mark.parametrize("theme", [DARK, LIGHT, *map(popular_theme, POPULAR)], ids=lambda theme: theme.name)
def test_lines_that_nobody_saw_are_seen_at_a_glance(theme: object) -> None:
    assert ratio(Color.parse(theme.variables["unseen"]), Color.parse(theme.background)) >= TINT
