"""Questions and their answers: loaded when the first one is to be typed."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.asking.query_bar import FORMS as FORMS
    from sightline_tui.asking.query_bar import open_bar as open_bar
else:
    __getattr__ = late_names(__name__, query_bar=("FORMS", "open_bar"))  # 40 ms

__all__ = ["FORMS", "open_bar"]
