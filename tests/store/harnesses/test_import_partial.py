"""What harnesses cut out of their transcripts: their own marks are none of the output, and what looks like one is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.records import Gap, Shown
from sightline.harnesses import claude_code_results as claude_code
from sightline.harnesses import codex_transcript as codex
from sightline.harnesses import gemini_transcript as gemini
from sightline.harnesses import opencode_transcript as opencode
from sightline.harnesses.transcript import KeptText, parted
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, buffers, read, views, write_lines

LONG = "".join(f"line {number} of many\n" for number in range(1, 4_001))


def cut(text: str) -> str:
    """As Claude Code 2.1.329 cuts a failure's text."""
    return f"{text[:5_000]}\n\n... [{len(text) - 10_000} characters truncated] ...\n\n{text[-5_000:]}"


def test_a_failing_command_of_claude_code_is_as_partial_as_it_is_live(
    store: Store, imported: Callable[..., object], tmp_path: Path
) -> None:
    claude, said = Claude(), cut(f"Exit code 5\n{LONG[:30_000]}")
    told = claude.result(1, said, f"Error: {said}", error=True)
    imported(write_lines(tmp_path / "s.jsonl", claude.use(1, "make"), told))
    (buffer,) = buffers(store)
    assert (buffer.exit_code, buffer.partial, buffer.note) == (5, "cut by Claude Code", "merged")
    first, last = buffer.gaps
    assert (first.amount, last.amount) == ("20,012 characters", "an unknown part")
    assert b"truncated" not in read(store, buffer)
    ((view, text),) = views(store)
    assert text == said
    assert view.truncated
    assert view.shown == (
        Shown(buffer.name, "out", 1, first.after),
        Shown(buffer.name, "out", first.after + 1, buffer.lines),
    )


@pytest.mark.parametrize("row", ["a plain row\n", "✓ passed\n", "é\n", "x\n\n\n", " x \n", "日本語の行\n"])
def test_an_end_that_claude_code_dropped_is_missing_to_an_unknown_amount(row: str) -> None:
    """It keeps 30,000 bytes, trims them, and counts what it cuts out in JavaScript's characters."""
    written = row * (1_000_000 // len(row))
    whole = written.encode()[:30_000].decode(errors="replace").strip()
    left = claude_code.left_of(cut(whole))
    assert [gap.missing for gap in left.gaps] == [len(whole) - 10_000, None]


@pytest.mark.parametrize("row", ["a plain row of many characters\n", "é\n"])
def test_nothing_else_is_missing_of_a_failure_within_claude_codes_limit(row: str) -> None:
    whole = (row * 10_000)[:12_000]
    assert [gap.missing for gap in claude_code.left_of(cut(whole)).gaps] == [2_000]


def test_older_versions_say_how_many_lines_they_dropped_at_the_end() -> None:
    left = claude_code.left_of(f"{LONG[:30_000]}\n\n... [303 lines truncated] ...")
    assert left.text == LONG[:30_000]
    assert [(gap.missing, gap.unit) for gap in left.gaps] == [(303, "lines")]


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n... [5 characters truncated] ...\n\nb",
        "x" * 6_000 + "\n\n... [5 characters truncated] ...\n\n" + "y" * 2_000,
        "one\n\n... [3 lines truncated] ...",
        "…5 tokens truncated…",
        "a\n[... omitted 3 of 9 lines ...]\n\nb",
        "a\n\n... [5 characters omitted] ...\n\nb",
    ],
)
def test_what_only_looks_like_a_mark_stays(text: str) -> None:
    for harness in (claude_code, codex, gemini, opencode):
        assert harness.left_of(text) == KeptText(text)


def test_codex_says_above_that_it_cut_and_in_the_middle_how_much() -> None:
    head, tail = "…1 chars truncated…\n" + "a\n" * 50 + "half", "way\n" + "b\n" * 60
    above = "Warning: truncated output (original token count: 9)\nTotal output lines: 400\n\n"
    left = codex.left_of(f"{above}{head}…29093 chars truncated…{tail}")
    assert left.text == f"{head}\n{tail}"
    assert left.gaps == (Gap("out", 52, 29_093),)
    older = codex.left_of(f"Total output lines: 9\n\n{head}\n[... omitted 144 of 400 lines ...]\n\n{tail}")
    assert (older.text, older.gaps) == (f"{head}\n{tail}", (Gap("out", 52, 144, "lines"),))


def test_gemini_says_above_that_it_cut_and_between_the_ends_how_much() -> None:
    head = "Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /gone\n"
    left = gemini.left_of(f"{head}a\nb\n\n... [2,166 characters omitted] ...\n\nc\n")
    assert (left.text, left.gaps) == ("a\nb\nc\n", (Gap("out", 2, 2_166),))


def test_opencode_says_above_that_the_beginning_is_missing() -> None:
    left = opencode.left_of("...output truncated...\n\nFull output saved to: /gone\n\n98\n99\n")
    assert (left.text, left.gaps) == ("98\n99\n", (Gap("out", 0, None, ""),))


def test_mini_swe_agent_keeps_both_ends(imported: Callable[..., object], store: Store, tmp_path: Path) -> None:
    told = (
        "<returncode>1</returncode>\n<warning>\ntoo long\n</warning>\n<output_head>\na\nb\n</output_head>\n"
        "<elided_chars>\n1234 characters elided\n</elided_chars>\n<output_tail>\nc\nd\n</output_tail>"
    )
    messages = [
        {"role": "assistant", "content": "```bash\nmake\n```"},
        {"role": "user", "content": told},
    ]
    path = tmp_path / "run.traj.json"
    path.write_text(json.dumps({"trajectory_format": "mini-swe-agent-1.1", "messages": messages}))
    imported(path)
    (buffer,) = buffers(store)
    assert (read(store, buffer), buffer.partial) == (b"a\nb\nc\nd", "cut by mini-swe-agent")
    assert buffer.gaps == (Gap("out", 2, 1_234),)


@given(st.lists(st.text("ab\n", max_size=6), min_size=2, max_size=5))
def test_pieces_lose_nothing_and_gaps_part_lines(pieces: list[str]) -> None:
    left = parted(pieces, [(None, "characters")] * (len(pieces) - 1), "out")
    assert left.text.replace("\n", "") == "".join(pieces).replace("\n", "")
    lines = left.text.split("\n")
    for place, gap in enumerate(left.gaps, 1):
        before = "\n".join(lines[: gap.after])
        assert before.replace("\n", "") == "".join(pieces[:place]).replace("\n", "")
