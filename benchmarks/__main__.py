"""``python -m benchmarks [NAME…] [--small | --check | --save] [--plots]``: all measurements, or those named."""

import argparse
import os
import sys
import tempfile

from benchmarks import (
    baseline,
    capture,
    claude_code,
    coverage,
    diff,
    failure_recall,
    fleet,
    hooks,
    importing,
    lines,
    load,
    mcp,
    processes,
    proxy,
    query,
    redaction,
    screen,
    shaping,
    shared_place,
    startup,
    tui,
)
from benchmarks.measure import Row, interleaved, machine, median, ms, print_rows, run

ALL = {
    "startup": startup,
    "capture": capture,
    "coverage": coverage,
    "lines": lines,
    "processes": processes,
    "mcp": mcp,
    "proxy": proxy,
    "query": query,
    "redaction": redaction,
    "hooks": hooks,
    "claude_code": claude_code,
    "screen": screen,
    "shaping": shaping,
    "diff": diff,
    "tui": tui,
    "importing": importing,
    "failure_recall": failure_recall,
    "fleet": fleet,
    "shared_place": shared_place,
    "load": load,
}
_ONLY_NAMED = {"load"}
"""Takes an hour and 20 GB."""


def main() -> int:
    """Run them one after the other; 1 where one is worse than it was."""
    if sys.argv[1:2] == ["soak"]:  # takes its time, and measures no ratio: not among the others
        from benchmarks import soak

        return soak.main(sys.argv[2:])
    if sys.argv[1:2] == ["soak-keys"]:  # likewise
        from benchmarks.soaking import keys

        return keys.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(ALL)}; all but load by default")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--small", action="store_true", help="a tenth of the size, to see that it works")
    how.add_argument(
        "--check",
        action="store_true",
        help="fail where a ratio is over 20 %% worse than the saved one, or a time over 50 %%",
    )
    how.add_argument("--save", action="store_true", help="save the ratios as those to check against")
    parser.add_argument("--plots", action="store_true", help="draw anew, into plots/, what load measures")
    given = parser.parse_args()
    print(machine())
    found: dict[str, list[Row]] = {}
    floors: dict[str, float] = {}
    for name in given.names or [name for name in ALL if name not in _ONLY_NAMED]:
        floors[name] = _floor()
        print(f"\n{name}: {(ALL[name].__doc__ or '').splitlines()[0]}", flush=True)
        print(f"  (python -c pass {ms(floors[name])}, load {os.getloadavg()[0]:.1f})", flush=True)
        with tempfile.TemporaryDirectory(prefix="sightline-bench-") as folder:
            more = {"plots": given.plots, "machine": machine()} if name == "load" else {}
            found[name] = ALL[name].rows(folder, scale=0.1 if given.small else 1.0, **more)
        print_rows(found[name])
    if given.save:
        baseline.save(machine(), found, floors)
    if not given.check:
        return 0
    saved = baseline.load()
    worse = [
        one for name, rows in found.items() for one in baseline.regressions(saved.get(name, {}), rows, floors[name])
    ]
    for one in worse:
        print(f"worse by {one.now / one.before - 1 if one.before else 1:.0%}: {one.what}: {one.before} -> {one.now}")
    return 1 if worse else 0


def _floor() -> float:
    """Seconds that an interpreter takes to start and end, at the median."""
    return median(interleaved(20, floor=lambda: run([sys.executable, "-c", "pass"]))["floor"])


if __name__ == "__main__":
    sys.exit(main())
