"""Held, seen before, not known, never seen: what became of views with compactions and the like."""

import itertools

import pytest

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.held_lines import HELD, UNKNOWN, WENT, HeldLines, Holding, held_of, held_tokens
from sightline.base.records import Buffer, Session, Shown, View
from sightline.log.log_index import list_views
from sightline.log.session_events import (
    CLEARED,
    COMPACTED,
    COMPACTING,
    PRUNED,
    RESUMED,
    REWOUND,
    STARTED,
    ContextChange,
    append_events,
)
from sightline.log.session_history import SessionEvents
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store

AGENT = Session("claude-code-1", "claude-code", "1", "", "/", 100.0)
BEGAN = ContextChange(0.0, STARTED, whole=True)


def view(time: float, use: str = "toolu_1") -> View:
    request = f'{{"tool": "Bash", "caller": {{"tool_use": "{use}"}}}}'
    return View("s:1", "s", 1, time, "tool", request, (), (), 0, 0, 0, 0, None, False, "")


def holding(*changes: ContextChange) -> Holding:
    told = min((one.time for one in changes if one.whole), default=None)
    return Holding(SessionEvents(changes, (), told))


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ((BEGAN,), HELD),
        ((), UNKNOWN),
        ((ContextChange(20.0, RESUMED, whole=True),), UNKNOWN),  # nobody told what happened before
        ((BEGAN, ContextChange(20.0, RESUMED)), HELD),
        ((BEGAN, ContextChange(20.0, COMPACTED)), WENT),
        ((ContextChange(20.0, COMPACTED),), WENT),
        ((BEGAN, ContextChange(5.0, COMPACTED)), HELD),
        ((BEGAN, ContextChange(20.0, COMPACTED, kept=("toolu_1",))), HELD),
        ((BEGAN, ContextChange(20.0, COMPACTED, kept=("toolu_2",))), WENT),
        ((BEGAN, ContextChange(20.0, COMPACTING)), UNKNOWN),
        ((BEGAN, ContextChange(20.0, CLEARED)), WENT),
        ((BEGAN, ContextChange(20.0, PRUNED, lost=("toolu_1",))), WENT),
        ((BEGAN, ContextChange(20.0, PRUNED, lost=("toolu_2",))), HELD),
        ((BEGAN, ContextChange(20.0, REWOUND)), UNKNOWN),
        ((BEGAN, ContextChange(20.0, REWOUND), ContextChange(30.0, COMPACTED)), WENT),
    ],
)
def test_what_became_of_a_view(changes: tuple[ContextChange, ...], state: str) -> None:
    assert holding(*changes).fate(view(10.0)).state == state


def test_as_of_a_time_what_happens_later_has_not_happened() -> None:
    held = holding(BEGAN, ContextChange(20.0, COMPACTED))
    assert held.fate(view(10.0), until=15.0).state == HELD
    assert held.fate(view(10.0), until=20.0).state == WENT


def test_tokens_are_told_by_what_became_of_them() -> None:
    views = [
        view(10.0)._replace(bytes_shown=400, refs=("cmd_a",)),
        view(30.0)._replace(bytes_shown=40, refs=("cmd_b",)),
    ]
    told = held_tokens(holding(BEGAN, ContextChange(20.0, COMPACTED)), views, 4)
    assert (told.held, told.went, told.unknown) == (10, 100, 0)
    assert [tuple(one) for one in told.outputs] == [("cmd_b", 10)]


class Asked:
    """An output of a hundred lines, and an agent that is shown some of them."""

    def __init__(self, store: Store, kind: str = "cmd") -> None:
        self.store = store
        recording = store.begin(kind, "seq 100", "/", AGENT.name)
        recording.append("out", b"".join(b"line number %d of many\n" % number for number in range(1, 101)))
        self.buffer: Buffer = recording.seal(exit_code=0)
        self._later = itertools.count(1)

    def shown(self, first: int, last: int) -> float:
        shows = Shows("read_output", {}, (self.buffer.name,), (Shown(self.buffer.name, "out", first, last),))
        return record_view(self.store, AGENT, shows, (Segment("x"),)).time

    def happened(self, event: str, summary: str = "", **more: object) -> None:
        newest = max((one.view.time for one in list_views(self.store)), default=0.0)
        time = 0.0 if event == STARTED else newest + next(self._later) * 1e-6
        change = ContextChange(time, event, summary=summary)._replace(**more)
        append_events(self.store.root, AGENT, [change])

    @property
    def held(self) -> HeldLines:
        return held_of(self.store, self.buffer, coverage_of(self.store, self.buffer)).streams["out"]


def test_lines_are_held_seen_before_or_never_seen(store: Store) -> None:
    asked = Asked(store)
    asked.happened(STARTED, whole=True)
    asked.shown(1, 20)
    asked.happened(COMPACTED)
    asked.shown(10, 30)
    assert asked.held == HeldLines(((10, 30),), ((1, 9),), (), ((31, 100),), 100)


def test_a_line_that_the_summary_has_word_for_word_is_held(store: Store) -> None:
    asked = Asked(store)
    asked.happened(STARTED, whole=True)
    asked.shown(1, 20)
    asked.happened(COMPACTED, "It printed:\nline number 7 of many\nline number 50 of many\nand so on.")
    held = asked.held
    assert held.held == ((7, 7),)  # line 50 stood in no view: that the summary has it by chance is no evidence
    assert held.before == ((1, 6), (8, 20))


def test_in_a_store_of_before_nothing_is_held(store: Store) -> None:
    asked = Asked(store)
    asked.shown(1, 20)
    assert asked.held == HeldLines((), (), ((1, 20),), ((21, 100),), 100)


def test_of_a_file_a_hook_does_not_tell_whether_it_was_read_again(store: Store) -> None:
    asked = Asked(store, "file")
    asked.happened(STARTED, whole=True)
    asked.shown(1, 20)
    asked.happened(COMPACTED)
    assert asked.held.unknown == ((1, 20),)
    asked.happened(COMPACTED, id="u1", told="transcript")
    assert asked.held.before == ((1, 20),)
