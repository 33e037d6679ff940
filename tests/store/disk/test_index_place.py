"""A store on a network's disk: said, its index elsewhere, and one host at a time."""

import json
import os
import time
from pathlib import Path

import pytest

from sightline.base.errors import SettingError, StoreFailed
from sightline.disk import index_place
from sightline.disk.index_place import _type_in_mounts, file_system
from sightline.doors.cli.main import main
from sightline.doors.doctor.doctor import examine
from sightline.settings.config import Settings, load_settings
from sightline.store import Store

MOUNTS = """\
22 1 0:20 / / rw,relatime shared:1 - overlay overlay rw
31 22 0:41 / /home rw,relatime shared:15 - nfs4 server:/home rw,vers=4.2
32 31 0:42 / /home/with\\040space rw - cifs //server/share rw
40 22 0:50 / /data rw - btrfs /dev/sda1 rw
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The root of a store, in a file system that is said to be NFS; what lies in `local` beside it is on a disk."""
    root = str(tmp_path / "root")
    monkeypatch.setattr(
        index_place, "file_system", lambda path: "nfs4" if os.path.realpath(path).startswith(root) else ""
    )
    monkeypatch.setenv("SIGHTLINE_HOME", root)
    return root


def on_host(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    here = os.uname()
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((here[0], name, *here[2:])))


def local_index(root: str) -> Path:
    folder = Path(root).parent / "local"
    Path(root).mkdir(exist_ok=True)
    Path(root, "config.extra.toml").write_text(f'[store]\nindex = "{folder}"\n')
    return folder


@pytest.mark.parametrize(
    ("device", "path", "kind"),
    [
        ((0, 41), "/home/me", "nfs4"),
        ((0, 42), "/home/with space/x", "cifs"),
        ((0, 99), "/data/x", "btrfs"),
        ((0, 99), "/home/with space/x", "cifs"),
        ((0, 99), "/database", "overlay"),
    ],
)
def test_a_mount_is_found_by_its_device_or_else_by_its_path(device: tuple[int, int], path: str, kind: str) -> None:
    assert _type_in_mounts(MOUNTS, os.makedev(*device), path) == kind


def test_the_file_system_of_a_missing_path_is_not_known() -> None:
    assert file_system("/nowhere/at/all") == ""


def test_a_network_disk_is_said_at_first_use_and_by_doctor(root: str, capfd: pytest.CaptureFixture[str]) -> None:
    said = f"{root} is on a network's disk (nfs4), where the index can be damaged"
    assert [main(["run", "-c", "true"]), said in capfd.readouterr().err] == [0, True]
    assert [main(["run", "-c", "true"]), said in capfd.readouterr().err] == [0, False]
    with Store(root) as store:
        assert any(found.level == "problem" and said in found.text for found in examine(store))


def test_the_index_lies_where_the_setting_says_and_follows_it(root: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-c", "echo one"]) == 0
    folder = local_index(root)
    for number, command in enumerate(("two", "three"), 1):
        capfd.readouterr()
        assert main(["run", "-c", f"echo {command}"]) == 0
        assert "network's disk" not in capfd.readouterr().err
        assert main(["list", "--json"]) == 0
        assert len(json.loads(capfd.readouterr().out)) == number + 1
    [index] = folder.glob("*/index.sqlite")
    assert index.stat().st_mode & 0o777 == 0o600
    assert index.parent.stat().st_mode & 0o777 == 0o700
    Path(root, "config.extra.toml").unlink()
    assert main(["run", "-c", "echo four"]) == 0
    local_index(root)
    assert main(["list", "--json"]) == 0
    assert len(json.loads(capfd.readouterr().out.splitlines()[-1])) == 4


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_a_second_host_is_refused_by_the_name_of_the_first(
    root: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], is_elsewhere: bool
) -> None:
    if is_elsewhere:
        local_index(root)
    on_host(monkeypatch, "first")
    assert main(["run", "-c", "echo one"]) == 0
    on_host(monkeypatch, "second")
    capfd.readouterr()
    assert main(["list"]) == 1
    assert "the host first uses it" in capfd.readouterr().err
    assert main(["run", "-c", "echo words"]) == 0
    shown = capfd.readouterr()
    assert "words" in shown.out
    assert "the host first uses it" in shown.out + shown.err
    Path(root, "place.json").unlink()
    assert main(["list", "--json"]) == 0
    assert "echo one" in capfd.readouterr().out


def test_a_host_takes_over_once_the_other_has_not_come_for_a_week(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_host(monkeypatch, "first")
    assert main(["run", "-c", "echo one"]) == 0
    on_host(monkeypatch, "second")
    place = Path(root, "place.json")
    with monkeypatch.context() as ahead:
        ahead.setattr(time, "time", lambda: place.stat().st_mtime + 8 * 86_400)  # the second host's clock
        with Store(root, Settings()) as store, pytest.raises(StoreFailed, match="the host first uses it"):
            store.listed(1)
    week_ago = place.stat().st_mtime - 8 * 86_400
    os.utime(place, (week_ago, week_ago))
    with Store(root, Settings()) as store:
        assert [item.buffer.command for item in store.listed(9)] == ["echo one"]


def test_a_store_on_a_disk_has_no_note_of_its_host(tmp_path: Path) -> None:
    with Store(str(tmp_path / "root"), Settings()) as store:
        store.listed(1)
        assert not os.path.exists(store.layout.place)


@pytest.mark.parametrize("text", ['[store]\nindex = "here"', "[store]\nindex = 5", "[store]\nlog = 'x'", "store = 1"])
def test_a_wrong_place_for_the_index_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.extra.toml").write_text(text)
    with pytest.raises(SettingError, match="store"):
        load_settings(str(tmp_path / "config.toml"), {})
