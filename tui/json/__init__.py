"""The JSON of an output as a tree: loaded when the first one is opened."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.tui.json.screen import open_json as open_json
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sightline.tui.json import screen as loaded  # 20 ms

        return getattr(loaded, name)


__all__ = ["open_json"]
