"""Another's store is read and never written, its settings are not obeyed, and no program that it names is run."""

import json
import os
import stat
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.hooks.event import answer_to
from sightline.base import ownership, private_files
from sightline.base.errors import SettingError, StoreFailed
from sightline.base.ownership import others_could_write
from sightline.settings.config import Settings, judge_store, load_settings
from sightline.store import Store
from tests.fork_server import ForkServer

Run = Callable[..., Any]
SETTINGS = """
max_buffers = 7
[fleet]
db = "postgresql://u@127.0.0.1:1/d"
objects = "s3://b?endpoint=http://127.0.0.1:1"
password_command = "touch {0}; echo word"
"""


@pytest.fixture(autouse=True)
def _open_again() -> Iterator[None]:
    yield
    private_files._closed.clear()


@pytest.fixture
def eve(tmp_path: Path) -> Path:
    """A folder that others may write, with a store of one output and settings that name a program."""
    place = tmp_path / "eve"
    place.mkdir()
    with Store(str(place / "store")) as store:
        recording = store.begin("cmd", "seq 3", str(tmp_path), "other")
        recording.append("out", b"1\n2\n3\n")
        recording.seal(exit_code=0)
        store.index.totals()
    (place / "store" / "config.toml").write_text(SETTINGS.format(place / "OWNED"))
    (place / "store" / "plugins.json").write_text('{"rules": [], "harnesses": {"x": "antigravity:x"}, "refused": []}')
    place.chmod(0o777)
    return place


@pytest.fixture
def run(tmp_path: Path, eve: Path, fork_server: ForkServer) -> Run:
    """Run ``sightline`` on that store, with a home of its own."""
    home = tmp_path / "home"
    home.mkdir()

    def run(*words: str, root: Path = eve / "store", stdin: bytes = b"") -> Any:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_STATE_HOME": str(home),
            "SIGHTLINE_HOME": str(root),
        }
        return fork_server.run(words, input=stdin, env=environment, cwd=tmp_path, timeout=60)

    return run


