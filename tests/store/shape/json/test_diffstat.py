"""Diffs without their bodies: true counts, whole ranges, and nothing else taken for a diff."""

import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.clean import clean_text
from sightline.shape.diffstat import diffstat, looks_like_diff, read_diff
from sightline.shape.json.body import Body
from sightline.shape.json.result import shape_result
from sightline.shape.markers import CLIPPED, MARKER
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import join_segments, shown_ranges
from tests.store.shape.json.json_kit import unhurried

REF = "@cmd_a1b2c3"
RANGE = re.compile(r"\[… .*: @cmd_a1b2c3:(\d+)(?:-(\d+))? …\]")
CONTENT = st.lists(
    st.sampled_from(["", "a", "b", "--- x", "+++ y", "@@ -1 +1 @@", "a line that is longer"]), max_size=40
)


@st.composite
def diffs(draw: st.DrawFn) -> bytes:
    """Diffs as git writes them."""
    text = ""
    for number in range(draw(st.integers(1, 12))):
        before, after = draw(CONTENT), draw(CONTENT)
        if before != after:
            text += f"diff --git a/f{number} b/f{number}\nindex 1..2 100644\n"
            text += "\n".join(difflib.unified_diff(before, after, f"a/f{number}", f"b/f{number}", lineterm="")) + "\n"
    return text.encode()


def made(data: bytes, room: int) -> Body:
    source = BytesSource(data, REF)
    diff = read_diff(source)
    assert diff
    return diffstat(diff, source, room)


