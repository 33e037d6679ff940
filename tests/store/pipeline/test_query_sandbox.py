"""The wall beneath the tables: the kernel holds reads, writes, sockets and executables, whatever a program tries."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.pipeline.parse import ParsedQuery, QueryStage, parse
from sightline.pipeline.run import QueryResult, run
from sightline.search import executables, sandbox
from sightline.search.errors import ProgramMissing, SandboxFailed
from sightline.search.executables import Executable, executable_of, find
from sightline.search.processes import Group
from sightline.search.sandbox import NO_BACKING, Backing, confined, describe
from tests.store.pipeline.query_kit import has_gawk

Buffers = Any

needs_landlock = pytest.mark.skipif(not describe().landlock, reason="this kernel has no Landlock")
needs_seccomp = pytest.mark.skipif(not describe().seccomp, reason="no seccomp filter for this machine")
needs_both = pytest.mark.skipif(not (describe().landlock and describe().seccomp), reason="no Landlock or no seccomp")


def spawn(program: str, *arguments: str, backing: Backing, reads: tuple[str, ...] = ()) -> tuple[int, bytes, bytes]:
    """Start any program at all under the restrictions, past parser and tables."""
    return ended(Executable(find(program), (program, *arguments)), backing, reads)


def ended(executable: Executable, backing: Backing, reads: tuple[str, ...] = ()) -> tuple[int, bytes, bytes]:
    out, err = bytearray(), bytearray()
    with Group([executable], seconds=10, memory_bytes=1 << 30, backing=backing, reads=reads) as group:
        code = group.collect(out.extend, err.extend).exit_code
    return code, bytes(out), bytes(err)


def forced(*argv: str, paths: tuple[str, ...] = (), backing: Backing) -> QueryResult:
    """Run a stage that the tables would refuse."""
    stage = QueryStage(argv[0], argv, (), paths, argv)
    return run(ParsedQuery((stage,), (), " ".join(argv)), backing=backing)


@needs_landlock
@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/hostname", "/proc/self/environ", "/proc/self/maps", __file__])
def test_a_child_cannot_read_what_was_not_asked_for(path: str) -> None:
    code, out, err = spawn("cat", path, backing=describe())
    assert (code, out) == (1, b"")
    assert b"ermission denied" in err


@needs_landlock
def test_a_child_reads_what_was_asked_for_and_not_its_neighbour(tmp_path: Path) -> None:
    asked, neighbour = tmp_path / "asked", tmp_path / "neighbour"
    asked.write_text("yes")
    neighbour.write_text("no")
    code, out, _ = spawn("cat", str(asked), str(neighbour), backing=describe(), reads=(str(asked),))
    assert (code, out) == (1, b"yes")


@needs_landlock
@pytest.mark.parametrize(
    "arguments",
    [
        ("sort", "-o", "{}/new", "{}/seed"),
        ("sort", "-o", "{}/seed", "{}/seed"),
        ("uniq", "{}/seed", "{}/new"),
        ("sed", "-i", "s/a/b/", "{}/seed"),
        ("sed", "w {}/new", "{}/seed"),
        ("awk", 'BEGIN{{print "x" > "{}/new"}}'),
        ("awk", 'BEGIN{{print "x" > "{}/seed"}}'),
        ("xxd", "{}/seed", "{}/new"),
        ("mkdir", "{}/new"),
        ("rm", "{}/seed"),
        ("ln", "{}/seed", "{}/new"),
        ("ln", "-s", "x", "{}/new"),
        ("mkfifo", "{}/new"),
        ("mv", "{}/seed", "{}/new"),
        ("truncate", "-s", "0", "{}/seed"),
        ("dd", "if=/dev/null", "of={}/seed"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_child_writes_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    seed = tmp_path / "seed"
    seed.write_text("a\n")
    if not find(arguments[0]):
        pytest.skip(f"no {arguments[0]}")
    code, _, err = spawn(*[a.format(tmp_path) for a in arguments], backing=describe(), reads=(str(seed),))
    assert code != 0
    assert err
    assert [entry.name for entry in tmp_path.iterdir()] == ["seed"]
    assert seed.read_text() == "a\n"


@needs_both
@pytest.mark.parametrize("arguments", [("chmod", "777"), ("touch", "-d", "2001-01-01"), ("chown", "0:0")])
def test_a_child_changes_no_attributes(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    seed = tmp_path / "seed"
    seed.write_text("a")
    before = seed.stat()
    code, _, _ = spawn(*arguments, str(seed), backing=describe(), reads=(str(seed),))
    assert code != 0
    assert (seed.stat().st_mode, seed.stat().st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


@needs_landlock
@pytest.mark.parametrize("script", ['BEGIN{system("echo out")}', 'BEGIN{"echo out" | getline x; print x}'])
def test_a_child_executes_nothing_but_itself(script: str) -> None:
    assert b"out" in spawn("awk", script, backing=NO_BACKING)[1], "without the kernel it does"
    _, out, _ = spawn("awk", script, backing=describe())
    assert b"out" not in out


@needs_landlock
def test_a_child_opens_no_connection() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        path = os.path.realpath(sys.executable)
        script = f"import _socket; _socket.socket().connect(('127.0.0.1', {port}))"
        connecting = Executable(
            path, (path, "-I", "-S", "-c", script), libraries=(os.path.dirname(os.path.dirname(os.__file__)),)
        )
        assert ended(connecting, NO_BACKING)[0] == 0, "without the kernel it does connect"
        listener.accept()[0].close()
        assert b"ermi" in ended(connecting, describe())[2]
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


@needs_both
@pytest.mark.parametrize(
    "attempt",
    [
        lambda: socket.socket(),
        lambda: socket.socket(socket.AF_UNIX),
        lambda: socket.socketpair(),
        lambda: os.open("/etc/passwd", os.O_RDONLY),
        lambda: os.open("/tmp/sightline-must-not-be", os.O_WRONLY | os.O_CREAT),
        lambda: os.mkdir("/tmp/sightline-must-not-be"),
        lambda: os.listdir("/"),
        lambda: os.chmod(__file__, 0o600),
        lambda: os.utime(__file__),
        lambda: os.setxattr(__file__, "user.x", b"y"),
        lambda: os.kill(1, signal.SIGTERM),
        lambda: os.kill(os.getppid(), 0),
        lambda: os.posix_spawn("/bin/sh", ["sh", "-c", "exit"], {}),
    ],
)
def test_the_thread_itself_has_given_its_rights_up(attempt: Callable[[], object]) -> None:
    with pytest.raises(PermissionError):
        confined(attempt, (), (), describe())


@needs_landlock
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 7, 99])
def test_every_version_of_landlock_holds(
    monkeypatch: pytest.MonkeyPatch, buffers: Buffers, tmp_path: Path, version: int
) -> None:
    if version != 99 and version > describe().landlock:
        pytest.skip(f"this kernel has version {describe().landlock}")
    monkeypatch.setattr(sandbox, "landlock_abi", lambda: version)
    assert run(buffers.parse("cat @last | wc -l")).stdout == b"1\n"
    assert spawn("cat", "/etc/passwd", backing=describe())[1] == b""
    assert spawn("mkdir", str(tmp_path / "new"), backing=describe())[0] != 0
    assert not (tmp_path / "new").exists()


@needs_landlock
def test_only_the_one_thread_is_restricted() -> None:
    confined(lambda: None, (), (), describe())
    Path("/etc/passwd").read_bytes()
    socket.socket().close()
    seen: list[bytes] = []
    thread = threading.Thread(target=lambda: seen.append(Path("/etc/passwd").read_bytes()))
    thread.start()
    thread.join()
    assert seen


@needs_landlock
def test_two_queries_at_once_have_rules_of_their_own(buffers: Buffers) -> None:
    found: dict[str, bytes] = {}

    def ask(ref: str) -> None:
        found[ref] = run(buffers.parse(f"head -n 1 {ref}")).stdout

    threads = [threading.Thread(target=ask, args=(ref,)) for ref in ("@last", "@cmd_a1b2c3", "@tool_a1b2c3")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found["@last"] == b"last\n"
    assert found["@cmd_a1b2c3"] == b"1\n"
    assert found["@tool_a1b2c3"].startswith(b"{")


@needs_landlock
def test_what_the_kernel_refuses_is_not_run_at_all(monkeypatch: pytest.MonkeyPatch, buffers: Buffers) -> None:
    def refuse(*_: object) -> int:
        raise OSError(1, "no rules today")

    monkeypatch.setattr(sandbox, "ruleset", refuse)
    with pytest.raises(SandboxFailed, match="no rules today"):
        run(buffers.parse("cat @last"))


def test_no_variable_switches_it_off() -> None:
    code = "from sightline.search.sandbox import describe; print(describe())"
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    names = ("SIGHTLINE_SANDBOX", "SIGHTLINE_NO_SANDBOX", "SIGHTLINE_QUERY_SANDBOX", "NO_SANDBOX", "IS_SANDBOX")
    environment = dict.fromkeys(names, "0") | {"PATH": os.environ["PATH"]}
    changed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment).stdout
    assert plain == changed


def test_describe_says_it_in_one_line() -> None:
    backing = describe()
    assert backing.text.startswith("queries: ")
    assert "\n" not in backing.text
    if backing.landlock:
        assert f"Landlock ABI {backing.landlock} holds reads and writes" in backing.text
    assert "no kernel backing" in NO_BACKING.text


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_well_formed(machine: str) -> None:
    code = sandbox.seccomp_filter(machine)
    instructions = [code[at : at + 8] for at in range(0, len(code), 8)]
    assert len(code) % 8 == 0
    for at, (kind, _, to_true, to_false) in enumerate((i[0], i[1], i[2], i[3]) for i in instructions):
        if kind in (0x15, 0x35):
            assert max(at + 1 + to_true, at + 1 + to_false) < len(instructions)
    assert instructions[-1][4:] == (0x00050001).to_bytes(4, "little")
    assert sandbox.seccomp_filter("riscv64") == b""


SCRIPTS = [
    ("sed", "w {}/new"),
    ("sed", "s/a/b/w {}/new"),
    ("sed", "1e touch {}/new"),
    ("sed", "s/.*/touch {}\\/new/e"),
    ("sed", "r /etc/passwd"),
    ("sed", "R /etc/passwd"),
    ("sed", "W {}/new"),
    ("awk", 'BEGIN{{system("touch {}/new")}}'),
    ("awk", '{{print > "{}/new"}}'),
    ("awk", '{{print | "cat > {}/new"}}'),
    ("awk", '{{while ((getline x < "/etc/passwd") > 0) print x}}'),
    ("awk", '{{"cat /etc/passwd" | getline x; print x}}'),
    ("awk", 'BEGIN{{ARGV[ARGC++] = "/etc/passwd"}} 1'),
    ("awk", 'BEGIN{{f = "system"; @f("touch {}/new")}}'),
    ("awk", '@load "filefuncs"; BEGIN{{chdir("/")}}'),
]


@pytest.mark.parametrize(("program", "script"), SCRIPTS)
def test_safe_modes_hold_where_the_tables_were_passed(
    tmp_path: Path, buffers: Buffers, backing: Backing, program: str, script: str
) -> None:
    path = buffers.path("@last")
    gnu = program != "awk" or has_gawk()
    if not gnu and not backing.landlock:
        with pytest.raises(ProgramMissing, match="cannot be held"):
            forced(program, "1", path, paths=(path,), backing=backing)
        return
    result = forced(program, script.format(tmp_path), path, paths=(path,), backing=backing)
    assert not (tmp_path / "new").exists()
    assert b"root:" not in result.stdout + result.stderr
    assert result.exit_code != 0 or not gnu  # another awk may not mind that it was refused


def test_without_the_kernel_sed_must_be_gnu_and_awk_gawk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.search.executables.is_gnu", lambda path: False)
    for program in ("sed", "awk"):
        with pytest.raises(ProgramMissing, match=f"{program} cannot be held to reading"):
            executable_of((program, "p"), held=False)
        assert executable_of((program, "p"), held=True).argv == (program, "p")


def test_a_program_that_is_late_to_say_what_it_is_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sed = tmp_path / "sed"
    sed.write_text("#!/bin/sh\necho 'sed (GNU sed) 4.9'\n")
    sed.chmod(0o755)
    with monkeypatch.context() as late:
        late.setattr(executables, "PROBE_SECONDS", 0)
        assert not executables.is_gnu(str(sed))
    assert executables.is_gnu(str(sed))


@needs_landlock
def test_any_other_awk_is_held_by_the_kernel(tmp_path: Path) -> None:
    if not find("mawk"):
        pytest.skip("no mawk")
    script = f'BEGIN{{print "x" > "{tmp_path}/new"; system("touch {tmp_path}/other")}}'
    spawn("mawk", script, backing=describe())
    spawn("mawk", f'BEGIN{{system("touch {tmp_path}/other")}}', backing=describe())
    assert list(tmp_path.iterdir()) == []


def test_what_turns_lines_round_is_this_interpreter_with_its_own_libraries(backing: Backing) -> None:
    turning = executable_of(("tac",), held=backing.landlock > 0)
    telling = turning._replace(argv=(*turning.argv[:-1], "import sys; sys.stdout.write(sys.version)"))
    assert ended(telling, backing) == (0, sys.version.encode(), b"")


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, buffers: Buffers) -> None:
    monkeypatch.setattr("sightline.search.executables.find", lambda name: "")
    monkeypatch.setattr("sightline.search.executables.ripgrep", lambda: "")
    for program, rest in (("rg", "x"), ("jq", "."), ("grep", "x")):
        with pytest.raises(ProgramMissing, match=f"{program} is not on this machine") as missing:
            run(buffers.parse(f"{program} {rest} @last"))
        assert missing.value.exit_code == 127


def test_programs_are_never_looked_for_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, buffers: Buffers, backing: Backing
) -> None:
    for name in ("grep", "rg", "sed", "jq"):
        (tmp_path / name).write_text("#!/bin/sh\necho mine\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f".:{tmp_path}")
    monkeypatch.chdir(tmp_path)
    assert run(buffers.parse("grep last @last"), backing=backing).stdout == b"last\n"
    assert run(buffers.parse("sed -n 1p @last"), backing=backing).stdout == b"last\n"


def test_the_environment_is_scrubbed(monkeypatch: pytest.MonkeyPatch, buffers: Buffers, backing: Backing) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "s3cret")
    monkeypatch.setenv("GREP_COLORS", "mt=01;31")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", "/tmp/ripgreprc")
    _, out, _ = spawn("env", backing=backing)
    assert {line.partition(b"=")[0] for line in out.splitlines()} == {b"LC_ALL", b"PATH", b"HOME"}


def test_without_landlock_a_program_that_wants_a_temporary_file_says_why_it_ends(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"a,b,c," * 10_000)
    result = run(parse("cat @last | tac -s ,", lambda _: str(tmp_path / "out")), backing=NO_BACKING)
    assert result.exit_code != 0
    assert b"tac: a query can write no temporary file; name a ref instead of the pipe" in result.stderr
