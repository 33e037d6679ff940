"""Capturing: a command's output to the store, beside the same command piped into cat and a file."""

import os
import shlex
import shutil
import subprocess
import sys

from benchmarks.measure import SIGHTLINE, Ran, Row, interleaved, median, mib, run, run_with_peak

LINE = b"2026-01-02T03:04:05.678 INFO  worker-3 request 0123456789 done in 12 ms, 4096 bytes sent to client 0123\n"
_MEMORY_AIM_MIB = 40
_TWO_STREAMS_AIM, _WALL_AIM = 2.0, 1.2

_HASHING = (
    "import hashlib, sys\n"
    "block, made = bytes(1 << 19), hashlib.sha256()\n"
    "for _ in range(int(sys.argv[1]) >> 19): made.update(block)\n"
)
_SMALL_LINES = (
    "import os, sys\n"
    "line = b'2026-01-02T03:04:05.678 INFO  worker-3 request 0123456789 done in 12 ms, 4096 bytes sent, n=0123456\\n'\n"
    "for _ in range(int(sys.argv[1])): os.write(1, line)\n"
)
_TWO_STREAMS = (
    "import os, sys, threading\n"
    "line = b'2026-01-02T03:04:05.678 INFO  worker-3 request 0123456789 done in 12 ms, 4096 bytes sent, n=01\\n'\n"
    "block = line * 655\n"
    "def write(fd):\n"
    "    for _ in range(int(sys.argv[1])): os.write(fd, block)\n"
    "threads = [threading.Thread(target=write, args=(fd,)) for fd in (1, 2)]\n"
    "[thread.start() for thread in threads]\n"
    "[thread.join() for thread in threads]\n"
)


def rows(folder: str, scale: float) -> list[Row]:
    """One stream as fast as it can come, one at the speed of real work, one in single lines, and two busy streams.

    The hash of each byte is part of a capture. It takes 0.6 s a GB where the processor has instructions for it and 3 s
    where it has none, which is more than all else: so the first stands beside the hash alone, too.
    """
    size = int((1 << 30) * scale)
    data = os.path.join(folder, "data.log")
    write_log(data, size)
    packed = data + ".gz"
    subprocess.run(f"gzip -1 < {shlex.quote(data)} > {shlex.quote(packed)}", shell=True, check=True)
    store = os.path.join(folder, "store")
    environment = {**os.environ, "SIGHTLINE_HOME": store, "SIGHTLINE_MAX_BYTES": "1 GiB"}
    python = sys.executable
    small = [python, "-c", _SMALL_LINES, str(int(2_000_000 * scale))]
    two = [python, "-c", _TWO_STREAMS, str(int(8_000 * scale))]
    out = os.path.join(folder, "out")
    found = []
    for what, command, floor in (
        (f"{mib(size)} as cat copies it", ["cat", data], f"cat {shlex.quote(data)} | cat > {out}"),
        (f"{mib(size)} as gzip unpacks it", ["gzip", "-dc", packed], f"gzip -dc {shlex.quote(packed)} | cat > {out}"),
        ("2,000,000 single lines", small, f"{shlex.join(small)} | cat > {out}"),
        ("two busy streams", two, f"{{ {shlex.join(two)} 2>&3 | cat > {out}; }} 3>&1 | cat > {out}.err"),
    ):
        found += _compared(what, command, floor, environment, out)
    what, hashing = f"{mib(size)} as cat copies it, beside SHA-256 alone", [python, "-c", _HASHING, str(size)]
    found += _beside(what, ["cat", data], hashing, environment)
    typescript = _script(shlex.join(["cat", data]), out)
    peers = {"tee": ["sh", "-c", f"cat {shlex.quote(data)} | tee {out} > {os.devnull}"], "script": typescript}
    for name, peer in peers.items():
        if shutil.which(name):
            found += _beside(f"{mib(size)} as cat copies it, beside {name}", ["cat", data], peer, environment)
    return found


def _script(command: str, out: str) -> list[str]:
    """script(1) as the system has it: util-linux takes the command as a string, BSD as words."""
    if sys.platform == "darwin":
        return ["script", "-q", out, "sh", "-c", command]
    return ["script", "-qec", command, out]


def _beside(what: str, command: list[str], peer: list[str], environment: dict[str, str]) -> list[Row]:
    found = interleaved(3, floor=lambda: run(peer, environment), ours=lambda: _captured(command, environment))
    wall, base = median(found["ours"]), median(found["floor"])
    return [Row(what, f"{wall:.2f} s", f"{base:.2f} s", wall / base, None)]


def _captured(command: list[str], environment: dict[str, str]) -> Ran:
    """Into a store without that output: to remove it, or one of two equal ones, is no part of what a capture costs."""
    ran = run_with_peak([*SIGHTLINE, "run", "--", *command], environment)
    run([*SIGHTLINE, "run", "--", "true"], {**environment, "SIGHTLINE_MAX_BUFFERS": "1"})
    return ran


def _compared(what: str, command: list[str], floor: str, environment: dict[str, str], out: str) -> list[Row]:
    found = interleaved(3, floor=lambda: _copied(floor, environment, out), ours=lambda: _captured(command, environment))
    wall, base = median(found["ours"]), median(found["floor"])
    aim = _TWO_STREAMS_AIM if "two" in what else _WALL_AIM
    peak = max(ran.peak_bytes for ran in found["ours"]) / (1 << 20)
    return [
        Row(f"{what}: wall", f"{wall:.2f} s", f"| cat > file {base:.2f} s", wall / base, aim),
        Row(f"{what}: peak memory, MiB", f"{peak:.1f} MiB", "", peak, _MEMORY_AIM_MIB),
    ]


def _copied(floor: str, environment: dict[str, str], out: str) -> Ran:
    """Into new files, as ours are: to cut off what is being written back to the disk takes up to two seconds."""
    ran = run(["sh", "-c", floor], environment)
    for path in (out, f"{out}.err"):
        if os.path.exists(path):
            os.unlink(path)
    return ran


def write_log(path: str, size: int) -> None:
    """A log of about a size, in lines of 100 bytes."""
    block = LINE * 10_000
    with open(path, "wb") as file:
        for _ in range(max(size // len(block), 1)):
            file.write(block)
