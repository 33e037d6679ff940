"""The grammar of refs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import BadRange, BadRef
from sightline.base.refs import Ref, format_ref, host_of, is_ack, parse_lines, parse_ref
from tests.each import each

NAMES = st.builds(
    lambda host, kind, digits: f"{host}{kind}_{digits}",
    st.sampled_from(["", "host7/", "ci-run-1/"]),
    st.sampled_from(["cmd", "file", "tool"]),
    st.text("0123456789abcdef", min_size=4, max_size=12),
)
STREAMS = st.one_of(st.sampled_from(["out", "err", "all"]), st.integers(0, 999_999).map(lambda n: f"part.{n}"))


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("@cmd_a1b2c3", Ref("cmd_a1b2c3")),
        ("  @file_a1b2c3d4  ", Ref("file_a1b2c3d4")),
        ("@tool_a1b2", Ref("tool_a1b2")),
        ("@cmd_a1b2c3.err", Ref("cmd_a1b2c3", stream="err")),
        ("@cmd_a1b2c3.out", Ref("cmd_a1b2c3", stream="out")),
        ("@cmd_a1b2c3.all", Ref("cmd_a1b2c3", stream="all")),
        ("@tool_a1b2c3.0", Ref("tool_a1b2c3", stream="part.0")),
        ("@tool_a1b2c3.007", Ref("tool_a1b2c3", stream="part.7")),
        ("@cmd_a1b2c3:42-80", Ref("cmd_a1b2c3", first=42, last=80)),
        ("@cmd_a1b2c3:42", Ref("cmd_a1b2c3", first=42, last=42)),
        ("@cmd_a1b2c3:42-", Ref("cmd_a1b2c3", first=42)),
        ("@cmd_a1b2c3.err:1-1", Ref("cmd_a1b2c3", stream="err", first=1, last=1)),
        ("@last", Ref(back=0)),
        ("@last~2", Ref(back=2)),
        ("@last~2.err:3-4", Ref(back=2, stream="err", first=3, last=4)),
        ("@sha256:abcdef", Ref(sha256="abcdef")),
        ("@sha256:" + "0" * 64, Ref(sha256="0" * 64)),
        ("cmd-1706119234567.txt", Ref(artifact="cmd-1706119234567.txt")),
        ("host7/@cmd_a1b2c3.err:3-4", Ref("host7/cmd_a1b2c3", stream="err", first=3, last=4, host="host7")),
        ("ci-4711-2/@last~1", Ref(back=1, host="ci-4711-2")),
    ],
)
def test_every_form_of_a_ref_is_read(text: str, ref: Ref) -> None:
    assert parse_ref(text) == ref


@each(
    "text",
    [
        "",
        "@",
        "cmd_a1b2c3",
        "@cmd_",
        "@cmd_a1b",
        "@cmd_A1B2C3",
        "@cmd_a1b2g3",
        "@cmd_a1b2c3.",
        "@cmd_a1b2c3.log",
        "@cmd_a1b2c3:",
        "@cmd_a1b2c3:a-b",
        "@cmd_a1b2c3:-5",
        "@cmd_a1b2c3/out",
        "../@cmd_a1b2c3",
        "a/b/@cmd_a1b2c3",
        "/@cmd_a1b2c3",
        "@cmd_../../etc",
        "@cmd_a1b2c3\\out",
        "@cmd_a1b2c3\x00",
        "@cmd_a1b2c3\n@cmd_a1b2c4",
        "@bg_a1b2c3",
        "@lastly",
        "@last~",
        "@last~x",
        "@sha256:abc",
        "@sha256:" + "0" * 65,
        "@cmd_" + "a" * 65,
        "cmd-.txt",
        "cmd-123/../other.txt",
        "../../../etc/passwd",
        "cmd-1\\2.txt",
        "invalid-format.txt",
        "<script>alert(1)</script>",
    ],
)
def test_anything_else_is_no_ref(text: str) -> None:
    with pytest.raises(BadRef) as told:
        parse_ref(text)
    assert told.value.hint


@pytest.mark.parametrize("text", ["@cmd_a1b2c3:0", "@cmd_a1b2c3:0-5", "@cmd_a1b2c3:5-2", "@last:9-8"])
def test_a_range_counts_from_one_and_forwards(text: str) -> None:
    with pytest.raises(BadRange):
        parse_ref(text)


@given(NAMES, STREAMS, st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_ref_that_was_written_is_read_as_what_it_was(name: str, stream: str, first: int, length: int) -> None:
    last = first + length if first and length else 0
    kept = "" if stream == "out" else stream
    assert parse_ref(format_ref(name, stream, first, last)) == Ref(
        name, stream=kept, first=first, last=last, host=host_of(name)
    )


@given(st.text(max_size=40))
def test_no_text_is_worse_than_a_wrong_ref(text: str) -> None:
    try:
        ref = parse_ref(text)
    except (BadRef, BadRange):
        return
    assert "/" not in f"{ref.name.removeprefix(ref.host + '/')}{ref.artifact}{ref.stream}"
    assert ref.host.replace("-", "").isalnum() or not ref.host


@pytest.mark.parametrize(
    ("text", "lines"),
    [("42-80", (42, 80)), ("42", (42, 42)), (" 42 - 80 ", (42, 80)), ("42-", (42, 0)), ("3,9", (3, 9))],
)
def test_lines_are_given_as_a_range(text: str, lines: tuple[int, int]) -> None:
    assert parse_lines(text) == lines


@pytest.mark.parametrize("text", ["", "-", "0", "0-3", "9-3", "a", "1-b", "-5", "1--2", "1" * 16])
def test_a_wrong_range_of_lines_is_told(text: str) -> None:
    with pytest.raises(BadRange):
        parse_lines(text)


def test_a_confirmation_is_no_ref() -> None:
    assert is_ack("@ack_0123abcd")
    assert not is_ack("@ack_0123abcd; rm x")
    with pytest.raises(BadRef):
        parse_ref("@ack_0123abcd")