def files_of(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Everything below a folder as it is, to be compared."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path)] = status.st_mode, status.st_uid, status.st_mtime_ns, status.st_nlink, content
    return found


COMMANDS: list[tuple[str, ...]] = [
    ("run", "--json", "-c", "echo a mark"),
    ("run", "--background", "-c", "true"),
    ("run", "-c", "rm -rf nothing"),
    ("run", "-c", "wc -l @last && true"),
    ("capture", "--command", "x"),
    ("read", "/etc/hostname"),
    ("list",),
    ("show", "@last"),
    ("query", "wc -l @last"),
    ("grep", "2"),
    ("views",),
    ("audit",),
    ("coverage", "@last"),
    ("path", "@last.all"),
    ("note", "@last", "a note"),
    ("pin", "@last"),
    ("rm", "@last"),
    ("rm", "--purge", "@last"),
    ("gc",),
    ("kill", "@last"),
    ("sessions",),
    ("doctor",),
    ("doctor", "--rebuild-index"),
    ("ship", "--drain"),
    ("fleet", "status"),
    ("install", "claude-code", "--yes"),
    ("import",),
]


def test_no_command_writes_into_anothers_store_or_runs_what_it_names(run: Run, eve: Path) -> None:
    before = files_of(eve)
    for words in COMMANDS:
        run(*words, stdin=b"x\n")
        assert files_of(eve) == before, words


def test_anothers_store_is_read(run: Run) -> None:
    assert "seq 3" in run("list").stdout.decode()
    shown = run("show", "@last").stdout.decode()
    assert shown.endswith("1\n2\n3\n")
    assert "can be written by others" in shown.splitlines()[0]
    assert run("query", "tail -1 @last").stdout.decode().splitlines()[-1] == "3"


def test_in_anothers_store_a_command_runs_and_is_said_not_to_be_kept(run: Run) -> None:
    told = json.loads(run("run", "--json", "-c", "echo hi; exit 3").stdout)
    assert (told["exit_code"], told["stdout"]) == (3, "hi\n")
    assert "can be written by others" in told["warning"]
    assert "output_id" not in told


def test_hooks_write_nothing_into_anothers_store(eve: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", str(eve / "store"))
    before = files_of(eve)
    tool = {"tool_name": "Bash", "tool_use_id": "toolu_" + "1" * 30, "tool_input": {"command": "make | tail"}}
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"):
        given = {**tool, "session_id": "s1", "cwd": str(eve), "hook_event_name": event, "prompt": "x"}
        given |= {"tool_response": {"stdout": "x"}, "last_assistant_message": "x", "source": "startup"}
        assert answer_to(["claude-code", event, "--mode", "keep"], json.dumps(given).encode()) == b""
    assert files_of(eve) == before


def test_own_settings_make_a_store_trusted(run: Run, eve: Path, tmp_path: Path) -> None:
    own = tmp_path / "home" / "sightline"
    own.mkdir(mode=0o700)
    (own / "config.extra.toml").write_text(f'[trust]\nstores = ["{eve}/store"]\n')
    assert "output_id" in json.loads(run("run", "--json", "-c", "seq 9000").stdout)
    assert "of 7 buffers" in run("doctor").stdout.decode()  # its settings are read
    refused = run("ship", "--drain").stderr.decode()
    assert "password_command is not run" in refused
    assert not (eve / "OWNED").exists()
    # What the store itself says of trust does not count, nor do settings that others could have written.
    (own / "config.extra.toml").chmod(0o666)
    (eve / "store" / "config.toml").write_text(f'[trust]\nstores = ["{eve}/store"]\n')
    assert "output_id" not in json.loads(run("run", "--json", "-c", "seq 9000").stdout)


def test_no_program_is_run_that_others_could_have_named(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(SETTINGS.format(tmp_path / "OWNED"))
    assert load_settings(str(file), {}).fleet.password_program().startswith("touch")
    file.chmod(0o666)
    fleet = load_settings(str(file), {}).fleet
    assert fleet.db
    with pytest.raises(SettingError, match="can be written by others"):
        fleet.password_program()


def test_added_harnesses_are_not_loaded_from_a_file_that_others_could_have_written(
    eve: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sightline.settings.plugins import known_harnesses

    monkeypatch.setenv("SIGHTLINE_HOME", str(eve / "store"))
    assert known_harnesses() == {}
    eve.chmod(0o755)
    assert known_harnesses() == {"x": "antigravity:x"}


def test_an_ack_of_an_index_that_others_could_write_is_not_run(eve: Path, run: Run, tmp_path: Path) -> None:
    own = tmp_path / "home" / "sightline"
    own.mkdir(mode=0o700)
    (own / "config.toml").write_text(f'[trust]\nstores = ["{eve}/store"]\n')
    with Store(str(eve / "store"), Settings(trusted_stores=())) as store:
        assert store.anothers
    request = json.dumps({"command": f"touch {eve}/OWNED"})
    eve.chmod(0o755)
    with Store(str(eve / "store")) as store:
        store.index.put_ack("@ack_12345678", request, "x", 1e12, 0)
    eve.chmod(0o777)
    assert run("run", "-c", "@ack_12345678").returncode == 2
    assert not (eve / "OWNED").exists()


# whose a folder is


def test_a_folder_of_mine_below_one_with_the_sticky_bit_is_mine(tmp_path: Path) -> None:
    shared, mine = tmp_path / "shared", tmp_path / "shared" / "mine"
    mine.mkdir(parents=True)
    shared.chmod(0o777)
    assert others_could_write(str(mine)).startswith(f"{shared} can be written by others")
    shared.chmod(0o1777)
    assert others_could_write(str(mine)) == ""
    assert others_could_write(str(mine / "yet" / "to" / "be" / "made")) == ""
    assert "written by others" in others_could_write(str(shared))
    mine.chmod(0o722)
    assert "mode is 0722" in others_could_write(str(mine))


def test_a_link_in_a_folder_that_others_may_write_makes_it_anothers(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "link").symlink_to(tmp_path / "mine")
    assert others_could_write(str(tmp_path / "shared" / "link")) == ""
    (tmp_path / "shared").chmod(0o777)
    assert others_could_write(str(tmp_path / "shared" / "link"))
    assert others_could_write(str(tmp_path / "mine")) == ""


def test_each_link_of_a_chain_counts(tmp_path: Path) -> None:
    for name in ("mine", "shared", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "shared" / "second").symlink_to("../mine")
    (tmp_path / "first").symlink_to("shared/second")
    assert others_could_write(str(tmp_path / "first" / "yet" / "to" / "be" / "made")) == ""
    (tmp_path / "shared").chmod(0o777)
    assert others_could_write(str(tmp_path / "first")).startswith(f"{tmp_path}/shared can be written by others")
    (tmp_path / "other" / "around").symlink_to("around")
    assert others_could_write(str(tmp_path / "other" / "around")) == ""  # and nobody can open it


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="the system has no such access lists")
def test_an_access_list_that_lets_others_write_makes_a_folder_anothers(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    try:
        give_access(mine, user=4242, bits=5)
    except OSError:
        pytest.skip("the file system has no access lists")
    assert others_could_write(str(mine)) == ""  # that user may read
    give_access(mine, user=4242, bits=7)
    assert "access list" in others_could_write(str(mine))
    assert "access list" in others_could_write(str(mine / "store"))


def give_access(folder: Path, user: int, bits: int) -> None:
    """Do what `setfacl -m u:USER:BITS FOLDER` does: the entries are owner, user, group, mask and others."""
    nobody = 0xFFFFFFFF
    entries = [(0x01, 7, nobody), (0x02, bits, user), (0x04, 0, nobody), (0x10, bits, nobody), (0x20, 0, nobody)]
    os.setxattr(
        folder, "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries)
    )


@pytest.mark.parametrize("has_index", [True, False])
def test_a_store_of_anothers_without_an_index_gets_none(eve: Path, run: Run, has_index: bool) -> None:
    if not has_index:
        for path in (eve / "store").glob("index.sqlite*"):
            path.unlink()
    before = files_of(eve)
    assert "seq 3" in run("list").stdout.decode()
    assert files_of(eve) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_that_belongs_to_another_account_is_anothers(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    os.chown(tmp_path / "a", 65534, 65534)
    assert others_could_write(str(tmp_path / "a" / "b")).startswith(f"{tmp_path}/a belongs to ")
    os.chown(tmp_path / "a", 0, 0)
    os.chown(tmp_path / "a" / "b", 4_000_000_000, 0)
    assert others_could_write(str(tmp_path / "a" / "b")).endswith("belongs to user 4000000000")


def test_a_group_of_one_account_is_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    mine.chmod(0o770)
    for private in (True, False):
        monkeypatch.setattr(ownership, "_is_private", lambda group, private=private: private)
        assert (others_could_write(str(mine)) == "") is private


def test_a_store_is_open_again_once_nobody_else_may_write_it(eve: Path) -> None:
    assert judge_store(str(eve / "store"))
    with pytest.raises(StoreFailed), Store(str(eve / "store")) as store:
        store.begin("cmd", "x", "/", "s")
    eve.chmod(0o755)
    assert judge_store(str(eve / "store")) == ""
    with Store(str(eve / "store")) as store:
        store.begin("cmd", "x", "/", "s").discard()
