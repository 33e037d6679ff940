"""The price of an output: its tokens, the requests that carried it, and what each of these paid for them."""

from pathlib import Path

import pytest

from sightline.agents.past_sessions.importer import Importer
from sightline.audit.output_prices import COMPUTED, ESTIMATED, STATED, SessionPrices, session_prices
from sightline.base.price_row import PriceRow
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from tests.store.audit.usage_kit import NAME, Requests
from tests.store.harnesses.past_kit import Rollout, write_lines


def _text(size: int, word: str = "x") -> str:
    return word * size


def _prices(store: Store, session: Requests, folder: Path) -> SessionPrices:
    session.imported(store, folder)
    return session_prices(store, NAME)


def _by_bytes(found: SessionPrices) -> dict[int, PriceRow]:
    return {one.bytes: one for one in found.outputs}


def test_one_result_between_two_requests_has_the_growth_of_the_context(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(_text(4000), written=10_000).reply(read=10_000, written=1100).reply(read=11_100)
    (one,) = _prices(store, session, tmp_path).outputs
    assert (one.tokens, one.measure, one.requests, one.carried) == (1000, STATED, 2, 2000)
    assert one.dollars == pytest.approx(1000 * (6.25 + 0.5) / 1e6)
    assert not one.at_least


def test_several_results_share_the_growth_by_their_bytes(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(_text(6000), _text(2000, "y"), written=10_000).reply(read=10_000, written=2100)
    found = _by_bytes(_prices(store, session, tmp_path))
    assert {size: (one.tokens, one.measure) for size, one in found.items()} == {
        6000: (1500, COMPUTED),
        2000: (500, COMPUTED),
    }


def test_a_result_is_written_anew_where_the_cache_was_lost(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(_text(4000), written=10_000).reply(read=10_000, written=1100)
    for _ in range(3):
        session.reply(read=11_100)
    session.reply(written=11_200).reply(read=11_200)
    (one,) = _prices(store, session, tmp_path).outputs
    assert one.requests == 6
    assert one.dollars == pytest.approx(1000 * (6.25 + 3 * 0.5 + 6.25 + 0.5) / 1e6)


def test_a_result_beyond_what_was_read_from_the_cache_is_partly_read(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(_text(4000), written=10_000).reply(read=10_000, written=1100)
    session.reply(read=11_100).reply(read=10_600, written=600)  # 500 of its tokens end before 10,600
    (one,) = _prices(store, session, tmp_path).outputs
    assert one.dollars == pytest.approx(1000 * (6.25 + 0.5) / 1e6 + 500 * (0.5 + 6.25) / 1e6)


def test_a_compaction_ends_it(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(_text(4000), written=10_000).reply(read=10_000, written=1100).compacted()
    session.reply(written=5000).reply(read=5000)
    (one,) = _prices(store, session, tmp_path).outputs
    assert (one.requests, one.at_least) == (1, False)


def test_a_context_that_shrinks_without_a_reason_ends_it_and_says_at_least(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(_text(4000), written=10_000).reply(read=10_000, written=1100).reply(written=5000)
    (one,) = _prices(store, session, tmp_path).outputs
    assert (one.requests, one.at_least) == (1, True)


def test_without_final_outputs_tokens_are_estimated_by_what_the_session_shows(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(_text(4000), written=10_000, output=0, stop=None)
    session.reply(_text(8000, "y"), read=10_000, written=2000, output=0, stop=None).reply(read=12_000, written=4000)
    found = _prices(store, session, tmp_path)
    assert (found.bytes_a_token, found.learned) == (2.0, True)
    assert {(one.tokens, one.measure) for one in found.outputs} == {(2000, ESTIMATED), (4000, ESTIMATED)}


def test_what_cannot_be_a_result_alone_is_estimated(store: Store, tmp_path: Path) -> None:
    """A prompt or an image was added too: a growth of 50 tokens a byte is none of the result."""
    session = Requests().reply(_text(200), written=10_000).reply(read=10_000, written=10_100)
    found = _prices(store, session, tmp_path)
    (one,) = found.outputs
    assert (one.tokens, one.measure) == (round(200 / 2.8), ESTIMATED)
    assert not found.learned


def test_a_model_without_a_price_has_tokens_and_no_money(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(_text(4000), written=10_000, model="no-such-model")
    session.reply(read=10_000, written=1100, model="no-such-model")
    (one,) = _prices(store, session, tmp_path).outputs
    assert (one.tokens, one.dollars, one.at_least) == (1000, None, True)


def test_a_session_without_requests_has_no_prices(store: Store) -> None:
    assert session_prices(store, "claude-code-none").outputs == ()


def test_a_result_that_came_before_its_reply_was_written_whole_counts_from_the_next_request(
    store: Store, tmp_path: Path
) -> None:
    """A tool may run while the reply that calls it is streamed: its first line, not its last, is its time."""
    session = Requests().reply(_text(4000), written=10_000)
    use, result = session.lines
    session.lines = [use, result, {**use, "uuid": "later", "timestamp": session.claude.use("z")["timestamp"]}]
    session.lines[-1]["message"] = {**use["message"], "content": [{"type": "text", "text": "meanwhile"}]}
    session.reply(read=10_000, written=1100)
    (one,) = _prices(store, session, tmp_path).outputs
    assert (one.tokens, one.measure) == (1000, STATED)


def test_codex_states_a_reply_after_the_results_of_its_calls(store: Store, tmp_path: Path) -> None:
    rollout, total, said = Rollout("5e551011-0000-4000-8000-000000000001"), 0, 0
    rollout.lines.append(rollout.line("turn_context", model="gpt-5"))
    for use, context in (("one", 10_000), ("two", 11_110), ("three", 12_220)):
        rollout.now += 10
        rollout.ran(use, f"./{use}", "x" * 3935)  # with what Codex writes around it, 4000 bytes
        rollout.now += 1
        total, said = total + context, said + 100
        stated = {"input_tokens": total, "cached_input_tokens": 0, "output_tokens": said, "total_tokens": total + said}
        last = {**stated, "input_tokens": context, "output_tokens": 100}
        rollout.lines.append(
            rollout.line("event_msg", type="token_count", info={"total_token_usage": stated, "last_token_usage": last})
        )
    Importer(store).run(find_sources(str(write_lines(tmp_path / "rollout.jsonl", *rollout.lines))))
    found = session_prices(store, f"codex-{rollout.session}")
    assert {one.view: (one.tokens, one.measure) for one in found.outputs if one.requests} == {
        1: (1010, STATED),
        2: (1010, STATED),
    }


def test_lines_that_the_context_still_held_were_shown_again(store: Store, tmp_path: Path) -> None:
    """Each read makes an output of its own; what counts is that their bytes are the same."""
    text, session, context = "".join(f"{number:>9}\n" for number in range(400)), Requests(), 10_000
    for _ in range(3):
        session.reply(text, read=context - 10_000, written=10_000, command="cat notes.txt")
        context += 10_000
    session.reply(read=context - 10_000, written=10_000).compacted().reply(text, written=20_000)
    session.reply(read=20_000, written=10_000)
    found = sorted(_prices(store, session, tmp_path).outputs, key=lambda one: one.view)
    assert [one.again for one in found] == [0, found[1].tokens, found[2].tokens, 0]
