"""``sightline demo``: runs and captures real commands, and asks about them as an agent would, in a store of its own.

The agent overlooks something, and a person points it out. At the end the inspector opens on that store.

Every step is an ordinary command line, so the demo shows what anyone would get.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

from sightline.doors.cli.inspector import inspector
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import dim, write_out
from sightline.light.named_tuple import NamedTuple

_AGENT, _PERSON = "demo-agent", "demo-person"
LOG_SECONDS = 60

_PRICES = '''\
"""Prices with discounts, in cents."""


def discounted(cents: int, percent: int) -> int:
    """A price after a discount."""
    return cents - cents * percent // 100


def total(basket: list[tuple[str, int]], percent: int = 0) -> int:
    """What a basket costs; the discount is taken once for the whole."""
    return sum(discounted(cents, percent) for _, cents in basket)
'''

_TESTS = """\
import unittest

from prices import discounted, total


class Discounts(unittest.TestCase):
    pass


def _case(cents, percent, wanted):
    def test(self):
        self.assertEqual(discounted(cents, percent), wanted)

    return test


for _cents in range(100, 4100, 50):
    setattr(Discounts, f"test_{_cents}_cents_less_ten_percent", _case(_cents, 10, _cents * 9 // 10))


class Baskets(unittest.TestCase):
    def test_empty_basket_costs_nothing(self):
        self.assertEqual(total([]), 0)

    def test_discount_is_rounded_once(self):
        basket = [("pen", 105), ("cup", 105), ("mat", 105)]
        self.assertEqual(total(basket, 10), 283)

    def test_unknown_discount_is_refused(self):
        with self.assertRaises(ValueError):
            discounted(1000, 120)


if __name__ == "__main__":
    unittest.main()
"""

_LOST = 217
_RELEASE = f"""\
import sys

for item in range(1, 401):
    if item == {_LOST}:
        print(f"ERROR: item {{item}} has no price in EUR; left out", file=sys.stdout)
    else:
        print(f"packed item {{item:03d}} into shelf {{item % 9}}")
print("catalogue written")
"""

_CATALOGUE = (
    "import json; print(json.dumps([{'id': n, 'name': f'item {n}', 'cents': 100 + 7 * n, 'tags': ['new', 'eu']} "
    "for n in range(400)], indent=1))"
)
_LOG = (
    "import time\n"
    "for n in range({rounds}):\n"
    "    print(f'{{n:04d}} GET /basket/{{n % 7}} 200 {{3 + n % 11}} ms', flush=True)\n"
    "    time.sleep(0.2)\n"
)


class _Step(NamedTuple):
    """One step: what is done, why, and by whom; ``REF`` in it stands for the output that was announced last."""

    why: str
    words: tuple[str, ...]
    by: str = _AGENT


def _steps() -> list[_Step]:
    python = sys.executable
    log = _LOG.format(rounds=LOG_SECONDS * 5)
    return [
        _Step(
            "an agent runs the tests, and they fail", ("run", "--", python, "-m", "unittest", "-v", "test_prices.py")
        ),
        _Step("it asks for the failing ones only", ("query", "grep -E '(FAIL|ERROR)$' @last.err")),
        _Step("it looks for the reason", ("show", "@last.err", "--search", "AssertionError", "--context", "2")),
        _Step("it reads the code", ("read", "prices.py")),
        _Step("it lists far too much", ("run", "--", "find", os.path.dirname(os.__file__), "-name", "*.py")),
        _Step("it counts instead of reading all that", ("query", "grep -c test @last")),
        _Step(
            "it packs a release, and asks for no more than how that ends",
            ("run", "--verbosity", "silent", "--", python, "release.py"),
        ),
        _Step("a person asks what it overlooked", ("audit", "--session", _AGENT), _PERSON),
        _Step(
            "and sends the agent a remark on that line",
            ("note", f"REF:{_LOST}", f"item {_LOST} never made it into the catalogue", "--send"),
            _PERSON,
        ),
        _Step("which counts the lines, and gets the remark along", ("query", "wc -l REF")),
        _Step("a tool answers with JSON", ("run", "--label", "catalogue", "--", python, "-c", _CATALOGUE)),
        _Step("it picks one entry from it", ("query", "grep -A 2 '\"id\": 3,' @last")),
        _Step(
            "a server starts in the background, and goes on",
            ("run", "--background", "--label", "server log", "--", python, "-c", log),
        ),
        _Step("what it all came to", ("timeline", "--session", _AGENT, "--failed"), _PERSON),
    ]


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Make a demo store in a folder of its own, capture real commands in it, ask questions as an agent would, and "
        "open the inspector on it.",
        "sightline demo",
        json=False,
    )
    made.add_argument("--headless", action="store_true", help="print what was done and do not open the inspector")
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    folder = tempfile.mkdtemp(prefix="sightline-demo-")
    root, project = os.path.join(folder, "store"), os.path.join(folder, "project")
    _make_project(project)
    environment = {**os.environ, "SIGHTLINE_HOME": root, "COLUMNS": "100"}
    ref = ""
    for step in _steps():
        ref = _do(step, project, environment, ref)
    write_out(f"\nThe demo store lies in {root}\n  SIGHTLINE_HOME={root} sightline\n")
    write_out(f"  SIGHTLINE_HOME={root} sightline report --session {_AGENT} -o report.html\n")
    write_out(
        "\nIn the inspector, t shows all that call by call, r there replays it step by step, A lists the notes.\n"
    )
    if given.headless or not (os.isatty(0) and os.isatty(1)):
        return 0
    return int(inspector().run(root, None))


def _make_project(project: str) -> None:
    os.makedirs(project)
    for name, text in (("prices.py", _PRICES), ("test_prices.py", _TESTS), ("release.py", _RELEASE)):
        with open(os.path.join(project, name), "w", encoding="utf-8") as file:
            file.write(text)


def _do(step: _Step, project: str, environment: dict[str, str], ref: str) -> str:
    """Run one step as its actor's shell would, show the answer's first lines, and return the ref it names, else REF."""
    words = [word.replace("REF", ref) for word in step.words]
    command = [sys.executable, "-P", "-m", "sightline.doors.cli.main", *words]
    done = subprocess.run(
        command,
        cwd=project,
        env={**environment, "SIGHTLINE_SESSION": step.by},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    shown = " ".join(shlex.join(words).split())
    write_out(f"\n# {step.why}\n$ sightline {shown[:110]}{'…' if len(shown) > 110 else ''}\n")
    lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
    for line in lines[:_SHOWN_LINES]:
        write_out(dim(line[:160], fd=1) + "\n")
    if len(lines) > _SHOWN_LINES:
        write_out(dim(f"(and {len(lines) - _SHOWN_LINES} more lines, {len(done.stdout):,} bytes in all)", fd=1) + "\n")
    told = re.match(rb"\[output_id=(@\w+)", done.stdout)
    return told[1].decode() if told else ref


_SHOWN_LINES = 8
