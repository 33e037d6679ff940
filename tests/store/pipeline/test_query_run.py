"""Queries give what a shell would, under the caps, and end when they must."""

import os
import resource
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sightline.pipeline.parse import ParsedQuery, QueryStage
from sightline.pipeline.run import DEFAULT_LIMITS, Head, QueryLimits, QueryResult, reply_of, run, whole_characters
from sightline.search.executables import executable_of, find
from sightline.search.processes import Cancel, Group, GroupEnd
from sightline.search.sandbox import NO_BACKING, Backing
from tests.descriptors import open_files
from tests.store.pipeline.query_kit import has_gawk

Buffers = Any

ENDLESS = "sed -e :a -e ba @last"
UNENDING = "sed -n -e :a -e p -e ba @last"
HUNGRY = "sed -e :a -e 'G;h' -e ba @last"
EVERY_PROGRAM = [
    ("grep '^50$' @cmd_a1b2c3", b"50\n"),
    ("egrep '^(50|51)$' @cmd_a1b2c3", b"50\n51\n"),
    ("fgrep -c 299 @cmd_a1b2c3", b"13\n"),
    ("rg -c 299 @cmd_a1b2c3", b"13\n"),
    ("cat @cmd_a1b2c3 | rg '^299$'", b"299\n"),
    ("sed -n 5,6p @cmd_a1b2c3", b"5\n6\n"),
    ("awk '{s += $1} END {print s}' @cmd_a1b2c3", b"4501500\n"),
    ("head -n 2 @cmd_a1b2c3", b"1\n2\n"),
    ("tail -1 @cmd_a1b2c3", b"3000\n"),
    ("cut -c1 @last", b"l\n"),
    ("cat @cmd_a1b2c3 | wc -l", b"3000\n"),
    ("sort -rn @cmd_a1b2c3 | head -2", b"3000\n2999\n"),
    ("cut -c1 @cmd_a1b2c3 | sort | uniq -c | sort -rn | head -1", b"   1111 2\n"),
    ("cat @last | tr a-z A-Z", b"LAST\n"),
    ("comm -12 @last @last", b"last\n"),
    ("diff @last @last", b""),
    ("cmp @last @last", b""),
    ("join @last @last", b"last\n"),
    ("paste -d, @last @last", b"last,last\n"),
    ("nl -w1 -s: @last", b"1:last\n"),
    ("tac @cmd_a1b2c3 | head -1", b"3000\n"),
    ("head -3 @cmd_a1b2c3 | tac", b"3\n2\n1\n"),
    ("rev @last", b"tsal\n"),
    ("fold -w2 @last", b"la\nst\n"),
    ("fmt @last", b"last\n"),
    ("column -t @last", b"last\n"),
    ("jq -c .symbols @tool_a1b2c3", b"[1,2]\n"),
    ("cat @last @last", b"last\nlast\n"),
    ("strings @last", b"last\n"),
    ("xxd -p @last", b"6c6173740a\n"),
    ("xxd -p @last | xxd -r -p", b"last\n"),
    ("od -An -c -N2 @last", b"   l   a\n"),
]


def following(result: QueryResult) -> str | None:
    """The query for the next page, if there is one."""
    return result.next_page.pipeline if result.next_page else None


def ask(buffers: Buffers, query: str, backing: Backing = NO_BACKING, **limits: Any) -> QueryResult:
    return run(buffers.parse(query), limits=QueryLimits(**limits), backing=backing)


@pytest.mark.parametrize(("query", "answer"), EVERY_PROGRAM, ids=[query for query, _ in EVERY_PROGRAM])
def test_every_program_answers(buffers: Buffers, backing: Backing, query: str, answer: bytes) -> None:
    for program in (stage.split()[0] for stage in query.split(" | ")):
        if program == "awk" and not backing.landlock and not has_gawk():
            pytest.skip("no gawk, and the kernel holds no other awk")
        if not find(program) and program not in ("rg", "tac"):
            pytest.skip(f"no {program}")
    result = ask(buffers, query, backing)
    assert (result.stdout, result.stderr, result.exit_code) == (answer, b"", 0)


