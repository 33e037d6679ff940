"""Plain TOML: read as `tomllib` reads it, without loading it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.light import toml_text

PLAIN = """
# what is kept
max_bytes = "1 GiB"
durable=true   # slower
max_buffers = 400

[evidence]
ask = false
label = 'C:\\logs # not a comment'
offset = -12

[fleet]
db = "postgresql://host-1@db/sightline"
"""
SIGNS = [*"[]=\"'\\# \t\r\0\x7fé\u2028.,{}10-+\n\n\n"]
WORDS = ["a", "b-c", " = ", "true", "false", '"x"', "'y'", "[t]", "a = 1\n", 'b = "x"\n', "1_000", "inf"]
PIECES = st.sampled_from([*SIGNS, *WORDS])


def read(text: str) -> object:
    """What `tomllib` reads; its error's text where that is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return str(error)


def read_by_us(text: str) -> object:
    try:
        return toml_text.loads(text)
    except ValueError as error:
        return str(error)


@given(st.lists(PIECES, max_size=14).map("".join))
@example(PLAIN)
@example("a = 007")
@example('a = """x"""')
@example("a = ''''''")
@example("a = 1\na = 2")
@example("[t]\n[t]")
@example("t = 1\n[t]")
@example("[t]\na = 1\n[t.u]\nb = 2")
@example("a = 'x' y")
@example("[ t ]\n")
@example("[t] # why\n")
@example("[[t]]\n")
@example("a = 1\r\nb = 2\r\n")
@example("# \x07")
@example("a = -0")
@example("é = 1")
@example("a = ١")
@example("a =\u00a01")
def test_any_text_is_read_as_tomllib_reads_it(text: str) -> None:
    assert read_by_us(text) == read(text)


def test_true_is_no_number() -> None:
    assert toml_text.loads("a = true\nb = 1") == {"a": True, "b": 1}
    assert type(toml_text.loads("a = true")["a"]) is bool


@pytest.mark.parametrize(("text", "is_loaded"), [(PLAIN, False), ("a = [1]", True)])
def test_tomllib_is_loaded_only_for_what_is_not_plain(text: str, is_loaded: bool, tmp_path: Path) -> None:
    program = (
        "import sys; from sightline.light.toml_text import loads; loads(sys.argv[1]); print('tomllib' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-P", "-c", program, text], capture_output=True, text=True, cwd=tmp_path)
    assert told.stdout == f"{is_loaded}\n"
