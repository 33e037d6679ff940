"""Which exit codes are answers, and which failures."""

import pytest

from sightline.shell_words.answers import Wrote, answer_of, complains
from sightline.shell_words.exit_codes import meaning_of


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("grep x file", "no match"),
        ("/usr/bin/grep -q x file", "no match"),
        ("cd sub && rg x", "no match"),
        ("make; ag x log", "no match"),
        ("npm test | grep FAIL", "no match"),
        ("! grep x file", "false"),
        ("grep -q x file && echo found", "no match"),
        ("rg -n x file && sed -n 1,9p file && cat other", "no match"),
        ("for f in a b; do grep x $f; done", "no match"),
        ("bash -c 'grep x file'", "no match"),
        ("sudo timeout 5 pgrep -f server", "no match"),
        ("git grep x", "no match"),
        ("(cd sub && cmp a b)", "different"),
        ("diff a b", "different"),
        ("git -C sub diff --exit-code", "different"),
        ("git diff --quiet main", "different"),
        ("test -f x", "false"),
        ("[ -f x ] && echo yes", "false"),
        ("[[ -f x ]]", "false"),
        ("git merge-base --is-ancestor a b", "false"),
        ("find . -name '*.py' | xargs grep -l x", "no match"),
        ("ls src | grep -i x && grep -n y z | head", "no match"),
        ("which foo", "not found"),
        ("command -v foo", "not found"),
        ("type foo", "not found"),
        ("Get-Command pnpm", "not found"),
        ("Get-ChildItem src -Filter *.ts -ErrorAction SilentlyContinue", "not found"),
        ("get-childitem 'C:/a b' -EA 0 | Select-Object FullName", "not found"),
        ("pwsh -NoProfile -Command 'Get-Command pnpm'", "not found"),
    ],
)
def test_exit_1_of_a_program_that_answers_is_no_failure(command: str, answer: str) -> None:
    assert answer_of(command, Wrote()) == answer


@pytest.mark.parametrize(
    "command",
    [
        "make",
        "./check.sh",
        "bash ci.sh",
        "false",
        "exit 1",
        "make && grep x log",
        "set -e\nmake\ngrep -q x log",
        "set -o pipefail; make | grep x",
        "grep x file && npm test",
        "grep x file | head",
        "diff a b | head",
        "ls | xargs make",
        "if grep -q x file; then make; fi",
        "Get-ChildItem src",
        "Remove-Item src -ErrorAction SilentlyContinue",
        "$GREP x file",
        "grep 'x",
    ],
)
def test_exit_1_is_a_failure_where_anything_else_may_have_ended_the_line(command: str) -> None:
    assert answer_of(command, Wrote()) == ""


def test_a_search_for_many_files_that_found_or_said_anything_may_have_failed() -> None:
    for wrote in (Wrote(out=True), Wrote(err=True)):
        assert answer_of("find . | xargs grep x", wrote) == ""


def test_a_silent_download_that_complained_has_failed() -> None:
    for line in ("curl -sS host | rg x", "wget -qO- host | grep x | rg y", "cd sub; curl --silent host | grep x"):
        assert answer_of(line, Wrote()) == "no match"
        assert answer_of(line, Wrote(err=True)) == ""
    assert answer_of("curl -s host | rg x", Wrote(out=True)) == ""  # where both streams are one
    assert answer_of("curl host | rg x", Wrote(err=True)) == "no match"  # it shows its progress there


def test_a_search_that_should_find_nothing_and_did_answers_false() -> None:
    assert answer_of("! grep x file", Wrote(out=True)) == "false"
    assert answer_of("! make", Wrote()) == ""


def test_a_cd_that_complained_has_failed() -> None:
    assert answer_of("cd sub && grep x file", Wrote(err=True)) == ""
    assert answer_of("cd sub && grep x file", Wrote(out=True)) == ""
    assert answer_of("cd sub && diff a b", Wrote(out=True)) == "different"


@pytest.mark.parametrize("line", ["rg x *.cs", "git ls-remote origin | rg x", "ls missing | grep x", "cd sub && rg x"])
def test_a_search_whose_programs_complained_has_failed(line: str) -> None:
    assert answer_of(line, Wrote(out=True)) == ("" if line.startswith("cd") else "no match")
    assert answer_of(line, Wrote(out=True, complaint=True)) == ""
    assert answer_of(f"echo before; {line}", Wrote(out=True, complaint=True)) == "no match"


@pytest.mark.parametrize(
    ("printed", "is_complaint"),
    [
        (b"rg: src\\*.cs: IO error (os error 123)\n", True),
        (b"Now using node v22\nssh: Could not resolve hostname\nfatal: Could not read\n", True),
        (b"\x1b[31;1mSelect-String: \x1b[0mParameter cannot be processed\n", True),
        (b"error connecting to api.github.com\ncheck your internet connection\n", True),
        (b"snapshot received unexpected arguments: --head\n", True),
        (b"tool: unknown flag --head\n", True),
        (b"Now using node v22.20.0 (npm v10.9.3)\n", False),
        (b"the shop received an unexpected guest\n", False),
        (b"src/a.py: error: none here\n", False),
    ],
)
def test_a_complaint_begins_with_the_name_of_its_program(printed: bytes, is_complaint: bool) -> None:
    assert complains(printed) == is_complaint


@pytest.mark.parametrize(
    ("code", "meaning"),
    [(124, "timed out"), (137, "killed"), (139, "segmentation fault"), (143, "terminated"), (1, "")],
)
def test_conventional_exit_codes_say_what_they_mean(code: int, meaning: str) -> None:
    assert meaning_of(code) == meaning
