"""Puts text on the clipboard, through the terminal (OSC 52) and through a program of the desktop or of tmux.

A terminal does not say whether it accepts the text, so both ways are used; copying the same text twice does no harm.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping

from textual.app import App

_SECONDS = 3.0


def copy(app: App[None], text: str) -> None:
    """Put a text on the clipboard; without a terminal no program is started."""
    app.copy_to_clipboard(text)
    commands = [] if app.is_headless else programs(os.environ, shutil.which)
    if commands:
        app.run_worker(lambda: _hand(text, commands), thread=True)


def programs(environment: Mapping[str, str], which: Callable[[str], str | None]) -> list[tuple[str, ...]]:
    """Return the command lines that take a text on standard input and put it on the clipboard of this machine.

    Args:
        environment: shows tmux, the desktop, and whether the person sits at this machine.
        which: finds a program's path.
    """
    found: list[tuple[str, ...]] = []
    if environment.get("TMUX"):
        found.append(("tmux", "load-buffer", "-w", "-"))  # tmux passes it to its clients' terminals
    if not environment.get("SSH_CONNECTION"):  # over SSH the desktop is not the person's
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
            pass  # the terminal may have taken it already
