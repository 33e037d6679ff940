"""Turns a brief into rows: headings with their items below, each of which leads to its lines. The widget draws them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip

from sightline.audit.brief import Brief, BriefItem
from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.keys import named
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import StripPart, row
from sightline_tui.common.visible_text import title

_REF_CELLS = 16


class BriefRow(NamedTuple):
    """A row, and the ref that it leads to; empty for none."""

    parts: Sequence[StripPart]
    ref: str = ""


def brief_rows(brief: Brief) -> list[BriefRow]:
    """Return the rows of a brief."""
    judged = brief.judged
    style = "error" if judged.has_findings else "ok" if judged.is_good else "dim"
    rows = [
        BriefRow([StripPart(f" {title(brief.verdict)}", style)]),
        BriefRow([StripPart(f" {title(brief.facts)}", "dim")]),
        *(BriefRow([StripPart(f" {title(sentence)}", "dim")]) for sentence in brief.costs),
    ]
    for section in brief.sections:
        rows += [BriefRow([]), BriefRow([StripPart(f" {section.title}", "error" if section.bad else "accent")])]
        for item in section.items:
            rows.append(BriefRow(_item_parts(item, brief.made), item.ref))
            rows += [BriefRow([StripPart(f"     {title(item.now)}", "dim")], item.ref)] if item.now else []
        if left_out := section.left_out(section.items):
            rows.append(BriefRow([StripPart(f"   … {left_out:,} more", "dim")]))
    if brief.unknown:
        rows += [BriefRow([]), *(BriefRow([StripPart(f" {sentence}", "dim")]) for sentence in brief.unknown)]
    return rows


def _item_parts(item: BriefItem, now: float) -> list[StripPart]:
    command = [StripPart(f"  {title(item.command)}", "dim")] if item.command else []
    origin = f"{title(origin)}  " if (origin := item.origin(now)) else ""
    parts = [StripPart(f"   {item.ref:<{_REF_CELLS}} ", "key"), StripPart(origin, "dim"), StripPart(title(item.text))]
    parts += command
    return [*parts, StripPart(item.repeated, "accent")]


class BriefRows(RowView):
    """The rows of a brief; choosing one goes to its lines."""

    PARTS = (*RowView.PARTS, "ok")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in PARTS}
    BINDINGS: ClassVar = named("brief", [Binding("enter", "choose", "Open")])

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A person has chosen a row, and with it some lines."""

        ref: str

    def __init__(self) -> None:
        super().__init__(id="brief")
        self._rows: Sequence[BriefRow] = ()

    def show(self, rows: Sequence[BriefRow]) -> None:
        """Show other rows; the cursor stays on its row, or goes to the first row with a ref."""
        before = self._rows[self.cursor].ref if self._rows else ""
        self._rows = rows
        refs = [row.ref for row in rows]
        first = next((at for at, ref in enumerate(refs) if ref), 0)
        at = refs.index(before) if before and before in refs else first
        if before and refs[self.cursor : self.cursor + 1] == [before]:
            at = self.cursor  # the second row of the same
        self.set_rows(len(rows), cursor=at)

    @property
    def ref(self) -> str:
        """The ref that the row under the cursor leads to; empty for none."""
        return self._rows[self.cursor].ref if self._rows else ""

    def move_to(self, at: int) -> None:
        """Put the cursor on a row; on the first row with a ref, scroll to the top as well."""
        super().move_to(at)
        if not any(row.ref for row in self._rows[: self.cursor]):
            self.scroll_to(y=0, animate=False, force=True)

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        return row(self._rows[at].parts, (), width, self.own_style, self.part_styles)

    def choose(self) -> None:
        """Go to the lines of the row."""
        if self.ref:
            self.post_message(self.Chosen(self.ref))
