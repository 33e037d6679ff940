"""What is loaded before the first screen, and what is not, although Textual would load it."""

import json
import subprocess
import sys

_UNUSED = ("textual.command", "textual.widgets._input", "textual.widgets._tree", "rich.table", "platformdirs", "ssl")


def _printed(code: str) -> object:
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True, text=True, timeout=60)
    return json.loads(done.stdout)


def test_the_inspector_loads_nothing_that_its_first_screen_does_not_need() -> None:
    loaded = _printed("from sightline_tui import run\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))")
    assert isinstance(loaded, list)
    assert "sightline_tui.app" in loaded
    assert not set(loaded) & set(_UNUSED)


def test_what_textual_was_loaded_without_is_there_as_soon_as_it_is_used() -> None:
    code = """
from sightline_tui import run
import json, textual.app, textual.design
import textual.command, platformdirs, ssl
from rich.table import Table
print(json.dumps([
    textual.app.CommandPalette.is_open == textual.command.CommandPalette.is_open,
    type(textual.design.Table()) is Table,
    str(textual.app.user_downloads_path()) == platformdirs.user_downloads_dir(),
    hasattr(ssl, "create_default_context"),
]))"""
    assert _printed(code) == [True, True, True, True]


def test_what_textual_derives_from_that_is_whole_as_soon_as_it_is_used() -> None:
    code = """
from sightline_tui import run
import json
from textual.theme import ThemeProvider
from textual.command import Provider
from textual.screen import Screen
made = ThemeProvider(Screen())
print(json.dumps([isinstance(made, Provider), callable(made.search)]))"""
    assert _printed(code) == [True, True]


def test_textual_is_left_alone_where_another_application_has_loaded_it() -> None:
    code = """
import textual.app, textual.command
from sightline_tui import run
import json
print(json.dumps(textual.app.CommandPalette is textual.command.CommandPalette))"""
    assert _printed(code) is True