@pytest.mark.parametrize(
    "lines", [[], [b"\n"], [b"a\n", b"b"], [b"\n", b"\n", b"a\n"], [b"a\0\n", b"\xff\rx\r\n", b"b\n"]]
)
def test_lines_of_a_pipe_are_turned_round(buffers: Buffers, backing: Backing, lines: list[bytes]) -> None:
    ref = buffers.add("@cmd_b0b0b0", b"".join(lines))
    result = ask(buffers, f"cat {ref} | tac", backing)
    assert (result.stdout, result.stderr, result.exit_code) == (b"".join(reversed(lines)), b"", 0)


def test_more_lines_than_memory_holds_are_not_turned_round(buffers: Buffers, backing: Backing) -> None:
    buffers.add("@cmd_b0b0b0", b"line\n" * 3_000_000)
    result = ask(buffers, "cat @cmd_b0b0b0 | tac", backing, memory_bytes=1 << 26)
    assert (result.stdout, result.stderr, result.exit_code) == (b"", b"tac: memory exhausted\n", 1)


def test_lines_that_are_turned_round_for_one_who_wants_few_end_quietly(buffers: Buffers, backing: Backing) -> None:
    result = ask(buffers, "cat @cmd_a1b2c3 @cmd_a1b2c3 @cmd_a1b2c3 @cmd_a1b2c3 @cmd_a1b2c3 | tac | head -1", backing)
    assert (result.stdout, result.stderr, result.exit_code) == (b"3000\n", b"", 0)


def test_the_exit_code_is_the_last_programs(buffers: Buffers) -> None:
    assert ask(buffers, "grep nothing @last").exit_code == 1
    assert ask(buffers, "grep nothing @last | wc -l").exit_code == 0
    assert ask(buffers, "grep '[' @last").exit_code == 2
    assert ask(buffers, "rg nothing @last").exit_code == 1
    assert ask(buffers, "sed 5q7 @cmd_a1b2c3").exit_code == 7


def test_output_is_bytes_as_they_are(buffers: Buffers, backing: Backing) -> None:
    result = ask(buffers, "cat @cmd_0dd000", backing)
    assert result.stdout == b"text\n\x00nul\xff\nend without newline"
    assert (result.stdout_shown, result.stdout_total, result.truncated) == (3, 3, False)


def test_an_early_end_of_the_last_program_ends_the_first(buffers: Buffers, backing: Backing) -> None:
    result = ask(buffers, f"{UNENDING} | head -n 2", backing)
    assert (result.stdout, result.exit_code, result.timed_out) == (b"last\nlast\n", 0, False)


def test_a_stream_that_is_gone_is_the_programs_error(buffers: Buffers, backing: Backing) -> None:
    pipeline = buffers.parse("cat @last")
    os.unlink(buffers.path("@last"))
    result = run(pipeline, backing=backing)
    assert result.exit_code == 1
    assert b"No such file" in result.stderr


def test_a_hundred_lines_are_whole(buffers: Buffers) -> None:
    result = ask(buffers, "head -n 100 @cmd_a1b2c3")
    assert (result.stdout_shown, result.stdout_total, result.truncated) == (100, 100, False)
    assert result.next_page is None


@pytest.mark.parametrize(("width", "shown"), [(121, 66), (201, 39), (80, 100), (79, 100)])
def test_more_lines_are_cut_with_true_counts(buffers: Buffers, width: int, shown: int) -> None:
    buffers.add("@cmd_b0b0b0", (b"x" * (width - 1) + b"\n") * 101)
    result = ask(buffers, "cat @cmd_b0b0b0")
    assert (result.stdout_shown, result.stdout_total, result.truncated) == (shown, 101, True)
    assert result.stdout_bytes == 101 * width
    assert len(result.stdout) == shown * width <= 8000


def test_one_long_line_is_clipped_not_dropped(buffers: Buffers) -> None:
    buffers.add("@cmd_b0b0b0", b"x" * 11_000)
    result = ask(buffers, "cat @cmd_b0b0b0")
    assert (result.stdout_shown, result.stdout_total, result.stdout_bytes) == (1, 1, 11_000)
    assert result.truncated
    assert len(result.stdout) <= 8000
    assert result.stdout.endswith(f"x [… {result.clipped_bytes:,} bytes of this line elided …]\n".encode())
    assert result.stdout.count(b"x") + result.clipped_bytes == 11_000
    assert result.next_page is None


