"""The command line, as the tests of the doors call it."""

from tests.store.doors.conftest import cli, make_cli

__all__ = ["cli", "make_cli"]
