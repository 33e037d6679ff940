"""Version 0.2.0 and this one use one store at once: nothing is lost or misread, and what 0.2.0 cannot do it says.

0.2.0 is taken from its tag, or from the commit that named it, and run from its own files.
"""

import json
import os
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sightline.doors.doctor.doctor import examine
from sightline.log.log_index import list_views
from sightline.settings.config import Settings
from sightline.store import Store

REPOSITORY = Path(__file__).parents[2]
RELEASES = ("v0.2.0", "0.2.0", "919b0e37")
MAIN = "import sys; from sightline.doors.cli.main import main; sys.exit(main(sys.argv[1:]))"
CALLS = 6


@pytest.fixture(scope="module")
def old_version(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder from which Python imports version 0.2.0."""
    folder = tmp_path_factory.mktemp("0.2.0")
    for release in RELEASES:
        command = ["git", "-C", str(REPOSITORY), "archive", "-o", str(folder / "all.tar"), release, "store", "tui"]
        if subprocess.run(command, check=False, capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("the history of this checkout does not reach back to 0.2.0")
    with tarfile.open(folder / "all.tar") as archive:
        archive.extractall(folder, filter="data")
    (folder / "sightline").symlink_to("store")
    return str(folder)


def call(root: str, *words: str, version: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a command line of a version, by default of this one, to its end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SIGHTLINE_")}
    environment |= {"SIGHTLINE_HOME": root, "SIGHTLINE_SESSION": "agent", "PYTHONPATH": version}
    command = [sys.executable, *([] if version else ["-P"]), "-c", MAIN, *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def listed(root: str, version: str = "") -> dict[str, str]:
    """The command of each output, by its ref, as a version lists them."""
    told = json.loads(call(root, "list", "--json", "--limit", "100", version=version).stdout)
    return {one["ref"]: one["command"] for one in told}


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(tmp_path / "root")


@pytest.mark.parametrize("first", ["0.2.0", "this version"])
def test_both_versions_write_one_store_at_once(root: str, old_version: str, first: str) -> None:
    call(root, "run", "-c", "seq 9", version=old_version if first == "0.2.0" else "")
    commands = [f"seq {number} 3000" for number in range(2 * CALLS)]

    def capture(number: int) -> "subprocess.CompletedProcess[str]":
        return call(root, "run", "-c", commands[number], version=old_version if number % 2 else "")

    with ThreadPoolExecutor(4) as pool:
        assert [done.returncode for done in pool.map(capture, range(2 * CALLS))] == [0] * 2 * CALLS
    known = listed(root)
    assert sorted(known.values()) == sorted(["seq 9", *commands])
    assert listed(root, old_version) == known
    with Store(root, Settings()) as store:
        for ref, command in known.items():
            whole = subprocess.run(command.split(), check=True, capture_output=True).stdout
            assert Path(store.path(store.resolve(ref))).read_bytes() == whole
        assert [found.text for found in examine(store) if found.level in ("problem", "mended")] == []
        views = {view.view.id: view.view.text_sha256 for view in list_views(store)}
    assert "problem" not in call(root, "doctor", version=old_version).stdout
    with Store(root, Settings()) as store:
        assert views.items() <= {view.view.id: view.view.text_sha256 for view in list_views(store)}.items()


def test_what_one_version_evicts_removes_and_pins_the_other_knows(root: str, old_version: str) -> None:
    for version in ("", old_version):
        call(root, "run", "-c", f"echo {'old' if version else 'new'}", version=version)
    by_command = {command: ref for ref, command in listed(root).items()}
    assert call(root, "pin", by_command["echo old"]).returncode == 0
    assert call(root, "rm", by_command["echo new"], version=old_version).returncode == 0
    assert "expired (removed" in call(root, "show", by_command["echo new"]).stderr
    assert listed(root) == listed(root, old_version) == {by_command["echo old"]: "echo old"}
    with Store(root, Settings()) as store:
        assert store.resolve(by_command["echo old"]).buffer.pinned
        assert store.resolve(by_command["echo old"]).buffer.altered == ""


def test_0_2_0_goes_on_beside_newer_settings_in_the_extra_file(root: str, old_version: str) -> None:
    call(root, "run", "-c", "true")
    index = os.path.join(root, "elsewhere")
    Path(root, "config.extra.toml").write_text(f'[store]\nindex = "{index}"\n')
    for version in ("", old_version):
        assert call(root, "run", "-c", "echo ran", version=version).stdout == "ran\n"
    Path(root, "config.extra.toml").unlink()
    Path(root, "config.toml").write_text(f'[store]\nindex = "{index}"\n')
    assert call(root, "run", "-c", "echo ran").stdout == "ran\n"
    refused = call(root, "run", "-c", "echo ran", version=old_version)
    assert (refused.stdout, "unknown setting 'store'" in refused.stderr) == ("", True)


def test_0_2_0_makes_a_lost_index_anew_with_what_this_version_wrote(root: str, old_version: str) -> None:
    call(root, "run", "-c", "seq 5000 && false")
    known = listed(root)
    for name in os.listdir(root):
        if name.startswith("index.sqlite"):
            os.remove(os.path.join(root, name))
    assert listed(root, old_version) == known
    assert listed(root) == known
