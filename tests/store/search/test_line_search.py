"""A search finds the numbers of the lines that match, whichever engine this machine has."""

import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.base.errors import UsageError
from sightline.search import engine as engine_module
from sightline.search.engine import ENGINES
from sightline.search.errors import Cancelled, SearchFailed
from sightline.search.executables import ripgrep
from sightline.search.line_search import LineHits, search
from sightline.search.processes import Cancel, Group
from sightline.search.sandbox import Backing, describe
from tests.descriptors import open_files
from tests.examples import examples

LOG = b"starting\nERROR: disk\nok test42\nan error [x\n\x00binary error\xff\xfe\ncaf\xc3\xa9 test\r\nlast"


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine that this machine has."""
    try:
        return engine_module.engine_of((request.param,))
    except SearchFailed:
        pytest.skip(f"no {request.param} here")


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A stream with odd bytes."""
    path = tmp_path / "out"
    path.write_bytes(LOG)
    return str(path)


def find(path: str, pattern: str, engine: str, **options: Any) -> LineHits:
    return search(path, pattern, engines=[engine], **options)


def test_matching_lines_have_their_true_numbers(log: str, engine: str) -> None:
    assert find(log, "error", engine) == LineHits(3, (2, 4, 5), False, engine)


def test_case_counts_when_it_is_told_to(log: str, engine: str) -> None:
    assert find(log, "error", engine, ignore_case=False).lines == (4, 5)
    assert find(log, "CAFÉ", engine).lines == (6,)
    assert find(log, "CAFÉ", engine, ignore_case=False).lines == ()


def test_a_pattern_is_a_regular_expression(log: str, engine: str) -> None:
    assert find(log, "test[0-9]+", engine).lines == (3,)
    assert find(log, "^(ok|last)", engine).lines == (3, 7)
    if engine != "grep -E":
        assert find(log, r"test\d+", engine).lines == (3,)


@pytest.mark.parametrize("pattern", ["[", "[x", "error ["])
def test_a_pattern_that_does_not_compile_is_literal_and_said_so(log: str, engine: str, pattern: str) -> None:
    assert find(log, pattern, engine) == LineHits(1, (4,), True, engine)


def test_nothing_found_is_none_and_no_error(log: str, engine: str) -> None:
    assert find(log, "nowhere", engine) == LineHits(0, (), False, engine)


@pytest.mark.parametrize("pattern", ["-e", "--help", "-", "--files", "-f/etc/passwd"])
def test_a_pattern_that_looks_like_an_option_is_a_pattern(log: str, engine: str, pattern: str) -> None:
    assert find(log, pattern, engine).total == 0
    assert find(log, "-*" + "last", engine).lines == (7,)


def test_inverted_it_finds_the_others(log: str, engine: str) -> None:
    assert find(log, "error", engine, invert=True).lines == (1, 3, 6, 7)


def test_the_total_is_true_where_only_the_first_are_wanted(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"hit\nmiss\n" * 5000)
    assert find(str(path), "hit", engine, first=3) == LineHits(5000, (1, 3, 5), False, engine)
    assert find(str(path), "hit", engine, first=0) == LineHits(5000, (), False, engine)


