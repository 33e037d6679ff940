"""Where a client says in which folders it works, commands run there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.doors.tools.roots import folder_among


def _roots(*folders: object) -> dict[str, Any]:
    return {"roots": [{"uri": folder if isinstance(folder, str) else f"file://{folder}"} for folder in folders]}


def _open(connect: Callable[..., Any], *words: str, result: dict[str, Any] | None) -> Any:
    client = connect(*words, capabilities={"roots": {"listChanged": True}})
    if result is not None:
        client.until(lambda: _requests(client))
        _answer(client, result)
    return client


def _requests(client: Any) -> list[dict[str, Any]]:
    return [one for one in client.heard if one.get("method") == "roots/list"]


def _answer(client: Any, result: dict[str, Any]) -> None:
    number = _requests(client)[-1]["id"]
    client.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode())


def test_commands_run_in_the_root_of_the_client_and_the_first_reply_says_so(
    connect: Callable[..., Any], tmp_path: Path
) -> None:
    project = tmp_path / "a project"
    project.mkdir()
    outside = _roots("https://example.org/x", tmp_path / "gone", f"file://{tmp_path}/a%20project", tmp_path / "later")
    client = _open(connect, result=outside)
    fields, body = client.call("run_command", command="pwd")
    assert body == f"{project}\n"
    assert f"commands run in {project}" in fields["note"]
    (project / "x.txt").write_text("here\n")
    fields, body = client.call("read_file", path="x.txt")
    assert (body, "note" in fields) == ("here\n", False)


def test_a_root_that_holds_the_server_s_folder_changes_nothing(connect: Callable[..., Any], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    client = _open(connect, result=_roots(other, tmp_path))
    fields, body = client.call("run_command", command="pwd")
    assert (body, "note" in fields) == (f"{tmp_path}\n", False)


def test_a_changed_list_of_roots_is_asked_for_anew(connect: Callable[..., Any], tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    client = _open(connect, result=_roots(first))
    assert client.call("run_command", command="pwd")[1] == f"{first}\n"
    client.notify("notifications/roots/list_changed")
    client.until(lambda: len(_requests(client)) == 2)
    _answer(client, _roots(second))
    fields, body = client.call("run_command", command="pwd")
    assert body == f"{second}\n"
    assert str(second) in fields["note"]


def test_a_client_that_never_names_its_roots_is_answered_all_the_same(
    connect: Callable[..., Any], tmp_path: Path
) -> None:
    client = _open(connect, result=None)
    assert client.call("run_command", command="pwd")[1] == f"{tmp_path}\n"


def test_a_server_that_is_confined_to_a_folder_asks_for_no_roots(connect: Callable[..., Any], tmp_path: Path) -> None:
    client = _open(connect, "--root", str(tmp_path), result=None)
    assert client.call("run_command", command="pwd")[1] == f"{tmp_path}\n"
    assert _requests(client) == []


@pytest.mark.parametrize(
    "result", [None, [], {}, {"roots": 5}, {"roots": [5, {"uri": 5}, {"uri": "file://host/x"}, {"uri": "file://[x"}]}]
)
def test_an_answer_without_a_folder_of_this_machine_names_none(result: Any) -> None:
    assert folder_among(result, "/") == ""
