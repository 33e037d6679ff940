"""Calls side by side: none waits for another, each can be withdrawn, and the end of the client ends them all."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import UnknownRef

MODERN = "2026-07-28"
Until = Callable[[Callable[[], object]], None]


def lives(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def children_of(pid: int) -> set[int]:
    """Processes that a process has started, and those have started, all the way down."""
    found: set[int] = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == pid:
                    found |= {int(name)} | children_of(int(name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def pid_in(path: Path) -> int:
    """What a command wrote with ``echo $$ > PATH``; 0 while it has not."""
    return int(path.read_text() or 0) if path.exists() else 0


def ended(client: Any, ref: str) -> bool:
    """Whether a capture has ended; a command may run before the index knows of it."""
    with client.store() as store:
        try:
            return str(store.resolve(ref).buffer.state) == "sealed"
        except UnknownRef:
            return False


def views_of(client: Any) -> list[Any]:
    from sightline.log.log_index import list_views

    with client.store() as store:
        return [indexed.view for indexed in list_views(store)]


GO = "until [ -e go ]; do sleep 0.1; done"


def test_64_calls_run_side_by_side(client: Any, tmp_path: Path) -> None:
    # Each waits for all the others: one after the other they would never end.
    command = "touch started.$N; until [ $(ls started.* | wc -l) -ge 64 ]; do sleep 0.5; done"
    numbers = [client.begin("run_command", command=f"N={n}; {command}", timeout_secs=60) for n in range(64)]
    assert [client.reply(number)[0]["exit_code"] for number in numbers] == [0] * 64


def test_a_slow_command_never_holds_up_a_read(client: Any, tmp_path: Path) -> None:
    ref = client.call("run_command", command="seq 1 5000")[0]["output_id"]
    slow = [client.begin("run_command", command=GO) for _ in range(4)]
    for _ in range(20):
        assert client.call("read_output", ref=ref, lines="7")[1] == "7\n"
        assert client.call("query", pipeline=f"head -1 {ref}")[1] == "1\n"
    assert not any(client.answered(number) for number in slow)
    (tmp_path / "go").touch()
    assert [client.reply(number)[0] for number in slow] == [{"exit_code": 0}] * 4


@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_progress_is_told_while_a_command_runs_and_never_after_its_answer(
    connect: Callable[..., Any], version: str, tmp_path: Path
) -> None:
    client = connect(version=version)
    number = client.begin("run_command", meta={"progressToken": "tok"}, command=f"echo one; {GO}")
    other = client.begin("run_command", command=GO)  # without a token nothing is told
    client.until(lambda: "1 line, 4 B" in str(client.notifications("notifications/progress")[1:]))
    (tmp_path / "go").touch()
    client.answer(number)
    client.answer(other)
    told = client.notifications("notifications/progress")
    assert {one["progressToken"] for one in told} == {"tok"}
    assert [one["progress"] for one in told] == sorted({one["progress"] for one in told})
    assert "1 line, 4 B" in told[-1]["message"]
    assert len(told) >= 2
    kinds = [one.get("method") or one["id"] for one in client.heard]
    assert "notifications/progress" not in kinds[kinds.index(number) :]


def test_a_cancelled_command_is_ended_and_what_it_wrote_is_kept(client: Any, tmp_path: Path, until: Until) -> None:
    number = client.begin("run_command", command="echo begun; echo $$ > pid; sleep 60 & wait; echo more")
    client_views = len(views_of(client))
    until(lambda: pid_in(tmp_path / "pid"))
    client.cancel(number)
    assert client.request("ping") == {}
    until(lambda: not lives(pid_in(tmp_path / "pid")))
    until(lambda: ended(client, "@last"))
    fields, body = client.call("read_output", ref="@last")
    assert (fields["exit_code"], body) == (143, "begun\n")
    assert not client.answered(number)
    assert len(views_of(client)) == client_views + 1  # what nobody was shown is not in the log


def test_a_cancelled_query_ends_with_all_its_programs(client: Any, until: Until) -> None:
    client.call("run_command", command="seq 1 5000")
    number = client.begin("query", pipeline="sed -e :a -e ba @last")
    until(lambda: any("sed" in name for name in names_of(children_of(client.process.pid))))
    client.cancel(number)
    until(lambda: not children_of(client.process.pid))
    assert client.request("ping") == {}
    assert not client.answered(number)


def names_of(pids: set[int]) -> set[str]:
    """What processes are called."""
    names = set()
    for pid in pids:
        try:
            names.add(Path(f"/proc/{pid}/comm").read_text().strip())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return names


def test_a_cancelled_wait_lets_go_of_its_call(connect: Callable[..., Any], tmp_path: Path) -> None:
    client = connect("--patience", "0.2")
    os.mkfifo(tmp_path / "go")
    ref = client.call("run_command", command="cat go")[0]["output_id"]
    before = len(views_of(client))
    number = client.begin("read_output", ref=ref, wait=50)
    client.cancel(number)
    assert client.request("ping") == {}
    (tmp_path / "go").write_text("late\n")
    assert client.call("read_output", ref=ref, wait=20)[1] == "late\n"
    assert not client.answered(number)
    assert len(views_of(client)) == before + 1


def test_a_command_that_goes_on_is_answered_as_running_with_its_ref(
    connect: Callable[..., Any], tmp_path: Path
) -> None:
    client = connect("--patience", "0.3")
    os.mkfifo(tmp_path / "go")
    fields, body = client.call("run_command", command="echo one; cat go; exit 4")
    assert (fields["status"], fields["exit_code"]) == ("running", None)
    assert fields["next"] == f"read_output(ref='{fields['output_id']}', wait=20)"
    (tmp_path / "go").write_text("two\n")
    while fields.get("status") == "running":
        fields, body = client.call("read_output", ref=fields["output_id"], wait=20)
    assert (fields["exit_code"], body) == (4, "one\ntwo\n")


def test_a_time_limit_ends_a_command_that_was_answered_as_running(connect: Callable[..., Any], until: Until) -> None:
    client = connect("--patience", "0.1")
    ref = client.call("run_command", command="sleep 600", timeout_secs=0.4)[0]["output_id"]
    with client.store() as store:
        until(lambda: store.resolve(ref).buffer.timed_out)


def test_a_command_in_a_folder_where_nothing_is_kept_is_waited_for(connect: Callable[..., Any], tmp_path: Path) -> None:
    client = connect("--patience", "0")
    client.home.mkdir(mode=0o700)
    (client.home / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    fields, body = client.call("run_command", command="sleep 0.2; echo hi")
    assert (fields["exit_code"], body) == (0, "hi\n")
    assert "output_id" not in fields


def test_in_the_background_a_command_outlives_the_server(client: Any, tmp_path: Path, until: Until) -> None:
    os.mkfifo(tmp_path / "go")
    fields, _ = client.call("run_command", command="echo $$ > pid; cat go", background=True)
    assert fields["status"] == "running"
    until(lambda: pid_in(tmp_path / "pid"))
    assert client.end() == 0
    assert lives(pid_in(tmp_path / "pid"))
    (tmp_path / "go").write_text("still here\n")
    with client.store() as store:
        until(lambda: store.resolve(fields["output_id"]).buffer.state == "sealed")
        assert store.resolve(fields["output_id"]).buffer.stream("out").bytes == 11


STUBBORN = "trap '' TERM; echo $$ > pid; sleep 600"
# A server whose client kills none: it waits as long as it takes for the captures of what it has killed.
IN_NO_HURRY = """
import signal
from sightline.doors.cli.main import main
from sightline.doors.tools import running_commands as commands
stop = commands.CommandCapture.stop
def stopped(self, number):
    if number == signal.SIGKILL:
        commands.TERM_GRACE_SECONDS = 60.0
    stop(self, number)
