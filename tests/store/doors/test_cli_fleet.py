"""The commands of a fleet where its extra is not installed, and what of them needs no network."""

import subprocess
import sys
from pathlib import Path

import pytest

from sightline.base.errors import SettingError
from sightline.settings.config import FleetSettings, Settings, load_settings

WITHOUT = """
import sys
for name in ("psycopg", "obstore", "zstandard"):
    sys.modules[name] = None
from sightline.doors.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("words", [["ship"], ["ship", "--status"], ["fleet", "init"], ["fleet", "status"]])
def test_without_the_extra_a_command_says_what_to_install(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], env={"SIGHTLINE_HOME": str(tmp_path)}, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"pip install '.[fleet]'" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["ship", "--help"], ["fleet", "--help"], ["fleet", "init", "--help"]])
def test_without_the_extra_help_is_there(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], env={"SIGHTLINE_HOME": str(tmp_path)}, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"example" in done.stdout


def test_other_commands_load_nothing_of_a_fleet(tmp_path: Path) -> None:
    look = (
        "import sys; from sightline.doors.cli.main import main; main(['run', '--', 'true']); main(['list']);"
        " main(['gc']); print([name for name in sys.modules if name.startswith('sightline.fleet')], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", look], env={"SIGHTLINE_HOME": str(tmp_path)}, capture_output=True, check=True
    )
    assert done.stderr.endswith(b"[]\n"), done.stderr


def read(tmp_path: Path, text: str, **environment: str) -> Settings:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return load_settings(str(path), environment)


def test_a_fleet_is_set_in_the_file_and_by_ci_in_the_environment(tmp_path: Path) -> None:
    text = '[fleet]\ndb = "postgresql://u@h/d"\nobjects = "s3://b"\nredact = "known"\nmax_buffer_bytes = "1 GiB"\n'
    read_settings = read(tmp_path, text, SIGHTLINE_FLEET_HOST="run-7", SIGHTLINE_FLEET_DB="postgresql://ci@h/d").fleet
    assert read_settings == FleetSettings("postgresql://ci@h/d", "s3://b", "run-7", "", True, 1 << 30)
    assert read(tmp_path, '[directories."/p"]\nship = "off"\n').ship_off == ("/p",)


@pytest.mark.parametrize(
    "text",
    [
        "[fleet]\nurl = 'x'\n",
        "[fleet]\ndb = 1\n",
        "[fleet]\nredact = true\n",
        "[fleet]\nredact_known = true\n",
        "[fleet]\nmax_buffer_bytes = 'many'\n",
        "fleet = 1\n",
        "[directories.'/p']\nship = 'no'\n",
        "[directories.'/p']\n",
    ],
)
def test_a_wrong_setting_of_a_fleet_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingError):
        read(tmp_path, text)
