"""``--profile``: an option before the environment, before the settings."""

from typing import Any

import pytest

from sightline.base.profile import profile_names

IN_PROCESS = True

LONG = "print('x' * 2000)"


def test_the_option_is_asked_before_the_environment_and_that_before_the_file(cli: Any) -> None:
    run = ("--", "python3", "-c", LONG)
    assert len(cli("run", *run).out) == 2001
    assert len(cli("run", *run, SIGHTLINE_PROFILE="everruns").out) < 1000
    assert len(cli("run", "--profile", "roo", *run, SIGHTLINE_PROFILE="everruns").out) == 2001
    assert len(cli("run", "--profile=everruns", *run).out) < 1000


def test_a_wrong_name_says_which_there_are(cli: Any) -> None:
    for words in (["run", "--profile", "rue", "--", "true"], ["show", "@last", "--profile", "rue"]):
        ran = cli(*words)
        assert ran.code == 2
        assert "--profile: there is no profile 'rue'" in ran.err
        assert all(name in ran.err for name in profile_names())


@pytest.mark.parametrize("command", ["run", "capture", "read", "show", "query", "diff"])
def test_help_names_every_profile(cli: Any, command: str) -> None:
    text = cli(command, "--help").out
    assert all(name in text.partition("--profile")[2] for name in profile_names())


def test_a_profile_decides_the_case_of_a_search_unless_an_option_does(cli: Any) -> None:
    cli("run", "--", "printf", r"an Error\nan error\n")
    found = {
        options: cli("show", "@last", "--search", "error", *options).out.count("an ")
        for options in [(), ("--case",), ("--profile", "codescout"), ("--profile", "codescout", "--ignore-case")]
    }
    assert list(found.values()) == [2, 1, 1, 2]
    assert cli("show", "@last", "--search", "x", "--case", "--ignore-case").code == 2
