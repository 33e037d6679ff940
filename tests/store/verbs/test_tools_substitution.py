"""Refs in commands become paths where a shell would see a whole word, and nowhere else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import BadRef, ExpiredRef, SightlineError, UnknownRef
from sightline.base.records import Buffer
from sightline.base.refs import format_ref, parse_ref
from sightline.disk.recording import new_buffer
from sightline.log import retention
from sightline.store import Store, Target
from sightline.verbs.substitution import substitute, substitute_words
from tests.each import each

PATH = "'/a store/it'\"'\"'s/out'"
KNOWN = "@cmd_a1b2c3"
_BUFFER = new_buffer("cmd_a1b2c3", "cmd", "", "", "")


def _resolve(ref: str) -> Target:
    parsed = parse_ref(ref)
    if not (parsed.name == "cmd_a1b2c3" or parsed.back is not None or parsed.sha256):
        raise UnknownRef(ref)
    return Target(_BUFFER, parsed.stream or "out")


def _path(target: Target) -> str:
    return "/a store/it's/" + target.stream


def _put(command: str) -> str:
    found = substitute(command, _resolve)
    return found.command({word.target.ref: _path(word.target) for word in found.wanted})


@each(
    "command",
    [
        "grep x {}",
        "grep x {} | sort",
        "cat {};ls",
        "cat {}&&ls",
        "cat {}|wc",
        "cat {}&",
        "cat <{}",
        "cat < {}",
        "wc -l {} 2>&1",
        "(cat {})",
        "{{ cat {}; }}",
        "echo $(cat {})",
        "echo $(cat $(cat {}))",
        'echo "$(cat {})"',
        "echo `cat {}`",
        'echo "`cat {}`"',
        "diff <(sort {}) <(sort {})",
        "if true; then cat {}; fi",
        "cat {}\nls",
        "cat a\\ b {}",
        "echo it\\'s {}",
        "echo 'it' {}",
        'echo "it\'s" {}',
        "echo a#b {}",
        "echo ${{#HOME}} {}",
        "echo $'a\\'b' {}",
        "cat <<< x {}",
        "echo $((1<<2)) {}",
        "((x = 1 << 2))\ncat {}",
        "echo $((1<<2))\ncat {}",
        "cat <<EOF {}\ntext\nEOF",
        "cat <<EOF\ntext\nEOF\ncat {}",
        "cat <<'A' <<-B {}\na\nA\nb\n\tB\ncat {}",
        "( (echo a); cat {} )",
        "((echo a); cat {})",
        "echo ${{x:-$(cat {})}}",
        "echo $(case a in a) cat {};; esac)",
        "cat {} 'not closed",
        "echo $[1 + 1]; cat {}",
        "cat {} <<$END\n$END",
    ],
)
def test_ref_that_is_a_word_becomes_a_quoted_path(command: str) -> None:
    assert _put(command.format(KNOWN, KNOWN)) == command.format(PATH, PATH)


def test_ref_in_double_quotes_becomes_one_word() -> None:
    assert _put(f'cat "{KNOWN}"') == f"cat {PATH}"


@pytest.mark.parametrize(
    "command",
    [
        "echo hello",
        f"echo '{KNOWN}'",
        f"echo \\{KNOWN}",
        f"echo x{KNOWN}",
        f"mail user{KNOWN}",
        f'echo "see {KNOWN} there"',
        f"echo x # and {KNOWN}",
        f"# {KNOWN}\nls",
        f"cat <<EOF\n{KNOWN}\nEOF",
        f"cat <<'EOF'\n{KNOWN}\n EOF\n{KNOWN}\nEOF",
        f"cat <<-EOF\n{KNOWN}\n\tEOF",
        "npm install @last/package",
        "npm install @types/node",
        "echo @lastly",
        "git show @{upstream}",
        "echo @",
        "x=${y:-" + KNOWN + "}",
    ],
)
def test_what_is_no_word_of_its_own_is_left_alone(command: str) -> None:
    assert _put(command) == command


@pytest.mark.parametrize("ref", [".err", ".out", ".all", "", *("@last", "@last~2", "@last.err", "@sha256:abcdef01")])
def test_every_way_to_name_a_stream_works(ref: str) -> None:
    ref = ref if ref.startswith("@") else KNOWN + ref
    stream = parse_ref(ref).stream or "out"
    assert f"/{stream}'" in _put(f"cat {ref}")


def test_ref_right_before_its_own_err_stays_apart_from_it() -> None:
    command = _put(f"diff {KNOWN} {KNOWN}.err")
    assert command == f"diff {PATH} {PATH.replace('/out', '/err')}"


def test_each_stream_is_named_once_in_order() -> None:
    found = substitute(f"cat {KNOWN}.err {KNOWN} {KNOWN}.err", _resolve)
    assert [target.stream for target in found.targets] == ["err", "out"]
    assert [word.target.stream for word in found.wanted] == ["err", "out"]


@each(
    ("command", "only_read"),
    [
        (f"cat {KNOWN}", True),
        (f"/usr/bin/wc -l {KNOWN} | sort", True),
        (f"anything < {KNOWN}", True),
        (f"sed -n 1p {KNOWN}", False),
        (f"cat {KNOWN}; rm {KNOWN}", False),
        (f"rm {KNOWN}; cat {KNOWN}", False),
        (f"while read line; do :; done < {KNOWN}", True),
        (f"xargs cat {KNOWN}", False),
    ],
)
def test_ref_is_only_read_if_each_of_its_programs_only_reads(command: str, only_read: bool) -> None:
    assert [word.only_read for word in substitute(command, _resolve).wanted] == [only_read]


@pytest.mark.parametrize("redirection", [">", ">>", "2>", ">|", "&>", ">&", "<>", "> ", "2>> "])
def test_nothing_is_written_to_a_ref(redirection: str) -> None:
    with pytest.raises(BadRef, match="cannot be written to"):
        _put(f"echo x {redirection}{KNOWN}")


@pytest.mark.parametrize("ref", ["@cmd_deadbeefcafe", "@cmd_a1b2c3d", "@cmd_a1b2", "@file_123456", "@tool_123456"])
def test_unknown_ref_is_an_error(ref: str) -> None:
    with pytest.raises(UnknownRef):
        _put(f"cat {ref}")


@pytest.mark.parametrize(
    "ref",
    [
        "@cmd_a1b2c3.foo",
        "@cmd_a1b2c3x",
        "@cmd_a1b2c3.err.out",
        "@cmd_a1b2c3/x",
        "@last.foo",
        "@last~2x",
        "@sha256:abcdefx",
        "@cmd_a1b2c3'x'",
    ],
)
def test_malformed_ref_is_an_error_that_tells_how_to_say_it_plainly(ref: str) -> None:
    with pytest.raises(BadRef) as caught:
        _put(f"cat {ref}")
    assert f"\\{ref}" in caught.value.hint


def test_range_is_refused_with_the_command_that_takes_it() -> None:
    with pytest.raises(BadRef) as caught:
        _put(f"cat {KNOWN}.err:10-20")
    assert f"sed -n '10,20p' {KNOWN}.err" in caught.value.hint
    with pytest.raises(BadRef) as caught:
        _put(f"cat {KNOWN}:10-")
    assert f"sed -n '10,$p' {KNOWN}" in caught.value.hint


def test_ack_is_no_part_of_a_command() -> None:
    with pytest.raises(BadRef, match="confirms a command"):
        _put("echo @ack_deadbeef")


@given(st.text(alphabet="a@ '\"\\$(){}`<>|&;#\n~.:_cmdlst1", max_size=40))
def test_no_command_without_a_known_ref_is_ever_changed(command: str) -> None:
    try:
        assert _put(command) == command or "@last" in command
    except SightlineError:
        assert "@" in command


@given(st.text(alphabet="ab '\"\\$(){}`<>|&;#\n", max_size=30))
def test_scanner_finishes_on_any_text_before_a_ref(before: str) -> None:
    try:
        command = _put(f"{before} {KNOWN} ")
    except BadRef:
        assert ">" in before
        return
    assert command in (f"{before} {KNOWN} ", f"{before} {PATH} ")


def test_arguments_without_a_shell_are_words_each() -> None:
    found = substitute_words(["cat", KNOWN, f"x {KNOWN}", f"\\{KNOWN}", "\\x", "'@last'"], _resolve)
    words = found.argv({KNOWN: "/a store/it's/out"})
    assert words == ["cat", "/a store/it's/out", f"x {KNOWN}", KNOWN, "\\x", "'@last'"]
    assert len(found.targets) == 1


@pytest.fixture
def buffer(agent: Any) -> Buffer:
    """A command's buffer with two streams."""
    agent.run("printf 'out 1\\nout 2\\n'; echo err 1 >&2")
    return agent.newest()


