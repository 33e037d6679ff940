"""How everything here is measured: interleaved runs, medians, ratios to a floor of the same run."""

import os
import platform
import shutil
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

SIGHTLINE = (os.path.join(sysconfig.get_path("scripts"), "sightline"),)
"""The command as it is installed beside this interpreter."""


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        what: what was measured.
        value: the median, with its unit.
        floor: what it is compared with, and its value; empty where it stands for itself.
        ratio: value to floor, or the value itself where the aim is absolute.
        aim: the most that it should be, in the unit of ``ratio``; None for no aim.
    """

    what: str
    value: str
    floor: str
    ratio: float
    aim: float | None


class Ran(NamedTuple):
    """One run of a command: wall time in seconds, and its largest process' peak memory in bytes, 0 if not measured."""

    seconds: float
    peak_bytes: int = 0


_WAITING = """
import os, sys, time
began = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
os.write(int(sys.argv[1]), f"{time.perf_counter() - began} {usage.ru_maxrss}".encode())
sys.exit(abs(os.waitstatus_to_exitcode(status)))
"""
"""Waits for a command in a small process: the peak of a child counts what its parent held when it was started."""


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Ran:
    """Run a command without a terminal, its output thrown away. Raises RuntimeError where it fails."""
    began = time.perf_counter()
    child = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert child.stderr
    told = child.stderr.read()
    child.wait()
    seconds = time.perf_counter() - began
    child.stderr.close()
    if child.returncode:
        raise RuntimeError(f"{command} failed: {told.decode(errors='replace')[-500:]}")
    return Ran(seconds)


def run_with_peak(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Ran:
    """Run a command likewise, and measure its memory, too. Raises RuntimeError where it fails."""
    reads, writes = os.pipe()
    waiting = [sys.executable, "-I", "-S", "-c", _WAITING, str(writes), *command]
    try:
        done = subprocess.run(
            waiting,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(writes,),
            check=False,
        )
        os.close(writes)
        if done.returncode:
            raise RuntimeError(f"{command} failed: {done.stderr.decode(errors='replace')[-500:]}")
        seconds, peak = os.read(reads, 100).split()
    finally:
        os.close(reads)
    scale = 1 if sys.platform == "darwin" else 1024
    return Ran(float(seconds), int(peak) * scale)


def interleaved(rounds: int, **cases: Callable[[], Ran]) -> dict[str, list[Ran]]:
    """Run all cases in turn, so that what else the machine does hits all alike; a first round is not counted."""
    found: dict[str, list[Ran]] = {name: [] for name in cases}
    for at in range(rounds + 1):
        for name, case in cases.items():
            ran = case()
            if at:
                found[name].append(ran)
    return found


def median(runs: Sequence[Ran]) -> float:
    """The median wall time, in seconds."""
    return statistics.median(ran.seconds for ran in runs)


def ms(seconds: float) -> str:
    """Seconds as text in milliseconds."""
    return f"{seconds * 1000:,.1f} ms"


def mib(count: float) -> str:
    """Bytes as text in MiB."""
    return f"{count / (1 << 20):,.1f} MiB"


def machine() -> str:
    """What this was measured on."""
    packages = []
    for name in ("sightline-inspector", "textual", "rapidfuzz", "watchfiles", "ripgrep"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            packages.append(f"{name} –")
    free = shutil.disk_usage("/tmp").free >> 30
    return (
        f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} cores, {free} GiB free; "
        f"{platform.python_implementation()} {platform.python_version()}; {', '.join(packages)}"
    )


def print_rows(rows: Sequence[Row]) -> None:
    """The table."""
    for row in rows:
        aim = "" if row.aim is None else f"{'≤' if row.ratio <= row.aim else '> AIM'} {row.aim:g}"
        print(f"  {row.what:<58} {row.value:>14}  {row.ratio:>7.2f}  {aim:<9} {row.floor}", flush=True)