def test_a_long_line_after_others_waits_for_its_own_page(buffers: Buffers) -> None:
    buffers.add("@cmd_b0b0b0", b"short\n" + "é".encode() * 6_000 + b"\nlast\n")
    first = ask(buffers, "cat @cmd_b0b0b0")
    assert (first.stdout, first.stdout_shown, first.stdout_total) == (b"short\n", 1, 3)
    second = ask(buffers, following(first) or "")
    assert second.stdout_shown == 1
    assert second.clipped_bytes
    second.stdout.decode()
    third = ask(buffers, following(second) or "")
    assert (third.stdout, third.truncated) == (b"last\n", False)


def test_stderr_comes_first_and_stdout_gets_the_rest_of_the_lines(buffers: Buffers) -> None:
    out, err = Head(8000), Head(8000)
    err.feed(b"oops\n" * 10)
    out.feed(b"fine\n" * 250)
    shown = _reply_of(buffers, out, err)
    assert (shown.stderr_shown, shown.stdout_shown, shown.stdout_total) == (10, 90, 250)


def _reply_of(buffers: Buffers, out: Head, err: Head) -> QueryResult:
    return reply_of(buffers.parse("cat @last"), DEFAULT_LIMITS, out, err)


def test_little_of_both_is_whole(buffers: Buffers) -> None:
    out, err = Head(8000), Head(8000)
    err.feed(b"oops\n" * 15)
    out.feed(b"fine\n" * 30)
    shown = _reply_of(buffers, out, err)
    assert (shown.stderr_shown, shown.stdout_shown, shown.truncated) == (15, 30, False)


def test_at_most_twenty_lines_are_stderr_and_never_all_the_bytes(buffers: Buffers) -> None:
    out, err = Head(8000), Head(8000)
    err.feed(b"e" * 11_000 + b"\n" + b"e\n" * 40)
    out.feed(b"fine\n" * 30)
    shown = _reply_of(buffers, out, err)
    assert (shown.stderr_shown, shown.stderr_total, shown.stdout_shown) == (1, 41, 30)
    assert len(shown.stderr) + len(shown.stdout) <= 8000
    err = Head(8000)
    err.feed(b"e\n" * 41)
    shown = _reply_of(buffers, Head(8000), err)
    assert (shown.stderr_shown, shown.stderr_total, shown.truncated) == (20, 41, True)


def test_errors_of_every_program_are_in_the_reply(buffers: Buffers, backing: Backing) -> None:
    result = ask(buffers, "grep '[' @last | sort -k0 | wc -l", backing)
    assert b"grep: " in result.stderr
    assert b"sort: " in result.stderr
    assert result.stderr_total >= 2


def test_a_large_answer_is_counted_and_not_kept(buffers: Buffers) -> None:
    buffers.add("@cmd_b0b0b0", b"0123456789012345678\n" * 300_000)
    result = ask(buffers, "cat @cmd_b0b0b0")
    assert (result.stdout_total, result.stdout_bytes) == (300_000, 6_000_000)
    assert result.stdout_shown == 100


def test_a_sink_gets_everything(buffers: Buffers) -> None:
    taken: list[bytes] = []
    result = run(buffers.parse("cat @cmd_a1b2c3"), sink=taken.append, backing=NO_BACKING)
    assert b"".join(taken).count(b"\n") == result.stdout_total == 3000
    assert (result.stdout, result.truncated, result.next_page) == (b"", False, None)


def test_a_sink_that_fails_ends_the_query(buffers: Buffers) -> None:
    def broken(_: bytes) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run(buffers.parse(UNENDING), sink=broken)


def test_pages_follow_each_other_to_the_end(buffers: Buffers, backing: Backing) -> None:
    query: str | None = "cat @cmd_a1b2c3"
    seen, asked = b"", []
    while query:
        asked.append(query)
        result = ask(buffers, query, backing)
        seen += result.stdout
        query = following(result)
    assert seen == b"".join(b"%d\n" % number for number in range(1, 3001))
    assert asked[1:3] == ["cat @cmd_a1b2c3 | sed -n 101,200p", "cat @cmd_a1b2c3 | sed -n 201,300p"]


