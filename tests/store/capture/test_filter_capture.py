"""What goes into a command's trailing filters is kept, and the answer is the shell's all the same."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import StoreFailed
from sightline.capture import filter_pipe
from sightline.capture.command import Captured, CommandCapture
from sightline.capture.filters import find_split
from sightline.disk.buffer_writer import BufferWriter
from sightline.store import Store, Target
from tests.each import each

needs_pipes_of_a_size = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="pipes have no size here")

TAPPED = {
    "printf 'b\\na\\n' | sort": b"b\na\n",
    "echo one two | tr ' ' '\\n' | grep o | wc -l": b"one two\n",
    "printf 'a\\nb\\n' | grep nothing": b"a\nb\n",
    "false | sort; true": b"",
    "printf 'x\\n' | /usr/bin/env cat | /bin/grep x": b"x\n",
    "printf 'b\\na\\n' | LC_ALL=C sort": b"b\na\n",
    "printf 'x\\n' | command grep -c x": b"x\n",
    "printf 'x\\n' | \\grep -c x": b"x\n",
    "echo out; echo a b | cut -d' ' -f2": b"a b\n",
    "cd / && pwd && echo a | sed s/a/b/": b"a\n",
    "false || echo a | awk '{print $1 $1}'": b"a\n",
    "true || echo a | awk '{print $1 $1}'": b"",
    "exit 3; echo a | head": b"",
    "exit 3 | tail -1": b"",
    "sh -c 'echo a; exit 3' | sort -r; ": b"",
    "set -o pipefail; sh -c 'echo a; exit 3' | head -5 | tr a b": b"a\n",
    "set -euo pipefail; (echo a; false) | tr a b": b"a\n",
    "set -e; echo a | grep b": b"a\n",
    "! echo a | grep b": b"a\n",
    "time -p true | wc -c >/dev/null": b"",
    "sh -c 'echo out; echo err >&2' 2>&1 | grep -c .": b"out\nerr\n",
    "sh -c 'echo out; echo err >&2' 2>&1 >/dev/null | grep -c .": b"err\n",
    "sh -c 'echo out; echo err >&2' | tr o 0": b"out\n",
    "2>&1 sh -c 'echo out; echo err >&2' | wc -l": b"out\nerr\n",
    "echo a > /dev/null | wc -l": b"",
    "echo a | tr a b > answer; cat answer": None,
    "echo a | tr a b > answer": b"a\n",
    "echo a | tr a b 2>/dev/null": b"a\n",
    "for i in 1 2 3; do echo $i; done | tail -1": b"1\n2\n3\n",
    "for ((i = 0; i < 3; i++)); do echo $i; done 2>&1 | tail -1": b"0\n1\n2\n",
    "while read -r l; do echo \"$l!\"; done < /dev/null | head -1": b"",
    "until true; do :; done | wc -l": b"",
    "if true; then echo a; else echo b; fi | tr a c": b"a\n",
    "if echo x | grep -q y; then echo a; elif true; then echo c; fi | tr a-z A-Z": b"c\n",
    "(echo a; echo b >&2) 2>&1 | sort -r": b"a\nb\n",
    "{ echo a; echo b; } | sed -n 2p": b"a\nb\n",
    "( ( echo a ); (echo b) ) | wc -l": b"a\nb\n",
    "[[ a == a && b < c ]] | wc -l": b"",
    "((1 + 1)) | wc -l": b"",
    "echo 'a | b' | wc -w": b"a | b\n",
    'echo "a | head" "`echo b | cat`" | tr a b': b"a | head b\n",
    "echo $(echo a | tr a b) | tr b c": b"b\n",
    "x=$(echo a | wc -l); echo $x | tr 1 2": b"1\n",
    "echo $HOME | wc -l": os.environ.get("HOME", "").encode() + b"\n",
    "$NOTHING | wc -l": b"",
    "cat <<'EOF' | grep b\na $x | `\nb\nEOF\n": b"a $x | `\nb\n",
    "cat <<-EOF | grep b\n\ta\n\tb\n\tEOF": b"a\nb\n",
    "cat <<< abc | tr a b": b"abc\n",
    "cat <(echo a) | tr a b": b"a\n",
    "echo a | tee >(cat >/dev/null) | tr a b": b"a\n",
    "echo a | # the filter:\n tr a b # and no more": b"a\n",
    "echo a \\\n  | tr a b": b"a\n",
    "a=(1 2 3); echo ${a} | tr 1 2": b"1\n",
    "sleep 0.01 & echo a | tr a b": b"a\n",
    "echo a |& tr a b | head -1": b"b\n",
    "no-such-program | head -1": b"",
    "no-such-program 2>&1 | wc -l": None,
    "true | head --no-such-option": b"",
    "echo a | awk 'BEGIN { getline; exit 7 }'": b"a\n",
    "echo a | grep x - /dev/null": b"a\n",
    "set -C; echo a | tr a b": b"a\n",
    "set -x; echo a | tr a b": b"a\n",
    "ulimit -c 0; set -o pipefail; sh -c 'kill -SEGV $$' | tail -1": b"",
    "ulimit -c 0; echo a | awk '{ system(\"kill -SEGV \" PROCINFO[\"pid\"]) }'": b"a\n",
    "printf '\\0\\377 no newline' | tr n m": b"\0\xff no newline",
    "trap 'echo done ${PIPESTATUS[@]}' EXIT; echo a | tr a b": b"a\n",
    "shopt -s lastpipe; echo a | tr a b": b"a\n",
    "exec 2>&1; true | head --no-such-option": b"",
    "test -p /dev/stdin; echo a | tr a b": b"a\n",
    "sh -c 'test -p /dev/stdout && echo pipe' | tr p P": b"pipe\n",
    "(trap '' PIPE; for i in 1 2 3; do echo $i; done) | tr 1 4": b"1\n2\n3\n",
    "set -o pipefail; head -c 300000 /dev/zero | head -c 1 | wc -c": None,
    "(sleep 0.05; echo late) | tail -1 | tr l L": b"late\n",
    "sh -c 'echo a; exit 3' | tail -1; echo $?": b"a\n",
    "sh -c 'echo a; exit 3' | tail -1; echo ${PIPESTATUS[@]}; exit 5": b"a\n",
    "set -o pipefail; sh -c 'echo a; exit 3' | tail -1; echo $?": b"a\n",
    "printf 'a\nb\n' | tail -1 && echo done": b"a\nb\n",
    "echo a | grep b || echo none": b"a\n",
    "echo a | head -1; true": b"a\n",
    "false && echo a | tail -1; echo c": b"",
    "case a in a) echo a;; esac | head -1": b"a\n",
    "case b in (a|'b c') echo a;; b | *) echo b\necho c;; esac | tail -1": b"b\nc\n",
    "case a in a) echo a;& b) echo b;;& c) echo c; esac | tail -1": b"a\nb\n",
    "case a in\nb)\n;;\nesac | tail -1": b"",
    "case a in a) for i in 1 2; do case $i in 2) echo $i; esac; done;; esac | tail -1": b"2\n",
    "for i in a b; do case $i in a) seq 3;; b) seq 4;; esac; done | tail -2": b"1\n2\n3\n1\n2\n3\n4\n",
    "set -e; echo a | grep b; echo never": b"a\n",
    "echo a | tr a b; sleep 0.05; echo late; exit 3": b"a\n",
    "echo a | tr a b\necho c": b"a\n",
    "echo c >&2 & echo a | tr a b; wait": None,
    "cd / && echo a | tr a b; pwd": b"a\n",
    "x=$(echo a | wc -l); echo b | tr b c; echo $x": b"b\n",
    "echo a | tr a b; echo c | tr c d; echo e": b"c\n",
    "echo a | tail -1 && echo b > file; cat file": b"a\n",
    "seq 100000 | head -1; echo $?": None,
    "sleep 0.01 & echo a | tr a b; wait": b"a\n",
}  # fmt: skip
"""Commands, and what goes into their filters; None where that is not fixed."""

LEFT_ALONE = (
    "echo a",
    "echo a || tail",
    "echo 'a | tail'",
    "echo a |& tail -1",
    "echo a | cat",
    "echo a | head -1 | cat",
    "echo a | head -1 &\nwait",
    "true && (echo a | head -1)",
    "{ echo a | head -1; }",
    "for i in 1 2; do echo $i | head -1; done",
    "if true; then echo a | head -1; fi",
    "f() { echo a; }; f | head -1",
    "x=$(echo a | head -1)",
    "echo a | tr a b < /dev/null",
    "echo a | wc -l <<< b",
    "echo ${NOTHING?is missing} | head -1",
    "echo ${NOTHING:-a} | head -1",
    "echo $((1 / 0)) | head -1",
    "set -u; echo $NOTHING | head -1",
    "set -eu; echo a | grep $NOTHING",
    "shopt -s failglob; eval true; echo $NOTHING | head -1",
    "UID=5 echo a | head -1",
    "readonly A=1; A=2 echo a | head -1",
    "echo a | tr a $((1 / 0))",
    "> /dev/null | head -1",
    "a=1 | head -1",
    "sort /dev/null",
    "set -v; echo a\necho b | head -1",
    "shopt -s expand_aliases; alias e='echo a | cat'\ne | head -1",
    "trap 'echo $BASH_COMMAND' DEBUG; echo a | head -1",
    "echo $BASH_EXECUTION_STRING | head -1",
    "coproc cat; echo a | head -1",
)

MALFORMED = (
    "case a in a) echo a; | head -1",
    "case a in a echo a;; esac | head -1",
    "case a in a)) echo a;; esac | head -1",
    "case in a) echo a;; esac | head -1",
    "echo 'a | head -1",
    "echo a ) | head -1",
    "echo a | | head -1",
    "; echo a | head -1",
    "echo a > | head -1",
    "for i in 1 2; echo $i; done | head -1",
    "if true; then; fi | head -1",
    "echo $(echo a | head -1",
    "while true; do break; done extra | head -1",
    "{ echo a } | head -1",
    "cat << | head -1",
)


def capture(store: Store, command: str, shell: str = "bash", **more: Any) -> Captured:
    argv = [f"/bin/{shell}", "-c", command]
    split = find_split(command, bash=shell == "bash")
    return CommandCapture(store, argv, command=command, session="s", split=split, **more).run()


def read(store: Store, captured: Captured, stream: str = "out") -> bytes:
    assert captured.buffer
    return Path(store.path(Target(captured.buffer, stream))).read_bytes() if stream in captured.buffer.streams else b""


def left(store: Store, captured: Captured) -> bytes:
    assert captured.unfiltered
    assert captured.unfiltered.buffer
    return Path(store.path(Target(captured.unfiltered.buffer, "out"))).read_bytes()


def answers(store: Store, command: str, shell: str) -> tuple[tuple[bytes, bytes, int | None], Captured]:
    captured = capture(store, command, shell)
    return (read(store, captured), _unnumbered(read(store, captured, "err")), captured.exit_code), captured


def plain(command: str, shell: str) -> tuple[bytes, bytes, int]:
    done = subprocess.run([f"/bin/{shell}", "-c", command], capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return done.stdout, _unnumbered(done.stderr), code


def _unnumbered(text: bytes) -> bytes:
    """Without process ids and times, which no two runs share, nor the order in which stages get to speak."""
    told = re.sub(rb"(?m)\d+\.\d\d$|^(/bin/bash: (?:line \d+: )?| ) *\d+(?= )", rb"\1N", text)
    return b"".join(sorted(told.splitlines(keepends=True)))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("BASH_ENV", "SHELLOPTS", "BASHOPTS"):
        monkeypatch.delenv(name, raising=False)


@needs_pipes_of_a_size
@each("command", TAPPED)
def test_answer_is_the_shells_and_what_went_into_the_filter_is_kept(store: Store, command: str) -> None:
    answer, captured = answers(store, command, "bash")
    assert answer == plain(command, "bash")
    expected = TAPPED[command]
    if find_split(command) is None:
        assert expected in (None, b"")
    elif expected:
        if captured.unfiltered is None:
            assert expected == answer[0], "only what the filter did not change has no buffer of its own"
        else:
            assert left(store, captured) == expected
    elif expected == b"":
        assert captured.unfiltered is None
    assert os.listdir(store.layout.live) == []


@pytest.mark.parametrize("command", [*LEFT_ALONE, *MALFORMED])
def test_what_is_not_certain_is_left_alone(store: Store, command: str) -> None:
    answer, captured = answers(store, command, "bash")
    assert answer == plain(command, "bash")
    assert captured.unfiltered is None
    assert len(store.listed(9)) == 1


ONLY_BASH = re.compile(r"\(\(|\[\[|<<<|[<>]\(|\|&|=\(")
NOT_FOR_SH = re.compile(ONLY_BASH.pattern + r"|PROCINFO|time -p|shopt|coproc|BASH|set -x")


@each("command", [one for one in (*TAPPED, *LEFT_ALONE, *MALFORMED) if not NOT_FOR_SH.search(one)])
def test_answer_is_that_of_a_plain_shell_too(store: Store, command: str) -> None:
    assert answers(store, command, "sh")[0] == plain(command, "sh")


@each("command", [one for one in TAPPED if ONLY_BASH.search(one)])
def test_what_another_shell_would_read_in_another_way_is_left_alone_there(command: str) -> None:
    assert find_split(command, bash=False) is None


@needs_pipes_of_a_size
@pytest.mark.parametrize("size", [73_729 + 8192, 100_000, 150_000, 1_000_000])
def test_a_program_that_writes_into_an_ended_filter_finds_out_as_it_would_have(store: Store, size: int) -> None:
    """It learns of it once the pipe and what the filter has read are full; two pipes must not hold more than one."""
    command = f"set -o pipefail; (head -c {size} /dev/zero; echo $? >&2) | head -c 1 | wc -c"
    captured = capture(store, command)
    assert (captured.exit_code, read(store, captured)) == (plain(command, "bash")[2], b"1\n")
    assert captured.unfiltered
    assert captured.unfiltered.buffer
    assert captured.unfiltered.buffer.note.endswith("; cut by filter")
    assert len(left(store, captured)) < size


@needs_pipes_of_a_size
def test_filter_that_stops_early_ends_a_program_that_never_would(store: Store) -> None:
    captured = capture(store, "yes | head -1")
    assert (read(store, captured), captured.exit_code) == (b"y\n", 0)
    kept = left(store, captured)
    assert kept == b"y\n" * (len(kept) // 2)
    assert captured.unfiltered
    assert captured.unfiltered.buffer
    assert captured.buffer
    assert captured.unfiltered.buffer.note == f"unfiltered side of {captured.buffer.ref}; cut by filter"


@needs_pipes_of_a_size
def test_a_program_that_writes_nothing_more_after_the_filter_ended_ends_as_it_would_have(store: Store) -> None:
    ended = "import select; out = select.poll(); out.register(1, 0); out.poll(20_000)"  # until nobody reads it
    command = f"(echo a; '{sys.executable}' -c '{ended}'; echo b && echo never >&2) | head -1"
    captured = capture(store, command)
    assert (read(store, captured), read(store, captured, "err")) == plain(command, "bash")[:2] == (b"a\n", b"")


@needs_pipes_of_a_size
@pytest.mark.parametrize("tail", ["wc -c", "tail -c 1 | wc -c"])
def test_large_left_side_is_kept_whole(store: Store, tail: str) -> None:
    captured = capture(store, f"head -c 30000000 /dev/zero | tr '\\0' x | cat | {tail}")
    assert read(store, captured) == (b"30000000\n" if tail == "wc -c" else b"1\n")
    assert captured.unfiltered
    assert captured.unfiltered.buffer
    assert captured.unfiltered.buffer.stream("out").bytes == 30_000_000
    assert captured.unfiltered.buffer.note == f"unfiltered side of {captured.buffer.ref if captured.buffer else ''}"


@needs_pipes_of_a_size
def test_time_limit_ends_both_sides_and_keeps_what_came(store: Store, limit: Any) -> None:
    # What goes into the filter is not echoed: of that, stderr tells.
    command = "(echo early; echo written >&2; sleep 60) | sort"
    split, options = find_split(command), {"timeout": limit.seconds, "echo": limit.echo}
    capturing = CommandCapture(
        store, ["/bin/bash", "-c", command], command=command, session="s", split=split, **options
    )
    limit.started(capturing)
    captured = capturing.run()
    assert captured.timed_out
    assert left(store, captured) == b"early\n"
    assert captured.unfiltered
    assert captured.unfiltered.buffer
    assert captured.unfiltered.buffer.timed_out


@needs_pipes_of_a_size
def test_grandchild_that_holds_the_pipe_does_not_delay_the_end(store: Store) -> None:
    captured = capture(store, "(sleep 120 & echo $!) | head -1")
    os.kill(int(read(store, captured)), 9)
    assert captured.seconds < 60


@needs_pipes_of_a_size
def test_no_descriptor_and_no_file_is_left_behind(store: Store) -> None:
    capture(store, "seq 1 9 | head -1")
    before = len(os.listdir("/proc/self/fd"))
    for command in ("seq 1 9 | head -1", "yes | head -1", "true && false && seq 1 9 | head -1"):
        captured = capture(store, command)
        assert captured.buffer
        names = set(os.listdir(store.layout.folder(captured.buffer.name)))
        assert not {name for name in names if name.endswith(".tmp")}
    assert len(os.listdir("/proc/self/fd")) == before


@needs_pipes_of_a_size
def test_store_that_fails_for_the_left_side_leaves_the_answer_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = BufferWriter.append

    def failing(self: BufferWriter, stream: str, data: memoryview) -> None:
        if self.name != main:
            raise StoreFailed("storing failed: the disk is full")
        append(self, stream, data)

    main = ""

    def started(name: str) -> None:
        nonlocal main
        main = name

    monkeypatch.setattr(BufferWriter, "append", failing)
    captured = capture(store, "seq 1 50000 | tail -1", started=started)
    assert read(store, captured) == b"50000\n"
    assert captured.unfiltered
    assert captured.unfiltered.buffer is None
    assert captured.unfiltered.error
    assert [item.buffer.name for item in store.listed(9)] == [main]


@needs_pipes_of_a_size
def test_pipes_that_cannot_be_made_leave_the_command_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: str, mode: int) -> None:
        raise PermissionError(13, "no pipes here")

    monkeypatch.setattr(os, "mkfifo", refused)
    captured = capture(store, "seq 1 5 | tail -1")
    assert (read(store, captured), captured.unfiltered) == (b"5\n", None)


def test_nothing_is_tapped_where_nothing_may_be_kept(store: Store) -> None:
    captured = capture(store, "seq 1 5 | tail -1", keep=False)
    assert captured.unkept
    assert (captured.unkept.out, captured.unfiltered) == (b"5\n", None)
    assert store.listed(9) == []


@needs_pipes_of_a_size
def test_command_that_fails_to_be_stored_has_no_left_side_either(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = BufferWriter.finish
    failed: list[str] = []

    def failing(self: BufferWriter) -> Any:
        if not failed:
            failed.append(self.name)
            raise StoreFailed("storing failed")
        return finish(self)

    monkeypatch.setattr(BufferWriter, "finish", failing)
    captured = capture(store, "seq 1 50 | tail -1")
    assert captured.unkept
    assert (captured.unkept.out, captured.buffer, captured.unfiltered) == (b"50\n", None, None)
    assert os.listdir(store.layout.buffers) == []


@needs_pipes_of_a_size
@pytest.mark.parametrize("command", ["seq 1 5 | grep .", "seq 1 5 | sort | head -99"])
def test_output_that_the_filter_let_through_is_one_buffer(store: Store, command: str) -> None:
    captured = capture(store, command)
    assert captured.unfiltered is None
    assert len(os.listdir(store.layout.buffers)) == len(store.listed(9)) == 1


@needs_pipes_of_a_size
def test_newest_command_is_the_command_and_not_what_went_into_its_filter(
    store: Store, keep: Callable[..., Any]
) -> None:
    before = keep(b"before\n", command="before")
    captured = capture(store, "seq 1 5 | tail -1")
    assert captured.buffer
    assert store.resolve("@last").buffer.name == captured.buffer.name
    assert store.resolve("@last~1").buffer.name == before.name


def test_the_syntax_of_what_is_not_plain_is_checked_by_the_shell(store: Store) -> None:
    command = "for i in 1 2; do echo $i; done done | head -1"
    split = find_split("for i in 1 2; do echo $i; done | head -1")
    assert split
    assert not split.sure
    assert not filter_pipe.can_keep_unfiltered(["/bin/bash", "-c", command], split)
