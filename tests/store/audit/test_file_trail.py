"""What a session's calls tell of its files: in imported transcripts, and never by looking at the working tree."""

import json
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.past_sessions.importer import Importer
from sightline.audit.file_states import CUT, NO_READ
from sightline.audit.file_trail import BY_COMMAND, FileTrail, KnownFile, changes_of
from sightline.audit.timeline import calls_of
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, Rollout, write_lines

TEN = [f"line {number}" for number in range(1, 11)]


class Editor(Claude):
    """Calls of Claude Code that read and change files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(cwd=str(folder))
        self.folder = folder

    def did(self, number: int, tool: str, told: Any, shown: str = "done", **given: Any) -> list[dict[str, Any]]:
        return [self.use(number, name=tool, input=given), self.result(number, shown, told)]

    def read(self, number: int, name: str, lines: list[str], first: int = 1, total: int = 0) -> list[dict[str, Any]]:
        path = str(self.folder / name)
        file = {"filePath": path, "content": "\n".join(lines), "startLine": first, "numLines": len(lines)}
        told = {"type": "text", "file": {**file, "totalLines": total or len(lines)}}
        return self.did(number, "Read", told, "\n".join(lines), file_path=path)

    def edit(self, number: int, name: str, old: str, new: str) -> list[dict[str, Any]]:
        return self.did(number, "Edit", {}, file_path=str(self.folder / name), old_string=old, new_string=new)


def trail(store: Store, folder: Path, records: list[Any]) -> tuple[FileTrail, int]:
    """The trail of the only session, and the place of its last call."""
    Importer(store).run(find_sources(str(write_lines(folder / "t.jsonl", *records))))
    calls = calls_of(store)
    made = FileTrail(store, str(folder))
    made.take(calls)
    return made, len(calls) - 1


def signs(file: KnownFile) -> list[str]:
    return [f"{one.sign}{one.number} {one.text}" for one in file.diff if one.sign in "+-"]


def test_edits_are_applied_to_what_was_read_and_the_working_tree_is_not_looked_at(store: Store, tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    (tmp_path / "a.py").write_text("quite another text\n")
    records = [*editor.read(1, "a.py", TEN), *editor.edit(2, "a.py", "line 4", "line four\nand more")]
    records += [*editor.ran(3, "built\n", "make all"), *editor.edit(4, "a.py", "line 9", "line nine")]
    files, last = trail(store, tmp_path, records)
    path = str(tmp_path / "a.py")
    assert files.files(last) == [path]
    assert signs(files.at(path, 1)) == ["-4 line 4", "+4 line four", "+5 and more"]
    now = files.at(path, last)
    assert signs(now) == ["-10 line 9", "+10 line nine"]
    assert now.state.runs == ((1, (*TEN[:3], "line four", "and more", *TEN[4:8], "line nine", "line 10")),)
    assert files.at(path, 0).state.runs == ((1, tuple(TEN)),)
    between = files.at(path, 2)
    assert (between.place, between.doubts, between.diff) == (1, 1, ())
    assert [one.path for one in files.changed_at(last)] == [path] and files.changed_at(0) == []


def test_only_lines_that_were_read_are_known(store: Store, tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    files, last = trail(store, tmp_path, editor.read(1, "a.py", TEN[3:6], first=4, total=10))
    state = files.at(str(tmp_path / "a.py"), last).state
    assert (state.runs, state.total, state.is_whole) == (((4, tuple(TEN[3:6])),), 10, False)
    assert files.at(str(tmp_path / "b.py"), last).state.why_not == NO_READ


def test_what_a_command_made_of_a_file_is_not_known_until_it_is_read_again(store: Store, tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    records = [*editor.read(1, "a.py", TEN), *editor.ran(2, "", "sed -i 's/line/row/' a.py")]
    files, last = trail(store, tmp_path, [*records, *editor.ran(3, "row 1\nrow 2\n", "sed -n '1,5p' a.py")])
    path = str(tmp_path / "a.py")
    changed = files.at(path, 1)
    assert (changed.is_by_command, changed.state.why_not, changed.state.runs) == (True, BY_COMMAND, ())
    assert [one.path for one in files.changed_at(1)] == [path]
    assert (files.at(path, last).state.runs, files.at(path, last).state.total) == (((1, ("row 1", "row 2")),), 2)


def test_an_edit_that_was_refused_changed_nothing(store: Store, tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    refused = [editor.use(2, name="Edit", input={"file_path": str(tmp_path / "a.py"), "old_string": "line 1"})]
    refused.append(editor.result(2, "<tool_use_error>String to replace not found</tool_use_error>", error=True))
    files, last = trail(store, tmp_path, [*editor.read(1, "a.py", TEN), *refused])
    assert files.at(str(tmp_path / "a.py"), last).state.is_whole
    assert files.changed_at(last) == []


@pytest.mark.parametrize("answer", ["apply_patch verification failed: Failed to find", "Exit code: 1\nOutput:\nno"])
def test_a_patch_that_was_refused_changed_nothing(store: Store, tmp_path: Path, answer: str) -> None:
    rollout = Rollout("c0de").ran("use-00000001", "cat a.py", "a = 1\nb = 2\n")
    patch = "*** Begin Patch\n*** Update File: a.py\n a = 1\n-b = 2\n+b = 3\n*** End Patch"
    item = {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "use-2"}
    told = {"type": "custom_tool_call_output", "call_id": "use-2", "output": answer}
    lines = [*rollout.lines, rollout.line("response_item", **item), rollout.line("response_item", **told)]
    Importer(store).run(find_sources(str(write_lines(tmp_path / "rollout-x.jsonl", *lines))))
    files = FileTrail(store, "/repo")
    files.take(calls_of(store))
    assert files.changed_at(1) == []
    assert files.at("/repo/a.py", 1).state.runs == ((1, ("a = 1", "b = 2")),)


def test_long_texts_of_edits_are_kept_whole(store: Store, tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    long = "".join(f"line {number}\n" for number in range(5_000))
    path = str(tmp_path / "a.py")
    files, last = trail(store, tmp_path, editor.did(1, "Write", {}, file_path=path, content=long))
    assert files.at(path, last).state.total == 5_000


def test_of_a_longer_text_the_log_says_that_it_was_cut(store: Store, tmp_path: Path) -> None:
    path = str(tmp_path / "a.py")
    editor = Editor(tmp_path)
    records = editor.did(2, "Write", {}, file_path=path, content="x\n" * 40_000)
    files, last = trail(store, tmp_path, [*editor.ran(1, "1\n"), *records])
    assert files.at(path, last).state.why_not == CUT


@pytest.mark.parametrize(
    ("command", "may_change"),
    [
        ("make all", True),
        ("python fix.py", True),
        ("echo x > b.py", True),
        ("git checkout .", True),
        ("find . -delete", True),
        ("cd src && grep -n x a.py | head -5", False),
        ("git log -3 2>/dev/null; ls", False),
        ("sed -i s/a/b/ b.py", False),
    ],
)
def test_commands_that_may_have_changed_any_file_are_counted(
    store: Store, tmp_path: Path, command: str, may_change: bool
) -> None:
    editor = Editor(tmp_path)
    files, last = trail(store, tmp_path, [*editor.read(1, "a.py", TEN), *editor.ran(2, "", command)])
    assert files.at(str(tmp_path / "a.py"), last).doubts == may_change


@pytest.mark.parametrize("command", ["cat a.py", "sed -n '1,20p' a.py", "head -n 20 a.py"])
def test_codex_reads_with_commands_and_changes_with_patches(store: Store, tmp_path: Path, command: str) -> None:
    rollout = Rollout("c0de").ran("use-00000001", command, "a = 1\nb = 2\n")
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n a = 1\n-b = 2\n+b = 3\n*** End Patch"
    asked = rollout.line("response_item", type="custom_tool_call", name="apply_patch", input=patch, call_id="use-2")
    output = json.dumps({"output": "Success. Updated the following files:\nM a.py", "metadata": {"exit_code": 0}})
    answer = rollout.line("response_item", type="custom_tool_call_output", call_id="use-2", output=output)
    rollout.now += 1
    path = tmp_path / "rollout-x.jsonl"
    write_lines(path, *rollout.lines, asked, answer)
    Importer(store).run(find_sources(str(path)))
    calls = calls_of(store)
    files = FileTrail(store, "/repo")
    files.take(calls)
    (changed,) = files.changed_at(1)
    assert (changed.path, signs(changed)) == ("/repo/a.py", ["-2 b = 2", "+2 b = 3"])
    assert [one.path for one in changes_of(calls[1])] == ["a.py"]
