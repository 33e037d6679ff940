"""``sightline doctor``: checks the store, what keeps queries from writing, and whether harnesses reach Sightline."""

import os
import time
from collections.abc import Iterator

from sightline.doors.cli.arguments import ArgumentParser, Namespace, command_parser
from sightline.doors.cli.install import here, told_root
from sightline.doors.cli.output import Door, dim, print_json, red, write_all, write_out
from sightline.doors.doctor.check_result import CheckResult
from sightline.doors.doctor.doctor import examine
from sightline.doors.install.harness_health import examine_harnesses
from sightline.shape.summary import human_bytes

DRAWN_SECONDS = 0.1
_MARKS = {"ok": "✓", "note": "·", "mended": "✚", "problem": "✗"}


def parser(name: str) -> ArgumentParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Check the store: its permissions, records, hashes, index and log, and what keeps queries from writing on "
        "this machine. What can be mended without losing anything is mended, and listed. Then check each harness: "
        "what `sightline install` has written into its settings, and whether that answers a trial call.",
        "sightline doctor",
        "sightline doctor --rebuild",
    )
    made.add_argument(
        "--rebuild",
        action="store_true",
        help="make the index anew from the buffers' folders, when it is damaged or lists the wrong things",
    )
    return made


def main(given: Namespace) -> int:
    """Print the findings, and return 1 if something is wrong that could not be mended."""
    door = Door()
    progress = CheckProgress()
    try:
        findings = []
        for finding in _findings(door, given.rebuild, progress):
            findings.append(finding)
            progress.clear()
            if not given.json:
                write_out(_row(finding) + "\n")
        if given.json:
            print_json([finding._asdict() for finding in findings])
        return int(any(finding.level == "problem" for finding in findings))
    finally:
        progress.clear()
        door.close()


class CheckProgress:
    """A line on a terminal that shows how far the check is; on a large store it takes minutes."""

    def __init__(self) -> None:
        self._done: dict[str, int] = {}
        self._drawn = time.monotonic()
        self._stands = False
        self._is_seen = os.isatty(2)

    def __call__(self, what: str, more: int) -> None:
        """Advance the line; see `findings.Advance`."""
        self._done[what] = self._done.get(what, 0) + more
        if self._is_seen and (now := time.monotonic()) - self._drawn > DRAWN_SECONDS:
            self._drawn, self._stands = now, True
            done = human_bytes(self._done[what]) if what == "bytes" else f"{self._done[what]:,} {what}"
            write_all(2, f"\r  {done} checked\x1b[K".encode())

    def clear(self) -> None:
        """Remove the line."""
        if self._stands:
            self._stands = False
            write_all(2, b"\r\x1b[K")


def _findings(door: Door, rebuild: bool, progress: CheckProgress) -> Iterator[CheckResult]:
    yield from examine(door.local, rebuild=rebuild, advance=progress)
    yield from examine_harnesses(here(), told_root())


def _row(finding: CheckResult) -> str:
    row = f"{_MARKS[finding.level]} {finding.text}"
    if finding.level == "problem":
        return red(row)
    return dim(row, fd=1) if finding.level == "ok" else row
