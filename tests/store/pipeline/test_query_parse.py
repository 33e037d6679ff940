"""A query is a pipeline of known programs over refs, or it is refused with a reason."""

import subprocess
import sys
from typing import Any

import pytest

from sightline.base.errors import BadRange, BadRef, QueryRefused, UnknownRef
from sightline.pipeline.parse import MAX_STAGES, parse

Buffers = Any


def test_a_ref_becomes_one_word_even_where_the_path_has_spaces(buffers: Buffers) -> None:
    pipeline = buffers.parse('grep hello @cmd_a1b2c3 "@cmd_a1b2c3.err"')
    path = buffers.path("@cmd_a1b2c3")
    assert " " in path
    assert pipeline.stages[0].argv == ("grep", "hello", path, path + ".err")
    assert pipeline.stages[0].words == ("grep", "hello", "@cmd_a1b2c3", "@cmd_a1b2c3.err")
    assert pipeline.stages[0].paths == (path, path + ".err")


def test_refs_are_named_once_and_in_order(buffers: Buffers) -> None:
    pipeline = buffers.parse("diff @cmd_a1b2c3.err @cmd_a1b2c3 | cat - @cmd_a1b2c3 @cmd_a1b2c3")
    assert pipeline.refs == ("@cmd_a1b2c3.err", "@cmd_a1b2c3")
    assert pipeline.stages[1].refs == ("@cmd_a1b2c3",)


def test_each_ref_is_looked_up_once() -> None:
    asked: list[str] = []

    def resolve(ref: str) -> str:
        asked.append(ref)
        return "/x/" + ref

    parse("cat @last @last @cmd_a1b2c3", resolve)
    assert asked == ["@last", "@cmd_a1b2c3"]


def test_nothing_is_looked_up_for_a_refused_query() -> None:
    with pytest.raises(QueryRefused):
        parse("cat @cmd_a1b2c3 | tee x", lambda ref: pytest.fail(f"looked up {ref}"))


@pytest.mark.parametrize("word", ["'@cmd_a1b2c3'", "\\@cmd_a1b2c3", '"\\$@cmd_a1b2c3"'])
def test_a_quoted_ref_is_plain_text(buffers: Buffers, word: str) -> None:
    pipeline = buffers.parse(f"grep {word} @last")
    assert pipeline.refs == ("@last",)
    assert "@cmd_a1b2c3" in pipeline.stages[0].argv[1]


@pytest.mark.parametrize("word", ["foo@cmd_a1b2c3", "@lastly", "@someone", "me@last"])
def test_what_does_not_look_like_a_ref_is_plain_text(buffers: Buffers, word: str) -> None:
    assert buffers.parse(f"grep {word} @last").stages[0].argv[1] == word


@pytest.mark.parametrize("word", ["@cmd_xyz", "@cmd_a1b2c3.", "@cmd_a1b2c3/x", "@cmd_", "@ack_12345678", "@sha256:12"])
def test_a_malformed_ref_is_an_error_and_never_plain_text(buffers: Buffers, word: str) -> None:
    with pytest.raises(BadRef):
        buffers.parse(f"grep x {word}")


def test_a_longer_name_is_not_a_shorter_one_with_text(buffers: Buffers) -> None:
    with pytest.raises(UnknownRef):
        buffers.parse("cat @cmd_a1b2c3deadbe")


def test_a_ref_with_lines_is_refused_with_the_sed_that_does_it(buffers: Buffers) -> None:
    with pytest.raises(QueryRefused) as refused:
        buffers.parse("cat @cmd_a1b2c3.err:42-80")
    assert refused.value.hint == "sed -n '42,80p' @cmd_a1b2c3.err"
    with pytest.raises(QueryRefused) as refused:
        buffers.parse("cat @cmd_a1b2c3:7-")
    assert refused.value.hint == "sed -n '7,$p' @cmd_a1b2c3"
    with pytest.raises(BadRange):
        buffers.parse("cat @cmd_a1b2c3:9-3")


@pytest.mark.parametrize(
    "query", ["grep x", "cat", "cat | grep x @last", "rg x", "rg x | cat @last", "jq .", "wc -l", "tr a b", "cat -"]
)
def test_the_first_program_names_a_ref(buffers: Buffers, query: str) -> None:
    with pytest.raises(QueryRefused, match="is the first program"):
        buffers.parse(query)


def test_a_ref_where_the_pattern_belongs_is_refused(buffers: Buffers) -> None:
    with pytest.raises(QueryRefused, match="takes text here"):
        buffers.parse("grep @last @cmd_a1b2c3")
    with pytest.raises(QueryRefused, match="names no ref"):
        buffers.parse("grep '@last'")


def test_ripgrep_in_a_pipe_reads_it_and_never_the_folder(buffers: Buffers) -> None:
    assert buffers.parse("cat @last | rg -i x").stages[1].argv == ("rg", "-i", "x", "-")


def test_too_many_programs_are_refused(buffers: Buffers) -> None:
    buffers.parse("cat @last" + " | cat" * (MAX_STAGES - 1))
    with pytest.raises(QueryRefused, match="at most"):
        buffers.parse("cat @last" + " | cat" * MAX_STAGES)


def test_parsing_loads_nothing_heavy() -> None:
    code = "import sys, sightline.pipeline.parse; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"ctypes", "subprocess", "threading", "resource", "textual"} & set(loaded)