def test_a_page_cut_by_its_bytes_goes_on_where_it_stopped(buffers: Buffers) -> None:
    buffers.add("@cmd_b0b0b0", b"".join(b"%06d" % n + b"x" * 200 + b"\n" for n in range(120)))
    query: str | None = "cat @cmd_b0b0b0"
    numbers: list[int] = []
    while query:
        result = ask(buffers, query)
        numbers += [int(line[:6]) for line in result.stdout.splitlines()]
        query = following(result)
    assert numbers == list(range(120))


def test_a_range_of_the_callers_own_is_paged_within(buffers: Buffers) -> None:
    result = ask(buffers, "cat @cmd_a1b2c3 | sed -n '11,400p'")
    assert following(result) == "cat @cmd_a1b2c3 | sed -n '11,400p' | sed -n 101,200p"
    assert ask(buffers, "cat @cmd_a1b2c3 | sed -n '11,40p'").next_page is None
    quoted = ask(buffers, "grep -v '| sed -n '\\''101,200p' @cmd_a1b2c3")
    assert (following(quoted) or "").endswith("@cmd_a1b2c3 | sed -n 101,200p")


def test_the_time_limit_ends_it_and_keeps_what_came(
    buffers: Buffers, backing: Backing, monkeypatch: pytest.MonkeyPatch
) -> None:
    collect = Group.collect

    def collected(self: Group, out: Callable[[bytes], None], err: Callable[[bytes], None]) -> GroupEnd:
        def begun(data: bytes) -> None:
            out(data)
            self._deadline -= 60  # by the clock it may be over before the program has begun

        return collect(self, begun, err)

    monkeypatch.setattr(Group, "collect", collected)
    result = ask(buffers, "sed -u -n -e p -e :a -e ba @last", backing, seconds=60)
    assert (result.timed_out, result.exit_code) == (True, None)
    assert result.stdout == b"last\n"


def test_the_memory_limit_ends_it_with_an_error(buffers: Buffers, backing: Backing) -> None:
    result = ask(buffers, HUNGRY, backing, memory_bytes=1 << 26)
    assert not result.timed_out
    assert result.exit_code not in (0, None)


def test_a_file_that_is_mapped_has_room_beside_the_memory_limit(buffers: Buffers, backing: Backing) -> None:
    large = buffers.path(buffers.add("@cmd_b1b1b1", b"needle\n"))
    os.truncate(large, 1 << 27)  # sparse: what a program reads of it is zeros
    found = executable_of(("rg", "-c", "x", large), held=True, reads=[large])
    assert "--no-mmap" not in found.argv
    assert found.maps_bytes == 1 << 27
    result = ask(buffers, "rg --text -c needle @cmd_b1b1b1", backing, memory_bytes=1 << 26)
    assert (result.stdout, result.stderr) == (b"1\n", b"")


def test_limits_are_set_by_a_shell_where_the_system_has_no_prlimit(
    monkeypatch: pytest.MonkeyPatch, buffers: Buffers
) -> None:
    monkeypatch.delattr(resource, "prlimit")
    assert ask(buffers, "grep -c 'it'\\''s' @last | cat").stdout == b"0\n"
    assert ask(buffers, HUNGRY, memory_bytes=1 << 26).exit_code not in (0, None)


def test_a_sort_of_ordinary_size_needs_no_temporary_file(buffers: Buffers, backing: Backing) -> None:
    buffers.add(
        "@cmd_b0b0b0", b"".join(b"%08d some text that makes a line long\n" % (n * 7919 % 99991) for n in range(99991))
    )
    result = ask(buffers, "cat @cmd_b0b0b0 | sort | head -n 1", backing)
    assert result.stdout.startswith(b"00000000 ")
    assert result.stderr == b""


def test_another_thread_cancels_it(buffers: Buffers, backing: Backing) -> None:
    cancel = Cancel()
    begun = threading.Event()
    results: list[QueryResult] = []
    query = buffers.parse(UNENDING)

    def work() -> None:
        results.append(run(query, sink=lambda _: begun.set(), cancel=cancel, backing=backing))

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(30)
    cancel.cancel()
    thread.join(30)
    assert not thread.is_alive()
    assert (results[0].cancelled, results[0].exit_code, results[0].timed_out) == (True, None, False)
    cancel.cancel()


def test_what_was_cancelled_before_ends_at_once(buffers: Buffers) -> None:
    cancel = Cancel()
    cancel.cancel()
    assert run(buffers.parse(ENDLESS), cancel=cancel).cancelled