def changes(data: bytes) -> tuple[int, int]:
    """Lines added and removed, by the hunks' own counts."""
    added = removed = 0
    lines = data.decode().split("\n")
    at = 0
    while at < len(lines):
        hunk = re.fullmatch(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", lines[at])
        at += 1
        if hunk:
            old, new = (int(count) if count is not None else 1 for count in hunk.groups())
            while old or new:
                added += lines[at].startswith("+")
                removed += lines[at].startswith("-")
                old -= not lines[at].startswith("+")
                new -= not lines[at].startswith("-")
                at += 1
    return added, removed


@unhurried
@given(diffs().filter(bool), st.integers(0, 6000))
def test_a_diffstat_is_made_of_the_diffs_lines_within_its_budget(data: bytes, room: int) -> None:
    written = made(data, room)
    body = join_segments(written.segments)
    assert len(body.encode()) <= max(room, 60)
    known = {"", *clean_text(data).split("\n")}
    for line in body.split("\n"):
        assert line in known or re.fullmatch(MARKER, line) or re.search(CLIPPED, line)
    spans = [(first, last) for _, first, last in shown_ranges(written.segments)]
    literal = [segment.text.rstrip("\n") for segment in written.segments if not segment.ref]
    spans += [(int(gap[1]), int(gap[2] or gap[1])) for text in literal if (gap := RANGE.fullmatch(text))]
    following = 1
    for first, last in sorted(spans):
        assert first == following
        following = last + 1
    assert following == data.count(b"\n") + 1


@unhurried
@given(diffs().filter(bool))
def test_a_diffs_counts_are_true(data: bytes) -> None:
    diff = read_diff(BytesSource(data, REF))
    assert diff
    assert (diff.added, diff.removed) == changes(data)
    assert sum(file.added for file in diff.files) == diff.added
    assert diff.total == data.count(b"diff --git")


def large_diff(files: int = 3) -> bytes:
    text = ""
    for number in range(files):
        hunks = "".join(
            f"@@ -{at},3 +{at},4 @@ def f():\n context line\n-removed line of some length\n"
            "+added line\n+another\n context line\n"
            for at in range(10, 200, 20)
        )
        name = f"f{number}.py"
        text += f"diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n{hunks}"
    return text.encode()


def test_headers_stay_and_bodies_go() -> None:
    body = join_segments(made(large_diff(), 8192).segments)
    assert body.startswith("[… diff of 3 files: +60 -30 …]\ndiff --git a/f0.py")
    assert body.count("[… +20 -10 in this file …]\n@@ -10,3 +10,4 @@ def f():\n[… 5 lines elided: @cmd_a1b2c3:") == 3
    assert "removed line" not in body


def test_a_small_budget_leaves_file_headers_then_the_first_files() -> None:
    body = join_segments(made(large_diff(), 800).segments)
    assert "@@" not in body
    assert "+++ b/f2.py\n[… +20 -10 in this file …]\n[… 60 lines elided: @cmd_a1b2c3:133-192 …]\n" in body
    body = join_segments(made(large_diff(100), 500).segments)
    assert "diff of 100 files: +2,000 -1,000" in body
    assert "[… 6,400 lines elided: @cmd_a1b2c3:1-6400 …]\n[… {f0.py +20 -10, f1.py +20 -10, " in body
    body = join_segments(made(large_diff(100), 3000).segments)
    assert re.search(r"\[… \d+ more files, \+1,\d+ -\d+: @cmd_a1b2c3:\d+-6400 …\]", body)


@pytest.mark.parametrize(("room", "least"), [(1024, 20), (8192, 202)])
def test_a_diff_of_many_files_names_as_many_as_fit(room: int, least: int) -> None:
    one = "diff --git a/{0} b/{0}\nindex 1..2 100644\n--- a/{0}\n+++ b/{0}\n@@ -1 +1,2 @@\n-x\n+y\n+z\n"
    names = [f"src/part_{number % 9}/module_number_{number}.py" for number in range(202)]
    body = join_segments(made("".join(one.format(name) for name in sorted(names)).encode(), room).segments)
    assert len(body.encode()) <= room
    named = re.findall(r"module_number_\d+\.py(?= \+2 -1)|(?<=/)module_number_\d+\.py(?=\n)", body)
    assert len(set(named)) >= least
    assert all(re.fullmatch(MARKER, line) for line in body.split("\n") if line.startswith("[…"))
    assert body.count(" and others …]") == (least < 202)


def test_commits_renames_and_binaries_are_part_of_a_diff() -> None:
    data = (
        b"commit 0123456789abcdef\nAuthor: A <a@example.com>\n\n    Subject\n\n"
        b"diff --git a/x.png b/x.png\nindex 1..2\nGIT binary patch\nliteral 10\nzcmYdEU|?VZ0\n\n"
        b"diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n"
        + large_diff(1)
        + b"\\ No newline at end of file\n"
    )
    diff = read_diff(BytesSource(data))
    assert diff
    assert (diff.total, diff.added, diff.removed) == (3, 20, 10)
    assert "    Subject\n" in join_segments(made(data, 8192).segments)


@pytest.mark.parametrize(
    "text",
    [
        "--- a title ---\nsome prose\n" * 200,
        "---\nkey: value\n" * 300,
        "--- a\n+++ b\nno hunk follows\n" * 200,
        "--- a\n+++ b\n@@ -1,9 +1,9 @@\n context\nnot a line of a hunk\n" * 100,
        "Some words first\n" + large_diff().decode(),
        "diff is a program\n" * 300,
    ],
)
def test_what_merely_resembles_a_diff_is_text(text: str) -> None:
    assert shape_result(BytesSource(text.encode(), REF), budget=1024) is None


def test_a_failure_keeps_its_error_regions() -> None:
    assert looks_like_diff(large_diff())
    source = BytesSource(large_diff(), REF)
    assert shape_result(source, budget=1024)
    assert shape_result(source, budget=1024, failed=True) is None


def test_json_is_sampled_even_after_a_failure_but_not_json_lines() -> None:
    value = BytesSource(b"[" + b",\n".join(b'{"id": %d}' % n for n in range(900)) + b"\n]", REF)
    lines = BytesSource(b"\n".join(b'{"id": %d}' % n for n in range(900)), REF)
    for source in (value, lines):
        made = shape_result(source, budget=1024)
        assert made
        assert "900" in made.description
    assert shape_result(value, budget=1024, failed=True)
    assert shape_result(lines, budget=1024, failed=True) is None


@pytest.mark.parametrize("budget", [None, 70_000])
def test_what_fits_or_has_no_budget_is_not_sampled(budget: int | None) -> None:
    data = b"[" + b",".join(b"%d" % n for n in range(3000)) + b"]"
    assert shape_result(BytesSource(data, REF), budget=budget) is None


@pytest.mark.parametrize("text", ["[INFO] started\n" * 900, "{not json}\n" * 900, "[1, 2, 3\n" * 900])
def test_text_that_begins_like_json_is_text(text: str) -> None:
    assert shape_result(BytesSource(text.encode(), REF), budget=1024) is None


def test_files_that_only_one_side_has_are_no_changed_files() -> None:
    changed = b"diff -ru a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    source = BytesSource(changed + b"Only in b: y\n" * 48, REF)
    diff = read_diff(source)
    assert diff and diff.told == "diff of 1 file: +1 -1, 48 only on one side"
    assert re.fullmatch(MARKER, join_segments(diffstat(diff, source, 200).segments).split("\n")[0])
