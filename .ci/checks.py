#!/usr/bin/env python3
"""Everything that must hold, from a copy of this checkout, with each Python from 3.11 to 3.14 that is found here.

The first of them runs the linters and all tests in a fresh virtual environment, the others the unit tests, which are
all but those of processes and of the inspector. `PYTHON=/usr/bin/python3.12 .ci/run` runs all with that one alone.

Any Python 3.8 or newer runs this file; it needs nothing else.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from typing import NamedTuple

OLDEST, NEWEST = (3, 11), (3, 14)
ELSEWHERE = (  # where Pythons lie that PATH does not name
    "~/.pyenv/versions/3.*/bin/python3",
    "~/.local/share/uv/python/*/bin/python3",
    "/opt/hostedtoolcache/Python/3.*/*/bin/python3",
    "/opt/homebrew/bin/python3.*",
    "/Library/Frameworks/Python.framework/Versions/3.*/bin/python3",
    "/usr/local/bin/python3.*",
    "/usr/bin/python3.*",
)
CHECKS = (
    "ruff check .",
    "ruff format --check .",
    "lint-imports",
    "mypy -p sightline -p sightline_tui -p benchmarks",
    "python docs/generate.py --check",
    "mkdocs build --strict --quiet",
)
NOT_COPIED = (".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")
TELL = """
import platform, sys
print(sys.implementation.name, platform.python_version(), getattr(sys, "_base_executable", sys.executable))
"""
MAKES_ENVIRONMENTS = "import ensurepip, venv"


class Python(NamedTuple):
    """An interpreter: its version as it tells it, and its path."""

    version: str
    path: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """``3.13.0rc2`` is 3, 13, 0."""
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:3])


def asked(path: str) -> Python | None:
    """What a program says of itself; None where it is no CPython that is claimed, or none at all."""
    try:
        ran = subprocess.run([path, "-c", TELL], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        name, version, base = ran.stdout.strip().split(" ", 2)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    found = Python(version, base)
    return found if name == "cpython" and OLDEST <= found.numbers[:2] <= NEWEST else None


def found_here() -> list[Python]:
    """The one that is called ``python3``, then the others; of each minor version the oldest and the newest."""
    names = ["python3", *(f"python3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1))]
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    if root := os.environ.get("PYENV_ROOT"):
        folders += glob.glob(os.path.join(glob.escape(root), "versions", "3.*", "bin"))
    paths = [os.path.join(folder, name) for name in names for folder in folders]
    paths += [path for pattern in ELSEWHERE for path in sorted(glob.glob(os.path.expanduser(pattern)))]
    by_version: dict[str, Python] = {}
    for path in dict.fromkeys(paths):
        if os.access(path, os.X_OK) and re.search(r"python3(\.\d+)?$", path) and (python := asked(path)):
            by_version.setdefault(python.version, python)
    by_minor: dict[tuple[int, ...], list[Python]] = {}
    for python in sorted(by_version.values(), key=lambda one: one.numbers):
        by_minor.setdefault(python.numbers[:2], []).append(python)
    kept = {python for same in by_minor.values() for python in (same[0], same[-1])}
    first = list(by_version.values())[:1]
    return first + [python for python in sorted(kept, key=lambda one: one.numbers) if python not in first]


def has_environments(python: Python) -> bool:
    """Whether it can make virtual environments; Debian has that in a package of its own."""
    command = [python.path, "-c", MAKES_ENVIRONMENTS]
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0


class Checkout:
    """A copy of the checkout, which is left as it is.

    Args:
        source: the checkout.
        work: a folder for all that is made.
    """

    def __init__(self, source: str, work: str) -> None:
        self.work = work
        self.root = os.path.join(work, "a checkout")  # what has a blank in its path must work
        shutil.copytree(source, self.root, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)

    def check(self, python: Python, *, everything: bool) -> str:
        """Run with one Python: what of it failed, empty for nothing."""
        folder = os.path.join(self.work, python.version)
        chosen = [] if everything else ["-m", "unit"]
        environment = self.environment(folder, *chosen, "--junitxml", os.path.join(folder, "tests.xml"))
        made = [
            shlex.join([python.path, "-m", "venv", os.path.join(folder, "venv")]),
            "python -m pip install --quiet --upgrade pip",
        ]
        checks = ["python -m pip install --quiet '.[dev]'", *CHECKS] if everything else []
        for line in (*made, *checks, self.test_command()):
            print(f"+ {line}", flush=True)
            if code := subprocess.call(["bash", "-c", line], cwd=self.root, env=environment, stdin=subprocess.DEVNULL):
                return f"`{line}` ended with {code}"
        return ""

    def environment(self, folder: str, *options: str) -> dict[str, str]:
        """Variables for its commands: its virtual environment first, and options for pytest."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SIGHTLINE_", "PYTEST_", "PYTHON")) and name != "VIRTUAL_ENV"
        }
        path = os.pathsep.join([os.path.join(folder, "venv", "bin"), kept.get("PATH", os.defpath)])
        home = os.path.join(folder, "store")
        return {**kept, "PATH": path, "SIGHTLINE_HOME": home, "PYTEST_ADDOPTS": shlex.join(options)}

    def test_command(self) -> str:
        """The README's own, so that the two cannot drift apart."""
        with open(os.path.join(self.root, "README.md"), encoding="utf-8") as file:
            found = re.search(r"^pip install '\.\[test\]' && pytest.*$", file.read(), re.MULTILINE)
        if not found:
            sys.exit("README.md has no test command")
        return found.group()

    def ran(self, python: Python) -> str:
        """How many tests ran with it."""
        try:
            report = os.path.join(self.work, python.version, "tests.xml")
            root = xml.etree.ElementTree.parse(report).getroot()  # noqa: S314  pytest wrote it
        except (OSError, xml.etree.ElementTree.ParseError):
            return "no tests ran"
        count = {name: sum(int(suite.get(name, 0)) for suite in root.iter("testsuite")) for name in SUMS}
        seconds = sum(float(suite.get("time", 0)) for suite in root.iter("testsuite"))
        return ", ".join(f"{number:,} {name}" for name, number in count.items() if number) + f" in {seconds:.0f} s"


SUMS = ("tests", "failures", "errors", "skipped")


def open_standard_streams() -> None:
    """Without one of them, the first file that is opened would be taken for it."""
    for fd in range(3):
        with contextlib.suppress(OSError):
            os.fstat(fd)
            continue
        os.open(os.devnull, os.O_RDWR)


def main() -> int:
    """Run all that there is; how it went stands in the last lines."""
    open_standard_streams()
    given = os.environ.get("PYTHON", "")
    pythons = [python for python in [asked(shutil.which(given) or given)] if python] if given else found_here()
    usable = [python for python in pythons if has_environments(python)]
    told = [f"{one.version} ({one.path}): skipped, it has no venv or ensurepip" for one in pythons if one not in usable]
    if not usable:
        print(*told, sep="\n", file=sys.stderr)
        wanted = f"a Python from {'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))} with venv and ensurepip"
        sys.exit(f"{wanted} is needed (Debian: apt install python3-venv)")
    failed = False
    with tempfile.TemporaryDirectory(prefix="sightline-ci-") as work:
        checkout = Checkout(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.realpath(work))
        for number, python in enumerate(usable):
            what = "all tests" if number == 0 else "unit tests"
            print(f"Python {python.version} ({python.path}): {what}", flush=True)
            wrong = checkout.check(python, everything=number == 0)
            failed = failed or bool(wrong)
            told.append(f"{python.version} ({python.path}): {what}: {checkout.ran(python)}{wrong and '; ' + wrong}")
    print("", *told, sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
