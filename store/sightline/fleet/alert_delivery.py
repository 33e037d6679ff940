"""Delivers alerts: to a webhook, or to the standard input of a command, as JSON.

Nothing of it goes into arguments, a shell or an address, and a redirection is not followed.
"""

import http.client
import os
import subprocess
from collections.abc import Sequence
from urllib.parse import urlsplit

from sightline.base.errors import SightlineError, UsageError
from sightline.base.http_guard import address_of
from sightline.light.json_text import dumps
from sightline.light.typing_names import Any

TOKEN_VARIABLE = "SIGHTLINE_WEBHOOK_TOKEN"  # noqa: S105 - the name of a variable
"""The variable with what goes to a webhook as ``Authorization: Bearer …``."""
_TIMEOUT_SECONDS = 20.0


class NotDelivered(SightlineError):
    """It was not taken; it is tried again."""


def web_address(text: str) -> str:
    """Return an address of HTTPS, or of HTTP on this machine. Raises UsageError for any other."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise UsageError(f"{text!r} is no web address", "https://host/path, without a user in it")
    if parts.scheme == "http" and not address_of(parts.hostname).is_loopback:
        raise UsageError(f"{text!r} is not encrypted", "use https, except for this machine")
    return text


def post(url: str, data: Any, token: str = "") -> None:
    """Send JSON to a web address. Raises NotDelivered unless it answers 2xx."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    made = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = made(parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", path, dumps(data).encode(), headers)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise NotDelivered(f"{parts.hostname} does not answer: {error}", "it is tried again") from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise NotDelivered(f"{parts.hostname} answered {status}", "it is tried again")


def run_with(words: Sequence[str], data: Any) -> None:
    """Run a program, without a shell, with JSON as its standard input. Raises NotDelivered unless it returns 0."""
    try:
        done = subprocess.run(
            words,
            input=dumps(data).encode() + b"\n",
            timeout=_TIMEOUT_SECONDS,
            env={name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotDelivered(f"{words[0]} did not run: {error}", "it is tried again") from error
    if done.returncode:
        raise NotDelivered(f"{words[0]} returned {done.returncode}", "it is tried again")
