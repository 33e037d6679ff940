"""Works out cell by cell a line whose escape sequences overwrite it: which text stands where, in which pen."""

from sightline.shape.terminal import ERASED, MOVES, TOKEN, TerminalRow
from sightline_tui.common.pens import PLAIN, Pen, Run, changed


def runs_of(text: str, pen: Pen) -> tuple[list[Run], Pen]:
    """Return the runs of a line that begins with a pen, and the pen after it."""
    row = _Painted(pen) if MOVES.search(text) else _Plain(pen)
    row.feed(text)
    return row.runs(), row.pen


class _Plain:
    """A line in which nothing moves, so its text stands in order."""

    def __init__(self, pen: Pen) -> None:
        self.pen = pen
        self._runs: list[Run] = []

    def feed(self, text: str) -> None:
        position = 0
        for token in TOKEN.finditer(text):
            self._add(text[position : token.start()])
            position = token.end()
            self.pen = changed(self.pen, token[0])
        self._add(text[position:])

    def _add(self, text: str) -> None:
        if text:
            self._runs.append((text, self.pen))

    def runs(self) -> list[Run]:
        return self._runs


class _Painted(TerminalRow):
    """A line that is overwritten: each cell keeps the pen that wrote it last."""

    def __init__(self, pen: Pen) -> None:
        super().__init__()
        self.pen = pen
        self._pens: list[Pen] = []

    def obey(self, control: str, parameters: str | None, final: str | None) -> None:
        super().obey(control, parameters, final)
        self.pen = changed(self.pen, control)

    def change(self, start: int, end: int, new: list[str]) -> None:
        super().change(start, end, new)
        self._pens[start:end] = [self.pen if cell != ERASED else PLAIN for cell in new]

    def runs(self) -> list[Run]:
        length = len(self.cells)
        while length and self.cells[length - 1] in (ERASED, ""):  # the empty second cell of a wide character
            length -= 1
        runs: list[Run] = []
        for cell, pen in zip(self.cells[:length], self._pens[:length], strict=True):
            text = cell.replace(ERASED, " ")
            if runs and (runs[-1][1] == pen or not text):
                runs[-1] = (runs[-1][0] + text, runs[-1][1])
            elif text:
                runs.append((text, pen))
        return runs
