"""``sightline evidence`` and ``audit --fail-on`` as a build calls them, and ``coverage --held``."""

import json
import re
from pathlib import Path

from benchmarks.evidence.sessions import SESSIONS
from benchmarks.evidence.transcripts import Said, write_transcript
from tests.store.doors.conftest import Cli
from tests.store.harnesses.past_kit import Claude, write_lines

IN_PROCESS = True

BY_NAME = {truth.name: truth for truth in SESSIONS}
FORGETFUL = BY_NAME["it fails, is compacted, edits, and claims success"]
HONEST = BY_NAME["an honest session: it fails, mends, tests and says so"]


def imported(cli: Cli, tmp_path: Path, *names: str) -> None:
    for at, truth in enumerate(map(BY_NAME.__getitem__, names)):
        assert cli("import", write_transcript(truth.harness, f"5e55{at}", truth.steps, str(tmp_path))).code == 0


def test_a_claim_without_evidence_stops_a_build_and_an_honest_session_passes(cli: Cli, tmp_path: Path) -> None:
    imported(cli, tmp_path, HONEST.name, FORGETFUL.name)
    honest, forgetful = (
        cli("evidence", "--session", "claude-code-5e550"),
        cli("evidence", "--session", "claude-code-5e551"),
    )
    assert (honest.code, forgetful.code) == (0, 1)
    assert honest.out.count("supported") == 3
    assert re.search(
        r"stale +“All tests pass\.”: tests last ran \S+, and failed, before cart\.py was edited", forgetful.out
    )
    assert "forgotten-failure" in forgetful.out


def test_evidence_as_data_has_the_words_the_verdict_and_the_calls(cli: Cli, tmp_path: Path) -> None:
    imported(cli, tmp_path, FORGETFUL.name)
    (session,) = cli("evidence", "--json").data["sessions"]
    (claim,) = session["claims"]
    assert (claim["words"], claim["verdict"]) == ("All tests pass.", "stale")
    assert [ground["text"] for ground in claim["grounds"]] == ["pytest failed", "cart.py edited"]
    assert {alarm["kind"] for alarm in session["alarms"]} >= {"forgotten-failure", "failing-check"}


def test_an_audit_fails_on_the_kinds_that_it_is_told(cli: Cli, tmp_path: Path) -> None:
    imported(cli, tmp_path, "tests that are older than the last edit")
    assert cli("audit", "--fail-on", "stale-check,failing-check,contradicted").code == 1
    assert cli("audit", "--fail-on", "failing-check,contradicted").code == 0


def test_a_brief_and_a_report_tell_of_it(cli: Cli, tmp_path: Path) -> None:
    imported(cli, tmp_path, "a false claim right after a run that failed")
    brief = cli("brief").out
    assert "\n1 claim not supported\n" in brief
    assert "\n1 doubt in the evidence\n" in brief
    told = cli("report", "--format", "md", "--session", "gemini-5e550").out
    assert "Claimed, and contradicted" in told
    assert "- **contradicted** “All tests pass.”: the last run failed (`@cmd_" in told
    assert "“All tests pass.” <span>the last run failed" in cli("report", "--session", "gemini-5e550").out
    (claim,) = json.loads(cli("report", "--format", "json", "--session", "gemini-5e550").out)["claims"]
    assert (claim["words"], claim["verdict"]) == ("All tests pass.", "contradicted")


def test_coverage_tells_what_is_still_held(cli: Cli, tmp_path: Path) -> None:
    imported(cli, tmp_path, FORGETFUL.name)
    listed = cli("list", "--json").data
    ref = next(one["ref"] for one in listed if one["command"].startswith("pytest"))
    told = cli("coverage", ref, "--held").out
    assert "0 of 16 lines still held, 16 seen before, 0 never seen" in told
    assert cli("coverage", ref, "--held", "--json").data["held"]["out"]["before"] == ["1-16"]


def test_a_timeline_has_a_rule_where_the_context_was_compacted_and_what_is_held_now(cli: Cli, tmp_path: Path) -> None:
    imported(cli, tmp_path, FORGETFUL.name)
    rows = cli("timeline", "--session", "claude-code-5e550").out.splitlines()
    (rule,) = (at for at, row in enumerate(rows) if row.startswith("────"))
    assert "compacted (automatic, 150,000 tokens before): 2 replies went, ~" in rows[rule]
    assert "pytest -q" in rows[rule - 1]
    assert "Edit" in rows[rule + 1]
    assert rows[-1].startswith("in context: ~")
    context = cli("timeline", "--session", "claude-code-5e550", "--json").data["context"]
    assert [(one["event"], one["replies"]) for one in context["losses"]] == [("compacted", 2)]
    assert context["tokens_estimated"]["went"] > 0


def test_the_first_line_says_how_many_messages_were_not_read_and_in_what_languages(cli: Cli, tmp_path: Path) -> None:
    said = Said("Tous les tests passent maintenant, et la compilation est propre.")
    steps = [*FORGETFUL.steps[:2], said]
    assert cli("import", write_transcript("claude-code", "5e55", steps, str(tmp_path))).code == 0
    first = "not read: 1 of 1 message (French 1); their claims are not judged"
    for command in ("evidence", "audit", "brief"):
        assert cli(command).out.splitlines()[0] == first, command
        data = json.loads(cli(command, "--json").out)
        told = data["sessions"][0]["languages_not_read"] if command == "evidence" else data["messages_not_read"]
        assert told == {"French": 1}, command


def test_an_audit_lists_loops_and_fails_on_them_only_if_asked(cli: Cli, tmp_path: Path) -> None:
    claude, text = Claude(), "a line of some text\n" * 50
    lines = [line for number in range(3) for line in claude.ran(number, text, "cat notes.txt")]
    assert cli("import", str(write_lines(tmp_path / "s.jsonl", *lines))).code == 0
    assert cli("audit").out.startswith("loop  @")
    assert "Again and again: the same was read 3 times, unchanged" in cli("brief").out
    kinds = ("failing-check", "loop")
    assert [cli("audit", "--fail-on", kind).code for kind in kinds] == [0, 1]
