"""What a shell completes at Tab, and the manual page: both from what the commands take, and from the store."""

import shutil
import subprocess
from typing import Any

import pytest

from sightline.doors.cli.commands import COMMANDS, command_of
from sightline.doors.cli.completion import SHELLS

pytest.importorskip("argcomplete")

_COMPLETED = """
eval "$(sightline completions bash)"
COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_TYPE=9
_python_argcomplete sightline 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def completed(cli: Any) -> Any:
    """What bash would offer for a line."""

    def offered(line: str) -> set[str]:
        ran = cli.shell(f"LINE={line!r}{_COMPLETED}")
        return {word.strip() for word in ran.out.splitlines()}

    return offered


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("sightline sho", {"show"}),
        ("sightline --", {"--project", "--all", "--read-only", "--store", "--offline", "--version", "--help"}),
        ("sightline --all --of", {"--offline"}),
        ("sightline --project /et", {"/etc/"}),
        ("sightline list --project /et", {"/etc/"}),
        ("sightline show --se", {"--search"}),
        ("sightline run --verbosity s", {"silent"}),
        ("sightline run --profile ev", {"everruns"}),
        ("sightline install cl", {"claude-code", "cline"}),
        ("sightline views sh", {"show"}),
        ("sightline sessions rm --js", {"--json"}),
        ("sightline show --timeou", {""}),
    ],
)
def test_commands_options_and_words_that_are_known_are_completed(completed: Any, line: str, offers: set[str]) -> None:
    assert completed(line) == offers


def test_refs_sessions_and_files_of_rules_are_completed_from_the_store(cli: Any, completed: Any) -> None:
    cli("run", "--", "echo", "hi")
    (cli.home / "rules").mkdir()
    (cli.home / "rules" / "frob.toml").write_text("")
    assert completed("sightline show @cmd") == {cli.last()}
    assert completed("sightline @l") == {"@last"}
    assert completed("sightline sessions rm a-t") == {"a-test"}
    assert completed("sightline timeline --session a") == {"a-test"}
    assert any(path.endswith("frob.toml") for path in completed("sightline rules try @last --rules "))


def test_each_shell_gets_something_that_calls_the_program(cli: Any) -> None:
    for shell in SHELLS:
        assert "_ARGCOMPLETE" in cli("completions", shell).out
    assert cli("completions", "tcsh").code == 2


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
def test_the_manual_page_is_one_that_man_shows_with_every_command_and_option(cli: Any) -> None:
    page = cli("man").out
    command = ["groff", "-man", "-Tascii", "-ww", "-P-cbou"]
    shown = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
    assert shown.stderr == ""
    for name in COMMANDS:
        assert f"\n   {name}\n" in shown.stdout
        options = [option for action in command_of(name)[0].whole()._actions for option in action.option_strings]
        assert all(option in shown.stdout for option in options if option not in ("-h", "--help"))
