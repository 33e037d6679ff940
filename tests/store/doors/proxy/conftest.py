"""Clients of proxied servers, ended when a test is over."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fork_server import ForkServer
from tests.store.doors.proxy.proxy_kit import Client


@pytest.fixture
def client(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Client]]:
    """Makes clients: ``client("--only", "big", command=[…], VARIABLE="x")``."""
    made: list[Client] = []

    def make(*options: str, command: list[str] | None = None, **more: Any) -> Client:
        forks: ForkServer = request.getfixturevalue("http_fork_server" if "--url" in options else "fork_server")
        made.append(Client(forks, tmp_path, list(options), command or [], **more))
        return made[-1]

    yield make
    for one in made:
        one.end()
