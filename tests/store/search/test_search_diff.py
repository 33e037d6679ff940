"""Comparing: the hunks lead from one side to the other, however large the windows and whichever the engine."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.base.records import Buffer
from sightline.disk.streams import StreamReader
from sightline.search.diff import engines as module
from sightline.search.diff.comparison import DEFAULT_LIMITS, Comparison, ComparisonLimits, compare
from sightline.search.diff.engines import ENGINES, Ignore, engine_of
from sightline.search.diff.hunks import Hunk
from sightline.search.diff.normaliser import without_folders, without_volatile
from sightline.search.diff.sides import Side, SidePart, open_side
from sightline.search.errors import Cancelled, CompareFailed
from sightline.search.processes import Cancel
from sightline.store import Store, Target
from tests.examples import examples

SMALL = ComparisonLimits(window_bytes=64, window_lines=20, growth=2)
LINES = st.lists(st.sampled_from([b"", b"a", b"b", b"c c", b"d", b"x 1"]), max_size=40)
QUIET = settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

Compared = Callable[..., Comparison]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine that this machine has."""
    try:
        return engine_of([request.param])
    except CompareFailed:
        pytest.skip(f"no {request.param} here")


@pytest.fixture
def compared(tmp_path: Path) -> Compared:
    """Compares two texts, or two lists of texts that are the parts of a side."""

    def side(name: str, *texts: bytes) -> Side:
        parts = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{name}{number}"
            path.write_bytes(text)
            parts.append(SidePart(str(path), StreamReader(os.open(path, os.O_RDONLY), name)))
        return Side(name, parts)

    def run(
        left: bytes | list[bytes],
        right: bytes | list[bytes],
        ignore: Ignore = Ignore(),  # noqa: B008
        *,
        engine: str = "diff",
        limits: ComparisonLimits = DEFAULT_LIMITS,
        cancel: Cancel | None = None,
    ) -> Comparison:
        texts = [[text] if isinstance(text, bytes) else text for text in (left, right)]
        with side("left", *texts[0]) as one, side("right", *texts[1]) as other:
            return compare(one, other, ignore, engines=[engine], limits=limits, cancel=cancel)

    return run


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def applied(left: list[bytes], right: list[bytes], found: Comparison) -> list[bytes]:
    """The left side with each hunk's lines replaced by those of the right."""
    made, at = list[bytes](), 1
    for hunk in found.hunks:
        made += left[at - 1 : hunk.left - 1]
        assert len(made) + 1 == hunk.right
        made += right[hunk.right - 1 : hunk.right_end - 1]
        at = hunk.left_end
    return made + left[at - 1 :]


@pytest.mark.parametrize(
    "limits", [DEFAULT_LIMITS, SMALL, ComparisonLimits(window_lines=7, growth=1)], ids=["whole", "64 bytes", "7 lines"]
)
@given(left=LINES, right=LINES)
@QUIET
def test_the_hunks_make_the_right_side_of_the_left(
    compared: Compared, engine: str, limits: ComparisonLimits, left: list[bytes], right: list[bytes]
) -> None:
    found = compared(joined(left), joined(right), engine=engine, limits=limits)
    assert applied(left, right, found) == right
    assert found.hunks.removed == sum(hunk.left_count for hunk in found.hunks)
    assert found.hunks.added == sum(hunk.right_count for hunk in found.hunks)
    assert (found.left_lines, found.right_lines) == (len(left), len(right))
    assert bool(found.hunks) == (left != right)


def test_hunks_say_where_they_stand(compared: Compared, engine: str) -> None:
    left, right = b"one\ntwo\nthree\nfour\n", b"zero\none\nTWO\n2\nthree\n"
    found = compared(left, right, engine=engine)
    assert list(found.hunks) == [Hunk(1, 0, 1, 1), Hunk(2, 1, 3, 2), Hunk(4, 1, 6, 0)]


def test_a_missing_last_newline_is_a_change(compared: Compared, engine: str) -> None:
    assert list(compared(b"a\nb", b"a\nb\n", engine=engine).hunks) == [Hunk(2, 1, 2, 1)]


def test_whitespace_can_be_ignored(compared: Compared, engine: str) -> None:
    left, right = b"a  b\nc\n\td\n", b"ab\n c \nd!\n"
    assert list(compared(left, right, Ignore(whitespace=True), engine=engine).hunks) == [Hunk(3, 1, 3, 1)]
    assert found_lines(compared(left, right, engine=engine)) == 3


def found_lines(found: Comparison) -> int:
    return found.hunks.removed


