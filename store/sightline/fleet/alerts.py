"""What a watch on a fleet sends without being asked: what an audit finds there, and hosts that fell silent or lag.

An alert is sent once. One about a finding is remembered as long as the finding can come again; one about a host has the
time in it, so that the host is reported again when it falls silent the next time.
"""

import hashlib
import time
from collections.abc import Container, Iterable, Mapping
from urllib.parse import quote

from sightline.audit.finding_kinds import CONTRADICTED_CLAIM, OVERLOOKED
from sightline.audit.findings import Finding
from sightline.base.refs import host_of, parse_ref
from sightline.fleet.host_list import HostRow
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.shape.summary import one_line

SILENT, LAGS = "silent-host", "lagging-host"
ALERT_KINDS = (OVERLOOKED, CONTRADICTED_CLAIM)
"""The kinds of findings that are sent: a failure that nobody saw, and a claim that a run contradicts."""


_COMMAND_CHARACTERS = 120


class Bounds(NamedTuple):
    """When a host is reported. All are in seconds.

    Attributes:
        silent: since it was last heard from; hosts of CI end, and are never reported as silent.
        lag: since the oldest thing was done that it has not shipped.
    """

    silent: float = 3_600.0
    lag: float = 900.0


class Alert(NamedTuple):
    """What is sent about one thing that is wrong.

    Attributes:
        kind: the kind of the finding, ``silent-host`` or ``lagging-host``.
        host: name of the host.
        ref: the lines or the output; empty if it is about none.
        call: id of the call or the message that it is about; empty if it is about none.
        command: command of the output; empty if it is about none.
        text: what is so, in a sentence of ours; chats show the member of this name.
        quote: of a finding the text of the output or of the claim, if that was asked for; else empty.
        link: where the lines can be seen; empty if no page is known.
    """

    kind: str
    host: str
    ref: str
    call: str
    command: str
    text: str
    quote: str
    link: str

    @property
    def key(self) -> str:
        """What it is known by, the same whenever it is found."""
        of_host = self.text if self.kind in (SILENT, LAGS) else ""
        parts = "\0".join((self.kind, self.host, self.ref, self.call, of_host))
        return hashlib.sha256(parts.encode(errors="surrogatepass")).hexdigest()[:32]


def alerts_of_findings(found: Iterable[Finding], *, page: str, quotes: bool) -> list[Alert]:
    """Return the alerts for what an audit has found.

    Args:
        found: the findings.
        page: address of the page of `serve`; empty for none.
        quotes: whether texts of outputs and claims may leave the fleet with it.
    """
    return [
        Alert(
            str(one.kind),
            host_of(parse_ref(one.ref).name) if one.ref else host_of(one.view),
            one.ref,
            one.view,
            one.command,
            _sentence(one),
            one.text if quotes else "",
            _link(page, one.ref) if page and one.ref else "",
        )
        for one in found
        if one.kind in ALERT_KINDS
    ]


def alerts_of_hosts(rows: Iterable[HostRow], bounds: Bounds, now: float) -> list[Alert]:
    """Return the alerts about the hosts themselves; ``now`` is in seconds since the epoch."""
    found = []
    for row in rows:
        if row.silent_seconds is None:
            continue
        if row.kind != "ci" and row.silent_seconds > bounds.silent:
            found.append(_of_host(SILENT, row, f"nothing was heard from it since {_at(row.seen)}"))
        elif row.items and now - row.oldest > bounds.lag:
            found.append(_of_host(LAGS, row, f"what was done at {_at(row.oldest)} is not shipped yet"))
    return found


def _sentence(one: Finding) -> str:
    about = f"{one.ref} " if one.ref else ""
    return f"{one.kind.headline}: {about}{one_line(one.command, _COMMAND_CHARACTERS)}".strip(" :")


def _of_host(kind: str, row: HostRow, what: str) -> Alert:
    return Alert(kind, row.name, "", "", "", f"{row.name}: {what}", "", "")


def _at(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _link(page: str, ref: str) -> str:
    parsed = parse_ref(ref)
    line = f"#L{parsed.first}" if parsed.first else ""
    return f"{page.rstrip('/')}/o/{quote(parsed.name)}{line}"


class SentAlerts:
    """The alerts that were sent, by their keys, with when.

    Args:
        sent: as `kept` has returned it.
    """

    def __init__(self, sent: Mapping[str, float]) -> None:
        self._sent = dict(sent)

    def new(self, alerts: Iterable[Alert]) -> list[Alert]:
        """Return those that were not sent, each once."""
        return list({one.key: one for one in alerts if one.key not in self._sent}.values())

    def add(self, alert: Alert, now: float) -> None:
        """Note that one was sent."""
        self._sent[alert.key] = now

    def forget(self, before: float, stand: Container[str]) -> None:
        """Forget those that were sent before a time, but for the keys of what still stands."""
        self._sent = {key: at for key, at in self._sent.items() if at >= before or key in stand}

    def kept(self) -> dict[str, Any]:
        """Return them as JSON can keep them."""
        return dict(self._sent)
