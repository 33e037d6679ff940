"""The names that only some calls of a command need, loaded at first use; each line says what loading it costs."""

from sightline.light.late_names import late_names
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.doors.proxy.http import serve_url as serve_url
    from sightline.doors.proxy.relay import proxy_to as proxy_to
    from sightline.doors.proxy.stdio import serve as serve
    from sightline.doors.tools.line_io import LineWriter as LineWriter
    from sightline.verbs.run_comparison import comparison_reply as comparison_reply
else:
    __getattr__ = late_names(
        "sightline",
        **{
            "doors.tools.line_io": ("LineWriter",),  # loaded with the next but one, while the proxy's server starts
            "doors.proxy.http": ("serve_url",),  # loads the official SDK, which takes a second
            "doors.proxy.relay": ("proxy_to",),  # 30 ms
            "doors.proxy.stdio": ("serve",),
            "verbs.run_comparison": ("comparison_reply",),  # 30 ms: most differences come from diff itself
        },
    )
