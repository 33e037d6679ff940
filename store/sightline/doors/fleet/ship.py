"""``sightline ship``: copies finished outputs to the fleet, once or continuously, or says how far behind it is."""

import contextlib
import os
import signal
import sys
import threading
import time
from xml.sax.saxutils import escape

from sightline.base.threads import share_one_heap
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser, seconds
from sightline.doors.terminal.output import print_json, write_out
from sightline.doors.terminal.progress_line import ProgressLine, bar
from sightline.fleet import ExtraMissing
from sightline.shape.summary import counted, human_bytes
from sightline.store import Store
from sightline.verbs.printable_text import printable

try:
    from sightline.fleet.database import FleetRefused, FleetUnreachable
    from sightline.fleet.shipper import Shipper, ShippingProgress
    from sightline.fleet.status import in_words, ship_status
except ImportError as error:
    _MISSING: ImportError | None = error
else:
    _MISSING = None


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Copy finished outputs, the replies about them, sessions and notes to the fleet that [fleet] in config.toml "
        "names. What the fleet has already is not copied again. Without a network everything stays here until the "
        "next time. The command ends when everything is copied, unless --follow is given.",
        "sightline ship --follow",
        "sightline ship --drain --timeout 120",
    )
    does = made.add_mutually_exclusive_group()
    does.add_argument("--follow", action="store_true", help="keep running, and copy what comes")
    does.add_argument(
        "--drain",
        action="store_true",
        help="end when everything is copied, or after --timeout, as without an option; for the last step of a CI job",
    )
    does.add_argument("--status", action="store_true", help="show what is not copied yet, and what is left out")
    does.add_argument(
        "--unit",
        action="store_true",
        help="print a service for systemd, or launchd on macOS, that runs `sightline ship --follow`",
    )
    made.add_argument(
        "--timeout",
        type=seconds,
        default=600.0,
        metavar="S",
        help=("give up after this many seconds (default 600); what is left waits for the next time"),
    )
    return made


def main(given: Namespace) -> int:
    """Run the command, and return 1 if something could not be shipped."""
    if _MISSING:
        raise ExtraMissing(_MISSING) from _MISSING
    with Store() as store:
        if given.unit:
            write_out(unit_text(store.root))
            return 0
        if given.status:
            return _status(store, given)
        return _follow(store) if given.follow else _drain(store, given)


def _drain(store: Store, given: Namespace) -> int:
    share_one_heap()
    line, shipped = ProgressLine(), ShippingProgress(0, 0, 0)

    def told(progress: ShippingProgress) -> None:
        nonlocal shipped
        shipped = progress
        share = progress.items / max(progress.items + progress.waiting_items, 1)
        line.show(f"{bar(share)}, {human_bytes(progress.bytes)}")

    ends = time.monotonic() + given.timeout
    with Shipper(store, tell=told) as shipper:
        try:
            shipper.drain(until=ends)
        finally:
            line.remove()
        host = shipper.host.name if shipper.host else ""
        if given.json:
            print_json({"host": host, "items": shipped.items, "bytes": shipped.bytes})
        else:
            done = counted(shipped.items, "item")
            write_out(f"all is shipped, as {host}: {done}, {human_bytes(shipped.bytes)} of output\n")
        with contextlib.suppress(FleetRefused, FleetUnreachable):  # then readers examine it themselves
            shipper.judge(stop=lambda: time.monotonic() > ends)
    return 0


def _follow(store: Store) -> int:
    share_one_heap()
    end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end.set())
    with Shipper(store) as shipper:
        shipper.follow(end.wait)
    return 0


def _status(store: Store, given: Namespace) -> int:
    status = ship_status(store)
    if given.json:
        print_json(status._asdict())
    else:
        for line in in_words(status, store.settings.fleet.db).split("\n"):
            write_out(printable(line) + "\n")
    return 0


SYSTEMD_UNIT, LAUNCHD_UNIT = (
    "~/.config/systemd/user/sightline-ship.service",
    "~/Library/LaunchAgents/sightline-ship.plist",
)
"""Where a unit of this account lies."""

_SYSTEMD = """\
# {path}
# then: systemctl --user daemon-reload && systemctl --user enable --now sightline-ship
# and, to ship while nobody is logged in: loginctl enable-linger
[Unit]
Description=Ship what Sightline keeps to the fleet

[Service]
ExecStart={command}
Environment={home}
{key_file}Restart=on-failure
RestartSec=60
Nice=10
MemoryMax=200M
NoNewPrivileges=true

[Install]
WantedBy=default.target
"""

_LAUNCHD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- {path}
     then: launchctl bootstrap gui/$(id -u) {path} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>sightline-ship</string>
  <key>ProgramArguments</key>
  <array>{words}</array>
  <key>EnvironmentVariables</key>
  <dict><key>SIGHTLINE_HOME</key><string>{home}</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ProcessType</key><string>Background</string>
  <key>ThrottleInterval</key><integer>60</integer>
</dict>
</plist>
"""


def unit_text(root: str, platform: str = sys.platform) -> str:
    """Return the text of a unit for a store. It has no password; keys come from files that it names.

    Args:
        root: folder of the store.
        platform: name of the platform, from `sys.platform`.
    """
    words = [sys.executable, "-m", "sightline.doors.cli.main", "ship", "--follow"]
    if platform == "darwin":
        return _LAUNCHD.format(
            path=LAUNCHD_UNIT,
            words="".join(f"<string>{escape(word)}</string>" for word in words),
            home=escape(root),
        )
    keys = os.path.join("%h", ".config", "sightline", "ship.env")
    return _SYSTEMD.format(
        path=SYSTEMD_UNIT,
        command=" ".join(_quoted(word).replace("$", "$$") for word in words),  # only there does $ begin a variable
        home=_quoted(f"SIGHTLINE_HOME={root}"),
        key_file=f"EnvironmentFile=-{keys}\n",
    )


def _quoted(word: str) -> str:
    """Quote a word for a unit's file."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
