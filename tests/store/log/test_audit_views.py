"""Views: the exact text that was sent, for as long as it is not blanked; and what happens to old buffers."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.base.errors import ExpiredRef
from sightline.base.records import Buffer, Session, Shown, View
from sightline.disk.log_rows import ViewRow
from sightline.log import log, retention
from sightline.log.log import TIES
from sightline.log.log_index import UnknownView, find_view, list_views, rebuild_views, seen_lines
from sightline.log.notes import list_notes, write_note
from sightline.log.sessions import current_session, is_person, safe_name
from sightline.log.view_text import TextGone, view_text
from sightline.log.views import Shows, Traced, indexed_view, record_shown, record_view, shown_of
from sightline.settings.config import Settings
from sightline.shape.segments import Segment, render_lines
from sightline.store import Store, Target

Keep = Callable[..., Buffer]
SESSION = Session("mine", "shell", "", "", "/", 1.0)
OTHER = Session("theirs", "codex", "id", "client 1", "/tmp", 2.0)


def shown_in_full(store: Store, buffer: Buffer, session: Session = SESSION) -> tuple[View, str]:
    """A view that quotes all of a buffer between two literals."""
    with store.open(Target(buffer, "out")) as source:
        text = render_lines(source, 1, source.line_count)
        lines = source.line_count
    segments = [Segment("head é\n"), Segment(text, buffer.ref, 1, lines), Segment("tail \udcff")]
    shows = Shows("read_output", {"ref": buffer.ref}, (buffer.name,), shown_of(segments), lines, buffer.bytes)
    return record_view(store, session, shows, segments), "".join(segment.text for segment in segments)


def text_of(store: Store, view: View) -> str:
    return view_text(store, find_view(store, view.id))


LONG = b"".join(b"\x1b[31mline\x1b[0m %d \xff\n" % number for number in range(1, 1500)) + b"no newline"


@pytest.mark.parametrize("data", [b"short\n", LONG])
def test_the_exact_text_is_given_back(store: Store, keep: Keep, data: bytes) -> None:
    buffer = keep(data)
    view, text = shown_in_full(store, buffer)
    assert text_of(store, view) == text
    assert view.shown == (Shown(buffer.name, "out", 1, buffer.lines),)
    assert (view.lines_shown, view.lines_total, view.bytes_shown) == (
        buffer.lines,
        buffer.lines,
        len(text.encode(errors="surrogateescape")),
    )
    assert os.path.getsize(store.layout.audit_file("mine")) < 3000  # a long run of lines is logged as a range
    assert log.verify(store.layout.audit_file("mine")) == 2


@pytest.mark.parametrize("data", [b"short\n", LONG])
def test_the_text_outlives_its_buffer(store: Store, keep: Keep, data: bytes) -> None:
    evicted, removed = keep(data), keep(data + b"2")
    first, second = shown_in_full(store, evicted), shown_in_full(store, removed)
    assert retention.evict(store, evicted)
    assert retention.remove(store, [removed]) == 1
    for view, text in (first, second):
        assert text_of(store, view) == text
    assert (store.tombstone(evicted.name) or {})["reason"] == "evicted"
    assert (store.tombstone(evicted.name) or {})["command"] == "true"
    assert not retention.evict(store, evicted)


def test_a_purge_blanks_the_views_and_keeps_the_chain(store: Store, keep: Keep) -> None:
    purged, kept = keep(LONG), keep(b"kept\n")
    (view, _), (other, text) = shown_in_full(store, purged), shown_in_full(store, kept)
    shown_in_full(store, purged, OTHER)
    retention.remove(store, [purged], purge=True)
    with pytest.raises(TextGone, match="blanked"):
        text_of(store, view)
    assert text_of(store, other) == text
    for session in ("mine", "theirs"):
        assert log.verify(store.layout.audit_file(session))
    assert (store.tombstone(purged.name) or {}).get("quotes") is None
    assert find_view(store, view.id).view == view._replace(request="{}", text_sha256="")


def test_a_purge_touches_the_logs_of_those_alone_who_were_shown_it(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged, kept = keep(LONG), keep(b"kept\n")
    bystander = SESSION._replace(name="bystander")
    for buffer, session in ((kept, OTHER), (purged, SESSION), (kept, SESSION), (kept, bystander)):
        shown_in_full(store, buffer, session)
    before = list_views(store)
    write_note(store, OTHER, Target(purged, "out", 1, 1), "a remark")
    write_note(store, OTHER, Target(kept, "out", 1, 1), "another")
    read: list[str] = []
    whole = log.read_all
    monkeypatch.setattr(log, "read_all", lambda path: read.append(os.path.basename(path)) or whole(path))
    retention.remove(store, [purged], purge=True)
    assert set(read) == {"mine.jsonl", "theirs.jsonl"}
    assert {indexed.view.id for indexed in list_views(store)} == {indexed.view.id for indexed in before}
    for indexed in list_views(store):
        with store.open_log(indexed.view.session) as file:
            entry = log.read_entry(file, indexed.view.number, indexed.offset, indexed.length)
        assert entry["n"] == indexed.view.number
    assert {note.text for note in list_notes(store)} == {None, "another"}


def test_what_quoted_bytes_that_left_nothing_is_gone(store: Store, keep: Keep) -> None:
    buffer = keep(LONG)
    view, _ = shown_in_full(store, buffer)
    store.remove(buffer, "removed")
    with pytest.raises(TextGone, match="which is gone"):
        text_of(store, view)


def test_a_text_that_quotes_an_altered_output_is_said_to_be_gone(store: Store, keep: Keep) -> None:
    buffer = keep(LONG)
    view, _ = shown_in_full(store, buffer)
    path = store.layout.stream(buffer.name, "out")
    os.chmod(path, 0o600)
    Path(path).write_bytes(LONG.replace(b"700", b"007"))
    with pytest.raises(TextGone, match=f"quoted {buffer.ref}, which was changed since"):
        text_of(store, view)


def test_a_damaged_log_keeps_no_buffer_from_going(store: Store, keep: Keep) -> None:
    buffer = keep(LONG)
    view, _ = shown_in_full(store, buffer)
    os.unlink(store.layout.audit_file("mine"))
    assert retention.evict(store, buffer)
    with pytest.raises(TextGone):
        text_of(store, view)


def test_an_index_made_anew_knows_all_views(store: Store, keep: Keep) -> None:
    buffer, later = keep(b"1\n2\n"), keep(b"3\n")
    first, _ = shown_in_full(store, buffer, OTHER)
    second, _ = shown_in_full(store, later)
    third, _ = shown_in_full(store, buffer, OTHER)
    record_shown(store, third, Traced((Shown(buffer.name, "out", 2, 2),)))
    known, sessions = list_views(store), store.index.sessions()
    assert [indexed.view.id for indexed in known] == [third.id, second.id, first.id]
    assert known[0].view.shown == (Shown(buffer.name, "out", 2, 2),)
    os.unlink(store.layout.index)
    store.close()
    assert list_views(store) == known
    assert store.index.sessions() == sessions
    assert [item.buffer.name for item in store.listed(9)] == [buffer.name, later.name]
    assert rebuild_views(store) == 3
    assert list_views(store) == known
    assert list_views(store, buffer=later.name) == [known[1]]
    assert list_views(store, session="theirs", limit=1) == [known[0]]


def test_views_are_found_where_blanking_has_moved_them(store: Store, keep: Keep) -> None:
    first, second = keep(b"a\n"), keep(b"b\n")
    shown_in_full(store, first)
    view, text = shown_in_full(store, second)
    indexed = find_view(store, view.id)
    log.blank(store.layout.audit_file("mine"), lambda entry: first.name in entry.get("refs", ()))
    assert view_text(store, indexed) == text


def test_a_broken_log_hides_no_other(store: Store, keep: Keep) -> None:
    view, _ = shown_in_full(store, keep(b"a\n"))
    Path(store.layout.audit_file("broken")).write_bytes(b"no json\n")
    assert rebuild_views(store) == 1
    assert list_views(store)[0].view == view


@pytest.mark.parametrize("view_id", ["", "x", "mine:", "mine:2", "mine:-1", ":1"])
def test_an_unknown_view_is_told(store: Store, keep: Keep, view_id: str) -> None:
    shown_in_full(store, keep(b"a\n"))
    with pytest.raises(UnknownView):
        find_view(store, view_id)


def test_the_last_line_that_a_session_has_seen_is_known(store: Store, keep: Keep) -> None:
    buffer = keep(b"1\n2\n3\n")
    shown_in_full(store, buffer)
    assert seen_lines(store, SESSION, Target(buffer, "out")) == 3
    assert seen_lines(store, SESSION, Target(buffer, "err")) == 0
    assert seen_lines(store, OTHER, Target(buffer, "out")) == 0


def limited(store: Store, **limits: int | float) -> None:
    store.access.settings = Settings(**limits)  # type: ignore[arg-type]


def test_the_least_recently_used_go_first(store: Store, keep: Keep) -> None:
    one, two, three, four = (keep(b"%d" % number) for number in range(4))
    running = store.begin("cmd", "x", "/", "s")
    running.register()
    store.amend(two.name, pinned=True)
    store.touch(one.name)
    limited(store, max_buffers=3)
    assert retention.enforce_limits(store).evicted == [three.name, four.name]
    assert retention.enforce_limits(store).evicted == []
    limited(store, max_buffers=1)
    store.touch(two.name)
    assert retention.collect(store).evicted == [one.name]
    assert {item.buffer.name for item in store.listed(9) if item.buffer.state != "evicted"} == {two.name, running.name}
    with pytest.raises(ExpiredRef):
        store.resolve(one.ref)
    running.discard()


def test_bytes_are_limited(store: Store, keep: Keep) -> None:
    buffers = [keep(bytes([65 + number]) * 1000) for number in range(10)]
    limited(store, max_bytes=3500)
    collected = retention.enforce_limits(store)
    assert collected.evicted == [buffer.name for buffer in buffers[:7]]
    assert collected.bytes == 7000
    assert store.index.totals() == (3, 3000)


def test_the_one_used_last_stays_whatever_the_limits(store: Store, keep: Keep) -> None:
    pinned, large = keep(b"pinned"), keep(b"x" * 5000)
    store.amend(pinned.name, pinned=True)
    store.touch(large.name)
    limited(store, max_bytes=1000, max_buffers=1)
    assert retention.enforce_limits(store).evicted == [], "a reply has just told its ref"
    store.touch(pinned.name)
    assert retention.enforce_limits(store).evicted == [large.name]


def test_age_is_limited(store: Store, keep: Keep) -> None:
    store.limits.clock()
    old, new = keep(b"old"), keep(b"new")
    store.index.touch(old.name, 1000.0)
    store.touch(new.name)
    limited(store, max_age_days=1)
    assert retention.enforce_limits(store).evicted == [old.name]


def test_the_log_is_limited_by_blanking_the_oldest_sessions(store: Store, keep: Keep) -> None:
    literal = [Segment("x" * 3000)]
    first = record_view(store, OTHER, Shows("query", {}), literal)
    os.utime(store.layout.audit_file("theirs"), (1000, 1000))
    second = record_view(store, SESSION, Shows("query", {}), literal)
    limited(store, max_view_bytes=6000)
    assert retention.collect(store).views_blanked == 1
    with pytest.raises(TextGone):
        text_of(store, first)
    assert text_of(store, second) == "x" * 3000


def test_a_running_buffer_is_not_removed(store: Store) -> None:
    recording = store.begin("cmd", "x", "/", "s")
    recording.register()
    with pytest.raises(retention.StillRunning):
        retention.remove(store, [recording.buffer])
    recording.discard()


@pytest.mark.parametrize(
    ("variable", "harness"),
    [
        ("CLAUDE_CODE_SESSION_ID", "claude-code"),
        ("CODEX_SESSION_ID", "codex"),
        ("CODEX_THREAD_ID", "codex"),
        ("GEMINI_SESSION_ID", "gemini"),
    ],
)
def test_a_session_is_told_by_what_its_harness_leaves(variable: str, harness: str) -> None:
    session = current_session({variable: "id-1"}, client="client 2")
    assert session[:4] == (f"{harness}-id-1", harness, "id-1", "client 2")
    assert not is_person(session)
    assert current_session({variable: "id-1", "SIGHTLINE_SESSION": "named"}).name == "named"


def test_without_a_harness_there_is_one_session_a_parent_process() -> None:
    session = current_session({})
    assert session.name.startswith(f"shell-{os.getppid()}-")
    assert session.name == current_session({}).name
    assert is_person(session)
    assert current_session({}, name="given").name == "given"


@pytest.mark.parametrize("text", ["a/b", "../x", ".hidden", "", "é", "a" * 61, "a b", "\x00", "\ud800"])
def test_a_name_that_cannot_be_a_files_is_changed_and_told_apart(text: str) -> None:
    safe = safe_name(text)
    assert safe != text
    assert "/" not in safe
    assert not safe.startswith((".", "-"))
    assert len(safe) <= 60
    assert safe != safe_name(text + "x")
    assert safe_name(safe) == safe


@pytest.mark.parametrize(
    "more", [{}, {"asked": [["cmd_a1b2c3", "out", 2, 2]], "matched": [["cmd_a1b2c3", "err", 1, 4]]}]
)
def test_a_view_made_ready_for_the_index_is_the_one_that_its_log_tells_of(
    store: Store, more: dict[str, object]
) -> None:
    fields = {
        "time": 5.0,
        "verb": "tool",
        "request": {"tool": "Bash", "n": [1, "é"]},
        "refs": ["cmd_aa"],
        "shown": [["cmd_a1b2c3", "out", 1, 3]],
        "lines_shown": 3,
        "lines_total": 9,
        "bytes_shown": 20,
        "bytes_total": 90,
        "exit_code": None,
        "truncated": True,
        "text_sha256": "0" * 64,
        **more,
    }
    told = indexed_view("agent", log.LinePlace(1, 40, 200), fields)
    store.index.put_views([ViewRow.of_fields("agent", fields).at(1, 40, 200)])
    assert store.index.view("agent", 1) == told


HALF = "cut \ud83d"  # half a surrogate pair: JSON can spell it, and no bytes can
SPELLED = "cut \\ud83d"


def test_half_a_character_is_logged_as_it_was_spelled(store: Store) -> None:
    shows = Shows("tool", {"arguments": {HALF: [HALF]}})
    view = record_view(store, SESSION, shows, [Segment("before, "), Segment(HALF)])
    assert text_of(store, view) == f"before, {SPELLED}"
    assert json.loads(view.request) == {"arguments": {SPELLED: [SPELLED]}}
    assert log.verify(store.layout.audit_file("mine")) == 2


def test_a_log_with_half_a_character_in_a_request_is_listed_all_the_same(store: Store) -> None:
    record_view(store, SESSION, Shows("tool", {"tool": "first"}), ())
    path = store.layout.audit_file("mine")
    *_, (_, last) = log.read_all(path)
    entry = {name: value for name, value in last.items() if name not in TIES}
    log.append(path, {}, {**entry, "request": {"tool": HALF}})
    for again in (False, True):
        if again:
            rebuild_views(store)
        assert [json.loads(one.view.request)["tool"] for one in list_views(store)] == [SPELLED, "first"]
