"""The prompts of the main screen: what each asks for, and where it stands. What an answer leads to is the screen's."""

from typing import NamedTuple


class Asks(NamedTuple):
    """One prompt.

    Attributes:
        hint: what to type there, told while it is empty.
        pane: selector of the pane that it stands in.
        above: selector of the widget that it stands above; at the pane's bottom where it is empty.
        back: selector of the widget that the keys go to afterwards.
        keeps: whether its text is still there when it is opened again.
    """

    hint: str
    pane: str
    above: str
    back: str
    keeps: bool = False


PROMPTS = {
    "filter": Asks(
        "filter: command, ref, label, session; / searches outputs", "#left", "#buffers", "#buffers", keeps=True
    ),
    "search": Asks("search: text or regex, small letters match either case", "#right", "", "#viewer"),
}