def test_enormous_lines_are_searched_and_never_kept(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a:1\n" + b"x:9\x0b" * 500_000 + b"hit\nno\nhit:7" + b"y" * 70_000)
    assert find(str(path), "hit", engine).lines == (2, 4)


def test_a_character_across_a_chunk_is_found(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"x" * 65_535 + "é".encode() + b"\n")
    assert find(str(path), "xé$", engine).lines == (1,)


def test_text_with_a_byte_order_mark_is_numbered_by_its_raw_lines(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"\xff\xfeone\ntwo\nthree\n")
    assert find(str(path), "three", engine).lines == (3,)


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n\n"])
def test_an_empty_stream_can_be_searched(tmp_path: Path, engine: str, data: bytes) -> None:
    path = tmp_path / "out"
    path.write_bytes(data)
    assert find(str(path), "x", engine).total == 0
    assert find(str(path), "^$", engine).total == data.count(b"\n")


def test_an_empty_stream_may_have_no_file(tmp_path: Path, engine: str) -> None:
    assert find(str(tmp_path / "none"), "x", engine).total == 0


def test_it_begins_where_it_is_told(log: str, engine: str) -> None:
    offset = LOG.index(b"an error")
    assert find(log, "error", engine, offset=offset, lines_before=3).lines == (4, 5)


@pytest.mark.parametrize("pattern", ["", "a\nb", "a\0b"])
def test_what_cannot_be_searched_for_is_an_error(log: str, pattern: str) -> None:
    with pytest.raises(UsageError):
        search(log, pattern)


def test_a_growing_stream_is_searched_as_far_as_it_goes(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"hit\n" * 1000)
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            for _ in range(2000):
                if stop.is_set():
                    return
                file.write(b"hit\n")

    thread = threading.Thread(target=grow)
    thread.start()
    hits = find(str(path), "hit", engine, first=5)
    stop.set()
    thread.join()
    assert hits.total >= 1000
    assert hits.lines == (1, 2, 3, 4, 5)


def test_the_time_limit_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * 40 + b"b\n")
    with pytest.raises(SearchFailed, match=r"more than 0\.2 s"):
        search(str(path), "(a+)+$", ignore_case=False, seconds=0.2, engines=["re"])


def test_an_exploding_pattern_does_not_hurt_the_first_engine(tmp_path: Path) -> None:
    if not ripgrep():
        pytest.skip("no ripgrep")
    path = tmp_path / "out"
    path.write_bytes(b"a" * 40 + b"b\n")
    assert search(str(path), "(a+)+$").total == 0


def test_another_thread_cancels_it(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a" * 40 + b"b\n")
    cancel = Cancel()
    failed: list[BaseException] = []

    def work() -> None:
        try:
            search(str(path), "(a+)+$", ignore_case=False, cancel=cancel, engines=["re"])
        except Cancelled as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    cancel.cancel()
    thread.join(20)
    assert not thread.is_alive()
    assert len(failed) == 1


def test_settings_of_ripgreps_own_are_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: str) -> None:
    (tmp_path / "rc").write_text("--invert-match\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    assert search(log, "error").lines == (2, 4, 5)


def test_without_any_engine_it_says_so(monkeypatch: pytest.MonkeyPatch, log: str) -> None:
    monkeypatch.setattr(engine_module, "ripgrep", lambda: "")
    monkeypatch.setattr(engine_module, "find", lambda name: "")
    assert search(log, "error").engine == "re"
    with pytest.raises(SearchFailed, match="no search engine"):
        search(log, "error", engines=["rg", "grep -E"])


@pytest.mark.usefixtures("no_child_left")
def test_no_child_and_no_descriptor_is_left(log: str, engine: str) -> None:
    before = open_files()
    find(log, "error", engine)
    find(log, "[", engine)
    assert open_files() == before


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.binary(max_size=8).map(lambda b: b.replace(b"\n", b" ")), max_size=12),
    needle=st.sampled_from(["a", "\\[", "x", "0"]),
)
def test_line_numbers_are_those_of_lines_split_at_newlines(tmp_path: Path, lines: list[bytes], needle: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"\n".join(lines))
    wanted = [n for n, line in enumerate(lines, 1) if re.search(needle.encode(), line)]
    assert search(str(path), needle, ignore_case=False).lines == tuple(wanted)


def test_a_search_is_held_to_its_stream_as_a_query_is(monkeypatch: pytest.MonkeyPatch, log: str, engine: str) -> None:
    held: list[tuple[Backing, int]] = []

    class Watched(Group):
        def __init__(self, programs: Any, **how: Any) -> None:
            held.append((how["backing"], len(how["reads"])))
            super().__init__(programs, **how)

    monkeypatch.setattr("sightline.search.engine.Group", Watched)
    assert search(log, "error", engines=[engine]).lines == (2, 4, 5)
    assert {backing for backing, _ in held} == {describe()}
    assert all(files <= 1 for _, files in held)
