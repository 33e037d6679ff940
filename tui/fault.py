"""What is left of the inspector when it breaks: a sentence for the person, and a file for whoever mends it."""

import os
import traceback

from rich.text import Text

from sightline.private_files import write_atomically
from sightline.tui.common.failures import STORE_ERRORS
from sightline.tui.common.safe import visible

FILE = "inspector-fault.txt"
"""Its name under the store's root."""


def keep(root: str, fault: BaseException | None) -> tuple[str, str]:
    """Write down what happened.

    Args:
        root: the store's folder.
        fault: what was not caught.

    Returns:
        The fault in a line, and the file's path; no path where it could not be written.
    """
    path = os.path.join(root, FILE)
    story = "".join(traceback.format_exception(fault)) if fault is not None else ""
    what = f"{type(fault).__name__}: {fault}"
    try:
        write_atomically(path, story.encode(errors="backslashreplace"))
    except STORE_ERRORS:
        return what, ""
    return what, path


def told(kept: tuple[str, str]) -> Text:
    """The sentence that is left on the terminal."""
    what, path = kept
    where = f"\nWhat led to it is in {path}; please send that along when you report it." if path else ""
    return Text(f"The inspector broke, the store did not: {visible(what)[:200]}{where}")
