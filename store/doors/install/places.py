"""Where each harness has its settings, for a person and for a project."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from sightline.harnesses import known
from sightline.harnesses.base import Harness

USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)
"""For all that a person does, or in one folder only."""


def installable() -> dict[str, Harness]:
    """The harnesses whose settings are known, by name."""
    return {name: one for name, one in known().items() if one.servers}


class Where(NamedTuple):
    """Whose settings, and of which project.

    Attributes:
        home: the person's home.
        project: the project's folder.
        environment: variables by which harnesses are told of other places.
    """

    home: str
    project: str
    environment: Mapping[str, str]


class Places(NamedTuple):
    """The files of one harness in one scope; empty for what it has no file for.

    Attributes:
        servers: where it lists MCP servers.
        hooks: where it lists hooks, which may be the same file; or the plugin that runs them.
    """

    servers: str
    hooks: str = ""

    @property
    def all(self) -> list[str]:
        """Each file once."""
        return list(dict.fromkeys(path for path in self if path))


def places_of(harness: Harness, scope: str, where: Where) -> Places:
    """Where a harness has its settings.

    Args:
        harness: which one.
        scope: one of SCOPES.
        where: whose.
    """
    if scope == PROJECT:
        return Places(*harness.project_settings(where.project))
    return Places(*harness.user_settings(where.home, where.environment))


def coincide(one: Places, other: Places) -> bool:
    """Whether two scopes share a file, as they do in a person's home."""
    return bool({os.path.realpath(path) for path in one.all} & {os.path.realpath(path) for path in other.all})
