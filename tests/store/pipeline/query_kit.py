"""What the tests of queries ask of the machine."""

from sightline.search.errors import ProgramMissing
from sightline.search.executables import executable_of


def has_gawk() -> bool:
    """Whether there is an awk with a safe mode of its own."""
    try:
        executable_of(("awk", "1"), held=False)
    except ProgramMissing:
        return False
    return True
