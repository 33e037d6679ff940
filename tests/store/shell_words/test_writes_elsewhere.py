"""Command lines that print nothing, because all that they run writes to files."""

import pytest

from sightline.shell_words.programs import writes_elsewhere


@pytest.mark.parametrize(
    "command",
    [
        'make test > /tmp/t.log 2>&1; echo "EXIT=$?" >> /tmp/t.log',
        "cd sub && make &> log",
        "make 2> errors > out",
    ],
)
def test_what_sends_both_streams_to_files_prints_nothing(command: str) -> None:
    assert writes_elsewhere(command)


@pytest.mark.parametrize(
    "command",
    [
        "make",
        "make > log",
        "make > log 2>&1; tail -3 log",
        "make 2>&1 | tee log",
        "make 2>log",
        "make >&2",
        "make > log 2>&1 'x",
    ],
)
def test_what_may_print_something_does_not(command: str) -> None:
    assert not writes_elsewhere(command)
