"""Questions and their answers: loaded when the first one is to be typed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.tui.asking.query_bar import FORMS as FORMS
    from sightline.tui.asking.query_bar import open_bar as open_bar
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sightline.tui.asking import query_bar as loaded  # 40 ms

        return getattr(loaded, name)


__all__ = ["FORMS", "open_bar"]
