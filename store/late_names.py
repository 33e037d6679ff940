"""A package's own names, loaded when one of them is first asked for: nobody waits for what he does not use."""

from collections.abc import Callable
from typing import Any


def late_names(package: str, **places: tuple[str, ...]) -> Callable[[str], Any]:
    """What a package has as its ``__getattr__``.

    Args:
        package: where the modules lie, mostly its own ``__name__``.
        places: the names that each module has, by the module's name below that package.
    """
    modules = {name: module for module, names in places.items() for name in names}

    def loaded(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(__import__(f"{package}.{modules[name]}", fromlist=[name]), name)

    return loaded