def test_commands_read_the_bytes_that_refs_name(agent: Any, buffer: Buffer) -> None:
    ref = buffer.ref
    assert agent.run(f"cat {ref}").text == "out 1\nout 2\n"
    assert agent.run(f'grep -c out "{ref}"').text == "2\n"
    assert agent.run(f"cat {ref}.all").text == "out 1\nout 2\nerr 1\n"
    assert agent.run(f"diff {ref} {ref}.err").text == "1,2c1\n< out 1\n< out 2\n---\n> err 1\n"
    assert agent.run(argv=("cat", f"{ref}.err")).text == "err 1\n"
    assert agent.run(f"echo {ref}").text == f"{agent.store.layout.refs}/{ref}\n"


def test_empty_stream_reads_as_empty(agent: Any) -> None:
    agent.run("true")
    assert agent.run("cat @last; wc -c < @last.err").text.strip() == "0"


def test_command_keeps_its_refs_in_the_record(agent: Any, buffer: Buffer) -> None:
    agent.run(f"cat {buffer.ref}; true")
    assert agent.newest().command == f"cat {buffer.ref}; true"


def test_use_in_a_command_refreshes_a_buffer(agent: Any, buffer: Buffer) -> None:
    agent.run("echo newer")
    agent.run(f"cat {buffer.ref}")
    assert [item.buffer.command for item in agent.store.listed(3)][-1] == "echo newer"


