"""What is copied reaches the clipboard by whatever way there is."""

import sys
from pathlib import Path

import pytest

from sightline_tui.common import clipboard

linux = pytest.mark.skipif(sys.platform == "darwin", reason="there, pbcopy is always the one")


def everything(name: str) -> str:
    return f"/usr/bin/{name}"


@linux
@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({}, []),
        ({"DISPLAY": ":0"}, ["xclip"]),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, ["wl-copy"]),
        ({"DISPLAY": ":0", "SSH_CONNECTION": "1 2 3 4"}, []),
        ({"TMUX": "/tmp/x", "SSH_CONNECTION": "1 2 3 4"}, ["tmux"]),
        ({"TMUX": "/tmp/x", "DISPLAY": ":0"}, ["tmux", "xclip"]),
    ],
)
def test_programs_are_those_of_the_persons_own_desktop(environment: dict[str, str], names: list[str]) -> None:
    assert [command[0] for command in clipboard.programs(environment, everything)] == names


@linux
def test_only_what_is_installed_is_used() -> None:
    assert clipboard.programs({"DISPLAY": ":0"}, lambda _: None) == []
    assert clipboard.programs({"DISPLAY": ":0"}, lambda name: name if name == "xsel" else None)[0][0] == "xsel"


def test_a_program_gets_the_text_and_none_may_break_anything(tmp_path: Path) -> None:
    missing, taker = (str(tmp_path / "missing"),), ("tee", str(tmp_path / "taken"))
    clipboard._hand("日本 text\n", [missing, taker])
    assert (tmp_path / "taken").read_text() == "日本 text\n"