def test_volatile_tokens_can_be_ignored(compared: Compared, engine: str) -> None:
    left = b"2026-11-21T10:00:00.1Z GET /a 200 in 12 ms\nkept\n\x1b[32mok\x1b[0m   7 of 10\n"
    right = b"2026-11-22 08:15:09 GET /a 404 in 1.2s\nchanged\nok 12 of 10\n"
    assert list(compared(left, right, Ignore(volatile=True), engine=engine).hunks) == [Hunk(2, 1, 2, 1)]


def test_parts_of_a_side_follow_each_other(compared: Compared, engine: str) -> None:
    assert not compared([b"a\nb", b"c\n"], b"a\nb\nc\n", engine=engine).hunks
    assert list(compared([b"a\nb", b"", b"c\n"], b"a\nB\nc\n", engine=engine).hunks) == [Hunk(2, 1, 2, 1)]


def test_lines_longer_than_a_window_are_compared_whole(compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    left = b"start\n" + b"x" * 20_000_000 + b"1\nend\n"
    limits = ComparisonLimits(window_bytes=1 << 16)
    assert not compared(left, left, limits=limits).hunks
    other = left.replace(b"1\nend", b"2\nend")
    assert list(compared(left, other, Ignore(volatile=True), limits=limits).hunks) == [Hunk(2, 1, 2, 1)]


def test_what_moved_further_than_a_window_is_still_a_true_change(compared: Compared) -> None:
    left, right = [b"%d" % n for n in range(50)], [b"new"] * 500 + [b"%d" % n for n in range(50)]
    found = compared(joined(left), joined(right), limits=ComparisonLimits(window_lines=40, growth=1))
    assert applied(left, right, found) == right


def test_a_window_grows_until_the_sides_meet_again(compared: Compared) -> None:
    left, right = [b"%d" % n for n in range(300)], [b"new"] * 60 + [b"%d" % n for n in range(300)]
    found = compared(joined(left), joined(right), limits=ComparisonLimits(window_lines=40, growth=4))
    assert list(found.hunks) == [Hunk(1, 0, 1, 60)]


def test_more_hunks_than_are_kept_end_in_one(compared: Compared) -> None:
    left, right = [b"%d" % (n // 2) for n in range(100)], [b"%d" % (n // 2 + n % 2 * 1000) for n in range(100)]
    found = compared(joined(left), joined(right), limits=ComparisonLimits(hunks=3))
    assert found.capped
    assert len(found.hunks) == 3
    assert applied(left, right, found) == right


def test_it_can_be_cancelled_before_and_while_it_runs(compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(Cancelled):
        compared(b"a\n", b"b\n", cancel=cancel)
    # An engine that never ends by itself.
    monkeypatch.setattr(
        module, "command_of", lambda *_: module.Executable("/bin/sh", ("sh", "-c", "read x < /dev/fd/1"))
    )
    cancel = Cancel()
    threading.Timer(0.2, cancel.cancel).start()
    with pytest.raises(Cancelled):
        compared(b"a\n", b"b\n", cancel=cancel)


def test_an_engine_that_breaks_off_is_no_answer(compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = module.Executable("/bin/sh", ("sh", "-c", "echo 0 1 0 1; echo memory exhausted >&2; exit 2"))
    monkeypatch.setattr(module, "command_of", lambda *_: broken)
    with pytest.raises(CompareFailed, match="memory exhausted"):
        compared(b"a\n", b"b\n")


def test_a_feed_that_breaks_off_is_no_answer(compared: Compared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "feed_of", lambda *_: module.Executable("/bin/sh", ("sh", "-c", "echo a; exit 1")))
    with pytest.raises(CompareFailed):
        compared(b"a\n", b"a\n", Ignore(volatile=True))


def test_no_engine_is_said() -> None:
    with pytest.raises(CompareFailed, match="nothing on this machine"):
        engine_of([])


# volatile tokens


@pytest.mark.parametrize(
    ("line", "same"),
    [
        (b"/home/ann/shop/src/a.py:3: E", b"./src/a.py:3: E"),
        (b"rootdir: /home/ann/shop\n", b"rootdir: .\n"),
        (b'File "/home/ann/.venv/x.py" in (/home/ann)', b'File "~/.venv/x.py" in (~)'),
        (b"/home/ann/shop-2/a /home/anna /mnt/home/ann /home/ann.old", None),
    ],
)
def test_a_project_and_a_home_are_called_alike_on_all_hosts(line: bytes, same: bytes | None) -> None:
    expected = same if same is not None else line.replace(b"/home/ann/shop-2", b"~/shop-2")
    assert without_folders(line, b"/home/ann/shop", b"/home/ann") == expected


def test_outputs_of_two_checkouts_differ_in_what_is_no_folder_of_theirs(store: Store) -> None:
    sides = []
    for folder in ("/home/ann/src/shop", "/builds/7/shop"):
        recording = store.begin("cmd", "make", folder, "s")
        home = "/home/ann/lib.a" if folder.startswith("/home") else "/builds/lib.a"
        recording.append("out", f"{folder}/src/a.c:1: bad\nmake: entering '{folder}'\n{home}\n".encode())
        sides.append(open_side(store, Target(recording.seal(exit_code=1), "out")))
    with sides[0] as left, sides[1] as right:
        assert list(compare(left, right).hunks) == [Hunk(1, 3, 1, 3)]
        assert list(compare(left, right, Ignore(volatile=True)).hunks) == [Hunk(3, 1, 3, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("took 1.2s", "took 12 ms"),
        ("Sat Nov 21 16:17:27 UTC 2026", "Sun Jan  3 04:05:06 UTC 2027"),
        ("[21/Nov/2026:10:00:00 +0100]", "[03/Dec/2026:22:59:01 +0000]"),
        ("id_3f2c9a1b.", "id_1234567."),
        ("550e8400-e29b-41d4-a716-446655440000", "deadbeef-e29b-41d4-a716-0123456789ab"),
        ("at 0x7ffe12", "at 0X1"),
        ("[  5%] x", "[100%] x"),
        ("/tmp/tmpab12cd_x/foo.py:3", "/tmp/build-XYZ/foo.py:77"),
        ("10%\r20%\rdone", "done\r"),
        ("in 3m 4.5s", "in 45s"),
        ("in 1m2s", "in 900µs"),
        ("12 MiB/s", "900 kB/s"),
        ("\x1b[1;31mred\x1b[0m", "red"),
    ],
)
def test_these_are_the_same_but_for_volatile_tokens(one: str, other: str) -> None:
    assert without_volatile(one.encode()) == without_volatile(other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a decade", "a facade"),
        ("5 seconders", "5 minutes"),
        ("GET /a 200", "PUT /a 200"),
        ("/tmp/x/foo.py", "/tmp/x/bar.py"),
        ("/home/ada/x", "/home/bob/x"),
        ("test_case_17 [17%]", "test_case_18 [18%]"),
        ("ok\rno", "ok"),
    ],
)
def test_these_are_not(one: str, other: str) -> None:
    assert without_volatile(one.encode()) != without_volatile(other.encode())


TOKENS = ["10:42:01", "0x1f", "17", "3.5 ms", "/tmp/a1", "deadbee1", "Mon", "Nov 3", " ", "word", "\t", "end"]
TEXTS = st.lists(st.lists(st.sampled_from(TOKENS), max_size=5).map("".join), max_size=20)


@given(one=TEXTS, other=TEXTS)
@QUIET
def test_ignoring_volatile_tokens_is_an_equivalence(compared: Compared, one: list[str], other: list[str]) -> None:
    left, right = ([text.encode() for text in texts] for texts in (one, other))
    same = [without_volatile(line) for line in left] == [without_volatile(line) for line in right]
    ignore = Ignore(volatile=True)
    assert not compared(joined(left), joined(left), ignore).hunks
    there, back = compared(joined(left), joined(right), ignore), compared(joined(right), joined(left), ignore)
    assert bool(there.hunks) == bool(back.hunks) == (not same)


# sides


def test_a_side_of_a_buffer_is_what_one_reads_there(store: Store, keep: Callable[..., Buffer]) -> None:
    buffer = keep(b"out 1\nout 2\n", b"err 1\n")
    with open_side(store, Target(buffer, "all")) as side:
        assert sorted(line.data for line in side.lines(1, 9)) == [b"err 1", b"out 1", b"out 2"]
    with open_side(store, Target(buffer, "err")) as side:
        assert [line.data for line in side.lines(1, 9)] == [b"err 1"]
        assert side.whole_path == store.path(Target(buffer, "err"))


def test_a_side_of_a_result_is_all_its_blocks(store: Store) -> None:
    recording = store.begin("tool", "search {}", "/", "s")
    recording.register()
    for stream, data in (("part.0", b"first\n"), ("part.10", b"third\n"), ("part.2", b"second")):
        recording.append(stream, data)
    with open_side(store, Target(recording.seal(exit_code=None), "all")) as side:
        assert [(line.number, line.data) for line in side.lines(1, 9)] == [(1, b"first"), (2, b"second"), (3, b"third")]
        assert side.ref_of(2, 3) == f"@{side.ref.lstrip('@').removesuffix('.all')}.2:1-1"
        assert [piece.length for piece in side.pieces(2, 3)] == [6, 6]


def test_an_output_without_bytes_is_a_side_without_lines(
    store: Store, keep: Callable[..., Buffer], compared: Compared
) -> None:
    with open_side(store, Target(keep(), "all")) as empty, open_side(store, Target(keep(b"a\n"), "all")) as side:
        assert list(compare(empty, side).hunks) == [Hunk(1, 0, 1, 1)]
        assert not compare(empty, empty).hunks
