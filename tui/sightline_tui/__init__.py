"""The inspector. This package names the functions that open it, and loads them when one is called."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.start import run as run
    from sightline_tui.web.server import serve as serve
else:
    __getattr__ = late_names(__name__, **{"start": ("run",), "web.server": ("serve",)})

__all__ = ["run", "serve"]
