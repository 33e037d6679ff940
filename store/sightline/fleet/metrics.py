"""The figures of a fleet by host, for those who collect metrics: in Prometheus' text form, and as OTLP in JSON.

Names and units follow the conventions of Prometheus (https://prometheus.io/docs/practices/naming/), members those of
``opentelemetry/proto/metrics/v1/metrics.proto`` in lowerCamelCase. All are gauges, since retention lowers counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from sightline.audit.finding_kinds import CONTRADICTED_CLAIM, OVERLOOKED
from sightline.fleet.alerts import Alert
from sightline.fleet.host_list import HostRow
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any


class Metric(NamedTuple):
    """A figure of a host.

    Attributes:
        name: its name.
        help: what it is.
        unit: its unit, by UCUM as OTLP has it.
        of: returns its value; ``unseen`` and ``contradicted`` are counted apart, and have none.
    """

    name: str
    help: str
    unit: str
    of: Callable[[HostRow, float], float] | None = None


METRICS = (
    Metric("sightline_outputs", "Outputs that the fleet has of the host.", "1", lambda row, _: row.buffers),
    Metric("sightline_failed_outputs", "Those of them that failed.", "1", lambda row, _: row.failed),
    Metric("sightline_stored_bytes", "Bytes of these outputs.", "By", lambda row, _: row.stored_bytes),
    Metric("sightline_lag_items", "Items that the host has still to ship.", "1", lambda row, _: row.items),
    Metric("sightline_lag_bytes", "Bytes of these items.", "By", lambda row, _: row.bytes),
    Metric("sightline_lag_seconds", "Time since the oldest of these items was done.", "s", lambda *of: _lag(*of)),
    Metric(
        "sightline_silent_seconds", "Time since the host was last heard.", "s", lambda row, _: row.silent_seconds or 0
    ),
    Metric("sightline_unseen_failures", "Failures of the last days that stood in no reply.", "1"),
    Metric("sightline_contradicted_claims", "Claims of the last days that a run contradicts.", "1"),
)
_COUNTED = {"sightline_unseen_failures": OVERLOOKED, "sightline_contradicted_claims": CONTRADICTED_CLAIM}


def _lag(row: HostRow, now: float) -> float:
    return max(0.0, now - row.oldest) if row.items else 0.0


class Point(NamedTuple):
    """The value of a metric for a host and its team."""

    metric: Metric
    host: str
    team: str
    value: float


def points_of(rows: Sequence[HostRow], alerts: Iterable[Alert], now: float) -> list[Point]:
    """Return the values of all metrics.

    Args:
        rows: the hosts; such as have shipped nothing yet have none.
        alerts: what is known to be wrong now, sent or not.
        now: seconds since the epoch.
    """
    counts = Counter((one.kind, one.host) for one in alerts)
    heard = [row for row in rows if row.silent_seconds is not None]
    return [
        Point(
            metric,
            row.name,
            row.team,
            float(metric.of(row, now) if metric.of else counts[_COUNTED[metric.name], row.name]),
        )
        for metric in METRICS
        for row in heard
    ]


def prometheus_text(points: Iterable[Point]) -> str:
    """Return points in Prometheus' text exposition format, version 0.0.4."""
    lines, last = list[str](), ""
    for point in points:
        name = point.metric.name
        if name != last:
            lines += [f"# HELP {name} {point.metric.help}", f"# TYPE {name} gauge"]
            last = name
        labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in (("host", point.host), ("team", point.team)))
        lines.append(f"{name}{{{labels}}} {point.value:.15g}")
    return "".join(f"{line}\n" for line in lines)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def otlp_request(points: Iterable[Point], now: float) -> dict[str, Any]:
    """Return points as the body of a request to ``/v1/metrics``; ``now`` is in seconds since the epoch."""
    by_metric: dict[Metric, list[dict[str, Any]]] = {}
    for point in points:
        attributes = [
            {"key": key, "value": {"stringValue": value}}
            for key, value in (("host.name", point.host), ("sightline.team", point.team))
        ]
        value = {"attributes": attributes, "timeUnixNano": str(int(now * 1e9)), "asDouble": point.value}
        by_metric.setdefault(point.metric, []).append(value)
    made = [
        {"name": one.name.replace("_", "."), "description": one.help, "unit": one.unit, "gauge": {"dataPoints": values}}
        for one, values in by_metric.items()
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "sightline"}}]}
    scope = {"scope": {"name": "sightline"}, "metrics": made}
    return {"resourceMetrics": [{"resource": resource, "scopeMetrics": [scope]}]}
