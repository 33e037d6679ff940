"""A failure that a later reply quotes, or that a second run has again: seen is seen, and told once."""

from collections.abc import Callable

from sightline.audit.brief import as_data, make_brief
from sightline.audit.finding_kinds import CUT, OVERLOOKED
from sightline.audit.findings import audited
from sightline.audit.verdict import verdict_of
from sightline.base.project import ALL
from sightline.base.records import Buffer, Session, Shown
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store

Keep = Callable[..., Buffer]
AGENT = Session("agent-1", "claude-code", "", "", "/", 1.0)
LINES = [b"fine %d\n" % number for number in range(40)]
FAILED = b"ERROR: the parser lost a token\n"
LOG = b"".join([*LINES[:30], FAILED, *LINES[30:]])


def ran(store: Store, keep: Keep, out: bytes = LOG, command: str = "./parse") -> Buffer:
    return store.amend(keep(out, command=command, session=AGENT.name).name, exit_code=2)


def shown(store: Store, buffer: Buffer, last: int, text: str = "text\n") -> None:
    lines = (Shown(buffer.name, "out", 1, last),)
    fields = {"verb": "run_command", "request": {"command": buffer.command}, "refs": (buffer.name,), "shown": lines}
    cut = last < buffer.lines
    sizes = {"lines_total": buffer.lines, "exit_code": buffer.exit_code, "truncated": cut}
    record_view(store, AGENT, Shows(**fields, **sizes), [Segment(text)])


def kinds(store: Store) -> list[str]:
    return sorted(one.kind for one in audited(store, ALL).found)


def test_a_failure_that_a_later_reply_quotes_was_seen(store: Store, keep: Keep) -> None:
    buffer = ran(store, keep)
    shown(store, buffer, 5)
    assert kinds(store) == [CUT, OVERLOOKED]
    other = keep(FAILED, command="./parse 2>&1 | grep ERROR", session=AGENT.name)
    shown(store, other, 1, f"31:{FAILED.decode()}")
    assert kinds(store) == []
    assert verdict_of(store).unseen == 0


def test_a_reply_of_another_session_or_about_something_else_shows_nothing(store: Store, keep: Keep) -> None:
    shown(store, ran(store, keep), 5)
    shown(store, keep(b"ERROR: the parser\n", command="cat notes", session=AGENT.name), 1, "ERROR: the parser\n")
    assert kinds(store) == [CUT, OVERLOOKED]


def test_a_failure_that_a_second_run_has_again_is_told_once(store: Store, keep: Keep) -> None:
    shown(store, ran(store, keep), 5)
    second = ran(store, keep)
    shown(store, second, 5)
    found = [(one.kind, one.ref.partition(":")[0]) for one in audited(store, ALL).found]
    assert found == [(kind, second.ref) for kind in (OVERLOOKED, CUT)]
    verdict = verdict_of(store)
    assert (verdict.failed, verdict.unseen, verdict.cut) == (2, 1, 1)
    assert as_data(make_brief(store))["commands_failed"] == 2


def test_a_cut_reply_with_each_line_of_the_failure_has_cut_none(store: Store, keep: Keep) -> None:
    shown(store, ran(store, keep), 35)
    assert kinds(store) == []
