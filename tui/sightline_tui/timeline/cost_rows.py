"""Lays out what requests and outputs cost, a bar for each; the widget draws the rows. Pure functions of records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from sightline.audit.cost import BAR_CELLS, CostReport, bar, dollars, kind_dollars, tokens
from sightline.audit.output_costs import OutputCosts
from sightline.audit.output_prices import ESTIMATED
from sightline.base.price_row import PriceRow
from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.keys import named
from sightline_tui.common.phrases import counted
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import StripPart, pad, row
from sightline_tui.common.visible_text import title

_NAME_CELLS = 34
_MONEY_CELLS = 17
_REF_CELLS = 14


class CostRow(NamedTuple):
    """A row, and what it leads to: a ``session``, or a ``ref``; both are empty for a row that leads nowhere."""

    parts: Sequence[StripPart]
    session: str = ""
    ref: str = ""


def request_rows(report: CostReport) -> Iterator[CostRow]:
    """Yield the sums of requests, a group a row; days stand in order, others the dearest first."""
    most = max((one.cost.dollars for one in report.rows), default=0.0)
    for name, label, cost in report.rows:
        inputs = tokens(cost.fresh + cost.cache_read + cost.cache_write + cost.cache_write_1h)
        yield CostRow(
            [
                StripPart(f" {pad(title(label), _NAME_CELLS)} ", "strong"),
                StripPart(f"{dollars(cost, '≥ '):>{_MONEY_CELLS}}  "),
                StripPart(pad(bar(cost.dollars, most), BAR_CELLS), "accent"),
                StripPart(f"  {counted(cost.requests, 'request')}, {inputs} in, {tokens(cost.output)} out", "dim"),
            ],
            session=name if report.by == "session" else "",
        )


def kind_rows(found: OutputCosts) -> Iterator[CostRow]:
    """Yield the sums of outputs by the kind of command that made them, the dearest first."""
    most = max((one.dollars for one in found.kinds), default=0.0)
    for one in found.kinds:
        yield CostRow(
            [
                StripPart(f" {pad(title(one.kind), _NAME_CELLS)} ", "strong"),
                StripPart(f"{kind_dollars(one, '≥ '):>{_MONEY_CELLS}}  "),
                StripPart(pad(bar(one.dollars, most), BAR_CELLS), "accent"),
                StripPart(f"  {counted(one.outputs, 'output')}, {tokens(one.tokens)} tokens", "dim"),
                StripPart(f", {tokens(one.carried)} carried", "dim"),
            ]
        )


def output_rows(found: OutputCosts) -> Iterator[CostRow]:
    """Yield the dearest outputs."""
    most = max((one.row.dollars or 0.0 for one in found.dearest), default=0.0)
    money = [_money(one.row) for one in found.dearest]
    cells = max(map(len, money), default=0)
    for (one, asked), told in zip(found.dearest, money, strict=True):
        ref = "-" if ":" in one.output else format_ref(one.output)
        size = f"{'~' * (one.measure == ESTIMATED)}{tokens(one.tokens)}"
        yield CostRow(
            [
                StripPart(f" {pad(ref, _REF_CELLS)} ", "key"),
                StripPart(f"{told:>{cells}}  "),
                StripPart(pad(bar(one.dollars or 0.0, most), BAR_CELLS), "accent"),
                StripPart(f"  {size:>7} × {one.requests:<5,} ", "dim"),
                StripPart(title(asked)),
            ],
            ref=ref.removeprefix("-"),
        )


def _money(one: PriceRow) -> str:
    if one.dollars is None:
        return "price not known"
    return f"{'≥ ' * one.at_least}${one.dollars:,.2f}"


class CostRows(RowView):
    """Rows of costs; choosing one leads to its session or its output."""

    PARTS = RowView.PARTS
    BINDINGS: ClassVar[list[BindingType]] = named("cost", [Binding("enter", "choose", "Open")])

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A person has chosen a session or an output."""

        row: CostRow

    def __init__(self) -> None:
        super().__init__(id="cost")
        self._rows: Sequence[CostRow] = ()

    def show(self, rows: Sequence[CostRow]) -> None:
        """Show other rows, from the first on."""
        self._rows = rows
        self.set_rows(len(rows), cursor=0)

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        return row(self._rows[at].parts, (), width, self.own_style, self.part_styles)

    def choose(self) -> None:
        """Choose the session or the output of the row."""
        if self._rows and (self._rows[self.cursor].session or self._rows[self.cursor].ref):
            self.post_message(self.Chosen(self._rows[self.cursor]))
