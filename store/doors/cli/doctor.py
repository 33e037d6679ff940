"""``sightline doctor``: is the store sound, what holds on this machine, and do agents' harnesses reach us."""

from collections.abc import Iterator

from sightline.store.doors.cli.arguments import parser
from sightline.store.doors.cli.output import Door, dim, print_json, red, write_out
from sightline.store.tools.doctor import Finding, examine

_MARKS = {"ok": "✓", "note": "·", "mended": "✚", "problem": "✗"}


def main(name: str, words: list[str]) -> int:
    """Run the command line; 1 where something is wrong that could not be mended."""
    made = parser(
        name,
        "Check the store: permissions, records, hashes, the index, the chain of views, and what holds queries to "
        "reading on this machine. Mends what can be mended without losing anything, and says so. Then look at each "
        "agent's harness: what `sightline install` has put there, and whether it answers when it is tried.",
        example="sightline doctor --json",
    )
    made.add_argument("--rebuild", action="store_true", help="make the index anew from the folders")
    given = made.parse_args(words)
    door = Door()
    try:
        findings = []
        for finding in _findings(door, given.rebuild):
            findings.append(finding)
            if not given.json:
                write_out(_row(finding) + "\n")
        if given.json:
            print_json([finding._asdict() for finding in findings])
        return int(any(finding.level == "problem" for finding in findings))
    finally:
        door.close()


def _findings(door: Door, rebuild: bool) -> Iterator[Finding]:
    yield from examine(door.store, rebuild=rebuild)
    # Loaded here: a broken store is to be told of first.
    from sightline.store.doors.cli.install import here, told_root
    from sightline.store.doors.harness.install.checking import examine_harnesses

    yield from examine_harnesses(here(), told_root())


def _row(finding: Finding) -> str:
    row = f"{_MARKS[finding.level]} {finding.text}"
    if finding.level == "problem":
        return red(row)
    return dim(row, fd=1) if finding.level == "ok" else row
