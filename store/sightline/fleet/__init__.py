"""Ships a store to PostgreSQL and an object store, for many machines. All but this module needs the extra ``fleet``."""

from sightline.base.distribution import install_extra
from sightline.base.errors import SightlineError

QUEUE_FOLDER, QUEUE_FILE = "fleet", "queue.sqlite"
"""File of a shipper, below the root. Its table ``known`` has the queued names, ``logs`` the queued bytes of logs, and
``items`` what is not shipped yet."""

PASSWORD_FILE, KEY_FILE = "password", "key.env"
"""Files in that folder that a host got when it joined: the password of its role, and the key of the object store."""

PURGES_FILE = "purges"
"""File below the root with the names of all outputs that were purged here, one on each line. Each request begins with
an empty line, so that one before it that was broken off ends there."""


class ExtraMissing(SightlineError):
    """The clients of the database and the object store are not installed."""

    def __init__(self, missing: ImportError) -> None:
        super().__init__(f"this needs what is not installed: {missing}", install_extra("fleet"))
