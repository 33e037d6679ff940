"""What can go wrong while a query, a search or a comparison runs; what is wrong with its text is QueryRefused."""

from sightline.errors import SightlineError


class ProgramMissing(SightlineError):
    """A program that the query names is not on this machine, or not the one that can be held to reading."""

    exit_code = 127


class SandboxFailed(SightlineError):
    """The kernel did not hold the query as it can here, so nothing was run."""


class SearchFailed(SightlineError):
    """A search could not be brought to its end: time limit, or an engine that broke off."""


class CompareFailed(SightlineError):
    """A comparison could not be brought to its end: memory, time limit, or an engine that broke off."""


class Cancelled(SightlineError):
    """The one who asked has ended it."""
