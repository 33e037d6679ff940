"""What a check of the store says, and how far it has come."""

from collections.abc import Callable

from sightline.named_tuple import NamedTuple


class CheckResult(NamedTuple):
    """One thing that was looked at.

    Attributes:
        level: ``ok``, ``note``, ``mended`` or ``problem``.
        text: what was found, and what was or is to be done.
    """

    level: str
    text: str


Advance = Callable[[str, int], None]
"""Is told, again and again, what is being looked at (``folders``, ``records``, ``bytes``, ``views``), and of how many
more that was done."""


def unheard(_what: str, _more: int) -> None:
    """For those whom nobody watches."""
