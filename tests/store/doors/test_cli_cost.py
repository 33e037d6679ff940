"""``sightline cost``: what past sessions took, as a person and a program read it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from tests.store.audit.usage_kit import NAME, Requests
from tests.store.doors.conftest import Cli
from tests.store.harnesses.past_kit import Claude, write_lines

IN_PROCESS = True


def _reply(claude: Claude, number: int, model: str, stop: str | None = "end_turn", **usage: int) -> dict[str, Any]:
    counts = {"input_tokens": 1000, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 10}
    record = claude.use(number, "true")
    return {
        **record,
        "requestId": f"{record['sessionId']}{number}",
        "message": {
            **record["message"],
            "id": f"{record['sessionId']}m{number}",
            "model": model,
            "usage": counts | usage,
        }
        | {"stop_reason": stop},
    }


def _imported(cli: Cli, folder: Path) -> None:
    one, other = Claude("aaaa"), Claude("bbbb", cwd="/home/user/other")
    zeros = dict.fromkeys(("input_tokens", "output_tokens"), 0)
    million = {"input_tokens": 1_000_000}
    write_lines(folder / "aaaa.jsonl", *(_reply(one, number, "claude-opus-4-5", **million) for number in (1, 2)))
    lines = [_reply(other, 1, "claude-haiku-4-5", "", **million), _reply(other, 2, "claude-haiku-4-5", **zeros)]
    write_lines(folder / "bbbb.jsonl", *lines, _reply(other, 3, "no-such-model"))
    assert cli("import", str(folder)).code == 0


def test_without_requests_it_says_where_they_come_from(cli: Cli) -> None:
    ran = cli("cost")
    assert ran.code == 0
    assert "sightline import" in ran.out


def test_totals_come_first_with_the_day_of_the_prices_and_what_is_not_stated(cli: Cli, tmp_path: Path) -> None:
    _imported(cli, tmp_path / "sessions")
    out = cli("cost", "--by", "model").out
    first, *lines = out.splitlines()
    day = json.loads(cli("cost", "--json").out)["prices"]["date"]
    assert first == f"at least $11.00 at list price of {day}, 5 requests"
    for remark in (
        "input not stated: 1 request",
        "output not stated: 1 request",
        "output stated only while it was being written: 1 request",
        "price not known: 1 request of no-such-model",
    ):
        assert f"  {remark}" in lines
    rows = [line.split("  ") for line in lines if line.startswith(("claude", "no-such"))]
    assert [
        (row[0], *(cell.strip() for cell in row if "$" in cell or "█" in cell or "known" in cell)) for row in rows
    ] == [
        ("claude-opus-4-5", "$10.00", "█" * 20),
        ("claude-haiku-4-5", "≥ $1.00", "██"),
        ("no-such-model", "price not known"),
    ]


def test_each_group_has_its_rows_as_data(cli: Cli, tmp_path: Path) -> None:
    _imported(cli, tmp_path / "sessions")
    found = {by: cli("cost", "--by", by, "--json").data for by in ("day", "project", "model", "harness", "session")}
    assert {by: [row[by] for row in data["rows"]] for by, data in found.items()} == {
        "day": ["2026-01-02"],
        "project": ["/home/user/project", "/home/user/other"],
        "model": ["claude-opus-4-5", "claude-haiku-4-5", "no-such-model"],
        "harness": ["claude-code"],
        "session": ["claude-code-aaaa", "claude-code-bbbb"],
    }
    assert {data["total"]["requests"] for data in found.values()} == {5}
    unpriced = found["model"]["rows"][-1]
    assert (unpriced["dollars"], unpriced["fresh"], unpriced["dollars_at_least"]) == (None, 1000, True)


def test_since_and_project_narrow_it_and_csv_has_a_head(cli: Cli, tmp_path: Path) -> None:
    _imported(cli, tmp_path / "sessions")
    assert cli("cost", "--since", "2026-01-03", "--json").data["rows"] == []
    rows = list(
        csv.DictReader(io.StringIO(cli("cost", "--by", "model", "--project", "/home/user/project", "--csv").out))
    )
    assert [(row["model"], row["requests"], row["dollars"]) for row in rows] == [("claude-opus-4-5", "2", "10.0005")]
    assert cli("cost", "--csv", "--json").code == 2


def test_a_lost_index_is_filled_from_the_logs(cli: Cli, tmp_path: Path) -> None:
    _imported(cli, tmp_path / "sessions")
    before = cli("cost", "--json").data
    for file in cli.home.glob("index.sqlite*"):
        file.unlink()
    assert cli("cost", "--json").data == before


def test_a_period_without_requests_is_not_said_to_lack_an_import(cli: Cli, tmp_path: Path) -> None:
    _imported(cli, tmp_path / "sessions")
    out = cli("cost", "--since", "1h").out
    assert "no requests to models are known of this scope" in out
    assert "import" not in out


def test_a_limit_leaves_the_newest_days_or_the_dearest_of_what_is_listed(cli: Cli, tmp_path: Path) -> None:
    _imported(cli, tmp_path / "sessions")
    whole = json.loads(cli("cost", "--by", "model", "--json").out)
    cut = json.loads(cli("cost", "--by", "model", "--limit", "1", "--json").out)
    assert cut == {**whole, "rows": whole["rows"][:1]}
    session = Requests().reply("x" * 4000, written=10_000, command="cat notes.md")
    session.reply("y" * 400, read=10_000, written=1100, command="git log").reply(read=11_100, written=200)
    write_lines(tmp_path / "s" / "5e551011.jsonl", *session.lines)
    assert cli("import", str(tmp_path / "s")).code == 0
    assert [row["command"] for row in cli("cost", "--by", "command", "--limit", "1", "--json").data["rows"]] == ["cat"]
    assert [row["day"] for row in cli("cost", "--limit", "1", "--json").data["rows"]] == [
        max(row["day"] for row in cli("cost", "--json").data["rows"])
    ]
    assert cli("cost", "--limit", "0").code == 2


def test_a_sum_of_requests_lacks_a_price_though_its_model_has_one(cli: Cli, tmp_path: Path) -> None:
    usage = {"inputTokens": 1000, "outputTokens": 20, "cacheReadTokens": 0, "cacheWriteTokens": 0}
    about = {"sessionId": "c0", "context": {"cwd": "/home/user/project"}, "copilotVersion": "1.0.65"}
    start = {"type": "session.start", "data": about, "timestamp": "2026-01-01T10:00:00.000Z", "id": "e1"}
    metrics = {"claude-opus-4-5": {"requests": {"count": 2}, "usage": usage}}
    ended = {"type": "session.shutdown", "data": {"modelMetrics": metrics}, "timestamp": "2026-01-01T10:01:00.000Z"}
    write_lines(tmp_path / "c0" / "events.jsonl", start, {**ended, "id": "e2"})
    assert cli("import", str(tmp_path / "c0")).code == 0
    out = cli("cost").out
    assert "stated as sums of requests, which have no list price: 1" in out
    assert "of claude-opus-4-5" not in out
    assert out.startswith("price not known in the list of 20")
    assert cli("cost", "--json").data["total"]["no_price"] == []


def test_a_session_of_which_only_requests_are_known_is_found_by_its_name(cli: Cli, tmp_path: Path) -> None:
    agent, helper = Claude("aaaa"), Claude("aaaa", agentId="a1", isSidechain=True)
    million = {"input_tokens": 1_000_000}
    write_lines(tmp_path / "s" / "aaaa.jsonl", *agent.ran(7, "ok\n"), _reply(agent, 1, "claude-opus-4-5", **million))
    quiet = write_lines(tmp_path / "s/aaaa/subagents/agent-a1.jsonl", _reply(helper, 2, "claude-opus-4-5", **million))
    assert quiet.exists()
    assert cli("import", str(tmp_path / "s")).code == 0
    assert "$5.00" in cli("cost", "--session", "claude-code-aaaa-a1").out.splitlines()[0]
    assert cli("cost", "--session", "claude-code-aaaa").code == 0
    assert "claude-code-aaaa-a1" in cli("sessions", "claude-code-aaaa-a1").out
    assert cli("cost", "--session", "claude-code-aaaa-a2").code == 2


def test_own_prices_replace_list_prices(cli: Cli, tmp_path: Path) -> None:
    _imported(cli, tmp_path / "sessions")
    settings = Path(cli.home) / "config.toml"
    settings.write_text('[prices."no-such-model"]\ninput = 1000.0\noutput = 0\n')
    row = cli("cost", "--by", "model", "--json").data["rows"]
    assert {one["model"]: one["dollars"] for one in row}["no-such-model"] == 1.0
    settings.write_text('[prices."no-such-model"]\ninput = "cheap"\n')
    assert "input and output as numbers" in cli("cost").err


def test_sessions_stand_below_those_from_which_they_came_with_their_own_cost(cli: Cli, tmp_path: Path) -> None:
    agent, helper = Claude("aaaa"), Claude("aaaa", agentId="a1", isSidechain=True)
    million = {"input_tokens": 1_000_000}
    write_lines(tmp_path / "s" / "aaaa.jsonl", _reply(agent, 1, "claude-opus-4-5", **million), *agent.ran(7, "ok\n"))
    spoke = _reply(helper, 2, "claude-opus-4-5", **million)  # a helper that only spoke
    write_lines(tmp_path / "s" / "aaaa" / "subagents" / "agent-a1.jsonl", spoke)
    assert cli("import", str(tmp_path / "s")).code == 0
    above, below = cli("sessions", "--tree").out.splitlines()
    assert above.endswith("1 call  $5.00 by itself, $10.00 with those below")
    assert below.startswith("  ")
    assert below.endswith("spawned by claude-code-aaaa (stated)  0 calls  $5.00 by itself")
    first, second = cli("sessions", "--tree", "--json").data
    assert (first["depth"], second["depth"]) == (0, 1)
    assert second["origin"]["parent"] == first["name"] == "claude-code-aaaa"
    assert first["cost_with_descendants"]["dollars"] == 2 * first["cost"]["dollars"]
    assert cli("sessions", "claude-code-aaaa", "--json").data["origin"] is None
    assert cli("sessions", "rename", "claude-code-aaaa", "look into this").code == 0
    assert 'spawned by "look into this" (stated)' in cli("sessions", "--tree").out


def test_the_dearest_outputs_stand_first_with_the_requests_that_carried_them(cli: Cli, tmp_path: Path) -> None:
    session = (
        Requests().reply("x" * 4000, written=10_000, command="git log -p | head -99").reply(read=10_000, written=1100)
    )
    session.reply("y" * 2000, read=11_100, command="cat notes.md").reply(read=11_100, written=600).reply(read=11_700)
    write_lines(tmp_path / "s" / "5e551011.jsonl", *session.lines)
    assert cli("import", str(tmp_path / "s")).code == 0
    data = cli("cost", "--by", "output", "--json").data
    first, second = data["rows"]
    assert (first["asked"], first["kind"], first["requests"]) == ("git log -p | head -99", "git log", 4)
    assert first["dollars"] > second["dollars"] > 0
    assert data["total"]["dollars"] == first["dollars"] + second["dollars"]
    text = cli("cost", "--by", "output").out
    assert text.index(first["output"]) < text.index(second["output"])
    by_command = cli("cost", "--by", "command", "--json").data["rows"]
    assert [(row["command"], row["outputs"], row["dollars"]) for row in by_command] == [
        ("git log", 1, first["dollars"]),
        ("cat", 1, second["dollars"]),
    ]
    assert cli("cost", "--by", "output", "--since", "1h", "--json").data["rows"] == []
    with_head = list(csv.DictReader(io.StringIO(cli("cost", "--by", "output", "--limit", "1", "--csv").out)))
    assert [row["output"] for row in with_head] == [first["output"]]


def test_the_timeline_of_a_session_has_the_cost_of_each_call(cli: Cli, tmp_path: Path) -> None:
    session = Requests().reply("x" * 40_000, written=10_000, command="git log -p").reply(read=10_000, written=11_000)
    session.reply("ok", read=21_000, command="true").reply(read=21_000, written=10)
    write_lines(tmp_path / "s" / "5e551011.jsonl", *session.lines)
    assert cli("import", str(tmp_path / "s")).code == 0
    large, small = cli("timeline", "--session", NAME, "--json").data["calls"]
    assert large["dollars"] > small["dollars"] > 0
    rows = cli("timeline", "--session", NAME).out.splitlines()
    assert [f"${large['dollars']:,.2f}" in row for row in rows if "git log -p" in row] == [True]
    assert not any("$" in row for row in rows if row.endswith("  true"))
    assert {one["dollars"] for one in cli("timeline", "--json").data["calls"]} == {None}


def test_prices_of_outputs_follow_their_session_and_go_with_it(cli: Cli, tmp_path: Path) -> None:
    session = Requests().reply("x" * 4000, written=10_000, command="git log -p").reply(read=10_000, written=1100)
    path = write_lines(tmp_path / "s" / "5e551011.jsonl", *session.lines)
    assert cli("import", str(tmp_path / "s")).code == 0
    (before,) = cli("cost", "--by", "output", "--json").data["rows"]
    write_lines(path, *session.reply(read=11_100).lines)
    assert cli("import", str(tmp_path / "s")).code == 0
    (after,) = cli("cost", "--by", "output", "--json").data["rows"]
    assert (before["requests"], after["requests"]) == (1, 2)
    assert cli("sessions", "rm", NAME).code == 0
    assert cli("cost", "--by", "output", "--json").data["rows"] == []
    assert b"git log" not in (cli.home / "index.sqlite").read_bytes()


def test_lost_caches_are_listed_with_their_reasons(cli: Cli, tmp_path: Path) -> None:
    session = Requests().reply("x" * 4000, written=10_000).reply(read=10_000, written=1100)
    path = write_lines(tmp_path / "s.jsonl", *session.lines)
    assert cli("import", str(path)).code == 0
    assert "no request sent anew" in cli("cost", "--by", "lost-cache").out
    session.compacted().reply(written=6000).reply(written=9000)
    write_lines(path, *session.lines)
    assert cli("import", str(path)).code == 0
    first, reasons, _, head, *rows = cli("cost", "--by", "lost-cache").out.splitlines()
    day = cli("cost", "--json").data["prices"]["date"]
    assert first == f"$0.07 more at list price of {day}: 2 requests sent 12.0k tokens anew that had been cached"
    assert reasons.split(", ") == ["  1 after a compaction", "1 for no known reason"]
    assert (head.split(), len(rows)) == (["when", "tokens", "cost"], 2)
    assert "after a compaction  claude-code-5e551011" in rows[0]
    data = cli("cost", "--by", "lost-cache", "--json", "--limit", "1").data
    assert (data["total"]["requests"], data["total"]["reasons"]) == (2, {"compacted": 1, "unknown": 1})
    assert [row["lost-cache"] for row in data["rows"]] == ["compacted"]
    assert cli("cost", "--by", "lost-cache", "--session", NAME, "--csv").out.count("\n") == 3


def test_brief_timeline_and_session_say_what_it_cost_and_from_where_it_came(cli: Cli, tmp_path: Path) -> None:
    agent, helper = Claude("aaaa"), Claude("aaaa", agentId="a1", isSidechain=True)
    million = {"input_tokens": 1_000_000}
    write_lines(tmp_path / "s" / "aaaa.jsonl", _reply(agent, 1, "claude-opus-4-5", **million), *agent.ran(7, "ok\n"))
    lines = [_reply(helper, 2, "claude-opus-4-5", **million), *helper.ran(8, "ok\n")]
    write_lines(tmp_path / "s" / "aaaa" / "subagents" / "agent-a1.jsonl", *lines)
    assert cli("import", str(tmp_path / "s")).code == 0
    above, below = "claude-code-aaaa", "claude-code-aaaa-a1"
    for words in (("brief", "--session"), ("timeline", "--session"), ("sessions",)):
        told = cli(*words, above).out
        assert f"1 session came from it: {below}" in told
        assert "$5.00 by itself, $10.00 with those below it" in told
        told = cli(*words, below).out
        assert f"spawned by {above} (stated)" in told
        assert ": $5.00\n" in told
    assert "$10.00 for 2 requests" in cli("brief").out
    assert "$10.00 for 2 requests" in cli("timeline").out
    assert "$10.00" in cli("brief", "--json").data["costs"][0]


def test_a_report_draws_days_and_the_dearest_outputs(cli: Cli, tmp_path: Path) -> None:
    session = Requests().reply("x" * 4000, written=10_000, command="cat '<script>'").reply(read=10_000, written=1100)
    other = Claude("bbbb")
    other.minute = 24 * 60 + 5
    later = _reply(other, 1, "claude-opus-4-5", input_tokens=1000)
    later["timestamp"] = "2026-01-05T10:00:00.000Z"
    write_lines(tmp_path / "s" / "5e551011.jsonl", *session.lines)
    write_lines(tmp_path / "s" / "bbbb.jsonl", later)
    assert cli("import", str(tmp_path / "s")).code == 0
    page = cli("report").out
    assert page.count('<rect class="seen-bar"') == 3  # two days, and one output
    assert "<script>" not in page
    assert "1,000 tokens in 1 request" in page
    assert "**$0.01**" in cli("report", "--format", "md").out
    data = json.loads(cli("report", "--format", "json").out)["cost"]
    assert len(data["days"]) == 2
    assert data["dearest"][0]["asked"] == "cat '<script>'"
