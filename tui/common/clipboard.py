"""Puts text on the clipboard: by the terminal (OSC 52), and by a program of the desktop or of tmux where there is one.

A terminal does not tell whether it takes what it is sent, so both are tried; the same text twice does no harm.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping

from textual.app import App

_SECONDS = 3.0


def copy(app: App[None], text: str) -> None:
    """Put a text on the clipboard; programs are left alone where the application has no terminal."""
    app.copy_to_clipboard(text)
    commands = [] if app.is_headless else programs(os.environ, shutil.which)
    if commands:
        app.run_worker(lambda: _hand(text, commands), thread=True)


def programs(environment: Mapping[str, str], which: Callable[[str], str | None]) -> list[tuple[str, ...]]:
    """What takes a text on its standard input and puts it on the clipboard here.

    Args:
        environment: tells of tmux, of the desktop, and whether one sits in front of this machine at all.
        which: finds a program's path.
    """
    found: list[tuple[str, ...]] = []
    if environment.get("TMUX"):
        found.append(("tmux", "load-buffer", "-w", "-"))  # to the terminals of its clients too
    if not environment.get("SSH_CONNECTION"):  # a desktop elsewhere is not the person's
        if sys.platform == "darwin":
            found.append(("pbcopy",))
        elif environment.get("WAYLAND_DISPLAY"):
            found.append(("wl-copy",))
        elif environment.get("DISPLAY"):
            found += [("xclip", "-selection", "clipboard"), ("xsel", "--input", "--clipboard")]
    there = [command for command in found if which(command[0])]
    return [command for command in there if command[0] != "xsel" or not any(one[0] == "xclip" for one in there)]


def _hand(text: str, commands: list[tuple[str, ...]]) -> None:
    for command in commands:
        try:
            subprocess.run(
                command,
                input=text.encode("utf-8", "replace"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            pass  # the terminal may have taken it
