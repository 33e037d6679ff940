"""``sightline doctor``: checks the store, what keeps queries from writing, and whether harnesses reach Sightline."""

from collections.abc import Iterator

from sightline.agents.install.harness_health import examine_harnesses
from sightline.agents.install.harness_settings import here, told_root
from sightline.base.check_result import CheckResult
from sightline.doors.doctor.doctor import examine
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, dim, print_json, red, write_out
from sightline.doors.terminal.progress_line import ProgressLine
from sightline.shape.summary import human_bytes

_MARKS = {"ok": "✓", "note": "·", "mended": "✚", "problem": "✗"}


def parser(name: str) -> CommandParser:
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
    line = ProgressLine()
    try:
        findings = []
        for finding in _findings(door, given.rebuild, CheckProgress(line)):
            findings.append(finding)
            line.remove()
            if not given.json:
                write_out(_row(finding) + "\n")
        if given.json:
            print_json([finding._asdict() for finding in findings])
        return int(any(finding.level == "problem" for finding in findings))
    finally:
        line.remove()
        door.close()


class CheckProgress:
    """Shows how far the check is; on a large store it takes minutes."""

    def __init__(self, line: ProgressLine) -> None:
        self._done: dict[str, int] = {}
        self._line = line

    def __call__(self, what: str, more: int) -> None:
        """Advance the line; see `findings.Advance`."""
        done = self._done[what] = self._done.get(what, 0) + more
        self._line.show(f"  {human_bytes(done) if what == 'bytes' else f'{done:,} {what}'} checked")


def _findings(door: Door, rebuild: bool, progress: CheckProgress) -> Iterator[CheckResult]:
    yield from examine(door.local, rebuild=rebuild, advance=progress)
    yield from examine_harnesses(here(), told_root())


def _row(finding: CheckResult) -> str:
    row = f"{_MARKS[finding.level]} {finding.text}"
    if finding.level == "problem":
        return red(row)
    return dim(row, fd=1) if finding.level == "ok" else row
