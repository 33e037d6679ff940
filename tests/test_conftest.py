"""What all tests rely on: how failures are told, and what the processes that they start inherit."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.large_values import LARGE, told

TESTS = Path(__file__).parent


class Held(NamedTuple):
    text: str


@pytest.mark.parametrize(
    ("left", "right", "line"),
    [
        ("a" * LARGE, "a" * LARGE + "b", "<str of 20,000> == <str of 20,001>, from 20,000 on: '' and 'b'"),
        (b"x" * LARGE, "y", "<bytes of 20,000> == <str of 1>, from 0 on: b'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' and 'y'"),
        ([1] * LARGE, [1, 2], "<list of 20,000> == <list of 2>, from 1 on: [1] and [2]"),
        ({"a" * LARGE}, None, "<set of 1> == None"),
        ({1: {2: ["a" * LARGE]}}, {}, "<dict of 1> == <dict of 0>"),
        (Held("a" * LARGE), Held(""), f"<Held of 1> == <Held of 1>, from 0 on: {str(('a' * LARGE,))[:120]}… and ('',)"),
    ],
    ids=["text", "bytes", "list", "set", "dict", "tuple"],
)
def test_large_values_are_told_in_a_line(left: object, right: object, line: str) -> None:
    assert told("==", left, right) == [line]


def test_small_values_are_told_in_full() -> None:
    assert told("==", "a" * 1000, ["b"] * 1000) is None


SLOW = """
import random
def test_it():
    letters = random.Random(1)
    left, right = ("".join(letters.choices("ab\\n", k=200_000)) for _ in range(2))
    assert left == right
def test_that():
    assert "a" * 50_000 + "b" == "a" * 50_000
"""


def test_a_failing_comparison_of_large_values_ends(tmp_path: Path) -> None:
    conftest = f"import sys\nsys.path.append({str(TESTS)!r})\nimport large_values\nlarge_values.tell_briefly()\n"
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "pytest", "-q", "-vv", "--rootdir", str(tmp_path), "-p", "no:cacheprovider", "."]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # plugins take longer to load than this to run
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=alone)
    assert "from 50,000 on: 'b' and ''" in ran.stdout
    assert len(ran.stdout) < LARGE


IGNORED = """
import signal, subprocess, sys
for number in (signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
import tests.conftest
ask = "import signal; print(signal.getsignal(signal.SIGHUP).name, signal.getsignal(signal.SIGINT).__name__)"
print(subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout)
signal.raise_signal(signal.SIGHUP)
print("goes on")
"""


def test_what_tests_start_heeds_signals_that_they_were_told_to_ignore() -> None:
    ran = subprocess.run([sys.executable, "-c", IGNORED], cwd=TESTS.parent, capture_output=True, text=True, timeout=60)
    assert ran.stdout.split() == [signal.SIG_DFL.name, "default_int_handler", "goes", "on"], ran.stderr
