"""The list of buffers. What deletes one, and searches all of them, is loaded when it is first wanted."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.tui.buffers.contents_search import Contents as Contents
    from sightline.tui.buffers.removal import delete as delete
    from sightline.tui.buffers.removal import pin as pin
else:

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from sightline.tui.buffers import contents_search, removal  # 20 ms

        return getattr(contents_search if hasattr(contents_search, name) else removal, name)


__all__ = ["Contents", "delete", "pin"]
