"""The list of buffers. Deletion and the search through all of them are loaded at their first use."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.buffers.contents_search import Contents as Contents
    from sightline_tui.buffers.removal import delete as delete
    from sightline_tui.buffers.removal import pin as pin
else:
    __getattr__ = late_names(__name__, contents_search=("Contents",), removal=("delete", "pin"))  # 20 ms

__all__ = ["Contents", "delete", "pin"]
