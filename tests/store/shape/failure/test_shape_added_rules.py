"""Rules that are not ours: what the page on rules adds works, and what is wrong, slow or hostile costs no reply."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sightline.shape.failure.catalogue import FOLDER, RuleFile, built_in, with_added
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.limited_pattern import MAX_PATTERN_CHARACTERS, VIEW_SECONDS
from sightline.shape.failure.rule_check import check_rules, examples_in
from sightline.shape.memory_stream import BytesSource

GUIDE = Path(__file__).parents[4] / "docs" / "rules.md"
(RULE,) = re.findall(r"^```toml\n(\[yamllint\].*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
NOTHING = BytesSource(b"")

HEAD = '[a]\nprograms = ["a"]\nmarks = []\n'
"""Of a rule, such as a table of it follows."""

SLOW = r"""
[slow]
programs = ["slow"]
marks = []

[[slow.failure]]
has = "error"
line = '^(?:a|aa)+(?:a|aa)+$|error$'
"""


def added(folder: Path, text: str, name: str = "added.toml") -> RuleFile:
    """A file of rules as it is found."""
    path = folder / name
    path.write_text(text)
    return RuleFile(str(path), len(text), path.stat().st_mtime_ns)


def problems(file: RuleFile) -> list[str]:
    return [one for check in check_rules(Path(file.path).read_text(), file) for one in check.problems]


def test_the_pages_rule_is_of_a_tool_that_we_do_not_know() -> None:
    (tool,) = tomllib.loads(RULE)
    assert tool not in {known.name for known in built_in().known}


def test_the_pages_rule_stands_its_example(tmp_path: Path) -> None:
    file = added(tmp_path, RULE)
    (check,) = check_rules(RULE, file)
    assert (check.tool, check.examples, check.problems) == ("yamllint", 1, ())
    (example,) = examples_in(RULE)["yamllint"]
    catalogue = with_added((file,))
    assert catalogue.recognise(example.command, b"") == ["yamllint"]
    assert "yamllint" in catalogue.recognise("make", example.output.encode())
    examination, out = example.examine(added=(file,))
    assert tuple(hit.line for hit in examination.failures(out).hits) == example.failures


def test_a_rule_of_the_same_name_replaces_ours(tmp_path: Path) -> None:
    file = added(tmp_path, RULE.replace("yamllint", "pytest"))
    catalogue = with_added((file,))
    assert [known.file for known in catalogue.known if known.name == "pytest"] == [file.path]
    assert len(catalogue.known) == len(built_in().known)


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ('programs = ["yamllint"] ', 'programs = ["yamllint" ', "no file of rules"),
        ("has = ", "hase = ", "no file of rules"),
        ("failures = [3, 4]", "failures = [2, 3]", "no failure is found in line 2"),
        ("failures = [3, 4]", "failures = [3]", "found in line 4, which is not promised"),
        ("errors = 2", "errors = 3", "it counts 2 errors, not 3 errors"),
        ('"ci.yml:6"', '"ci.yml:7"', "it names ci.yml:5, ci.yml:6, not ci.yml:5, ci.yml:7"),
        ('command = "yamllint ."', 'command = "x"\ntakes = 3', "no file of rules"),
        ("under = '^", "under = '^(", "no regular expression"),
        ("[yamllint]\n", "[yamllint]\n\n", "right below its name"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(tmp_path: Path, before: str, after: str, why: str) -> None:
    assert RULE.count(before) >= 1
    file = added(tmp_path, RULE.replace(before, after, 1))
    assert any(why in one for one in problems(file)), problems(file)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "[a]\n", "[[a]]\n", "a = 3\n", "\0", "[a.b.c]\nd = [[[1]]]\n", "[a]\nprograms = 1\n"),
        f"a = {'[' * 20_000}{']' * 20_000}\n",
        f"[a]\nprograms = {'[' * 20_000}{']' * 20_000}\nmarks = []\n",
        '[a]\nprograms = ["a", 1]\nmarks = []\n',
        '[a]\nprograms = ["a"]\nmarks = [""]\n',
        '[a]\nprograms = ["a"]\nmarks = [] x\n',
        f"{HEAD}quiet = 3\n",
        f"{HEAD}step = [1]\n",
        f"{HEAD}[[a.failure]]\nhas = [1]\nline = 'x'\n",
        f"{HEAD}[[a.failure]]\nhas = ''\nline = 'x'\n",
        f"{HEAD}[[a.failure]]\nhas = 'error'\nline = 3\n",
        f"{HEAD}[[a.block]]\nhas = 'error'\nstart = 'error'\nlines = 'x'\n",
        f"{HEAD}[[a.count]]\nhas = 'error'\nline = 'error'\nerrors = 4\n",
        f"{HEAD}[[a.count]]\nhas = 'error'\nline = 'error'\neach = 4\n",
        f"{HEAD}[[a.failure]]\nhas = 'error'\nline = '{'(' * 1500}x{')' * 1500}'\n",
        f"{HEAD}[[a.failure]]\nhas = 'error'\nline = '{'x' * (MAX_PATTERN_CHARACTERS + 1)}'\n",
    ],
    ids=lambda text: text[:60],
)
def test_what_is_no_rule_at_all_is_said_and_costs_no_reply(tmp_path: Path, text: str) -> None:
    file = added(tmp_path, text)
    assert problems(file)
    examination = Examination(BytesSource(b"error: x\n"), NOTHING, "a", added=(file,))
    assert examination.says_failed


def test_a_file_that_is_gone_costs_no_reply(tmp_path: Path) -> None:
    file = added(tmp_path, RULE)
    assert with_added((file,)).rule("yamllint")
    gone = RuleFile(str(tmp_path / "gone.toml"))
    assert with_added((gone,)).known == built_in().known


def test_a_pattern_that_explodes_is_given_up_on_a_view(tmp_path: Path) -> None:
    file = added(tmp_path, SLOW)
    out = BytesSource(b"a" * 3000 + b" error\n" + b"plain error: x\n")
    examination = Examination(out, NOTHING, "slow", added=(file,))
    assert examination.failures(out).hits  # by the general classes
    assert examination.given_up == ["slow"]
    assert examination.pattern_seconds("slow") == pytest.approx(VIEW_SECONDS)
    assert Examination(out, NOTHING, "slow", added=(file,)).given_up == []  # another view has its own time


def test_a_rule_whose_patterns_take_too_long_to_be_made_ready_is_refused(tmp_path: Path) -> None:
    many = "|".join(f"w{number}.*[a-z]+x" for number in range(200))
    failures = "".join(f"[[a.failure]]\nhas = 'error'\nline = '{number}{many}'\n" for number in range(40))
    file = added(tmp_path, HEAD + failures)
    assert any("more than 50 ms" in one for one in problems(file))


def test_groups_of_a_pattern_are_known_that_only_the_other_library_reads(tmp_path: Path) -> None:
    file = added(tmp_path, f"{HEAD}[[a.failure]]\nhas = 'oops'\nline = 'oops'\nunder = '^(?P<name>\\p{{Lu}}+)$'\n")
    examination = Examination(BytesSource(b"BASE\noops\n"), NOTHING, "a", added=(file,))
    assert [one.text for one in examination.failed] == ["BASE"]


def test_a_hash_and_a_bracket_within_a_mark_end_no_list(tmp_path: Path) -> None:
    file = added(tmp_path, '[a]\nprograms = [] # x\nmarks = ["a]  # b", ["c", "d]"]] # y\n')
    (known,) = [known for known in with_added((file,)).known if known.name == "a"]
    assert known.marks == ((b"a]  # b",), (b"c", b"d]"))


def test_a_rule_whose_own_example_takes_too_long_is_refused(tmp_path: Path) -> None:
    example = f"[[slow.example]]\ncommand = 'slow'\noutput = '{'a' * 3000} error'\nfailures = [1]\n"
    file = added(tmp_path, SLOW + example)
    assert any("given up after 50 ms" in one for one in problems(file))


def test_a_refused_rule_is_left_out_and_its_neighbours_stay(tmp_path: Path) -> None:
    file = added(tmp_path, SLOW + RULE)._replace(refused=("slow",))
    names = {known.name for known in with_added((file,)).known}
    assert "yamllint" in names and "slow" not in names


def test_our_rules_stand_their_examples_as_rules_of_others_do() -> None:
    for path in sorted(Path(FOLDER).glob("*.toml"))[:8]:
        for check in check_rules(path.read_text(), RuleFile(str(path))):
            assert check.problems == (), check


def test_a_pattern_takes_what_it_finds_as_re_does(tmp_path: Path) -> None:
    file = added(tmp_path, RULE)
    text: dict[str, Any] = tomllib.loads(RULE)["yamllint"]["example"][0]
    out = BytesSource(text["output"].encode())
    examination = Examination(out, NOTHING, text["command"], added=(file,))
    assert [one.text for one in examination.failed] == text["named"]
    assert examination.given_up == []
