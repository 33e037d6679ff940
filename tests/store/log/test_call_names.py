"""What calls are called: by what they are about."""

import pytest

from sightline.base.records import Buffer
from sightline.log.call_names import call_name, left_out_of_path, name_of_call, name_of_request, tool_name


@pytest.mark.parametrize(
    ("tool", "arguments", "name"),
    [
        ("Edit", {"file_path": "/p/src/phase_test.go", "old_string": "a", "new_string": "b"}, "Edit phase_test.go"),
        ("Grep", {"pattern": "TestPost", "output_mode": "content"}, 'Grep "TestPost"'),
        ("Grep", {"pattern": "TestPost", "path": "/p/src/"}, 'Grep "TestPost" in src/'),
        ("Read", {"file_path": "/p/a.py", "offset": 10, "limit": 31}, "Read a.py:10-40"),
        ("Read", {"file_path": "/p/a.py", "offset": 10}, "Read a.py:10-"),
        ("Read", {"file_path": "/p/a.py", "limit": 20}, "Read a.py:1-20"),
        ("Read", {"file_path": "/p/a.py"}, "Read a.py"),
        ("view", {"path": "a.py", "view_range": [3, 9]}, "view a.py:3-9"),
        ("view", {"path": "a.py", "view_range": [3, -1]}, "view a.py:3-"),
        (
            "Task",
            {"description": "review the diff", "prompt": "Look"},
            "Task review the diff",
        ),
        ("Bash", {"command": "ls\n  -l", "description": "List"}, "Bash ls -l"),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "shell bash -lc ls"),
        ("WebFetch", {"url": "https://example.org/a", "prompt": "Sum up"}, "WebFetch https://example.org/a"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.c\n@@\n-x"}, "apply_patch a.c"),
        ("TodoWrite", {"todos": [{"content": "a"}, {"content": "b"}]}, "TodoWrite 2 todos"),
        ("read_many_files", {"paths": ["src/a.py", "b/c.py"]}, "read_many_files a.py, c.py"),
        ("list", {}, "list"),
        ("sum", {"a": 1, "b": 2}, "sum"),
        ("odd", None, "odd"),
        ("odd", 7, "odd"),
        ("odd", {"file_path": 7, "pattern": None}, "odd"),
    ],
)
def test_a_call_is_called_by_what_it_is_about(tool, arguments, name):
    assert name_of_call(tool, arguments) == name


def test_where_an_offset_does_not_count_from_one_no_lines_are_told():
    assert name_of_call("read_file", {"absolute_path": "/p/a.py", "offset": 10, "limit": 5}) == "read_file a.py"


def test_a_tool_whose_arguments_are_no_json_stays_as_it_is():
    assert tool_name('odd {"a": ') == 'odd {"a":'
    assert tool_name("mcp__x__y") == "mcp__x__y"


def test_a_name_is_one_line_of_bounded_length():
    name = name_of_call("Task", {"description": "very long\n" * 100})
    assert len(name) == 200 and name.endswith("…") and "\n" not in name


def test_a_file_is_told_from_its_project_on():
    file = Buffer(
        *("file_a", "file", "sealed", "/home/p/src/a.py", "/home/p", "s", 0.0, 0.0, 0.0, None, 0, False, ""),
        *(False, "", "", "", {}),
    )
    assert call_name(file) == "src/a.py"
    assert call_name(file._replace(cwd="/elsewhere")) == "/home/p/src/a.py"
    assert call_name(file._replace(cwd="/elsewhere", project="/home")) == "p/src/a.py"


def test_a_path_is_cut_at_its_beginning():
    path = "/home/someone/project/store/log/call_names.py"
    start = left_out_of_path(path, 20)
    assert path[start:] == "/log/call_names.py"
    assert left_out_of_path(path, 100) == 0
    assert path[left_out_of_path(path, 6) :] == "es.py"


def test_a_request_tells_the_tool_and_what_it_was_about():
    assert name_of_request({"tool": "Edit", "arguments": {"file_path": "/p/a.go"}}) == "Edit a.go"
    assert name_of_request({"path": "/p/a.py", "tool": "Read", "arguments": {"offset": 2, "limit": 2}}) == "/p/a.py:2-3"
    assert name_of_request({"path": "/p/a.py", "start_line": 2, "end_line": 5}) == "/p/a.py:2-5"
    assert name_of_request({"command": "make  test", "tool": "Bash", "arguments": {}}) == "make test"
    assert name_of_request({}) == ""


def test_a_request_with_a_patch_alone_is_called_by_the_files_of_the_patch():
    patch = "*** Begin Patch\n*** Update File: src/a.c\n@@\n-x\n*** Add File: b.h\n+y"
    assert name_of_request({"tool": "apply_patch", "arguments": patch}) == "apply_patch a.c, b.h"
    assert name_of_request({"tool": "exec", "arguments": "text('x')"}) == "exec"
