"""A session for the pictures of the timeline and the replay: by the command line, as any agent would have it."""

import os
import re
import subprocess
import sys
from collections.abc import Callable

RELEASED = "RELEASED"  # the ref of what was captured last
STEPS = [
    ("run", "--", "python3", "-m", "unittest", "-v", "test_parser"),
    ("query", "grep -n FAIL @last.err"),
    ("show", "@last.err", "--search", "AssertionError", "--context", "3"),
    ("read", "parser.py"),
    ("run", "--", "python3", "-m", "unittest", "-v", "test_parser"),
    ("run", "--", "find", "/usr/share/doc", "-name", "copyright"),
    ("query", "grep -c python @last"),
    ("run", "--verbosity", "silent", "--", "python3", "release.py"),
    ("note", f"{RELEASED}:217", "item 217 never made it into the catalogue", "--send"),
    ("query", f"tail -2 {RELEASED}"),
]
"""What an agent asks, which overlooks a failure; and the remark by which a person points at it."""


def ask(root: str, agent: str, person: str, after: Callable[[str], None]) -> None:
    """Take all steps in the current folder.

    Args:
        root: the store's folder.
        agent: the id that its harness gives the session.
        person: name of the person's session.
        after: called after each step with its first word.
    """
    ours = ("SIGHTLINE_SESSION", "CLAUDE_CODE_SESSION_ID")
    usual = {name: value for name, value in os.environ.items() if name not in ours}
    released = ""
    for words in STEPS:
        who = {ours[0]: person} if words[0] == "note" else {ours[1]: agent}
        given = (word.replace(RELEASED, released) for word in words)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "sightline.doors.cli.main", *given],
            env={**usual, **who, "SIGHTLINE_HOME": root},
            capture_output=True,
            check=False,
            text=True,
        )
        if told := re.match(r"\[output_id=(@\w+)", done.stdout):
            released = told[1]
        after(words[0])
