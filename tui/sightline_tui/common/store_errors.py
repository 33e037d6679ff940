"""Names the errors that a store can raise while a person looks at it, and reports them."""

import errno
import sqlite3

from textual.message_pump import MessagePump

from sightline.base.errors import SightlineError
from sightline_tui.common.messages import ReadFailed

STORE_ERRORS = (SightlineError, OSError, sqlite3.Error)
"""Errors that lie in the store are reported and survived. Any other error is a bug, and shows as one."""


_FULL = (errno.ENOSPC, errno.EDQUOT)


def _is_full(error: BaseException | None) -> bool:
    """Return whether a full disk, or a full quota, is the reason."""
    if error is None:
        return False
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
        return True
    return _is_full(error.__cause__)


def _is_read_only(error: Exception) -> bool:
    """Return whether the store, or its disk, lets nothing be written."""
    if isinstance(error, sqlite3.Error):  # its extended codes keep the kind in the lowest byte
        return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_READONLY
    return isinstance(error, OSError) and error.errno == errno.EROFS


def tell(app: MessagePump, error: Exception) -> None:
    """Have the application report one of these errors to the person.

    It is sent there directly, because through the widgets a message would stop at its sender, which may be the screen.
    """
    if _is_full(error):
        app.post_message(
            ReadFailed("The disk is full", "Make room, or delete outputs: what is there can still be read")
        )
    elif _is_read_only(error):
        app.post_message(ReadFailed("Nothing can be written to the store", "What is there can still be read"))
    elif isinstance(error, SightlineError):
        app.post_message(ReadFailed(error.message, error.hint))
    else:
        app.post_message(ReadFailed(f"the store cannot be read: {error}", "`sightline doctor` says more about it"))
