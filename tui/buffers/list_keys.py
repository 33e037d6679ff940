"""The keys of the list of buffers."""

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("down,j", "move(1)", "Down", show=False),
    Binding("up,k", "move(-1)", "Up", show=False),
    Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False),
    Binding("pageup,b,ctrl+b", "page(-1)", "Page up", show=False),
    Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
    Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
    Binding("home,g", "top", "Most recently used", show=False),
    Binding("end,G", "bottom", "Least recently used", show=False),
    Binding("enter", "choose", "Read"),
    Binding("m", "mark", "Mark"),
    Binding("S", "sort", "Sort"),
    Binding("R", "turn", "Reverse", show=False),
    Binding("o", "group", "Group", show=False),
]