commands.CommandCapture.stop = stopped
main()
"""


@pytest.mark.parametrize("command", ["echo $$ > pid; sleep 600", STUBBORN], ids=["", "stubborn"])
@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGHUP"])
def test_the_end_leaves_no_process_behind_and_every_capture_sealed(
    connect: Callable[..., Any], tmp_path: Path, until: Until, how: str, command: str
) -> None:
    client = connect(program=[sys.executable, "-c", IN_NO_HURRY, "mcp"])
    client.begin("run_command", command=command)
    ref = client.call("run_command", command="seq 1 5000")[0]["output_id"]
    client.begin("query", pipeline=f"sed -e :a -e ba {ref}")
    until(lambda: pid_in(tmp_path / "pid") and any("sed" in name for name in names_of(children_of(client.process.pid))))
    left = children_of(client.process.pid)
    if how == "end of input":
        assert client.end() == 0
    else:
        client.process.send_signal(getattr(signal, how))
        assert client.process.wait(20) == 0
    until(lambda: not any(map(lives, left)))
    with client.store() as store:
        assert not os.listdir(store.layout.live)
        states = {item.buffer.command: item.buffer for item in store.listed(5)}
        assert states[command].state == "sealed"
        assert states[command].signal in (signal.SIGTERM, signal.SIGKILL)


def test_a_killed_client_takes_its_server_and_the_commands_along(tmp_path: Path, until: Until) -> None:
    program = (
        "import subprocess, sys\n"
        "server = subprocess.Popen([sys.executable, '-m', 'sightline.doors.cli.main', 'mcp'], "
        "stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "server.stdin.write(sys.stdin.buffer.readline()); server.stdin.flush()\n"
        "print(server.pid, flush=True)\n"
        "server.stdout.read()\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIGHTLINE_HOME": str(tmp_path / "store")},
    )
    arguments = {"name": "run_command", "arguments": {"command": "echo kept; echo $$ > pid; sleep 600"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    assert client.stdin
    assert client.stdout
    client.stdin.write(json.dumps(request).encode() + b"\n")
    client.stdin.flush()
    server = int(client.stdout.readline())
    until(lambda: pid_in(tmp_path / "pid"))
    client.kill()
    client.communicate()
    until(lambda: not lives(server) and not lives(pid_in(tmp_path / "pid")))
    from sightline.store import Store

    with Store(str(tmp_path / "store")) as store:
        [kept] = store.listed(5)
        assert (kept.buffer.state, kept.buffer.stream("out").bytes) == ("sealed", 5)


# A server where `/bin` and `/usr/bin` hold nothing, as on some systems: no shell finds a program.
WITHOUT_PROGRAMS = """
import os
from sightline.doors.cli.main import main
os.defpath = os.environ["PATH"] = os.environ["HOME"] + "/bin"
main()
"""


def listed_by(server: int) -> list[int] | None:
    """The rows of the file from which commands are ended if their server is killed; 0 where one has ended."""
    for name in os.listdir(f"/proc/{server}/fd"):
        path = f"/proc/{server}/fd/{name}"
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            if "memfd:sightline-commands" in os.readlink(path):
                return [int(row or 0) for row in Path(path).read_text().replace(" ", "").splitlines()]
    return None


def test_a_killed_server_takes_those_commands_along_that_still_run(
    connect: Callable[..., Any], tmp_path: Path, until: Until
) -> None:
    client = connect(program=[sys.executable, "-c", WITHOUT_PROGRAMS, "mcp"])

    def begin(name: str) -> int:
        os.mkfifo(tmp_path / f"{name}-may-end")
        client.begin("run_command", command=f"echo $$ > {name}; read _ < {name}-may-end")
        until(lambda: pid_in(tmp_path / name))
        return pid_in(tmp_path / name)

    first, second = begin("a"), begin("b")
    until(lambda: listed_by(client.process.pid) == [first, second])
    (tmp_path / "a-may-end").write_text("\n")
    until(lambda: listed_by(client.process.pid) == [0, second])
    third = begin("c")
    until(lambda: listed_by(client.process.pid) == [third, second])
    client.process.kill()
    until(lambda: not lives(second) and not lives(third))


def test_after_all_commands_have_ended_the_shell_waits_for_none(
    connect: Callable[..., Any], tmp_path: Path, until: Until
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sleep").write_text("#!/bin/sh\necho > $0-was-called\n")
    (tmp_path / "bin" / "sleep").chmod(0o755)
    client = connect(program=[sys.executable, "-c", WITHOUT_PROGRAMS, "mcp"])
    client.call("run_command", command="echo hi")
    [shell] = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if watches(pid, tmp_path)]
    assert client.end() == 0
    until(lambda: not lives(shell))
    assert not (tmp_path / "bin" / "sleep-was-called").exists()


def watches(pid: int, home: Path) -> bool:
    """Whether a process is the shell that ends the commands of a killed server with this home."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        return b"read -r _" in Path(f"/proc/{pid}/cmdline").read_bytes() and os.fsencode(home) in environment
    except OSError:
        return False


