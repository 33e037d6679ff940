"""Settings: defaults, the file, the environment, and what is said of wrong ones."""

import subprocess
import sys
from pathlib import Path

import pytest

from sightline.base.errors import SettingError
from sightline.settings.config import GIB, KIB, MIB, Settings, default_root, load_settings


def load(folder: Path, text: str, **environment: str) -> Settings:
    file = folder / "config.toml"
    file.write_text(text)
    return load_settings(str(file), environment)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    settings = load_settings(str(tmp_path / "config.toml"), {})
    assert settings == Settings()
    assert settings[:5] == (100_000, 4 * GIB, 180.0, 2 * GIB, 4 * GIB)


@pytest.mark.parametrize(
    ("written", "size"),
    [("4096", 4096), ('"4096"', 4096), ('"512 MiB"', 512 * MIB), ('"2GiB"', 2 * GIB), ('"1.5k"', 1536), ('"3 b"', 3)],
)
def test_sizes_may_have_units(tmp_path: Path, written: str, size: int) -> None:
    assert load(tmp_path, f"max_bytes = {written}").max_bytes == size


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    text = 'max_buffers = 5\nmax_age_days = 1.5\ndurable = true\nmax_stream_bytes = "1 KiB"'
    assert load(tmp_path, text) == Settings(max_buffers=5, max_age_days=1.5, durable=True, max_stream_bytes=KIB)
    changed = load(tmp_path, text, SIGHTLINE_MAX_BUFFERS="7", SIGHTLINE_DURABLE="off", SIGHTLINE_HOME="/x", HOME="/y")
    assert (changed.max_buffers, changed.durable) == (7, False)


def test_the_extra_file_overrides_config_toml(tmp_path: Path) -> None:
    extra = tmp_path / "config.extra.toml"
    extra.write_text("max_buffers = 7")
    assert load_settings(str(tmp_path / "config.toml"), {}) == Settings(max_buffers=7)
    changed = load(tmp_path, "max_buffers = 5\nmax_age_days = 1.5", SIGHTLINE_DURABLE="on")
    assert changed == Settings(max_buffers=7, max_age_days=1.5, durable=True)
    extra.write_text("max_bufers = 7")
    with pytest.raises(SettingError, match=r"config\.extra\.toml: unknown setting 'max_bufers'"):
        load(tmp_path, "")


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ("max_buffers = 0", "max_buffers", "whole number"),
        ("max_buffers = true", "max_buffers", "whole number"),
        ("max_buffers = 1.5", "max_buffers", "whole number"),
        ('max_buffers = "many"', "max_buffers", "whole number"),
        ('max_bytes = "2 GB"', "max_bytes", "GiB"),
        ("max_bytes = -1", "max_bytes", "GiB"),
        ("max_bytes = 0", "max_bytes", "GiB"),
        ("max_bytes = 0.5", "max_bytes", "GiB"),
        ("max_view_bytes = []", "max_view_bytes", "GiB"),
        ("max_stream_bytes = true", "max_stream_bytes", "GiB"),
        ("max_age_days = 0", "max_age_days", "above 0"),
        ("max_age_days = nan", "max_age_days", "above 0"),
        ("max_age_days = []", "max_age_days", "above 0"),
        ('durable = "maybe"', "durable", "true or false"),
        ("max_bufers = 3", "max_bufers", "max_buffers"),
        ("safety = 3", "safety", "confirm"),
        ("[safety]\nask = []", "safety", "confirm"),
        ("[safety]\nconfirm = 'rm'", "safety.confirm", "confirm"),
        ("[safety]\nconfirm = ['(']", "safety.confirm", "regular expressions"),
        ("directories = 3", "directories", "capture"),
        ('[directories."/x"]\ncapture = "no"', "directories", '"on" or "off"'),
        ("= 3", "TOML", "correct the line"),
        ("durable = \xff", "TOML", "correct the line"),
    ],
)
def test_a_wrong_value_names_file_key_and_what_is_allowed(tmp_path: Path, text: str, key: str, allowed: str) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingError) as told:
        load_settings(str(file), {})
    assert str(file) in told.value.message
    assert key in told.value.message
    assert allowed in told.value.hint


def test_a_wrong_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="SIGHTLINE_MAX_BYTES"):
        load(tmp_path, "", SIGHTLINE_MAX_BYTES="much")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(SettingError, match="cannot be read"):
        load_settings(str(tmp_path / "config.toml"), {})


def test_the_commands_to_confirm_can_be_chosen(tmp_path: Path) -> None:
    assert load(tmp_path, "[safety]\nconfirm_not = ['kill -9']").confirm_not == ("kill -9",)
    assert load(tmp_path, "[safety]\nconfirm = ['deploy.*']").confirm == ("deploy.*",)


def test_capture_can_be_off_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "secret" / "deep").mkdir(parents=True)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    text = f'[directories."{tmp_path}/secret"]\ncapture = "off"\n[directories."{tmp_path}/secrets"]\ncapture = "on"'
    settings = load(tmp_path, text)
    assert [settings.captures(str(tmp_path / where)) for where in ("secret", "secret/deep", "link")] == [False] * 3
    assert settings.captures(str(tmp_path / "secrets"))
    assert settings.captures("/")
    assert not load(tmp_path, '[directories."/"]\ncapture = "off"').captures(str(tmp_path))


def test_capture_is_off_below_a_folder_by_each_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "secret" / "deep").mkdir(parents=True)
    for name in ("mounted", "beside"):
        (tmp_path / name).mkdir()
    load(tmp_path, f'[directories."{tmp_path}/secret"]\ncapture = "off"')
    python = (
        "import sys; from sightline.settings.config import load_settings\n"
        "settings = load_settings(sys.argv[1] + '/config.toml')\n"
        "print([settings.captures(f'{sys.argv[1]}/{one}') for one in ('mounted', 'mounted/deep', 'beside', 'none')])"
    )
    mounted = 'mount --bind "$0/secret" "$0/mounted" || exit 77; exec "$1" -c "$2" "$0"'
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, tmp_path, sys.executable, python]
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("there is no unshare(1) here")
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip(f"nothing can be mounted here: {done.stderr}")
    assert done.stdout == "[False, False, True, True]\n", done.stderr


def test_the_root_is_named_by_the_environment() -> None:
    assert default_root({"SIGHTLINE_HOME": "/some/where"}) == "/some/where"
    assert default_root({"XDG_STATE_HOME": "/state"}).startswith("/")
