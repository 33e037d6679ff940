"""Profiles: data that is read strictly, and the one that holds without a file."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from sightline.base.errors import SettingError
from sightline.base.profile import CHOICES, DEFAULT, FOLDER, Profile, load_profile, profile_names, read_profile
from sightline.settings.config import load_settings


def flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """Every value of a profile under its dotted key."""
    found: dict[str, Any] = {}
    for key, value in values._asdict().items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, tuple) else {prefix + key: value}
    return found


def test_the_file_of_the_default_profile_says_what_the_defaults_are() -> None:
    text = Path(FOLDER, "sightline.toml").read_text()
    assert read_profile(text, "sightline", "sightline.toml") == DEFAULT == load_profile("sightline")
    written = {line.partition(" = ")[0] for line in text.splitlines() if " = " in line}
    assert written == {key.rpartition(".")[2] for key in flat(DEFAULT)} - {"name"}


def test_all_five_can_be_chosen_the_default_first() -> None:
    assert profile_names() == ["sightline", "codescout", "everruns", "gh-aw", "roo"]
    profiles = [load_profile(name) for name in profile_names()]
    assert [profile.name for profile in profiles] == profile_names()
    assert len({profile[1:] for profile in profiles}) == len(profiles)
    assert all(profile.about for profile in profiles)


@pytest.mark.parametrize("name", profile_names())
def test_every_word_is_one_that_its_key_takes(name: str) -> None:
    values = flat(load_profile(name))
    assert {key for key in CHOICES if values[key] not in CHOICES[key]} == set()
    assert all("{count}" in values[key] or not values[key] for key in values if key.endswith("_marker"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("colour = 1", "unknown key 'colour'"),
        ("name = 'x'", "unknown key 'name'"),
        ("[short]\nlimit = 1", "unknown key 'short.limit'"),
        ("short = 1", "short is not a table"),
        ("[short]\nlimit_bytes = '8 KiB'", "short.limit_bytes: '8 KiB' has the wrong type"),
        ("[short]\nlimit_bytes = -1", "short.limit_bytes: -1"),
        ("[short]\nlimit_bytes = true", "short.limit_bytes: True"),
        ("[short]\nmeasure = 'characters'", "short.measure: 'characters' is not known"),
        ("[cut]\nhead_percent = 101", "cut.head_percent: 101"),
        ("[reading]\nignore_case = 1", "reading.ignore_case: 1"),
        ("[short", "is not TOML"),
    ],
)
def test_whatever_a_file_has_too_much_or_wrong_is_an_error(text: str, says: str) -> None:
    with pytest.raises(SettingError, match=r"^a file(:| is)") as raised:
        read_profile(text, "x", "a file")
    assert says in raised.value.message


def test_what_a_file_does_not_name_is_the_defaults() -> None:
    read = read_profile("[short]\nlimit_bytes = 5", "mine", "a file")
    assert read == Profile(name="mine", short=DEFAULT.short._replace(limit_bytes=5))


@pytest.mark.parametrize("name", ["nobody", "../sightline", "", "sightline.toml"])
def test_an_unknown_name_is_an_error_that_lists_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError) as raised:
        load_profile(name)
    assert all(known in raised.value.hint for known in profile_names())
    with pytest.raises(SettingError, match="SIGHTLINE_PROFILE: there is no profile"):
        load_settings(str(tmp_path / "none"), {"SIGHTLINE_PROFILE": name})


def test_the_environment_is_asked_before_the_file(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('profile = "roo"')
    assert load_settings(str(config), {}).profile == "roo"
    assert load_settings(str(config), {"SIGHTLINE_PROFILE": "gh-aw"}).profile == "gh-aw"
    config.write_text("profile = 3")
    with pytest.raises(SettingError, match=r"config\.toml: profile: there is no profile 3"):
        load_settings(str(config), {})


def test_no_code_asks_for_a_profile_by_its_name() -> None:
    others = set(profile_names()) - {DEFAULT.name}
    quoted = re.compile(rf"""["'](?:{"|".join(map(re.escape, others))})["']""")  # parsing all takes two seconds
    for path in Path(FOLDER).parent.rglob("*.py"):
        source = path.read_text()
        if path.parent.name == "harnesses" or not quoted.search(source):
            continue  # "roo" is there whose transcripts they are
        constants = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
        assert not others & constants, path
