"""The inspector. This package names the functions that open it, and loads them when one is called."""

from sightline.light.late_imports import late_names

with late_names(globals()):
    from sightline_tui.start import run as run
    from sightline_tui.web.server import Proxied as Proxied
    from sightline_tui.web.server import serve as serve
    from sightline_tui.web.server import serve_behind_proxy as serve_behind_proxy
