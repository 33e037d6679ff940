"""The known agent harnesses. Each is a module of this package with a ``HARNESS``, see `base`.

Other packages add harnesses by entry points of the group ``sightline.harnesses``: the name, and the object.
"""

from sightline.light.library import cache, lru_cache, suppress
from sightline.light.typing_names import TYPE_CHECKING, Mapping

if TYPE_CHECKING:
    from sightline.harnesses.base import Harness


@lru_cache(maxsize=64)
def find(name: str) -> "Harness | None":
    """Return a harness by its name; None if it is not known.

    A hook starts for each event, so one of our harnesses costs only the loading of its module. Others are looked up in
    what `install` and `doctor` have written down.
    """
    return _own(name) or _of_others().get(name)


@cache
def known() -> "Mapping[str, Harness]":
    """Return all harnesses that are installed here, by name."""
    import pkgutil  # see below

    from sightline.settings.entry_points import (
        find_harnesses,  # 20 ms with pkgutil, which no event of a harness should wait for
    )

    names = (one.name for one in pkgutil.iter_modules(__path__) if not one.name.endswith("_transcript"))
    found = (_own(name.replace("_", "-")) for name in sorted(names))
    return {**_of_others(find_harnesses()), **{one.name: one for one in found if one is not None}}


@lru_cache(maxsize=64)
def of_client(client: str) -> "Harness | None":
    """Return our harness whose MCP client introduces itself so; None if none is known to.

    Such a name is the harness' own, or begins with it, so only one module is loaded while the agent waits.
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


def _of_others(places: Mapping[str, str] | None = None) -> "dict[str, Harness]":
    """Return the harnesses that other packages add, from these places, or from where they were found last.

    One that cannot be loaded is left out, and `doctor` reports it.
    """
    from sightline.settings.plugins import known_harnesses  # few machines have any

    found = {}
    for name, place in (known_harnesses() if places is None else places).items():
        with suppress(ImportError):
            found[name] = load_harness(name, place)
    return found


def load_harness(name: str, place: str) -> "Harness":
    """Return the harness of another package. Raises ImportError if it cannot be loaded, or has another name."""
    from sightline.harnesses.base import Harness  # few harnesses come from other packages
    from sightline.settings.plugins import load_object  # likewise

    loaded = load_object(place)
    if not isinstance(loaded, Harness):
        raise ImportError(f"{place} is no harness but {type(loaded).__name__}")
    if loaded.name != name:
        raise ImportError(f"{place} calls itself {loaded.name}")
    return loaded
