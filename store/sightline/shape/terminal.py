"""Works out what a terminal would show of one line: obeys escape sequences that move or erase within it, drops others.

The line is a row of cells. A wide character or a tab fills several: the first has it, the others are empty.
"""

import re
import unicodedata

_CSI = r"(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~]?)"
_STRING_END = r"(?:\x1b\\|[\x9c\x18\x1a])?"
TOKEN = re.compile(
    _CSI
    + r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x18\x1a]*(?:\x07|" + _STRING_END + ")"  # OSC: a title, a link
    + r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\x18\x1a]*" + _STRING_END  # DCS, SOS, PM, APC
    + r"|\x1b[ -/]+[0-~]?"  # charset designations and the like
    + r"|\x1b[0-~]?"
    + r"|[\x00-\x08\x0a-\x1f\x7f-\x9f]"
)  # fmt: skip
MOVES = re.compile(r"[\r\x08]|(?:\x1b\[|\x9b)(?:[12]K|[0-9]*[DG])")
ERASED = "\0"  # marks an empty cell; no cell ever has a control character
_TAB_STOP = 8
_LONGEST_MOVE = 1 << 16  # cells; since no move leaves the line, a larger number means the same


def render(text: str) -> str:
    """Return the cleaned text of one line with control characters."""
    if not MOVES.search(text):
        return TOKEN.sub("", text)
    row = TerminalRow()
    row.feed(text)
    return "".join(row.cells).rstrip(ERASED).replace(ERASED, " ")


class TerminalRow:
    """The cells of one line, and the cursor.

    Attributes:
        cells: what each holds; the last ones may be ``ERASED``.
        cursor: index of the next character's cell.
    """

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.cursor = 0

    def feed(self, text: str) -> None:
        """Write text, and obey what moves the cursor or erases."""
        position = 0
        for token in TOKEN.finditer(text):
            self._write(text[position : token.start()])
            position = token.end()
            self.obey(token[0], token[1], token[2])
        self._write(text[position:])

    def change(self, start: int, end: int, new: list[str]) -> None:
        """Replace cells; all changes of the row go through here."""
        self.cells[start:end] = new

    def _write(self, text: str) -> None:
        if text.isascii() and "\t" not in text:
            self._put(list(text))
            return
        for char in text:
            if char == "\t":
                self._tab()
            elif char.isascii():
                self._put([char])
            else:
                self._put_wide(char)

    def obey(self, control: str, parameters: str | None, final: str | None) -> None:
        """Obey a control character or sequence; a CSI comes with its parameters and its last character."""
        if control == "\r":
            self.cursor = 0
        elif control == "\b":
            self.cursor = max(0, self.cursor - 1)
        elif final == "K":
            self._erase(parameters or "0")
        elif final in ("D", "G") and not (parameters or "").strip("0123456789"):
            # A number with more digits is no column, and slow to convert.
            count = max(1, min(int((parameters or "1")[:9]), _LONGEST_MOVE))
            self.cursor = min(count - 1, len(self.cells)) if final == "G" else max(0, self.cursor - count)

    def _erase(self, parameters: str) -> None:
        if parameters == "0":
            self._free(self.cursor, len(self.cells))
            self.change(self.cursor, len(self.cells), [])
        elif parameters == "1":
            end = min(self.cursor + 1, len(self.cells))
            self._free(0, end)
            self.change(0, end, [ERASED] * end)
        elif parameters == "2":
            self.change(0, len(self.cells), [])

    def _put(self, new: list[str]) -> None:
        """Write cells at the cursor, and move it behind them."""
        if not new:
            return
        start, end = self.cursor, self.cursor + len(new)
        if start > len(self.cells):
            self.change(len(self.cells), len(self.cells), [ERASED] * (start - len(self.cells)))
        if start < len(self.cells):
            self._free(start, end)
        self.change(start, end, new)
        self.cursor = end

    def _free(self, start: int, end: int) -> None:
        """Blank what is left of wide characters that a change of these cells would split."""
        cells = self.cells
        for edge in (start, end):
            if not 0 < edge < len(cells) or cells[edge]:
                continue
            first = edge
            while first and not cells[first]:
                first -= 1
            last = edge
            while last < len(cells) and not cells[last]:
                last += 1
            self.change(first, last, [" "] * (last - first))

    def _put_wide(self, char: str) -> None:
        if unicodedata.category(char) in ("Mn", "Me", "Cf"):  # it joins the character before it
            base = min(self.cursor, len(self.cells)) - 1
            while base > 0 and not self.cells[base]:
                base -= 1
            if base >= 0:
                self.change(base, base + 1, [self.cells[base].replace(ERASED, " ") + char])
            return
        self._put([char, ""] if unicodedata.east_asian_width(char) in "WF" else [char])

    def _tab(self) -> None:
        """Move over what is there; past the end, the tab stays in the text."""
        stop = self.cursor - self.cursor % _TAB_STOP + _TAB_STOP
        length = len(self.cells)
        if stop > length:
            self.cursor = max(self.cursor, length)
            self._put(["\t"] + [""] * (stop - self.cursor - 1))
        self.cursor = stop
