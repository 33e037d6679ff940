"""The agent harnesses that are known: each is a module of this package that gives its ``HARNESS``, see `base`."""

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.harnesses.base import Harness


@functools.lru_cache(maxsize=64)
def find(name: str) -> "Harness | None":
    """A harness by its name; None where it is not known. Its module alone is loaded: a hook starts for each event."""
    module = f"{__name__}.{name.replace('-', '_')}"
    if not name.replace("-", "_").isidentifier():
        return None
    try:
        found: Harness | None = getattr(__import__(module, fromlist=["HARNESS"]), "HARNESS", None)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None
    return found if found is not None and found.name == name else None


@functools.cache
def known() -> "Mapping[str, Harness]":
    """All harnesses, by name."""
    import pkgutil  # not for one event of one harness

    names = (one.name for one in pkgutil.iter_modules(__path__) if not one.name.endswith("_transcript"))
    found = (find(name.replace("_", "-")) for name in sorted(names))
    return {one.name: one for one in found if one is not None}


def of_client(client: str) -> "Harness | None":
    """The harness whose MCP client introduces itself so; None where no harness is known to.

    Such a name is the harness' own, or begins with it: so one module is loaded, which an agent waits for.
    """
    name = client
    while name:
        if (found := find(name)) and client in (found.name, *found.clients):
            return found
        name = name.rpartition("-")[0]
    return None
