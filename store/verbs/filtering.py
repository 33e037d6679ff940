"""A command that filters its own output: where its filters begin, and how a reply names what went into them."""

import os
from typing import Any

from sightline.capture.filter_pipe import Unfiltered
from sightline.capture.filters import FILTERS, Split, find_split
from sightline.refs import looks_like_a_ref
from sightline.shell_words.pipelines import program_of

_READERS = FILTERS | {"cat"}
_SETTINGS = ("BASH_ENV", "SHELLOPTS", "BASHOPTS")  # variables by which a shell may have other settings than its own


def left_side(command: str, argv: list[str]) -> Split | None:
    """Where the trailing filters of a command begin.

    None where there are none, where that is not certain, and where the left side only reads buffers: what it reads is
    kept already.

    Args:
        command: as the caller gave it.
        argv: the shell, ``-c`` and the command with paths in the place of its refs.
    """
    bash = os.path.basename(argv[0]) == "bash"
    hardened = any(name in os.environ for name in _SETTINGS)
    given = find_split(command, bash=bash, hardened=hardened)
    if given is None:
        return None
    if program_of(given.words) in _READERS and any(looks_like_a_ref(word.strip('"')) for word in given.words):
        return None
    split = find_split(argv[-1], bash=bash, hardened=hardened)
    return split and split._replace(left=given.left)


def fields_of(unfiltered: Unfiltered) -> dict[str, Any]:
    """The fields of a reply that name what went into the filters, or say why it is not there."""
    if unfiltered.buffer is None:
        why = unfiltered.error.message if unfiltered.error else "storing failed"
        return {"warning": f"{why}; what went into the filter was not kept"}
    kept = unfiltered.buffer
    return {"unfiltered_output": kept.ref, "unfiltered_lines": kept.lines, "unfiltered_bytes": kept.bytes}
