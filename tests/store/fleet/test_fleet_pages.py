"""The snippets for CI on the page of the fleet: they are YAML, and their commands ship what a job has captured."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")
yaml = pytest.importorskip("yaml", reason="PyYAML, which the extra `docs` brings, is not installed")

from tests.store.fleet.conftest import Fleet

PAGE = Path(__file__).parents[3] / "docs" / "fleet.md"
GITHUB, GITLAB = (
    yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
)
SERVICE = {
    "/tmp/": "{folder}/",
    "${{ github.run_id }}": "4711",
    "${{ github.job }}": "tests",
    "${{ secrets.SIGHTLINE_FLEET_PASSWORD }}": "{password}",
    "$CI_JOB_ID": "4712",
}
"""What stands in a job here for the services' variables, and for a folder that each job has to itself."""


class Job:
    """A job as a service runs it: each command in a shell of its own that ends at the first error."""

    def __init__(self, fleet: Fleet, folder: Path, variables: dict[str, str]) -> None:
        settings = fleet.add_host("ci", kind="ci")
        self._password = fleet.passwords.read_text().splitlines()[-1].rpartition(":")[2]
        self._folder = folder
        own = {"SIGHTLINE_FLEET_DB": settings.db, "SIGHTLINE_FLEET_OBJECTS": settings.objects}
        assert own.keys() <= variables.keys()
        programs = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        self._environment = {
            **os.environ,
            **programs,
            **{name: self._put(text) for name, text in variables.items()},
            **own,
        }
        self._environment.pop("PGPASSFILE")
        self._environment["SIGHTLINE_FLEET_PASSWORD"] = self._password
        (folder / "test_it.py").write_text("def test_it():\n    assert 1 == 2\n")

    def _put(self, text: str) -> str:
        for variable, value in SERVICE.items():
            text = text.replace(variable, value.format(folder=self._folder, password=self._password))
        assert "$" not in text
        return text

    def run(self, command: str, more: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        environment = {**self._environment, **{name: self._put(text) for name, text in (more or {}).items()}}
        return subprocess.run(
            ["bash", "-e", "-c", command], cwd=self._folder, env=environment, capture_output=True, text=True
        )


def shipped(fleet: Fleet) -> list[tuple[Any, ...]]:
    return fleet.rows(
        "SELECT hosts.name, command, exit_code FROM sightline.buffers JOIN sightline.hosts ON hosts.id = buffers.host"
    )


def test_a_job_of_github_ships_what_it_captured(fleet: Fleet, tmp_path: Path) -> None:
    job = Job(fleet, tmp_path, GITHUB["env"])
    install, tests, ship = [step for step in GITHUB["steps"] if "run" in step]
    [checkout] = [step["with"]["path"] for step in GITHUB["steps"] if "repository" in step.get("with", {})]
    assert install["run"] == f"python -m pip install './{checkout}[fleet]'"
    assert job.run(tests["run"]).returncode == 1, "a failing test fails the step"
    assert ship["if"] == "always()"
    done = job.run(ship["run"], ship["env"])
    assert done.returncode == 0, done.stderr
    assert shipped(fleet) == [(f"ci-{fleet.id}-4711-tests", "pytest -q", 1)]


def test_a_job_of_gitlab_ships_what_it_captured(fleet: Fleet, tmp_path: Path) -> None:
    test = GITLAB["test"]
    job = Job(fleet, tmp_path, test["variables"])
    clone, install, tests = test["script"]
    assert install == f"python -m pip install '{clone.split()[-1]}[fleet]'"
    assert job.run(tests).returncode == 1, "a failing test fails the job"
    script = "\n".join(test["after_script"]).replace("/tmp/", f"{tmp_path}/")
    done = job.run(script)  # all of it in one shell, as GitLab runs it
    assert done.returncode == 0, done.stderr
    assert shipped(fleet) == [(f"ci-{fleet.id}-4712", "pytest -q", 1)]
