"""The keys of the viewer: those of less and vim, where they have one."""

from textual.binding import Binding, BindingType

KEYS: list[BindingType] = [
    Binding("down,j", "scroll_by(1)", "Line down", show=False),
    Binding("up,k", "scroll_by(-1)", "Line up", show=False),
    Binding("pagedown,space,ctrl+f", "page(1)", "Page down", show=False),
    Binding("pageup,b,ctrl+b", "page(-1)", "Page up", show=False),
    Binding("ctrl+d", "page(0.5)", "Half a page down", show=False),
    Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False),
    Binding("home,g", "top", "First line, or line N after typing N", show=False),
    Binding("end,G", "bottom", "Last line, or line N after typing N", key_display="G", show=False),
    Binding("right,l", "sideways(1)", "Scroll right", show=False),
    Binding("left,h", "sideways(-1)", "Scroll left", show=False),
    Binding("circumflex_accent", "line_start", "Start of the lines", key_display="^", show=False),
    Binding("dollar_sign", "line_end", "End of the longest line shown", key_display="$", show=False),
    Binding("F", "follow", "Follow"),
    Binding("slash", "app.filter", "Search", key_display="/"),
    Binding("n", "search_on(False)", "Next hit of the search", show=False),
    Binding("N", "search_on(True)", "Hit before", show=False),
    Binding("e", "failure(False)", "Next error", key_display="e"),
    Binding("E", "failure(True)", "Error before", show=False),
    Binding("s", "stream", "Both streams, or one of them", show=False),
    Binding("r", "look", "In colours, cleaned, raw", show=False),
    Binding("w", "wrap", "Wrap"),
    Binding("x", "hex", "Bytes, or lines", show=False),
    Binding("T", "times", "When each line came", show=False),
    Binding("v", "select", "Select lines, or no longer", show=False),
    Binding("y", "copy_text", "Copy the selected lines", show=False),
    Binding("Y", "copy_ref", "Copy the ref of the lines", show=False),
    Binding("escape", "forget", "Forget the number typed, the selection, the search", show=False),
    # Bindings and not a key handler: so they keep their place among the keys typed with them.
    *(Binding(str(digit), f"digit({digit})", show=False) for digit in range(10)),
]