@pytest.mark.parametrize("ref", ["@cmd_deadbeef", "@cmd_a1b2c3.nothing", "@last.err:1-2", "@sha256:123456", "@last~99"])
def test_nothing_runs_where_a_ref_is_wrong(agent: Any, buffer: Buffer, tmp_path: Path, ref: str) -> None:
    for how in ({"command": f"touch '{tmp_path}/ran'; cat {ref}"}, {"argv": ("touch", f"{tmp_path}/ran", ref)}):
        with pytest.raises(SightlineError):
            agent.run(**how)
    assert not (tmp_path / "ran").exists()


def test_expired_ref_says_what_it_was_and_nothing_runs(agent: Any, buffer: Buffer, tmp_path: Path) -> None:
    retention.evict(agent.store, buffer)
    with pytest.raises(ExpiredRef, match=r"expired .*printf 'out 1") as caught:
        agent.run(f"touch '{tmp_path}/ran'; cat {buffer.ref}")
    assert "run the command again" in caught.value.hint
    assert not (tmp_path / "ran").exists()


def test_the_beginning_of_a_name_will_do_where_it_is_one_only(agent: Any, person: Any, buffer: Buffer) -> None:
    prefix = buffer.ref[:-1]  # four digits are at times those of another output, too
    for asks in (agent, person):
        assert asks.run(f"cat {prefix}; true").text == asks.run(f"cat {prefix}").text == "out 1\nout 2\n"


def test_sightline_in_a_command_gets_refs_and_not_their_paths(agent: Any, buffer: Buffer) -> None:
    asked = substitute("cd x && sightline show @last --lines 1; cat @last", agent.asking.resolve)
    ran, _, read = asked.command({buffer.ref: "/a/path"}).partition("; cat ")
    assert ran.startswith("cd x && sightline show @cmd_")
    assert not read.startswith("@")


def test_last_is_of_the_session_for_an_agent_and_of_the_store_for_a_person(
    store: Store, agent: Any, person: Any, caller: Callable[..., Any]
) -> None:
    agent.run("echo from the agent")
    person.run("echo from the person")
    assert agent.run("cat @last").text == "from the agent\n"
    assert person.run("cat @last").text == "from the person\n"
    with pytest.raises(UnknownRef, match="of this session"):
        caller(store, "claude-code-2", "claude-code").run("cat @last")


def test_format_of_a_resolved_ref_names_its_stream(buffer: Buffer) -> None:
    assert Target(buffer, "err").ref == format_ref(buffer.name, "err") == buffer.ref + ".err"
