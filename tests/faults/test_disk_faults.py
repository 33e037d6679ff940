"""A disk that is full, read-only or out of bounds: what was kept can be read, what cannot be kept is said to be."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.kill_kit import Nursery, Ran

MOUNTED = 'mount -t tmpfs none "$0" && exec "$@"'
READING = [
    ("list",),
    ("show", "@last:2-3"),
    ("query", "wc -l @last"),
    ("views",),
    ("timeline",),
    ("coverage", "@last"),
    ("path", "@last"),
    ("audit",),
    ("sessions",),
]


@pytest.fixture(scope="module")
def mounting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Commands that see file systems of their own, which nobody else does."""
    folder = tmp_path_factory.mktemp("mounted")
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNTED, str(folder)]
    try:
        tried = subprocess.run([*alone, "true"], capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("there is no unshare(1) here")
    if tried.returncode:
        pytest.skip(f"nothing can be mounted here: {tried.stderr.decode().strip()}")
    made = Nursery(folder, alone)
    yield made
    made.close()


class Disk:
    """A small file system with a store on it.

    Attributes:
        run: runs a command on it.
    """

    def __init__(self, mounting: Nursery, folder: Path, size: str) -> None:
        self.folder = folder
        self._nursery = mounting
        self.run: Callable[..., Ran] = mounting.run
        mounting.folder = folder.parent
        mounting.outputs = folder.parent
        folder.mkdir()
        self.does("mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder))
        mounting.folder = folder

    def does(self, *words: str) -> str:
        """Run another program, which must succeed."""
        ran = self.run("@exec", *words)
        assert not ran.code, ran
        return ran.out

    def fill(self) -> None:
        """Leave no room."""
        assert self.run("@exec", "dd", "if=/dev/zero", f"of={self.folder}/fill", "bs=4k").code == 1

    def told(self, *words: str, **environment: str) -> Ran:
        """What a command answers; never a traceback."""
        ran = self.run(*words, environment=environment)
        assert "Traceback" not in ran.err, ran
        return ran


@pytest.fixture
def disk(mounting: Nursery, tmp_path: Path) -> Iterator[Callable[[str], Disk]]:
    made: list[Disk] = []

    def make(size: str) -> Disk:
        made.append(Disk(mounting, tmp_path / "disk", size))
        return made[-1]

    yield make
    for one in made:
        mounting.folder = tmp_path
        one.does("umount", str(one.folder))


def filled(disk: Disk) -> None:
    """Two outputs, and what they showed."""
    assert disk.told("run", "-c", "seq 3000").code == 0
    assert disk.told("run", "-c", "seq 9; echo no >&2; exit 3").code == 3


def can_be_read(disk: Disk, why: str, verbs: int) -> None:
    """What was kept is there as ever; that nothing can be added is said where something would be."""
    for words in READING[:verbs]:
        ran = disk.told(*words)
        assert ran.code == 0, (words, ran)
    assert [one["exit_code"] for one in json.loads(disk.told("list", "--json").out)] == [3, 0]
    shown = disk.told("show", "@last:2-3")
    assert "2\n3\n" in shown.out
    assert f"this reply could not be logged: {why}" in shown.out
    told = disk.told("doctor")
    assert told.code == 1
    assert f"nothing can be written to the store, and nothing mended: {why}" in told.out
    assert told.out.count("✗") == 1


def gives_what_it_cannot_keep(disk: Disk, why: str) -> None:
    ran = disk.told("run", "-c", "echo shown; exit 4")
    assert ran.code == 4
    assert ran.out == "shown\n"
    assert f"storing failed: {why}; nothing was kept" in ran.err
    for words in (["pin", "@last"], ["rm", "@last"], ["note", "@last:1", "text"], ["run", "-c", "rm -rf none"]):
        refused = disk.told(*words)
        assert refused.code
        assert why in refused.err


def test_a_read_only_store_can_be_read(disk: Callable[[str], Disk]) -> None:
    made = disk("8m")
    filled(made)
    made.does("mount", "-o", "remount,bind,ro", str(made.folder))
    can_be_read(made, "the file system is read-only", len(READING))
    gives_what_it_cannot_keep(made, "the file system is read-only")


def test_a_read_only_store_says_which_outputs_are_altered(disk: Callable[[str], Disk]) -> None:
    made = disk("8m")
    filled(made)
    made.does("sh", "-c", "sed -i s/2/two/ root/buffers/*/out; touch -d @1 root/buffers/*/err")
    made.does("mount", "-o", "remount,bind,ro", str(made.folder))
    for _ in range(2):
        assert 'altered="out was changed after its capture: ' in made.told("show", "@last~1").out
        assert made.told("audit", "--fail-on", "altered-output").code == 1
        assert "altered" not in made.told("list").out  # nothing could be kept of it


def test_a_read_only_store_without_its_index_can_be_read(disk: Callable[[str], Disk]) -> None:
    made = disk("8m")
    filled(made)
    made.does("sh", "-c", "rm root/index.sqlite*; mount -o remount,bind,ro .")
    assert len(json.loads(made.told("list", "--json").out)) == 2
    assert made.told("views").out.count("run_command") == 2
    assert "2\n3\n" in made.told("show", "@last:2-3").out


def test_on_a_full_disk_all_can_be_read_and_all_is_passed_on(disk: Callable[[str], Disk]) -> None:
    made = disk("2m")
    filled(made)
    made.fill()
    can_be_read(made, "the disk is full", 3)
    gives_what_it_cannot_keep(made, "the disk is full")
    made.does("rm", "fill")
    assert made.told("doctor").out.count("✗") == 0
    assert made.told("list").out.count("@cmd_") == 2


def test_a_full_disk_can_be_emptied(disk: Callable[[str], Disk]) -> None:
    made = disk("4m")
    made.told("run", "-c", "seq 200000")
    filled(made)
    refs = [one["ref"] for one in json.loads(made.told("list", "--json").out)]
    made.fill()
    small = made.told("rm", refs[0])
    assert "the disk is full" in small.err
    assert "no\n" in made.told("show", f"{refs[0]}.err").out  # nothing of it went
    ran = made.told("gc", SIGHTLINE_MAX_BUFFERS="1")
    assert ran.out.startswith("2 expired (1.2 MiB)")
    assert f"{refs[2]} expired (20" in made.told("show", refs[2]).err
    assert made.told("doctor").out.count("✗") == 0


ALL = "".join(f"{number}\n" for number in range(1, 300_001))
AGENT = {"CLAUDE_CODE_SESSION_ID": "an-agent"}


def is_all(ran: Ran, why: str, code: int) -> None:
    """A person's pipe has every line, and the warning stands where errors go; texts of this size are not compared."""
    assert (ran.code, ran.out == ALL) == (code, True), (ran.code, len(ran.out), ran.err[-500:])
    assert f"storing failed: {why}; nothing was kept" in ran.err


def is_counted(ran: Ran, why: str, code: int) -> None:
    """An agent has 64 KiB at most, and true counts."""
    head, _, body = ran.out.partition("\n")
    assert ran.code == code
    assert f"storing failed: {why}; nothing was kept" in head
    assert "stdout_total=300000 " in head
    assert len(ran.out.encode()) <= 1 << 16
    lines = body.splitlines()
    shown = next(at for at, line in enumerate(lines) if line.startswith("["))
    assert lines[:shown] == ALL.splitlines()[:shown]
    assert lines[shown] == f"[… {300_000 - shown:,} lines elided: lines {shown + 1}-300000 …]"
    assert f"stdout_shown={shown} " in head


@pytest.mark.parametrize(("environment", "gets"), [({}, is_all), (AGENT, is_counted)])
def test_a_disk_that_fills_while_a_command_runs_costs_nobody_its_output(
    disk: Callable[[str], Disk], environment: dict[str, str], gets: Callable[[Ran, str, int], None]
) -> None:
    made = disk("1m")
    filled(made)
    gets(made.told("run", "-c", "seq 300000; echo end >&2; exit 5", **environment), "the disk is full", 5)
    assert made.told("list").out.count("@cmd_") == 2  # no ref to what is not there
    assert made.told("doctor").out.count("✗") == 0


@pytest.mark.parametrize("redacted", [False, True])
def test_a_limit_of_file_sizes_costs_nobody_its_output(mounting: Nursery, tmp_path: Path, redacted: bool) -> None:
    mounting.folder = mounting.outputs = tmp_path
    if redacted:
        (tmp_path / "root").mkdir(mode=0o700)
        (tmp_path / "root" / "config.toml").write_text("[redact]\nknown = true\n")
    why = "the file-size limit of this process is reached"
    is_counted(mounting.run("run", "-c", "seq 300000; exit 6", fsize=100_000, environment=AGENT), why, 6)
    limited = f"ulimit -f 200; {shlex.quote(sys.executable)} -m sightline.doors.cli.main run -c 'seq 300000; exit 6'"
    ran = mounting.run("@exec", "bash", "-c", f"set -o pipefail; ({limited}) | cat")
    is_all(ran, why, 6)
    assert mounting.run("doctor").out.count("✗") == 0


def test_what_cannot_be_written_where_output_goes_either_is_said(mounting: Nursery, tmp_path: Path) -> None:
    mounting.folder = mounting.outputs = tmp_path
    ran = mounting.run("run", "-c", "seq 300000; exit 6", fsize=100_000)
    assert ran.code == 6
    assert "standard output cannot be written: File too large" in ran.err


def test_a_store_that_may_not_be_written_to_can_be_read(mounting: Nursery, tmp_path: Path) -> None:
    mounting.folder = mounting.outputs = tmp_path
    assert mounting.run("run", "-c", "seq 9; exit 1").code == 1
    for folder, _, _ in os.walk(tmp_path / "root"):
        os.chmod(folder, 0o500)
    try:
        ran = mounting.run("run", "-c", "echo shown", powerless=True)
        assert ran.out == "shown\n"
        assert "the store's folder may not be written to; nothing was kept" in ran.err
        assert mounting.run("show", "@last:2-3", powerless=True).out == "2\n3\n"
        assert mounting.run("list", powerless=True).out.count("@cmd_") == 1
        for log in (tmp_path / "root" / "audit").iterdir():
            log.chmod(0o400)
        unlogged = mounting.run("show", "@last:4-5", powerless=True).out
        assert "4\n5\n" in unlogged
        assert "this reply could not be logged" in unlogged
    finally:
        for folder, _, _ in os.walk(tmp_path / "root"):
            os.chmod(folder, 0o700)
    views = mounting.run("views").out
    assert ":2-3" in views, "the log has what the index could not be told"
    assert ":4-5" not in views
    shutil.rmtree(tmp_path / "root")
