"""Asks a client for its roots, the folders it works in, and moves a server into one that was started elsewhere.

Clients since 2026-07-28 can be asked nothing; they start servers in the folder that they work in.
"""

import os
import threading
from urllib.parse import unquote, urlsplit

from sightline.base.project import working_directory
from sightline.light.typing_names import Any, Callable

_PATIENCE_SECONDS = 0.5  # for a client that says that it has roots, and does not name them
_METHOD = "roots/list"


def folder_among(result: Any, here: str) -> str:
    """Return the root to work in; empty if the folder ``here`` lies within one, or no root is a folder here.

    Args:
        result: the result of ``roots/list``.
        here: the server's own folder.
    """
    listed = result.get("roots") if isinstance(result, dict) else None
    folders = [folder for root in listed if (folder := _path_of(root))] if isinstance(listed, list) else []
    if any(os.path.commonpath((folder, os.path.realpath(here))) == folder for folder in folders):
        return ""
    return folders[0] if folders else ""


def _path_of(root: Any) -> str:
    """Return the real path of a root that is a folder on this machine; empty for any other."""
    uri = root.get("uri") if isinstance(root, dict) else None
    try:
        parts = urlsplit(uri) if isinstance(uri, str) else None
        if parts is None or parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            return ""
        path = os.path.realpath(unquote(parts.path))
        return path if os.path.isdir(path) else ""
    except ValueError:  # of an address, or a NUL in a path
        return ""


class ClientRoots:
    """The roots of one client. Any thread may use it.

    Args:
        send: sends a request to the client.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._asked = ""
        self._count = 0
        self._known = threading.Event()
        self._known.set()
        self._note = ""

    def ask(self) -> None:
        """Ask the client."""
        with self._lock:
            self._count += 1
            self._asked = f"sightline-roots-{self._count}"
        self._known.clear()
        self._send({"jsonrpc": "2.0", "id": self._asked, "method": _METHOD})

    def take(self, number: object, result: Any) -> None:
        """Take an answer of the client, and move into its root if it is one to the last request."""
        with self._lock:
            if number != self._asked:
                return
            folder = folder_among(result, working_directory())
            try:
                if folder:
                    os.chdir(folder)
                    self._note = f"commands run in {folder}, the folder that the client works in"
            except OSError as error:
                self._note = f"the folder that the client works in, {folder}, cannot be entered: {error.strerror}"
        self._known.set()

    def settled(self) -> str:
        """Wait for the client's answer, and return once what a reply must say about it; empty for nothing."""
        self._known.wait(_PATIENCE_SECONDS)
        self._known.set()
        if not self._note:
            return ""
        with self._lock:
            note, self._note = self._note, ""
        return note
