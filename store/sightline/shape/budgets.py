"""The sizes of a body: the limit for every reply, and the budgets of the verbosities."""

from sightline.base.errors import UsageError
from sightline.base.profile import DEFAULT, Budgets
from sightline.light.named_tuple import NamedTuple

HARD_LIMIT_BYTES = 64 * 1024
"""No reply is larger, whatever was asked for."""


class Room(NamedTuple):
    """How much of one reply reaches its reader whole; a client cuts a larger one on its way to the model.

    Attributes:
        bytes: bytes of the reply, serialised; at most HARD_LIMIT_BYTES.
        lines: lines of the body; 0 for any number.
    """

    bytes: int = HARD_LIMIT_BYTES
    lines: int = 0

    def excess(self, size: int, lines: int) -> float:
        """Return how many times over the room a reply of this size is; at most 1 if it fits."""
        return max(size / self.bytes, lines / self.lines if self.lines else 0.0)


ROOMY = Room()
"""For a reader that is shown everything."""

MODES = ("silent", "concise", "normal", "verbose", "full")
"""The verbosities that can be asked for; ``full`` has no budget but the hard limit."""


def budget_for(verbosity: str, exit_ok: bool, budgets: Budgets = DEFAULT.budgets) -> int | None:
    """Return the bytes of a body for a verbosity; None for no budget but the hard limit.

    Raises:
        UsageError: the word is not known, and the profile's budgets have no mode for unknown words.
    """
    if verbosity == "auto":
        return budgets.auto_ok if exit_ok else budgets.auto_failed
    mode = verbosity if verbosity in MODES else budgets.unknown
    if not mode:
        raise UsageError(f"there is no verbosity {verbosity!r}", f"it is one of auto, {', '.join(MODES)}")
    return None if mode == "full" else int(budgets._asdict()[mode])
