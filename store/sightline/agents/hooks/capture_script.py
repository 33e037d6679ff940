"""The small shell script that hooks put into commands; it passes the output on even if our program cannot start.

`sightline install` writes it beside a harness' settings, which allow it by name, so that it exists even while the
interpreter or the package does not.
"""

import re
import shlex
import sys

from sightline.agents.hooks.command_line import ENTRY, FLAGS

FILE = "sightline-capture"
"""What it is called."""

_MARK = "#!/bin/sh\n# Written by `sightline install`"


def script(root: str = "") -> str:
    """The text of the script.

    The program that it starts says on descriptor 3 which file has what is held back, and exits with 0 if it has read
    anything. If it dies, the script prints that file and passes on the rest of the pipe. No message
    of either reaches the command's output.

    Args:
        root: the store's root where it is not the usual one.
    """
    words = shlex.join([sys.executable, *FLAGS, ENTRY, "capture"])
    home = f"SIGHTLINE_HOME={shlex.quote(root)}\nexport SIGHTLINE_HOME\n" if root else ""
    return f"""\
{_MARK}: hooks pipe commands into it.
# What comes is kept and passed on; where it cannot be kept it is passed on all the same.
held=
PATH=${{PATH:+$PATH:}}/usr/bin:/bin
trap 'test -z "$held" || cat "$held"; exec cat' EXIT
exec 4>&1 2>/dev/null
{home}held=$({words} "$1" "$PPID" 3>&1 >&4 4>&-) && trap - EXIT
"""


def is_script(text: str) -> bool:
    """Whether some version of Sightline wrote this text."""
    return text.startswith(_MARK)


_RULE = re.compile(rf"Bash\('?/.*{FILE}'?:\*\)")


def is_rule(text: str) -> bool:
    """Whether this is the permission rule that allows the script."""
    return bool(_RULE.fullmatch(text))
