"""The agent harnesses that are known: each is a module of this package that gives its ``HARNESS``, see `base`.

Other distributions add theirs by entry points of the group ``sightline.harnesses``: the harness' name, and its object.
"""

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from sightline.harnesses.base import Harness

GROUP = "sightline.harnesses"
"""Of the entry points by which others add harnesses."""


@functools.lru_cache(maxsize=64)
def find(name: str) -> "Harness | None":
    """A harness by its name; None where it is not known.

    One of ours costs the loading of its module alone, since a hook starts for each event; any other, a look at what is
    installed.
    """
    return _own(name) or _of_others().get(name)


@functools.cache
def known() -> "Mapping[str, Harness]":
    """All harnesses, by name."""
    import pkgutil  # not for one event of one harness

    names = (one.name for one in pkgutil.iter_modules(__path__) if not one.name.endswith("_transcript"))
    found = (_own(name.replace("_", "-")) for name in sorted(names))
    return {**_of_others(), **{one.name: one for one in found if one is not None}}


@functools.lru_cache(maxsize=64)
def of_client(client: str) -> "Harness | None":
    """The harness of ours whose MCP client introduces itself so; None where none is known to.

    Such a name is the harness' own, or begins with it: so one module is loaded, which an agent waits for.
    """
    name = client
    while name:
        if (found := _own(name)) and client in (found.name, *found.clients):
            return found
        name = name.rpartition("-")[0]
    return None


def _own(name: str) -> "Harness | None":
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


def _of_others() -> "Mapping[str, Harness]":
    """The harnesses that other distributions add; one that cannot be loaded is none."""
    from importlib.metadata import entry_points  # 20 ms, which no harness of ours costs

    from sightline.harnesses.base import Harness

    loaded = {entry.name: _loaded(entry) for entry in entry_points(group=GROUP)}
    return {name: one for name, one in loaded.items() if isinstance(one, Harness) and one.name == name}


def _loaded(entry: "EntryPoint") -> object:
    try:
        return entry.load()
    except Exception:  # somebody else's code, which must not stop a hook or a doctor
        return None
