"""What may go wrong with a store while one looks at it, and how it is said."""

import errno
import sqlite3

from textual.message_pump import MessagePump

from sightline.errors import SightlineError
from sightline.tui.common.messages import ReadFailed

STORE_ERRORS = (SightlineError, OSError, sqlite3.Error)
"""Causes that lie in the store, not in the inspector: told, and survived. Anything else is a bug, and shows as one."""


_FULL = (errno.ENOSPC, errno.EDQUOT)


def _is_full(error: BaseException | None) -> bool:
    """Whether the disk, or one's share of it, is why."""
    if error is None:
        return False
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return True
    return _is_full(error.__cause__)


def tell(app: MessagePump, error: Exception) -> None:
    """Have the application tell the person of one of these errors.

    Sent to it straight: by way of the widgets, a message ends at whoever made it, which while drawing is the screen.
    """
    if _is_full(error):
        app.post_message(
            ReadFailed("The disk is full", "Make room, or delete outputs: what is there can still be read")
        )
    elif isinstance(error, SightlineError):
        app.post_message(ReadFailed(error.message, error.hint))
    else:
        app.post_message(ReadFailed(f"the store cannot be read: {error}", "`sightline doctor` says more about it"))
