"""``sightline fleet watch``: sends what goes wrong on any machine to a webhook or a command, and offers metrics."""

import contextlib
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sightline.base.errors import SightlineError, UsageError
from sightline.base.http_guard import Guard, address_of
from sightline.base.time_words import TAKES, span_of
from sightline.doors.terminal.arguments import CommandParser, Namespace, add_store, command_parser, seconds
from sightline.doors.terminal.output import Door, write_err, write_out
from sightline.fleet import ExtraMissing
from sightline.light.json_text import dumps
from sightline.verbs.printable_text import printable

try:
    from sightline.fleet.alert_delivery import TOKEN_VARIABLE, post, run_with, web_address
    from sightline.fleet.alerts import Alert, Bounds
    from sightline.fleet.metrics import otlp_request, prometheus_text
    from sightline.fleet.reader.store import SharedStore
    from sightline.fleet.watch import Look, Watch
except ImportError as error:
    _MISSING: ImportError | None = error
else:
    _MISSING = None

_WEBHOOK_VARIABLE = "SIGHTLINE_WEBHOOK"
_METRICS_EVERY_SECONDS = 60.0


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Send to a webhook, or to the standard input of a command, as JSON: each failure that nobody saw, each claim "
        "that a run contradicts, each machine that fell silent, and each that lags behind in shipping. Each is sent "
        "once, with a restart between, too; what nobody took is tried again. No text of an output or a claim leaves "
        "the fleet, unless --quotes is given. It reads with the right of the role that --store names, and runs until "
        "it is ended. Without a webhook and a command it prints what it would send.",
        "sightline fleet watch --store postgresql://watch@db.example/fleet --webhook https://chat.example/hooks/x",
        "sightline fleet watch --command 'mail -s Sightline team@example.org' --page https://sightline.example",
        json=False,
    )
    add_store(made)
    made.add_argument(
        "--webhook",
        default="",
        metavar="URL",
        help="post each alert there (default: SIGHTLINE_WEBHOOK, which other users cannot read as they can a command "
        "line); SIGHTLINE_WEBHOOK_TOKEN is sent as a bearer token",
    )
    made.add_argument(
        "--command", default="", metavar="COMMAND", help="run this program, without a shell, for each alert"
    )
    made.add_argument(
        "--page", default="", metavar="URL", help="begin links with this address of `sightline serve --store`"
    )
    made.add_argument("--quotes", action="store_true", help="also send the text of the failure, or of the claim")
    made.add_argument(
        "--since", default="now", metavar="TIME", help=f"the first time, also send what came after this: {TAKES}"
    )
    made.add_argument(
        "--silent-after",
        type=seconds,
        default=3_600.0,
        metavar="S",
        help="report a machine that was not heard from for so many seconds (default 3600)",
    )
    made.add_argument(
        "--lag-after",
        type=seconds,
        default=900.0,
        metavar="S",
        help="report a machine that has not shipped what was done so many seconds ago (default 900)",
    )
    made.add_argument(
        "--every", type=seconds, default=10.0, metavar="S", help="look again after so many seconds (default 10)"
    )
    made.add_argument("--once", action="store_true", help="look once, send what is new at once, and end")
    made.add_argument(
        "--metrics",
        default="",
        metavar="ADDRESS:PORT",
        help="answer Prometheus at /metrics on this address, such as 127.0.0.1:9464",
    )
    made.add_argument(
        "--otlp", default="", metavar="URL", help="send the same metrics each minute to this OTLP endpoint"
    )
    return made


def main(given: Namespace) -> int:
    """Watch until it is ended, and return the exit code; with ``--once`` 1 where something could not be sent."""
    if _MISSING:
        raise ExtraMissing(_MISSING) from _MISSING
    deliver, otlp = _delivery(given), web_address(given.otlp) if given.otlp else ""
    since = time.time() if given.since == "now" else span_of(given.since).start
    page = web_address(given.page) if given.page else ""
    bounds = Bounds(given.silent_after, given.lag_after)
    with Door(given) as door:
        if not isinstance(door.store, SharedStore):
            raise UsageError("no fleet is named", "give --store postgresql://reader@host/db, or set SIGHTLINE_STORE")
        watch = Watch(door.store, deliver, bounds=bounds, since=since, page=page, quotes=given.quotes)
        if given.once:
            return int(bool(_said(watch.look(settled=0)).failed))
        with _metrics_server(given.metrics) as show:
            _go_on(watch, given.every, show, otlp)
    return 0


def _delivery(given: Namespace) -> "Callable[[Alert], None]":
    """Return what sends an alert."""
    webhook = given.webhook or os.environ.get(_WEBHOOK_VARIABLE, "")
    if webhook and given.command:
        raise UsageError("a webhook and a command are named", "give one of them")
    if webhook:
        url, token = web_address(webhook), os.environ.get(TOKEN_VARIABLE, "")
        return lambda alert: post(url, alert._asdict(), token)
    if given.command:
        words = shlex.split(given.command)
        return lambda alert: run_with(words, alert._asdict())
    return lambda alert: write_out(printable(dumps(alert._asdict(), ensure_ascii=False)) + "\n")


def _said(look: "Look") -> "Look":
    for why in dict.fromkeys(look.failed):
        write_err(printable(f"not sent: {why}") + "\n")
    return look


def _go_on(watch: "Watch", every: float, show: Callable[[str], None], otlp: str) -> None:
    """Look again and again, until a signal ends it."""
    end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end.set())
    trouble, sent_at = "", 0.0
    while not end.is_set():
        try:
            look = _said(watch.look())
            show(prometheus_text(look.points))
            if otlp and time.monotonic() >= sent_at + _METRICS_EVERY_SECONDS:
                sent_at = time.monotonic()
                post(f"{otlp.rstrip('/')}/v1/metrics", otlp_request(look.points, time.time()))
            trouble = ""
        except SightlineError as error:
            if error.message != trouble:  # once, while it lasts
                write_err(printable(f"{error.message}: {error.hint}") + "\n")
            trouble = error.message
        end.wait(every)


@contextlib.contextmanager
def _metrics_server(place: str) -> Iterator[Callable[[str], None]]:
    """Answer at /metrics with the text that was given last; with no place, nowhere."""
    if not place:
        yield lambda _: None
        return
    host, _, port = place.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"--metrics {place!r} is no address and port", "write it as 127.0.0.1:9464")
    shown = [""]
    guard = Guard(address_of(host.strip("[]")), "")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            refused = guard.refusal(self.headers.get("Host", ""), self.headers.get("Origin"))
            status = refused.status if refused else 200 if self.path == "/metrics" and shown[0] else 404
            body = shown[0].encode() if status == 200 else b""
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write nothing: a collector asks every few seconds."""

    try:
        server = ThreadingHTTPServer((host.strip("[]"), int(port)), Handler)
    except OSError as error:
        raise SightlineError(f"{place} cannot be used: {error.strerror}", "--metrics names another port") from error
    with server:
        thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.1), daemon=True)
        thread.start()
        try:
            yield lambda text: shown.__setitem__(0, text)
        finally:
            server.shutdown()
            thread.join()
