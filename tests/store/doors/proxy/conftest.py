"""Clients of proxied servers, ended when a test is over."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.store.doors.proxy.proxy_kit import Client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Makes clients: ``client("--only", "big", command=[…], VARIABLE="x")``."""
    made: list[Client] = []

    def make(*options: str, command: list[str] | None = None, proxied: bool = True, **environment: str) -> Client:
        made.append(Client(tmp_path, list(options), command or [], proxied=proxied, **environment))
        return made[-1]

    yield make
    for one in made:
        one.end()
