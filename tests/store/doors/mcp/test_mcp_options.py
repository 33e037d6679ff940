"""What a person sets: which tools, which folder, which profile."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import UsageError
from sightline.doors.tools.handlers import under


def names(client: Any) -> list[str]:
    return [tool["name"] for tool in client.request("tools/list")["tools"]]


def test_read_only_offers_no_command(connect: Callable[..., Any]) -> None:
    client = connect("--read-only")
    assert names(client) == ["read_file", "read_output", "query", "list_outputs"]
    assert client.error("tools/call", name="run_command", arguments={"command": "touch x"})["code"] == -32602
    assert "run_command" not in client.opened["instructions"]


def test_only_the_tools_that_are_named_are_offered(connect: Callable[..., Any]) -> None:
    client = connect("--tools", "query,run_command")
    assert names(client) == ["run_command", "query"]
    assert client.error("tools/call", name="list_outputs", arguments={})["code"] == -32602
    fields, _ = client.call("run_command", command="seq 1 5000")
    assert fields["next"].startswith("sightline show @cmd_")


def test_a_profile_shapes_the_replies(connect: Callable[..., Any]) -> None:
    client = connect("--profile", "everruns")
    fields, _ = client.call("run_command", command="seq 1 50000")
    assert "full_output" in fields  # which the default profile never tells


def test_the_profile_of_the_settings_counts_here_too(connect: Callable[..., Any]) -> None:
    client = connect(SIGHTLINE_PROFILE="everruns")
    assert "full_output" in client.call("run_command", command="seq 1 50000")[0]


@pytest.fixture
def rooted(connect: Callable[..., Any], tmp_path: Path) -> Any:
    """A client whose server stays under a folder."""
    inside = tmp_path / "inside"
    (inside / "deeper").mkdir(parents=True)
    (tmp_path / "inside-not").mkdir()
    (inside / "file").write_text("inside\n")
    (tmp_path / "secret").write_text("outside\n")
    (tmp_path / "inside-not" / "file").write_text("outside\n")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "folder").symlink_to(tmp_path)
    (inside / "good").symlink_to(inside / "file")
    return connect("--root", "inside")


@pytest.mark.parametrize("path", ["file", "deeper/../file", "good", "folder/inside/file"])
def test_files_under_the_root_are_read(rooted: Any, path: str) -> None:
    assert rooted.call("read_file", path=path)[1] == "inside\n"


@pytest.mark.parametrize(
    "path",
    ["../secret", "link", "folder/secret", "/etc/passwd", "~/secret", "../inside-not/file", "missing/../../secret"],
)
def test_files_outside_of_the_root_are_not_however_they_are_named(rooted: Any, path: str) -> None:
    fields, body = rooted.call("read_file", path=path)
    assert "lies outside" in fields["error"]
    assert body == ""


def test_commands_begin_under_the_root(rooted: Any, tmp_path: Path) -> None:
    assert rooted.call("run_command", command="pwd -P")[1] == f"{tmp_path / 'inside'}\n"
    assert rooted.call("run_command", command="pwd -P", cwd="deeper")[1] == f"{tmp_path / 'inside' / 'deeper'}\n"
    for cwd in ("..", "/", "folder", str(tmp_path / "inside-not")):
        assert "lies outside" in rooted.call("run_command", command="pwd", cwd=cwd)[0]["error"]


def test_a_confirmed_command_begins_under_the_root_too(rooted: Any, connect: Callable[..., Any]) -> None:
    command = "pwd -P; rm -rf nothing"
    elsewhere = connect().call("run_command", command=command)[0]["pending_ack"]
    assert "lies outside" in rooted.call("run_command", command=elsewhere)[0]["error"]
    here = rooted.call("run_command", command=command, cwd="deeper")[0]["pending_ack"]
    assert rooted.call("run_command", command=here)[1].endswith("/inside/deeper\n")


def test_everything_lies_under_the_root_of_the_machine() -> None:
    assert under("/", os.devnull) == os.devnull


def test_a_folder_whose_name_merely_begins_alike_is_outside(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        under(str(tmp_path / "a"), str(tmp_path / "ab"))
