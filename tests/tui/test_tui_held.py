"""What contexts still hold of an output: in the viewer, its strip, the Info panel, the timeline and the replay."""

import pytest
from textual.pilot import Pilot

from sightline.audit.report.html import render_html
from sightline.audit.report.markdown import render_markdown
from sightline.audit.report.report import gather
from sightline.base.records import Buffer
from sightline.log.session_events import COMPACTED, STARTED, ContextChange, append_events
from sightline.store import Store
from sightline_tui.evidence.dossier import facts_of, read_dossier
from sightline_tui.timeline.board_reader import BoardReader
from tests.tui.audit_kit import AGENT, OTHER, ask, bar, rows, session
from tests.tui.tui_kit import NOW, add, numbered, opened, press, run, text, until, viewer


@pytest.fixture
def buffer(store: Store) -> Buffer:
    """An output of which lines 1 to 4 went with a compaction, 11 to 13 are held, and of 20 to 22 nobody tells."""
    made = add(store, "cmd_00000a", "make paint", numbered(40), exit_code=0)
    ask(store, made, [(20, 22)], ago=90)
    started = ContextChange(NOW - 80, STARTED, whole=True)
    ask(store, made, [(1, 4)], ago=60, reply="x" * 400)
    compacted = ContextChange(NOW - 50, COMPACTED, "automatic", before=150_000, summary="We paint.")
    append_events(store.root, session(AGENT), [started, compacted])
    ask(store, made, [(11, 13)], ago=40, reply="x" * 80)
    return made


def marks(pilot: Pilot[None]) -> list[str]:
    return [row[:1] for row in text(viewer(pilot))]


def test_held_seen_before_and_not_known_have_marks_and_bars_of_their_own(store: Store, buffer: Buffer) -> None:
    append_events(store.root, session(OTHER), [ContextChange(NOW - 99, STARTED)])  # from where on is not told
    ask(store, buffer, [(30, 31)], by=OTHER, ago=30)

    async def body() -> None:
        async with opened(store, (140, 46)) as pilot:
            await press(pilot, "enter")
            await until(pilot, lambda: "▎" in marks(pilot))
            shown = marks(pilot)
            assert shown[:5] == ["╎"] * 4 + [" "]
            assert shown[10:13] == ["▎"] * 3
            assert shown[19:22] == ["╎"] * 3
            assert shown[29:31] == ["▏"] * 2
            strip = [cell.fate for cell in viewer(pilot).overview.cells]
            assert (strip[0], strip[10], strip[29]) == ("gone", "", "unsure")

    run(body)


def test_the_last_row_tells_the_states_of_all_lines_and_of_one(store: Store, buffer: Buffer) -> None:
    def told(pilot: Pilot[None]) -> str:
        return "".join(text(pilot.app.screen.query_one("#info")))

    async def body() -> None:
        async with opened(store, (200, 46)) as pilot:
            await press(pilot, "enter")
            await until(pilot, lambda: "3 held, 7 seen before" in told(pilot))
            for line, words in ((2, "(exact) · seen before, no longer held"), (12, "(exact) · held")):
                await press(pilot, *f"{line}G")
                await until(pilot, lambda words=words: words in told(pilot))

    run(body)


def test_the_info_panel_tells_the_lines_in_each_state(store: Store, buffer: Buffer) -> None:
    facts = {fact.label or "heading": fact.text for fact in facts_of(read_dossier(store, "cmd_00000a"), NOW)}
    told = [fact.text for fact in facts_of(read_dossier(store, "cmd_00000a"), NOW) if "in context" in fact.text]
    assert told == ["lines in context: 3 held, 7 seen before, 30 never seen"]
    assert (facts["held"], facts["seen before"]) == ("11-13", "1-4, 20-22")


