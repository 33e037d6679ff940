"""Claims on the screen: what was claimed, what it rests on, and one key to the line."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.evidence.sessions import SESSIONS
from benchmarks.evidence.transcripts import write_transcript
from sightline.agents.past_sessions.importer import Importer
from sightline.audit.evidence.claims import Claim
from sightline.audit.evidence.evidence_records import NOT_KNOWN, STALE, SUPPORTED, JudgedClaim, SessionEvidence
from sightline.audit.evidence.languages import UnreadMessages
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from sightline_tui import misses
from sightline_tui.common.strips import StripPart
from sightline_tui.evidence.claim_rows import claim_rows, told_of
from sightline_tui.evidence.claims_screen import ClaimsScreen
from tests.tui.tui_kit import opened, press, run, text, until, viewer

FORGETFUL = next(one for one in SESSIONS if one.name == "it fails, is compacted, edits, and claims success")


def fill(store: Store, folder: Path) -> None:
    write_transcript(FORGETFUL.harness, "5e55", FORGETFUL.steps, str(folder))
    Importer(store).run(find_sources(str(folder / FORGETFUL.harness)))


def shown(pilot: object, pane: str) -> str:
    return "\n".join(text(pilot.app.screen.query_one(pane)))


def test_a_claim_stands_beside_what_it_rests_on_and_one_key_leads_to_the_line(store: Store, tmp_path: Path) -> None:
    fill(store, tmp_path)

    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "K")
            await until(pilot, lambda: "All tests pass." in shown(pilot, "#claims"))
            assert "! 1 claim not supported" in shown(pilot, "#claims-head")
            assert "stale" in shown(pilot, "#claims")
            assert "forgotten-failure" in shown(pilot, "#claims")
            await until(pilot, lambda: "pytest failed" in shown(pilot, "#grounds"))
            assert "cart.py edited" in shown(pilot, "#grounds")
            await press(pilot, "enter")
            await until(pilot, lambda: not isinstance(pilot.app.screen, ClaimsScreen))
            await until(pilot, lambda: bool(viewer(pilot).target and viewer(pilot).target > 1))
            await press(pilot, "q")
            await until(pilot, lambda: "All tests pass." in shown(pilot, "#claims"))
            await press(pilot, "q")
            await until(pilot, lambda: not isinstance(pilot.app.screen, ClaimsScreen))
            assert pilot.app.is_running

    run(body)


def test_the_header_counts_claims_without_evidence_behind_the_failures(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(misses, "FIRST_SECONDS", 0.01)
    fill(store, tmp_path)

    async def body() -> None:
        async with opened(store) as pilot:
            await until(pilot, lambda: "1 claim not supported  ·" in text(pilot.app.query_one("#header"))[0])

    run(body)


def judged(session: str, *verdicts: str) -> SessionEvidence:
    claims = [
        JudgedClaim(Claim("passed", "Green.", (), is_whole=True, vague=False), session, 1, 1.0, verdict, "so", ())
        for verdict in verdicts
    ]
    return SessionEvidence(session, (), (), tuple(claims), (), 1, UnreadMessages(1, ()), 0)


def test_a_claim_of_which_nothing_is_known_is_not_counted_as_supported() -> None:
    unknown, doubted = judged("a", SUPPORTED, NOT_KNOWN, NOT_KNOWN), judged("b", SUPPORTED, STALE)
    assert said(told_of([unknown])) == "3 claims  ·  1 supported  ·  2 not known"
    assert said(told_of([unknown, doubted])) == "! 1 claim not supported  ·  2 supported  ·  2 not known"
    assert said(told_of([judged("a", SUPPORTED)])) == "✓ 1 claim, all supported"


def test_a_session_with_a_doubted_claim_comes_first() -> None:
    found = claim_rows([judged("a", NOT_KNOWN), judged("b", SUPPORTED, STALE)], {})
    assert [said(row.parts).split()[0] for row in found if row.parts] == ["b", "stale", "supported", "a", "not"]


def said(parts: Iterable[StripPart]) -> str:
    return "".join(part.text for part in parts)


def test_where_nothing_was_claimed_it_says_so(store: Store) -> None:
    async def body() -> None:
        async with opened(store) as pilot:
            await press(pilot, "K")
            await until(pilot, lambda: "there is no claim to judge" in shown(pilot, "#claims"))
            await press(pilot, "escape")
            assert not isinstance(pilot.app.screen, ClaimsScreen)

    run(body)
