"""Importing past sessions: transcripts of Claude Code's, with usual, with tiny and with large results."""

import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.measure import SIGHTLINE, Ran, Row, interleaved, median, mib, run, run_with_peak

TOTAL_BYTES = 200 << 20
_FILE_BYTES = 4 << 20
_SPEED_AIM_MB = 60
_MEMORY_AIM_MIB = 150
_LINE = "2026-01-02T03:04:05.678 INFO  worker-3 request {:010d} done in 12 ms, 4096 bytes sent to client 0123\n"
_FLOOR = (
    "import json, os, sys\n"
    "for folder, _, names in os.walk(sys.argv[1]):\n"
    "    for name in names:\n"
    "        with open(os.path.join(folder, name), 'rb') as file:\n"
    "            for line in file: json.loads(line)\n"
)
MIXES: dict[str, tuple[int, ...]] = {
    "usual results": (150, 400, 2_500, 800, 8_000, 60, 20_000, 1_200, 4_000, 300),
    "tiny results": (100, 250, 500),
    "large results": (28_000, 25_000, 29_500),
}
"""Characters of the results of each mix, over and over. The usual one has 3.7 KB on average."""


def rows(folder: str, scale: float) -> list[Row]:
    """Each mix, beside reading the lines as JSON; and a second run, which finds nothing new."""
    found = []
    for what, sizes in MIXES.items():
        source = os.path.join(folder, what.replace(" ", "-"))
        written, calls = write_transcripts(source, int(TOTAL_BYTES * scale), sizes)
        found += _compared(f"{mib(written)} with {what}, {calls:,} calls", folder, source, written, calls)
    return found


def _compared(what: str, folder: str, source: str, written: int, calls: int) -> list[Row]:
    fresh = itertools.count()
    homes: list[str] = []

    def imported() -> Ran:
        homes.append(os.path.join(folder, f"store-{os.path.basename(source)}-{next(fresh)}"))
        return run_with_peak([*SIGHTLINE, "import", source], _environment(homes[-1]))

    ran = interleaved(2, floor=lambda: run([sys.executable, "-c", _FLOOR, source]), ours=imported)
    again = run([*SIGHTLINE, "import", source], _environment(homes[-1]))
    wall, base = median(ran["ours"]), median(ran["floor"])
    peak = max(one.peak_bytes for one in ran["ours"]) / (1 << 20)
    speed = written / wall / 1e6
    floor = f"json.loads {written / base / 1e6:.0f} MB/s"
    files = _making_files(os.path.join(folder, "files-" + os.path.basename(source)), calls)
    return [
        Row(f"{what}: ns a byte", f"{speed:.1f} MB/s", floor, 1e3 / speed, 1e3 / _SPEED_AIM_MB),
        Row(
            f"{what}: beside making its folders and files alone", f"{wall:.2f} s", f"{files:.2f} s", wall / files, None
        ),
        Row(f"{what}: peak memory, MiB", f"{peak:.0f} MiB", "", peak, _MEMORY_AIM_MIB),
        Row(f"{what}: a second run, s", f"{again.seconds:.2f} s", "", again.seconds, 1.0),
    ]


def _making_files(folder: str, calls: int) -> float:
    """How long this file system takes for a folder with two empty files for each call, in seconds."""
    os.makedirs(folder)
    began = time.perf_counter()
    for number in range(calls):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        for name in ("out", "meta.json"):
            os.close(os.open(os.path.join(place, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    return time.perf_counter() - began


def _environment(home: str) -> dict[str, str]:
    return {**os.environ, "SIGHTLINE_HOME": home, "SIGHTLINE_MAX_BUFFERS": "1000000", "SIGHTLINE_MAX_BYTES": "8 GiB"}


def write_transcripts(folder: str, size: int, sizes: tuple[int, ...]) -> tuple[int, int]:
    """Write transcripts of about so many bytes into a folder: their bytes, and the calls in them."""
    os.makedirs(folder)
    written = calls = 0
    lengths = itertools.cycle(sizes)
    for session in itertools.count():
        if written >= size:
            return written, calls
        with open(os.path.join(folder, f"{_uuid(session, 0)}.jsonl"), "wb") as file:
            in_file = 0
            while in_file < min(_FILE_BYTES, size - written):
                calls += 1
                for record in _call(session, calls, next(lengths)):
                    in_file += file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
            written += in_file
    raise AssertionError("it counts for ever")


def _call(session: int, number: int, length: int) -> Iterator[dict[str, Any]]:
    """The lines of one call: what the model wrote, and what it was given."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_790_000_000 + number))
    common: dict[str, Any] = {"isSidechain": False, "userType": "external", "entrypoint": "cli", "gitBranch": "main"}
    common |= {"sessionId": _uuid(session, 0), "cwd": "/home/user/project", "version": "2.1.329", "timestamp": stamp}
    text = "".join(_LINE.format(number * 1000 + line) for line in range(length // 100 + 1))[:length]
    use = {"type": "tool_use", "id": f"toolu_{number:024d}", "name": "Bash", "input": {"command": f"./step {number}"}}
    usage = {"input_tokens": 1, "cache_read_input_tokens": 12_345, "output_tokens": 99, "service_tier": "standard"}
    said = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "a-model", "usage": usage}
    yield {"type": "assistant", "uuid": _uuid(session, 2 * number), **common, "message": {**said, "content": [use]}}
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": text.rstrip("\n"), "is_error": False}
    yield {
        "type": "user",
        "uuid": _uuid(session, 2 * number + 1),
        **common,
        "message": {"role": "user", "content": [result]},
        "toolUseResult": {"stdout": text, "stderr": "", "interrupted": False, "isImage": False},
    }


def _uuid(session: int, number: int) -> str:
    return f"{session:08x}-0000-4000-8000-{number:012x}"
