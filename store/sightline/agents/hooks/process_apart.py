"""Goes on in a process of its own, for which nobody waits."""

import os


def continue_apart() -> bool:
    """Whether this is the second process, which goes on where nobody waits for it; the first one may end."""
    if os.fork():
        return False
    os.setsid()  # a harness may end all that it started
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)  # a harness reads what a hook prints until nobody has it open
    return True
