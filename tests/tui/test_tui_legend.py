"""Every sign that a screen can draw stands in the legend, or is one that everybody reads."""

import ast
from collections.abc import Iterator
from pathlib import Path

import sightline_tui
from sightline.store import Store
from sightline_tui.commands import LEGEND
from tests.tui.tui_kit import add, buffers, opened, press, run, text

READ_BY_ALL = set("…·×≤“”–‹›←↑→↓│⇧⌥⌫␡")
"""Punctuation, arrows, frames, and keys as keyboards name them."""

NOT_DRAWN = {"visible_text.py"}  # it lists characters that are not to be drawn


def texts(path: Path) -> Iterator[str]:
    """The string constants of a module, without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_every_sign_stands_in_the_legend() -> None:
    told = {char for signs, _ in LEGEND for char in signs}
    heights = set("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▐")  # "▁…█" and "█" stand for all of them
    drawn = dict[str, str]()
    for path in Path(sightline_tui.__file__).parent.rglob("*.py"):
        if path.name not in NOT_DRAWN:
            drawn |= {char: path.name for text in texts(path) for char in text if not char.isascii()}
    known = told | heights | READ_BY_ALL
    assert {char: where for char, where in drawn.items() if char.isprintable() and char not in known} == {}


def test_each_letter_that_marks_a_row_stands_in_the_legend(store: Store) -> None:
    for number in range(3):
        add(store, f"cmd_00000{number}", "seq", b"x\n", ago=10 - number)
    told = {sign for signs, _ in LEGEND for sign in signs.split()}

    async def body() -> None:
        async with opened(store) as pilot:
            for wanted in ({"A"}, {"A", "B"}, {"m"}):
                await press(pilot, "m")
                drawn = {sign for row in text(buffers(pilot)) for sign in row[:4] if sign.isalpha()}
                assert drawn == wanted
                assert wanted <= told

    run(body)


def test_each_sign_of_the_legend_takes_one_row_of_the_help() -> None:
    """Half of a screen of 120 cells has room for 52."""
    signs = max(len(sign) for sign, _ in LEGEND)
    assert [what for _, what in LEGEND if signs + 2 + len(what) > 52] == []
