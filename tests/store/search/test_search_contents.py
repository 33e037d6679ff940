"""Lines are found in all outputs of a store, with ripgrep and without."""

from collections.abc import Callable

import pytest

from sightline.base.errors import UsageError
from sightline.base.records import Buffer
from sightline.search import contents as module
from sightline.search.contents import FoundLine, SearchProgress, search_contents
from sightline.search.errors import Cancelled
from sightline.search.executables import ripgrep
from sightline.search.processes import Cancel
from sightline.store import Store

Keep = Callable[..., Buffer]
Results = list[tuple[str, list[FoundLine]]]


@pytest.fixture(params=[True, False], ids=["rg", "without"])
def look(request: pytest.FixtureRequest) -> Callable[..., Results]:
    """Searches with ripgrep, and without."""
    if request.param and not ripgrep():
        pytest.skip("no ripgrep here")

    def looked(store: Store, pattern: str) -> Results:
        told = list[SearchProgress]()
        search_contents(store, pattern, told.append, cancel=Cancel(), use_ripgrep=request.param)
        return [(progress.buffer.name, list(progress.lines)) for progress in told if progress.buffer]

    return looked


def whole(found: FoundLine) -> str:
    return found.before + found.match + found.after


def test_lines_are_found_by_buffer_the_most_recent_first(
    store: Store, keep: Keep, look: Callable[..., Results]
) -> None:
    old = keep(b"one\nneedle a\n", b"err needle\n")
    keep(b"nothing\n")
    new = keep(b"x\ny\nthe needle b\n")
    results = look(store, "needle")
    assert [(name, [(line.stream, line.line, whole(line)) for line in lines]) for name, lines in results] == [
        (new.name, [("out", 3, "the needle b")]),
        (old.name, [("out", 2, "needle a"), ("err", 1, "err needle")]),
    ]


def test_a_line_is_found_once_however_often_it_matches(store: Store, keep: Keep, look: Callable[..., Results]) -> None:
    keep(b"ab ab ab\nab\n")
    assert [line.line for line in look(store, "ab")[0][1]] == [1, 2]


def test_a_capital_makes_the_case_count(store: Store, keep: Keep, look: Callable[..., Results]) -> None:
    keep(b"error\nError\n")
    assert [line.line for line in look(store, "error")[0][1]] == [1, 2]
    assert [line.line for line in look(store, "Error")[0][1]] == [2]


def test_what_is_no_regular_expression_is_text(store: Store, keep: Keep, look: Callable[..., Results]) -> None:
    keep(b"a[b\n")
    assert whole(look(store, "a[b")[0][1][0]) == "a[b"


def test_no_more_of_a_stream_than_anyone_would_look_at(store: Store, keep: Keep, look: Callable[..., Results]) -> None:
    keep(b"hit\n" * 500)
    assert len(look(store, "hit")[0][1]) == module.LINES_PER_STREAM


def test_the_search_ends_where_enough_is_found(store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINES", 60)
    for _ in range(5):
        keep(b"hit\n" * 40)
    told = list[SearchProgress]()
    assert not search_contents(store, "hit", told.append, cancel=Cancel())
    assert sum(len(progress.lines) for progress in told) == 80


@pytest.mark.skipif(not ripgrep(), reason="no ripgrep here")
def test_of_a_long_line_only_the_neighbourhood_of_the_match_is_kept(store: Store, keep: Keep) -> None:
    keep(b"\xc3\xa9" * 5_000_000 + b"needle" + b"\xc3\xa9" * 5_000_000)
    told = list[SearchProgress]()
    search_contents(store, "needle", told.append, cancel=Cancel())
    (found,) = told[0].lines
    assert (found.before, found.match, found.after) == ("é" * 40, "needle", "é" * 160)


@pytest.mark.skipif(not ripgrep(), reason="no ripgrep here")
def test_a_match_as_long_as_its_line_is_cut(store: Store, keep: Keep) -> None:
    keep(b"x" * 3_000_000 + b"\ny\n")
    told = list[SearchProgress]()
    search_contents(store, "[xy]+", told.append, cancel=Cancel())
    assert [line.line for line in told[0].lines] == [1, 2]
    assert len(whole(told[0].lines[0])) < 1_000


def test_what_is_found_is_clean(store: Store, keep: Keep, look: Callable[..., Results]) -> None:
    keep(b"\x1b[31mred\x1b[0m needle \x1b]52;c;aGk=\x07\xff\n")
    assert whole(look(store, "needle")[0][1][0]).strip(" \ufffd") == "red needle"


def test_a_result_is_searched_as_its_lines_are_shown(store: Store, look: Callable[..., Results]) -> None:
    recording = store.begin("tool", "list", "/", "s")
    recording.append("part.0", b'[{"name": "a"}, {"name": "needle"}]')
    buffer = recording.seal(exit_code=None)
    ((name, lines),) = look(store, "needle")
    assert name == buffer.name
    assert lines[0].stream == "part.0"
    assert whole(lines[0]).strip() in ('"name": "needle"', '[{"name": "a"}, {"name": "needle"}]')


def test_what_is_gone_is_passed_over(store: Store, keep: Keep, look: Callable[..., Results]) -> None:
    gone = keep(b"needle gone\n")
    kept = keep(b"needle kept\n")
    store.remove(gone, "evicted")
    assert [name for name, _ in look(store, "needle")] == [kept.name]


def test_it_can_be_cancelled(store: Store, keep: Keep, look: Callable[..., Results]) -> None:
    keep(b"needle\n")
    cancel = Cancel()
    with pytest.raises(Cancelled):
        search_contents(store, "needle", lambda _: cancel.cancel(), cancel=cancel)


def test_nothing_cannot_be_looked_for(store: Store) -> None:
    with pytest.raises(UsageError):
        search_contents(store, "", lambda _: None, cancel=Cancel())
