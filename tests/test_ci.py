"""`.ci/run`: which Pythons it takes, and what it says of those that it cannot use."""

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = Path(__file__).resolve().parent.parent / ".ci" / "checks.py"
pytestmark = pytest.mark.skipif(not RUN.is_file(), reason="the tests lie outside a checkout")


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script as a module, on a machine that has nothing."""
    loader = importlib.machinery.SourceFileLoader("ci_run", str(RUN))
    loader_spec = importlib.util.spec_from_loader("ci_run", loader)
    assert loader_spec is not None
    module = importlib.util.module_from_spec(loader_spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ELSEWHERE", ())
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    return module


def fake(path: Path, version: str, *, implementation: str = "cpython", broken: bool = False) -> str:
    """A Python that says of itself what it is told, and is the file that it says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    answer = "exit 1" if broken else f"echo '{implementation} {version} {path}'"
    path.write_text(f'#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\n{answer}\n')
    path.chmod(0o755)
    return str(path)


def test_it_takes_every_python_that_is_claimed_and_no_other(
    ci: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, elsewhere = tmp_path / "a folder", tmp_path / "b", tmp_path / "versions"
    expected = [fake(first / "python3", "3.12.4")]
    fake(second / "python3", "3.12.4")
    fake(second / "python3.11", "3.11.9", broken=True)
    fake(second / "python3.12", "3.12.4", implementation="pypy")
    expected.append(fake(elsewhere / "3.11.2" / "bin" / "python3", "3.11.2"))
    fake(elsewhere / "3.11.5" / "bin" / "python3", "3.11.5")
    expected.append(fake(elsewhere / "3.11.10" / "bin" / "python3", "3.11.10"))
    fake(elsewhere / "3.10.1" / "bin" / "python3", "3.10.1")
    expected.append(fake(second / "python3.14", "3.14.0rc2"))
    fake(elsewhere / "3.15.0" / "bin" / "python3", "3.15.0")
    monkeypatch.setenv("PATH", f"{first}:{second}:{tmp_path / 'gone'}")
    monkeypatch.setattr(ci, "ELSEWHERE", (str(elsewhere / "*" / "bin" / "python3"),))
    assert [python.path for python in ci.found_here()] == expected


def test_a_python_that_makes_no_environments_is_named_and_nothing_else_is_an_error(tmp_path: Path) -> None:
    path = fake(tmp_path / "python3", "3.12.4")
    environment = {**os.environ, "PYTHON": path}
    ran = subprocess.run([sys.executable, str(RUN)], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1
    assert f"3.12.4 ({path}): skipped, it has no venv or ensurepip" in ran.stderr
    assert "apt install python3-venv" in ran.stderr


def test_it_calls_the_test_command_of_the_readme(ci: Any, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    checkout = ci.Checkout(str(RUN.parent.parent), str(tmp_path / "work"))
    assert checkout.test_command() == "pip install '.[test]' && pytest"
    assert " " in checkout.root


@pytest.mark.parametrize("stream", ["0<&-", "0<&- 1>&-", ""])
def test_it_needs_no_standard_streams(tmp_path: Path, stream: str) -> None:
    command = f'"$1" "$2" {stream}'
    ran = subprocess.run(
        ["bash", "-c", command, "bash", sys.executable, str(RUN)],
        env={**os.environ, "PYTHON": fake(tmp_path / "python3", "3.12.4")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "skipped" in ran.stderr
