"""Loads a package's names when they are first used, so that nobody waits for unused ones."""

from sightline.light.typing_names import Any, Callable


def late_names(package: str, **places: tuple[str, ...]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__``.

    Args:
        package: where the modules lie, usually its own ``__name__``; empty where they lie in several.
        places: names that each module has, by the module's name below that package.
    """
    above = f"{package}." if package else ""
    modules = {name: module for module, names in places.items() for name in names}

    def loaded(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(__import__(above + modules[name], fromlist=[name]), name)

    return loaded