def test_where_no_file_in_memory_is_to_be_had_the_list_of_commands_lies_in_a_temporary_one(
    connect: Callable[..., Any], tmp_path: Path, until: Until
) -> None:
    forbidden = "import os\ndef memfd_create(*_):\n    raise PermissionError(13, 'forbidden')\n"
    program = f"{forbidden}os.memfd_create = memfd_create\nfrom sightline.doors.cli.main import main\nmain()"
    client = connect(program=[sys.executable, "-c", program, "mcp"])
    client.begin("run_command", command="echo $$ > pid; sleep 600")
    until(lambda: pid_in(tmp_path / "pid"))
    with client.store() as store:
        until(lambda: store.listed(1))  # the shell is told of a command before the store is of its output
    client.process.kill()
    until(lambda: not lives(pid_in(tmp_path / "pid")))


PATIENT = """
from sightline.doors.cli.main import main
from sightline.doors.mcp import stdio
stdio.END_GRACE_SECONDS = 60.0
main()
"""


def test_a_script_that_is_piped_in_gets_all_its_answers(connect: Callable[..., Any]) -> None:
    client = connect(program=[sys.executable, "-c", PATIENT, "mcp"])
    numbers = [client.begin("run_command", command=f"echo {n}") for n in range(3)]
    assert client.end() == 0
    assert [client.reply(number)[1] for number in numbers] == [f"{n}\n" for n in range(3)]


def test_more_calls_than_anyone_waits_for_are_refused(connect: Callable[..., Any], tmp_path: Path) -> None:
    client = connect()
    os.mkfifo(tmp_path / "go")
    client.call("run_command", command="cat go", background=True)
    numbers = [client.begin("read_output", ref="@last", wait=50) for _ in range(600)]
    client.until(lambda: sum(map(client.answered, numbers)) >= 600 - 512)
    refused = [client.answer(number) for number in numbers if client.answered(number)]
    assert {answer["error"]["code"] for answer in refused} == {-32603}
    assert client.request("ping") == {}
    (tmp_path / "go").write_text("x\n")


def test_views_are_logged_with_their_exact_text_before_they_are_sent(client: Any) -> None:
    from sightline.log.log_index import list_views
    from sightline.log.view_text import view_text

    result = client.answer(client.begin("run_command", command="seq 1 5000"))["result"]
    with client.store() as store:
        [indexed] = list_views(store)
        assert view_text(store, indexed) == "\n".join(block["text"] for block in result["content"])
