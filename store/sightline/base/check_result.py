"""A check's result, and how checks tell how far they have come."""

from collections.abc import Callable

from sightline.light.named_tuple import NamedTuple


class CheckResult(NamedTuple):
    """The result of one check.

    Attributes:
        level: ``ok``, ``note``, ``mended`` or ``problem``.
        text: what was found, and what was done about it or should be.
    """

    level: str
    text: str


Advance = Callable[[str, int], None]
"""Called during a check with what is being checked (``folders``, ``records``, ``bytes``, ``views``) and how many more
of these are done."""


def unheard(_what: str, _more: int) -> None:
    """An `Advance` for callers that show no progress."""
