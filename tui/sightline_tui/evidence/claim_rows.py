"""Turns claims of agents, and what else is wrong in their sessions, into rows, with the calls that each rests on."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import ClassVar

from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip

from sightline.audit.evidence.evidence_records import DOUBTED, NOT_KNOWN, SUPPORTED, VERDICTS, Ground, SessionEvidence
from sightline.audit.finding_kinds import CLAIMS
from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.keys import named
from sightline_tui.common.phrases import counted
from sightline_tui.common.row_view import RowView
from sightline_tui.common.strips import StripPart, row
from sightline_tui.common.visible_text import title

_VERDICT_CELLS = 17
_LEAST_WHY_CELLS = 20


class ClaimRow(NamedTuple):
    """A row, and what it rests on; nothing if it is a heading that names a session."""

    parts: Sequence[StripPart]
    grounds: tuple[Ground, ...] = ()
    why: str = ""
    ref: str = ""


def claim_rows(sessions: Iterable[SessionEvidence], titles: Mapping[str, str]) -> list[ClaimRow]:
    """Return the rows of some sessions, those with doubted claims first: the claims, worst first, then other alarms.

    Args:
        sessions: what is known of their claims.
        titles: what to call sessions, by their names.
    """
    rows: list[ClaimRow] = []
    for one in sorted(sessions, key=lambda one: not one.lacking):
        called = StripPart(f" {title(titles.get(one.session, one.session))}", "accent")
        rows += [*([ClaimRow([])] if rows else []), ClaimRow([called, *_about(one)])]
        for claim in sorted(one.claims, key=lambda claim: VERDICTS.index(claim.verdict)):
            style = "ok" if claim.verdict == SUPPORTED else "error" if claim.verdict in DOUBTED else "dim"
            verdict = StripPart(f"   {claim.verdict:<{_VERDICT_CELLS}} ", style)
            words = StripPart(f"“{title(claim.claim.words)}”")
            rows.append(ClaimRow([verdict, words], claim.grounds, claim.why))
        for alarm in one.alarms:
            if alarm.kind not in CLAIMS:
                parts = [StripPart(f"   {alarm.kind:<{_VERDICT_CELLS}} ", "error"), StripPart(title(alarm.text))]
                rows.append(ClaimRow(parts, alarm.grounds, alarm.text, alarm.at))
    return rows


def _about(one: SessionEvidence) -> list[StripPart]:
    if not one.messages:
        return [StripPart("  no message was kept", "dim")]
    return (
        [StripPart(f"  {one.not_read:,} of {counted(one.messages, 'message')} not read", "dim")] if one.not_read else []
    )


def told_of(sessions: Sequence[SessionEvidence]) -> list[StripPart]:
    """Say first how many claims are not supported, then how many others are, and how many are not known."""
    lacking = sum(one.lacking for one in sessions)
    verdicts = [claim.verdict for one in sessions for claim in one.claims]
    claims, supported, unknown = len(verdicts), verdicts.count(SUPPORTED), verdicts.count(NOT_KNOWN)
    others = f"  ·  {supported:,} supported" + (f"  ·  {unknown:,} not known" if unknown else "")
    if lacking:
        return [StripPart(f"! {counted(lacking, 'claim')} not supported", "error"), StripPart(others, "dim")]
    if unknown:
        return [StripPart(f"{counted(claims, 'claim')}{others}", "dim")]
    return [StripPart(f"✓ {counted(claims, 'claim')}, all supported" if claims else "no claim was read", "dim")]


class ClaimRows(RowView):
    """The claims; choosing one goes to the line that it rests on."""

    PARTS = (*RowView.PARTS, "ok")
    BINDINGS: ClassVar = named("claims", [Binding("enter", "choose", "Open")])

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A person has chosen a claim."""

        row: ClaimRow

    @dataclass(eq=False, repr=False)
    class Pointed(Message):
        """The cursor has moved to another row."""

        row: ClaimRow

    def __init__(self) -> None:
        super().__init__(id="claims")
        self._rows: Sequence[ClaimRow] = ()

    def show(self, rows: Sequence[ClaimRow]) -> None:
        """Show other rows; the cursor stays on its row, or goes to the first one that rests on something."""
        first = next((at for at, one in enumerate(rows) if one.why), 0)
        stays = self._rows and self._rows[self.cursor].why and self.cursor < len(rows)
        at = self.cursor if stays else first
        self._rows = rows
        self.set_rows(len(rows), cursor=at)

    def cursor_moved(self) -> None:
        """Show beside the list what the claim rests on."""
        if self._rows:
            self.post_message(self.Pointed(self._rows[self.cursor]))

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        return row(self._rows[at].parts, (), width, self.own_style, self.part_styles)

    def choose(self) -> None:
        """Go to the output that the claim rests on."""
        if self._rows:
            self.post_message(self.Chosen(self._rows[self.cursor]))


class GroundRows(RowView):
    """The runs and edits that a claim rests on; choosing one goes to its lines."""

    BINDINGS: ClassVar = named("grounds", [Binding("enter", "choose", "Open")])

    @dataclass(eq=False, repr=False)
    class Chosen(Message):
        """A person has chosen a call."""

        ground: Ground

    def __init__(self) -> None:
        super().__init__(id="grounds")
        self._rows: list[tuple[list[StripPart], Ground | None]] = []

    def show(self, claim: ClaimRow) -> None:
        """Show what a claim rests on."""
        room = max(self.columns - 2, _LEAST_WHY_CELLS)
        self._rows = [([StripPart(f" {line}", "strong")], None) for line in wrap(title(claim.why), room)]
        for ground in claim.grounds:
            when = time.strftime("%H:%M:%S", time.localtime(ground.time))
            place = StripPart(f"{ground.ref:<15} ", "key")
            self._rows.append(([StripPart(f"   {when}  ", "dim"), place, StripPart(title(ground.text))], ground))
        self.set_rows(len(self._rows), cursor=0)

    def draw(self, at: int, width: int) -> Strip:
        """Draw a row."""
        return row(self._rows[at][0], (), width, self.own_style, self.part_styles)

    def choose(self) -> None:
        """Go to the lines of the chosen call."""
        if self._rows and (ground := self._rows[self.cursor][1]):
            self.post_message(self.Chosen(ground))
