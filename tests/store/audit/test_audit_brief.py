"""The brief: what was run and missed, in sections whose items lead to the lines; alike as text, Markdown and data."""

import time

from sightline.audit.brief import as_data, as_markdown, as_text, make_brief
from sightline.base.project import Project
from sightline.base.records import Buffer, Session, Shown
from sightline.log.retention import evict
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store
from tests.tui.tui_kit import add, begin

AGENT = Session("agent-1", "claude-code", "", "", "/", 1.0)
BROKEN = b"fine\nERROR: `one` *two*\n" + b"fine\n" * 20


def show(store: Store, buffer: Buffer, first: int, last: int, **more: object) -> None:
    lines = (Shown(buffer.name, "out", first, last),)
    fields = {"verb": "read_output", "request": {}, "refs": (buffer.name,), "shown": lines, **more}
    record_view(store, AGENT, Shows(**fields), [Segment("text\n")])


def filled(store: Store) -> Store:
    add(store, "cmd_00000a", "make", BROKEN, exit_code=2, session="agent-1")
    cut = add(store, "cmd_00000b", "make test", BROKEN, exit_code=1, session="agent-1")
    show(store, cut, 1, 5, verb="run_command", truncated=True, exit_code=1, request={"command": "make test"})
    read = add(store, "cmd_00000c", "seq 9", b"1\n" * 9, session="agent-1")
    show(store, read, 1, 9)
    show(store, read, 1, 4)
    begin(store, "cmd_00000d", "tail -F log", session="agent-1").register()
    return store


def test_each_question_is_answered_by_items_that_lead_there(store: Store) -> None:
    brief = make_brief(filled(store), session="agent-1")
    told = {section.name: [item.ref for item in section.items] for section in brief.sections}
    assert told["missed"] == ["@cmd_00000a:2-2"]
    assert told["failed"] == ["@cmd_00000b"]  # the other failed command is among those missed
    assert next(iter(told)) == "running"
    assert [*told].index("also") < [*told].index("failed")
    assert "@cmd_00000b" in told["also"] or told["also"]
    assert told["running"] == ["@cmd_00000d"]
    assert told["unopened"] == ["@cmd_00000a"]
    assert told["again"] == ["@cmd_00000c"]
    assert brief.verdict == "! 2 commands failed · 1 failure unseen · 1 failed after the last reply · 1 doubt"
    assert (brief.judged.ran, brief.judged.failed) == (4, 2)


def test_a_failure_is_listed_once_and_the_commands_that_failed_are_all_counted(store: Store) -> None:
    brief = make_brief(filled(store), session="agent-1")
    failed = next(section for section in brief.sections if section.name == "failed")
    assert (failed.title, failed.total) == ("2 commands failed, 1 of them listed above", 2)
    assert failed.left_out(failed.items) == 0


def test_each_item_says_when_by_which_agent_and_in_which_project_its_output_was_made(store: Store) -> None:
    record_view(store, AGENT, Shows(verb="list_outputs", request={}), [Segment("text\n")])
    missed = add(store, "cmd_00000a", "make", BROKEN, exit_code=2, session="agent-1")
    store.index.put_buffer(missed._replace(project="/home/ada/payments"))
    item = make_brief(store).sections[0].items[0]
    when = time.localtime(item.when)
    assert item.when == missed.created
    assert item.origin(item.when + 1) == f"{time.strftime('%H:%M', when)} claude-code payments"
    assert item.origin(item.when + 86_400) == f"{time.strftime('%m-%d %H:%M', when)} claude-code payments"
    assert f"{item.origin(time.time())}  @cmd_00000a:2-2  ERROR" in as_text(make_brief(store))
    of_one = make_brief(store, project=Project("/home/ada/payments"))
    assert [item.project for section in of_one.sections for item in section.items][:1] == [""]


def test_commands_whose_output_has_expired_still_count(store: Store) -> None:
    evict(store, filled(store).resolve("@cmd_00000b").buffer)
    brief = make_brief(store)
    assert (brief.judged.ran, brief.judged.failed) == (4, 2)
    failed = next(section for section in brief.sections if section.name == "failed")
    assert "exit 1, expired: make test" in [item.text for item in failed.items]


def test_text_markdown_and_data_tell_the_same(store: Store) -> None:
    brief = make_brief(filled(store))
    data = as_data(brief)
    for section in data["sections"]:
        assert section["title"] in as_text(brief)
        assert f"## {section['title']}" in as_markdown(brief)
    assert "ERROR: \\`one\\` \\*two\\*" in as_markdown(brief)
    assert data["verdict"] == as_text(brief).splitlines()[0]


def test_what_is_the_same_of_many_runs_is_one_item_with_the_newest_ref(store: Store) -> None:
    for at in range(12):
        add(store, f"cmd_00000{at:x}", "make", BROKEN, exit_code=2, ago=100 - at, session=f"agent-{at}")
    add(store, "cmd_0000ff", "make test", BROKEN, exit_code=2, ago=200)
    brief = make_brief(store)
    missed = next(section for section in brief.sections if section.name == "missed")
    assert [(item.ref, item.times) for item in missed.items] == [("@cmd_00000b:2-2", 12), ("@cmd_0000ff:2-2", 1)]
    assert (missed.title, missed.total, missed.left_out(missed.items)) == ("13 failures unseen", 13, 0)
    assert missed.left_out(missed.items[:1]) == 1
    assert "  @cmd_00000b:2-2  ERROR: `one` *two*  (make), 12 times\n" in as_text(brief)
    assert "(`make`), 12 times\n" in as_markdown(brief)


def test_a_text_or_a_command_that_is_cut_in_the_terminal_says_so(store: Store) -> None:
    long = add(store, "cmd_00000a", "make " + "x" * 90, b"ERROR: " + b"y" * 300 + b"\n", exit_code=2)
    rows = as_text(make_brief(store)).splitlines()
    assert any(f"  @{long.name}:1-1  ERROR: y" in row and "yy…  (make xx" in row for row in rows), rows
    assert any(row.endswith("x…)") for row in rows)


def test_an_empty_store_and_another_time_say_so(store: Store) -> None:
    assert make_brief(store).verdict == "nothing was captured"
    record_view(store, AGENT, Shows(verb="list_outputs", request={}), [Segment("text\n")])
    assert make_brief(store).verdict == "nothing was captured"
    assert make_brief(filled(store), since=4e9).sections == ()


def test_where_no_line_was_captured_none_is_said_to_be_seen(store: Store) -> None:
    record_view(store, AGENT, Shows("list_outputs", {}), [Segment("nothing yet\n")])
    brief = make_brief(store, session="agent-1")
    assert "no lines captured" in brief.facts
    assert "%" not in brief.facts
