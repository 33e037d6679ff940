"""``python -m benchmarks [NAME…] [--small]``: all measurements, or those named, in one table."""

import argparse
import tempfile

from benchmarks import (
    capture,
    coverage,
    diff,
    failure_recall,
    lines,
    mcp,
    processes,
    proxy,
    query,
    screen,
    shaping,
    startup,
    tui,
)
from benchmarks.measure import machine, print_rows

ALL = {
    "startup": startup,
    "capture": capture,
    "coverage": coverage,
    "lines": lines,
    "processes": processes,
    "mcp": mcp,
    "proxy": proxy,
    "query": query,
    "screen": screen,
    "shaping": shaping,
    "diff": diff,
    "tui": tui,
    "failure_recall": failure_recall,
}


def main() -> None:
    """Run them one after the other."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(ALL)}; all by default")
    parser.add_argument("--small", action="store_true", help="a tenth of the size, to see that it works")
    given = parser.parse_args()
    print(machine())
    for name in given.names or ALL:
        print(f"\n{name}: {ALL[name].__doc__.splitlines()[0]}", flush=True)
        with tempfile.TemporaryDirectory(prefix="sightline-bench-") as folder:
            print_rows(ALL[name].rows(folder, scale=0.1 if given.small else 1.0))


if __name__ == "__main__":
    main()
