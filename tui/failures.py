"""What may go wrong with a store while one looks at it, and how it is said."""

import sqlite3

from sightline.store.errors import SightlineError
from sightline.tui.messages import ReadFailed
from textual.message_pump import MessagePump

STORE_ERRORS = (SightlineError, OSError, sqlite3.Error)
"""Causes that lie in the store, not in the inspector: told, and survived. Anything else is a bug, and shows as one."""


def tell(app: MessagePump, error: Exception) -> None:
    """Have the application tell the person of one of these errors.

    Sent to it straight: by way of the widgets, a message ends at whoever made it, which while drawing is the screen.
    """
    if isinstance(error, SightlineError):
        app.post_message(ReadFailed(error.message, error.hint))
    else:
        app.post_message(ReadFailed(f"the store cannot be read: {error}", "`sightline doctor` tells more"))
