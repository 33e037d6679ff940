"""Watches a fleet: looks again and again at what its audit finds and how its hosts do, and sends what is new, once."""

import os
import time
from collections.abc import Callable

from sightline.audit.findings import audited_by_hosts
from sightline.audit.verdict import Scope
from sightline.base.errors import SightlineError
from sightline.base.private_files import make_folder, read_file, write_atomically
from sightline.fleet import QUEUE_FOLDER
from sightline.fleet.address import database_address, password_program
from sightline.fleet.alerts import Alert, Bounds, SentAlerts, alerts_of_findings, alerts_of_hosts
from sightline.fleet.database import connected
from sightline.fleet.host_list import HostRow, hosts
from sightline.fleet.metrics import Point, points_of
from sightline.fleet.reader.store import SharedStore
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple

SETTLED_SECONDS = 60.0
"""So long something has to stand before it is sent: an agent's next reply may still show it."""

_LOOKS_BACK_SECONDS = 7 * 86_400.0
_STATE = "watch.json"


class Look(NamedTuple):
    """What one look has found.

    Attributes:
        alerts: all that is wrong now, sent or not.
        sent: those that it has sent.
        failed: why some could not be sent, in words; they are tried again.
        points: the figures of the hosts.
    """

    alerts: list[Alert]
    sent: list[Alert]
    failed: list[str]
    points: list[Point]


class Watch:
    """A watch on a fleet, which remembers below this machine's store what it has sent."""

    def __init__(
        self,
        store: SharedStore,
        deliver: Callable[[Alert], None],
        *,
        bounds: Bounds,
        since: float,
        page: str = "",
        quotes: bool = False,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            store: the fleet, as a role that may read what is to be watched.
            deliver: sends an alert, and raises SightlineError where nobody took it.
            bounds: when a host is reported.
            since: what came before is not sent the first time that this fleet is watched, seconds since the epoch.
            page: address of the page of `serve`, for links; empty for none.
            quotes: whether texts of outputs and claims are sent, too.
        """
        self._store, self._deliver, self._bounds = store, deliver, bounds
        self._page, self._quotes = page, quotes
        self._path = os.path.join(store.local.root, QUEUE_FOLDER, _STATE)
        self._begin, self._sent = since, SentAlerts({})
        self._is_kept = self._recall()
        self._stands: dict[str, float] = {}

    def look(self, *, settled: float = SETTLED_SECONDS) -> Look:
        """Look once, and send what is new.

        Args:
            settled: for how many seconds it must have been found; 0 to send it at once.

        Raises:
            StoreFailed: the fleet cannot be read now.
        """
        now = time.time()
        since = max(self._begin, now - _LOOKS_BACK_SECONDS)
        rows = self._rows()
        audited = audited_by_hosts(self._store, Scope(None, since, None))
        found = alerts_of_findings(audited.found if audited else [], page=self._page, quotes=self._quotes)
        alerts = list({one.key: one for one in (*found, *alerts_of_hosts(rows, self._bounds, now))}.values())
        self._stands = {one.key: self._stands.get(one.key, now) for one in alerts}
        sent, failed = [], []
        for one in self._sent.new(alerts):
            if now - self._stands[one.key] < settled:
                continue
            try:
                self._deliver(one)
            except SightlineError as error:
                failed.append(error.message)
            else:
                sent.append(one)
                self._sent.add(one, now)
                self._remember(now)
        if not self._is_kept:
            self._remember(now)
        return Look(alerts, sent, failed, points_of(rows, alerts, now))

    def _rows(self) -> list[HostRow]:
        address = database_address(self._store.address)
        with connected(address, password_program(self._store.local.settings.fleet, address)) as connection:
            return list(hosts(connection))

    def _recall(self) -> bool:
        """Recall when this fleet was first watched, and what was sent; return whether it was watched before."""
        try:
            kept = loads(read_file(self._path))[self._store.address]
            sent = SentAlerts({str(key): float(at) for key, at in kept["sent"].items()})
            self._begin, self._sent = float(kept["begin"]), sent
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return False
        return True

    def _remember(self, now: float) -> None:
        """Keep what was sent, so that nothing is sent twice after a restart."""
        self._is_kept = True
        self._sent.forget(now - 2 * _LOOKS_BACK_SECONDS, self._stands)
        try:
            others = loads(read_file(self._path))
        except (FileNotFoundError, ValueError):
            others = {}
        state = {self._store.address: {"begin": self._begin, "sent": self._sent.kept()}}
        make_folder(os.path.dirname(self._path))
        write_atomically(self._path, dumps((others if isinstance(others, dict) else {}) | state).encode())
