"""What a shell completes at Tab where a fleet is read: refs with their hosts, and hosts."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.fleet.conftest import Hosts

pytest.importorskip("argcomplete")
pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

_COMPLETED = """
eval "$(sightline completions bash)"
COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_TYPE=9
_python_argcomplete sightline 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def completed(hosts: Hosts, tmp_path: Path) -> Callable[..., set[str]]:
    """What bash would offer for a line, to the reader of the red team."""

    def offered(line: str, **more: str) -> set[str]:
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "SIGHTLINE_HOME": str(tmp_path / "reader"), "LINE": line, **more}
        ran = subprocess.run(["bash", "-c", _COMPLETED], env=environment, capture_output=True, text=True, check=True)
        return {word.strip() for word in ran.stdout.splitlines()} - {""}

    return offered


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_refs_and_hosts_of_a_fleet_are_completed_and_those_of_another_team_are_not(
    hosts: Hosts, completed: Callable[..., set[str]]
) -> None:
    url = hosts.fleet.grant("carl", "team:red")
    red = {hosts.names["a"], hosts.names["b"]}
    assert completed("sightline list --host ", SIGHTLINE_STORE=url) == red
    assert completed(f"sightline list --store {url} --host {hosts.names['a']}") == {hosts.names["a"]}
    [ref] = completed(f"sightline show {hosts.names['a']}/", SIGHTLINE_STORE=url)
    host, own = ref.split("/")
    assert (host, own[:5]) == (hosts.names["a"], "@cmd_")
    assert completed(f"sightline show {host}/@cm", SIGHTLINE_STORE=url) == {own}  # to bash, the host is a word before
    assert completed(f"sightline show {hosts.names['c']}/", SIGHTLINE_STORE=url) == set()
    assert completed(f"sightline show {host}/") == set()
