"""Buffers to query, and a query in one call."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.base.errors import UnknownRef
from sightline.pipeline.parse import ParsedQuery, parse
from sightline.search.sandbox import NO_BACKING, Backing, describe

Resolve = Callable[[str], str]


class Buffers:
    """Streams under a folder whose name has a space, by ref."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()

    def add(self, ref: str, data: bytes) -> str:
        (self.folder / ref.lstrip("@")).write_bytes(data)
        return ref

    def path(self, ref: str) -> str:
        path = self.folder / ref.lstrip("@")
        if not path.exists():
            raise UnknownRef(f"no such buffer: {ref}")
        return str(path)

    def parse(self, text: str) -> ParsedQuery:
        return parse(text, self.path)


@pytest.fixture
def buffers(tmp_path: Path) -> Buffers:
    """``@cmd_a1b2c3``: the numbers 1 to 3000; ``@tool_a1b2c3``: JSON; ``@cmd_0dd000``: odd bytes."""
    made = Buffers(tmp_path / "the store")
    made.add("@cmd_a1b2c3", b"".join(b"%d\n" % number for number in range(1, 3001)))
    made.add("@cmd_a1b2c3.err", b"warning: one\nerror: two\n")
    made.add("@last", b"last\n")
    made.add("@tool_a1b2c3", b'{"symbols": [1, 2], "env": "dev"}\n')
    made.add("@cmd_0dd000", b"text\n\x00nul\xff\nend without newline")
    return made


@pytest.fixture(params=["kernel", "tables"])
def backing(request: pytest.FixtureRequest) -> Backing:
    """Queries as the kernel holds them here, and as the tables alone do."""
    if request.param == "kernel" and not describe().landlock:
        pytest.skip("this kernel has no Landlock")
    return describe() if request.param == "kernel" else NO_BACKING
