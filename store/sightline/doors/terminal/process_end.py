"""Whether this process ends with its command, whatever the command leaves open; it loads nothing."""

_ends = False


def expect_end() -> None:
    """Say that it does."""
    global _ends
    _ends = True


def process_ends() -> bool:
    """Return whether it does."""
    return _ends