@pytest.mark.usefixtures("no_child_left")
def test_nothing_is_left_behind(buffers: Buffers, backing: Backing) -> None:
    ask(buffers, "cat @last | wc -l", backing)
    before = open_files()
    for query in ("cat @cmd_a1b2c3 | sort | uniq | head -n 1", ENDLESS):
        ask(buffers, query, backing, seconds=0.2)
    assert open_files() == before


CLIENT = """
import os, sys
from sightline.pipeline.parse import parse
from sightline.pipeline.run import run

pids = []
spawn = os.posix_spawn

def noting(*words, **how):
    pids.append(spawn(*words, **how))
    return pids[-1]

os.posix_spawn = noting
query = "sed -u -n -e p -e :a -e ba @last"
run(parse(query, lambda ref: sys.argv[1]), sink=lambda _: print(pids[-1], os.getpgid(pids[-1]), flush=True))
"""


def test_killing_the_client_kills_the_pipeline(buffers: Buffers) -> None:
    command = [sys.executable, "-c", CLIENT, buffers.path("@last")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        pid, group = map(int, client.stdout.readline().split())
        os.kill(pid, 0)
        pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
        client.kill()
    if pidfd < 0:
        pytest.skip("this system cannot wait for a process that is no child")
    assert select.select([pidfd], [], [], 30)[0], "the program outlived its client"
    os.close(pidfd)
    assert group != pid


def test_a_query_of_a_process_with_no_standard_streams(buffers: Buffers) -> None:
    code = (
        "import os, sys\nos.closerange(0, 2)\nfrom sightline.pipeline.parse import parse\n"
        "from sightline.pipeline.run import run\n"
        "result = run(parse('cat @last | wc -l', lambda ref: sys.argv[1]))\n"
        "os.write(2, repr((result.stdout, result.exit_code)).encode())\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, buffers.path("@last")], capture_output=True, timeout=20)
    assert ran.stderr == b"(b'1\\n', 0)"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (b"", b""),
        (b"abc", b"abc"),
        ("é".encode(), "é".encode()),
        ("aé".encode()[:-1], b"a"),
        ("日".encode()[:1], b""),
        ("日".encode()[:2], b""),
        ("😀".encode()[:3], b""),
        ("😀".encode(), "😀".encode()),
        (b"\x80\x80\x80\x80", b"\x80\x80\x80\x80"),
    ],
)
def test_a_character_is_never_split(text: bytes, whole: bytes) -> None:
    assert whole_characters(text) == whole


def test_lines_are_split_at_newlines_only(buffers: Buffers) -> None:
    buffers.add("@cmd_b0b0b0", b"one\rtwo\x0bthree\r\n\r\nfour")
    result = ask(buffers, "cat @cmd_b0b0b0")
    assert (result.stdout_shown, result.stdout_total) == (3, 3)
    assert ask(buffers, "cat @cmd_b0b0b0", max_lines=2).stdout == b"one\rtwo\x0bthree\r\n\r\n"


def test_a_file_that_does_get_opened_stays_empty_and_the_signal_is_told(buffers: Buffers) -> None:
    path, target = buffers.path("@last"), buffers.folder / "new"
    argv = ("sort", "-o", str(target), path)
    result = run(ParsedQuery((QueryStage("sort", argv, (), (path,), argv),), (), ""), backing=NO_BACKING)
    assert result.exit_code in (2, 128 + signal.SIGXFSZ)
    assert target.read_bytes() == b""


def test_what_writes_far_more_than_it_reads_is_ended_early(buffers: Buffers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.pipeline.run.ANSWER_BYTES", 1 << 20)
    result = run(buffers.parse(UNENDING))
    assert (result.broken_off, result.exit_code, result.timed_out, result.truncated) == (True, None, False, True)
    assert result.stdout.startswith(b"last\nlast\n")
    assert result.stdout_bytes < 4 << 20
    got, cancel = list[bytes](), Cancel()

    def take(data: bytes) -> None:
        got.append(data)
        if sum(map(len, got)) > 4 << 20:
            cancel.cancel()

    whole = run(buffers.parse(UNENDING), sink=take, cancel=cancel)
    assert (whole.broken_off, whole.cancelled) == (False, True)  # a person asked for all of it
