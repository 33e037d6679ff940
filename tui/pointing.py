"""From the main screen to the replies in which its output was shown, and back to the lines of one of them."""

from collections.abc import Callable

from textual.screen import Screen

from sightline.records import Buffer
from sightline.store import Store
from sightline.tui.common.messages import LineChosen
from sightline.tui.evidence.shown import Located, ShownScreen
from sightline.tui.viewer.viewer import Viewer


def open_shown(screen: Screen[None], store: Store, buffer: Buffer, clock: Callable[[], float]) -> None:
    """Show the replies about a buffer; the lines of the one that is chosen stand out in the viewer, until forgotten."""
    viewer = screen.query_one(Viewer)
    auditing = viewer.auditing

    def point(located: Located | None) -> None:
        if located is not None:
            auditing.point(located.reply.lines, located.what, located.reply.view.id)
            screen.set_focus(viewer)
            screen.post_message(LineChosen(buffer, *located.start))

    shown = ShownScreen(store, buffer, session=auditing.session, at=auditing.pointed_to, clock=clock)
    screen.app.push_screen(shown, point)