def test_a_rule_across_the_timeline_tells_what_went(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (170, 30)) as pilot:
            await press(pilot, "t")
            await until(pilot, lambda: len(rows(pilot, "calls")) >= 4)
            rule = next(row for row in rows(pilot, "calls") if "───" in row)
            assert "compacted (automatic, 150,000 tokens before): 2 replies went, ~104 tokens" in rule
            await press(pilot, "up")
            detail = bar(pilot, "timeline-detail")
            assert "most in @cmd_00000a ~104" in detail
            assert "summary: We paint." in detail
            await press(pilot, "right_square_bracket")
            await until(pilot, lambda: "~20 tokens in context · ~104 no longer" in bar(pilot, "timeline-totals"))

    run(body)


def test_the_board_of_sessions_tells_what_each_context_holds(store: Store, buffer: Buffer) -> None:
    ask(store, buffer, [(1, 2)], by=OTHER, ago=30)  # nothing is told of its context
    reader = BoardReader(store)
    assert {one.held for one in reader.step(fresh=True).agents} == {None}
    while not reader.step(fresh=False).is_judged:
        pass
    told = {one.name: one.held for one in reader.step(fresh=False).agents}
    assert (told[AGENT].held, told[AGENT].went, told[OTHER]) == (20, 104, None)
    ask(store, buffer, [(5, 9)], ago=10, reply="x" * 4000)
    reader.step(fresh=True)
    assert [one.held.held for one in reader.step(fresh=False).agents if one.held] == [1020]

    async def body() -> None:
        async with opened(store, (120, 30)) as pilot:
            await press(pilot, "W")
            await until(pilot, lambda: any("~1020" in row for row in rows(pilot, "sessions")))
            heading = bar(pilot, "sessions-columns")
            held = {row.split()[0]: row[: heading.index("HELD") + 4].split()[-1] for row in rows(pilot, "sessions")[1:]}
            assert held == {AGENT: "~1020", OTHER: "-"}
            await press(pilot, "j", *("j" if AGENT not in rows(pilot, "sessions")[1] else ""))
            await until(
                pilot,
                lambda: any("~1,020 tokens in context · ~104 no longer" in r for r in rows(pilot, "session-facts")),
            )

    run(body)


def test_a_step_of_a_replay_tells_what_was_held_then(store: Store, buffer: Buffer) -> None:
    async def body() -> None:
        async with opened(store, (170, 40)) as pilot:
            await press(pilot, "t", "g", "r", "right")
            await until(pilot, lambda: "step 2 of 3" in bar(pilot, "replay-head"))
            assert "4 held then, of 3 not known" in bar(pilot, "covered-title")
            await press(pilot, "right")
            await until(pilot, lambda: "step 3 of 3" in bar(pilot, "replay-head"))
            assert "3 held then, 7 seen before" in bar(pilot, "covered-title")
            assert any(row.lstrip().startswith("1 ╎ line 1") for row in rows(pilot, "covered"))
            assert "no longer held" in bar(pilot, "replay-so-far")
            assert "~20 tokens in context · ~104 no longer" in bar(pilot, "replay-so-far")

    run(body)


def test_a_report_tells_the_states_and_has_a_rule_where_something_went(store: Store, buffer: Buffer) -> None:
    report = gather(store)
    markup, document = render_html(report), render_markdown(report)
    for told in (markup, document):
        assert "n context: 3 held, 7 seen before" in told
        assert told.count("2 replies went") == 1
        assert "tokens in context" in told
    assert 'class="before"' in markup


def test_where_nothing_is_told_of_a_context_marks_tell_what_was_seen(store: Store) -> None:
    made = add(store, "cmd_00000a", "make paint", numbered(10), exit_code=0)
    ask(store, made, [(1, 4)])

    async def body() -> None:
        async with opened(store, (140, 30)) as pilot:
            await press(pilot, "enter")
            await until(pilot, lambda: marks(pilot)[:4] == ["▎"] * 4)

    run(body)
    assert any("not known: nobody tells" in fact.text for fact in facts_of(read_dossier(store, "cmd_00000a"), NOW))
