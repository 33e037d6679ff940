"""The small program that hooks put into commands: a shell script, which passes everything on where ours cannot start.

`sightline install` writes it beside a harness' settings, which allow it by name, so that it is there also while the
interpreter or the package is not.
"""

import re
import shlex
import sys

from sightline.doors.hooks.command_line import ENTRY

FILE = "sightline-capture"
"""What it is called."""

_MARK = "#!/bin/sh\n# Written by `sightline install`"


def script(root: str = "") -> str:
    """The script.

    What it starts says on descriptor 3 where what it holds back is kept, and ends with 0 as soon as it has read
    anything and has lived: whatever else happens, what it held back and what is left in the pipe is passed on. No
    message of any of this reaches the command's output.

    Args:
        root: the store's root where it is not the usual one.
    """
    words = shlex.join([sys.executable, "-E", "-P", ENTRY, "capture"])
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
    """Whether some version of us wrote this."""
    return text.startswith(_MARK)


_RULE = re.compile(rf"Bash\('?/.*{FILE}'?:\*\)")


def is_rule(text: str) -> bool:
    """Whether this is the permission rule that lets it pass."""
    return bool(_RULE.fullmatch(text))
