"""What runs for long goes by the settings as they are at its next call."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sightline
from sightline.base.errors import SettingError
from sightline.store import Store
from tests.fork_server import ForkServer
from tests.store.doors.mcp.conftest import McpClient
from tests.store.doors.proxy.proxy_kit import Client, text_result
from tests.store.doors.test_keeps_nothing import MARK, files_with

LONG = "".join(f"line {number} {MARK}\n" for number in range(5_000))
OFF = '[directories."{}"]\ncapture = "off"\n'


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith("SIGHTLINE_") or name.endswith(("SESSION_ID", "THREAD_ID")):
            monkeypatch.delenv(name)
    root = tmp_path / "root"
    monkeypatch.setenv("SIGHTLINE_HOME", str(root))
    with Store(str(root)):
        pass
    return root


@pytest.fixture
def server(root: Path, tmp_path: Path, fork_server: ForkServer) -> Iterator[McpClient]:
    client = McpClient(fork_server, tmp_path, SIGHTLINE_HOME=str(root))
    yield client
    client.end()
    assert client.process.stdout
    client.process.stdout.close()


@pytest.mark.parametrize("name", ["config.toml", "config.extra.toml"])
def test_the_mcp_server_obeys_changed_settings_at_its_next_call(
    name: str, server: McpClient, root: Path, tmp_path: Path
) -> None:
    config = root / name
    assert "output_id" in server.call("run_command", command="seq 9000")[0]
    config.write_text(OFF.format(tmp_path))
    assert "capture = off" in server.call("run_command", command=f"echo {MARK}")[0]["note"]
    config.write_text("[redact]\npatterns = ['word-[0-9]+']\n")
    fields, body = server.call("run_command", command="echo word-12345")
    assert (fields["note"], body) == ("redacted: 1", "[redacted: pattern 1]\n")
    config.write_text("[safety]\nconfirm = ['^deploy']\n")
    assert "pending_ack" in server.call("run_command", command="deploy now")[0]
    config.write_text("max_stream_bytes = 1000\n")
    assert "max_stream_bytes" in server.call("run_command", command="seq 9000")[0]["partial"]
    config.write_text("profile = 'codescout'\n")
    assert server.call("run_command", command="seq 9000")[1].splitlines()[:20] == [str(n) for n in range(1, 21)]
    config.unlink()
    assert "output_id" in server.call("run_command", command="deploy; seq 9000")[0]
    assert files_with(root) == []


def test_a_wrong_setting_is_an_error_at_each_call_until_it_is_mended(server: McpClient, root: Path) -> None:
    assert server.call("run_command", command="echo hi")[1] == "hi\n"
    (root / "config.toml").write_text('capture = "off"\n')
    for _ in range(2):
        fields, _body = server.call("run_command", command=f"echo {MARK}")
        assert fields["error"] == f"{root}/config.toml: unknown setting 'capture'"
    (root / "config.toml").unlink()
    assert server.call("run_command", command="echo hi")[1] == "hi\n"
    assert files_with(root) == []


def test_the_proxy_obeys_changed_settings_at_its_next_call(root: Path, tmp_path: Path, fork_server: ForkServer) -> None:
    client = Client(fork_server, tmp_path, [], [], SIGHTLINE_HOME=str(root))
    try:
        assert "@tool_" in json.dumps(client.call(text_result("words\n" * 5_000)))
        (root / "config.toml").write_text(OFF.format(tmp_path))
        for text in (LONG, MARK):
            assert client.call(text_result(text), arguments={"a": MARK}) == text_result(text)
        (root / "config.toml").write_text("[redact]\npatterns = ['word-[0-9]+']\n")
        assert client.call(text_result("word-12345"))["content"][0]["text"] == "[redacted: pattern 1]"
        client.close()
    finally:
        client.end()
    assert files_with(root) == []


def test_python_obeys_changed_settings_at_its_next_call(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sightline.run_command("seq 9000").ref
    (root / "config.toml").write_text(OFF.format(tmp_path))
    assert not sightline.run_command(f"echo {MARK}; seq 9000").ref
    (tmp_path / "elsewhere").mkdir()
    (root / "config.toml").write_text(OFF.format(tmp_path / "elsewhere"))
    assert sightline.run_command("seq 9000").ref
    monkeypatch.chdir(tmp_path / "elsewhere")
    sightline.query(f"grep {MARK} @last")
    assert files_with(root) == []


def test_a_call_costs_one_look_at_each_file_of_the_settings(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    stat: Callable[..., Any] = os.stat
    with Store(str(root)) as store:
        monkeypatch.setattr(
            "sightline.settings.config.os.stat", lambda path, **more: (looks.append(path), stat(path, **more))[1]
        )
        assert not store.obey_settings()
        assert looks == [f"{root}/config.toml", f"{root}/config.extra.toml"]
        (root / "config.toml").write_text("max_buffers = 0\n")
        for _ in range(2):
            with pytest.raises(SettingError):
                store.obey_settings()
        (root / "config.toml").write_text("max_buffers = 3\n")
        assert store.obey_settings()
        assert store.settings.max_buffers == 3
