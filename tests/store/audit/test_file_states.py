"""How files changed, and which of their lines are known: from reads, writes and edits, and never more than that."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.file_states import (
    AMBIGUOUS,
    CUT,
    NOT_FOUND,
    UNKNOWN,
    DiffLine,
    FileState,
    changed,
    read,
    written,
)
from sightline.harnesses.file_changes import changes_in, changes_in_patch

TEN = tuple(f"line {number}" for number in range(1, 11))


def edited(state: FileState, old: str, new: str, **more: object) -> tuple[FileState, list[DiffLine]]:
    (change,) = changes_in("Edit", {"file_path": "/p/a", "old_string": old, "new_string": new, **more})
    return changed(state, change)


def test_an_edit_of_a_file_that_was_read_is_a_diff_with_numbers() -> None:
    state, diff = edited(read(UNKNOWN, 1, TEN, 10), "line 5\n", "line five\nand a half\n")
    assert [(one.sign, one.text, one.number) for one in diff] == [
        ("@", "", 2),
        (" ", "line 2", 2),
        (" ", "line 3", 3),
        (" ", "line 4", 4),
        ("-", "line 5", 5),
        ("+", "line five", 5),
        ("+", "and a half", 6),
        (" ", "line 6", 7),
        (" ", "line 7", 8),
        (" ", "line 8", 9),
    ]
    assert (state.total, state.is_whole) == (11, True)
    assert state.runs[0][1][4:7] == ("line five", "and a half", "line 6")


def test_a_change_within_a_line_shows_the_whole_line() -> None:
    _, diff = edited(written("a = 1\nb = 2\n"), "= 2", "= 3")
    assert [(one.sign, one.text) for one in diff] == [("@", ""), (" ", "a = 1"), ("-", "b = 2"), ("+", "b = 3")]


def test_without_a_read_the_diff_is_known_and_the_file_is_not() -> None:
    state, diff = edited(UNKNOWN, "old\n", "new\n")
    assert [(one.sign, one.text, one.number) for one in diff] == [("-", "old", 0), ("+", "new", 0)]
    assert state == UNKNOWN


def test_lines_behind_an_edit_move_and_lines_that_were_not_read_stay_unknown() -> None:
    state = read(read(UNKNOWN, 1, TEN[:3], 10), 8, TEN[7:], 10)
    state, _ = edited(state, "line 2\n", "")
    assert state.runs == ((1, ("line 1", "line 3")), (7, TEN[7:]))
    assert (state.total, state.known, state.is_whole) == (9, 5, False)


def test_an_edit_of_lines_that_were_not_read_makes_all_unknown() -> None:
    state, diff = edited(read(UNKNOWN, 1, TEN[:3], 10), "line 6", "line six")
    assert (state.runs, state.why_not) == ((), NOT_FOUND)
    assert [one.sign for one in diff] == ["-", "+"]


def test_text_in_several_places_is_replaced_only_where_all_are_meant() -> None:
    state = written("x\ny\nx\n")
    assert edited(state, "x", "z")[0].why_not == AMBIGUOUS
    everywhere, diff = edited(state, "x", "z", replace_all=True)
    assert everywhere.runs == ((1, ("z", "y", "z")),)
    assert [one.sign for one in diff if one.sign in "+-"] == ["-", "+", "-", "+"]
    assert edited(read(UNKNOWN, 1, ["x"], 9), "x", "z", replace_all=True)[0].why_not == NOT_FOUND


def test_a_later_read_that_differs_is_of_another_time() -> None:
    state = read(read(UNKNOWN, 1, TEN, 10), 2, ["another"], 10)
    assert state.runs == ((2, ("another",)),)


def test_a_file_that_was_written_whole_is_known_whole() -> None:
    (change,) = changes_in("Write", {"file_path": "/p/a", "content": "a\nb\n"})
    state, diff = changed(written("a\nc\n"), change)
    assert (state.runs, state.total) == (((1, ("a", "b")),), 2)
    assert [(one.sign, one.text) for one in diff if one.sign in "+-"] == [("-", "c"), ("+", "b")]


def test_what_the_log_cut_is_not_taken_for_the_file() -> None:
    (change,) = changes_in("Write", {"file_path": "/p/a", "content": "a\n… (70,000 characters)"})
    state, _ = changed(UNKNOWN, change)
    assert (state.runs, state.why_not) == ((), CUT)


def test_a_patch_changes_adds_moves_and_deletes_files() -> None:
    patch = """*** Begin Patch
*** Update File: a.py
@@ def f
 line 2
-line 3
+line three
*** Add File: b.py
+one
+two
*** Delete File: c.py
*** Update File: d.py
*** Move to: e.py
 x
-y
*** End Patch"""
    update, add, delete, move = changes_in_patch(f"apply_patch <<'EOF'\n{patch}\nEOF")
    assert [(one.path, one.moved) for one in (update, add, delete, move)] == [
        ("a.py", ""),
        ("b.py", ""),
        ("c.py", ""),
        ("d.py", "e.py"),
    ]
    state, diff = changed(read(UNKNOWN, 1, TEN, 10), update)
    assert state.runs[0][1][:3] == ("line 1", "line 2", "line three")
    assert [(one.sign, one.number) for one in diff if one.sign in "+-"] == [("-", 3), ("+", 3)]
    assert changed(UNKNOWN, add)[0].runs == ((1, ("one", "two")),)
    gone, lines = changed(written("z\n"), delete)
    assert (gone.is_gone, [(one.sign, one.text) for one in lines]) == (True, [("-", "z")])


def test_an_edit_with_an_empty_old_text_begins_a_file() -> None:
    (change,) = changes_in("Edit", {"file_path": "/p/a", "old_string": "", "new_string": "a\n"})
    assert changed(UNKNOWN, change)[0].runs == ((1, ("a",)),)


LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12)


@given(LINES, LINES)
def test_a_diff_of_a_whole_file_leads_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    (change,) = changes_in("Write", {"file_path": "/p/a", "content": "".join(f"{one}\n" for one in after)})
    _, diff = changed(written("".join(f"{one}\n" for one in before)), change)
    made, at = list[str](), 0
    for one in diff:
        if one.sign in " -":
            while at < one.number - 1 if one.sign == "-" else len(made) < one.number - 1:
                made.append(before[at])
                at += 1
            assert before[at] == one.text
            made += [one.text] if one.sign == " " else []
            at += 1
        elif one.sign == "+":
            while len(made) < one.number - 1:
                made.append(before[at])
                at += 1
            made.append(one.text)
    assert [*made, *before[at:]] == after
