"""A corpus of ways out of a query (``query_escapes.toml``), tried for real: nothing is read, made, run or reached."""

import os
import shlex
import shutil
import socket
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sightline.base.errors import SightlineError
from sightline.pipeline.parse import parse
from sightline.pipeline.run import run
from sightline.search.executables import Executable, find
from sightline.search.processes import Group
from sightline.search.sandbox import NO_BACKING, Backing, describe

CORPUS = tomllib.loads(Path(__file__).with_name("query_escapes.toml").read_text())["escapes"]
ATTEMPTS = {group["on"]: group["lines"].strip().splitlines() for group in CORPUS}
SECRET = "the-canary-sings"
REF = "@cmd_a1b2c3"
needs_landlock = pytest.mark.skipif(not describe().landlock, reason="this kernel has no Landlock")


class Cage(NamedTuple):
    """A folder in which every way out leaves a trace."""

    folder: Path
    seed: Path
    listener: socket.socket

    def told(self, attempt: str) -> str:
        """An attempt with what stands in it filled in."""
        filled = {
            "{ref}": REF,
            "{secret}": str(self.folder / "secret"),
            "{new}": str(self.folder / "new"),
            "{run}": str(self.folder / "run.sh"),
            "{seed}": str(self.seed),
            "{port}": str(self.listener.getsockname()[1]),
            "{nl}": "\n",
        }
        for name, text in filled.items():
            attempt = attempt.replace(name, text)
        return attempt

    def check(self, attempt: str, out: bytes, err: bytes) -> None:
        """Nothing was read, made, changed, run or reached."""
        assert SECRET.encode() not in out + err, attempt
        assert sorted(os.listdir(self.folder)) == ["run.sh", "secret", "the seed"], attempt
        assert self.seed.read_bytes() == b"1\n2\n1\n", attempt
        try:
            self.listener.accept()
        except BlockingIOError:
            return
        raise AssertionError(f"connected: {attempt}")


@pytest.fixture
def cage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cage]:
    folder = tmp_path / "cage"
    folder.mkdir()
    (folder / "secret").write_text(f"{SECRET}\n")
    (folder / "run.sh").write_text(f"#!/bin/sh\ntouch {folder}/ran; echo {SECRET}\n")
    (folder / "run.sh").chmod(0o755)
    seed = folder / "the seed"
    seed.write_bytes(b"1\n2\n1\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CANARY", SECRET)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        yield Cage(folder, seed, listener)


def test_the_corpus_is_large() -> None:
    assert sum(map(len, ATTEMPTS.values())) >= 300
    assert set(ATTEMPTS) == {"gnu", "gawk", "mawk", "busybox", "bsd"}


@pytest.mark.parametrize("backing", [describe(), NO_BACKING], ids=["kernel", "tables"])
def test_what_the_parser_lets_through_gets_nowhere(cage: Cage, backing: Backing) -> None:
    through = []
    for attempt in (attempt for lines in ATTEMPTS.values() for attempt in lines):
        try:
            pipeline = parse(cage.told(attempt), lambda ref: str(cage.seed))
            through.append(attempt)
            result = run(pipeline, backing=backing)
        except SightlineError:
            continue
        cage.check(attempt, result.stdout, result.stderr)
    assert len(through) < 30, through


def _forced(cage: Cage, attempt: str) -> tuple[bytes, bytes] | None:
    """Run an attempt past the parser, as the kernel holds it; None where that makes no program of this machine."""
    try:
        words = shlex.split(cage.told(attempt).replace(REF, shlex.quote(str(cage.seed))))
    except ValueError:
        return None
    path = shutil.which("busybox") if words[0] == "busybox" else find(words[0])
    if not path or {"|", ";", "&", "&&", "||"} & set(words):
        return None
    out, err = bytearray(), bytearray()
    executable = Executable(os.path.realpath(path), tuple(words))
    try:
        with Group([executable], seconds=1, memory_bytes=1 << 30, backing=describe(), reads=(str(cage.seed),)) as group:
            group.collect(out.extend, err.extend)
    except SightlineError:
        return None
    return bytes(out), bytes(err)


@needs_landlock
@pytest.mark.parametrize("on", ["gnu", "gawk", "mawk", "busybox"])
def test_past_the_parser_the_kernel_alone_holds_every_attempt(cage: Cage, on: str) -> None:
    ran = 0
    for attempt in ATTEMPTS[on]:
        ended = _forced(cage, attempt)
        if ended is not None:
            ran += 1
            cage.check(attempt, *ended)
    if not ran:
        pytest.skip(f"no {on} here")
