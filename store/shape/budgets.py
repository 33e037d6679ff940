"""How many bytes a body may have: the limits that hold for every reply, and the budgets of the verbosities."""

from sightline.store.errors import UsageError

HARD_LIMIT_BYTES = 64 * 1024
"""No reply is larger, whatever was asked for."""

SHORT_OUTPUT_BYTES = 8000
"""A reply up to this, as it is sent, is short: given whole, without ref or hint."""

BUDGETS: dict[str, int | None] = {"silent": 200, "concise": 2048, "normal": 8192, "verbose": 16384, "full": None}
"""Bytes of a body by verbosity; None for no budget but the hard limit."""

AUTO_OK_BYTES = 1024
"""The budget of ``auto`` where the command went well; else it is that of ``normal``."""


def budget_for(verbosity: str, exit_ok: bool) -> int | None:
    """Bytes of a body for a verbosity; None for no budget but the hard limit. Raises UsageError for an unknown word."""
    if verbosity == "auto":
        return AUTO_OK_BYTES if exit_ok else BUDGETS["normal"]
    if verbosity not in BUDGETS:
        raise UsageError(f"no such verbosity: {verbosity!r}", f"it is one of auto, {', '.join(BUDGETS)}")
    return BUDGETS[verbosity]
