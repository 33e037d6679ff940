"""Errors of running queries, searches and comparisons; a faulty text of a query is QueryRefused."""

from sightline.base.errors import SightlineError


class ProgramMissing(SightlineError):
    """A program of the query is not on this machine, or not the one that can be kept from writing."""

    exit_code = 127


class SandboxFailed(SightlineError):
    """The kernel did not confine the query as it can here, so nothing was run."""


class SearchFailed(SightlineError):
    """A search did not finish: its time ran out, or the engine failed."""


class CompareFailed(SightlineError):
    """A comparison did not finish: memory or time ran out, or the engine failed."""


class Cancelled(SightlineError):
    """The caller has cancelled it."""
