"""``sightline rules``: what is known, how an output is read, and a start that a person corrects."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.shape.failure.catalogue import RuleFile
from sightline.shape.failure.rule_check import check_rules
from sightline.shape.failure.rule_draft import Draft, count_in, patterns_of, shortened
from sightline.shape.failure.tool_rules import LatePattern, parse_rules
from tests.store.doors.conftest import Cli

IN_PROCESS = True

FAILING = "seq 300; echo 'door.frob:12: broken hinge, error 7'; seq 200; exit 3; : frob"
LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp")), max_size=40), min_size=1)


@pytest.fixture
def captured(cli: Cli) -> Cli:
    """A store with the output of a tool that nobody knows."""
    cli("run", "-c", FAILING)
    return cli


def rule(cli: Cli) -> Path:
    return cli.home / "rules" / "frob.toml"


def test_all_tools_are_listed_ones_own_first(captured: Cli) -> None:
    before = captured("rules", "--json").data
    assert "pytest" in {one["tool"] for one in before if not one["added"]}
    captured("rules", "new", "frob", "--from", "@last")
    first, *rest = captured("rules", "--json").data
    assert first == {"tool": "frob", "added": True, "file": str(rule(captured)), "programs": ["frob"]}
    assert rest == before
    assert captured("rules").out.startswith("frob ")


def test_a_rule_that_is_started_from_an_output_stands_it_and_holds_at_once(captured: Cli) -> None:
    started = captured("rules", "new", "frob", "--from", "@last")
    assert (started.code, started.out.splitlines()[0]) == (0, str(rule(captured)))
    (check,) = check_rules(rule(captured).read_text(), RuleFile(str(rule(captured))))
    assert (check.tool, check.examples, check.problems) == ("frob", 1, ())
    assert tomllib.loads(rule(captured).read_text())["frob"]["example"][0]["named"] == ["door.frob:12"]
    read = captured("rules", "try", "@last", "--json").data
    assert read["tools"] == ["frob"]
    assert [(one["line"], one["rule"], one["place"]) for one in read["failures"]] == [(301, "frob", "door.frob:12")]
    assert "door.frob:12: broken hinge" in read["summary"]


def test_a_rule_that_is_there_is_not_written_over(captured: Cli) -> None:
    captured("rules", "new", "frob", "--from", "@last")
    rule(captured).write_text("# mine\n")
    again = captured("rules", "new", "frob", "--from", "@last")
    assert again.code != 0 and "exists already" in again.err
    assert rule(captured).read_text() == "# mine\n"


@pytest.mark.parametrize("name", ["../frob", "", "a b", "a/b", "-x"])
def test_a_name_that_is_none_is_refused(captured: Cli, name: str) -> None:
    assert captured("rules", "new", "--from", "@last", "--", name).code == (0 if name == "-x" else 2)
    assert not list(captured.home.parent.glob("frob.toml"))


def test_an_output_of_a_file_is_read_as_that_of_a_command(captured: Cli) -> None:
    (captured.folder / "log").write_text("FAILED a.py::test_b - no luck\n=== 1 failed in 0.1s ===\n")
    read = captured("rules", "try", "log", "--command", "pytest", "--exit", "1")
    assert "tools    pytest" in read.out
    assert "1 failed" in read.out
    assert "a.py::test_b" in read.out


def test_what_no_rule_knows_is_read_by_the_general_words(captured: Cli) -> None:
    read = captured("rules", "try", "@last").out
    assert "none that is known" in read
    assert "(no rule)" in read
    assert "door.frob:12: broken hinge" in read


def test_a_file_of_rules_is_tried_before_it_is_in_its_place(captured: Cli) -> None:
    captured("rules", "new", "frob", "--from", "@last")
    moved = captured.folder / "frob.toml"
    rule(captured).rename(moved)
    assert captured("rules", "try", "@last", "--json").data["tools"] == []
    assert captured("rules", "try", "@last", "--rules", "frob.toml", "--json").data["tools"] == ["frob"]
    moved.write_text(moved.read_text().replace("failures = [14]", "failures = [2]"))
    assert "no failure is found in line 2" in captured("rules", "try", "@last", "--rules", "frob.toml").out


@pytest.mark.parametrize("words", [("nosuch",), ("@cmd_ffffff",), ("@last", "--rules", "nosuch")])
def test_what_is_not_there_is_told_with_what_to_do(captured: Cli, words: tuple[str, ...]) -> None:
    tried = captured("rules", "try", *words)
    assert tried.code != 0
    assert len(tried.err.splitlines()) >= 2


def test_doctor_tells_of_rules_that_are_left_out(captured: Cli) -> None:
    captured("rules", "new", "frob", "--from", "@last")
    rule(captured).write_text(rule(captured).read_text().replace("failures = [14]", "failures = [2]"))
    done = captured("doctor")
    assert done.code == 1
    assert "the rule of frob is left out" in done.out
    assert captured("rules", "try", "@last", "--json").data["tools"] == []


@given(lines=LINES, hits=st.sets(st.integers(1, 30)))
def test_a_draft_is_always_a_file_of_rules(lines: list[str], hits: set[int]) -> None:
    kept, places = shortened(lines, sorted(hit for hit in hits if hit <= len(lines)))
    draft = Draft("frob", "frob", "frob 'x'", 1, kept, places)
    assert set(parse_rules(draft.text())) == {"frob"}
    assert tuple(tomllib.loads(draft.text())["frob"]["example"][0]["output"].split("\n"))[: len(kept)] == kept


@given(lines=LINES, hits=st.sets(st.integers(1, 30), min_size=1))
def test_the_patterns_of_lines_are_found_in_them(lines: list[str], hits: set[int]) -> None:
    meant = [hit for hit in sorted(hits) if hit <= len(lines) and lines[hit - 1].strip()]
    for has, pattern in patterns_of(lines, meant):
        assert any(has in lines[hit - 1] and LatePattern(pattern).search(lines[hit - 1]) for hit in meant)


ODD = """>> grommet 2.3
[ok] widget/a.gro
[--] widget/b.gro: hinge 3 is bent
[ok] widget/c.gro
[!!] widget/d.gro @ 12,4: sprocket lacks teeth
[ok] widget/e.gro
[ok] widget/f.gro
6 widgets, 4 fine, 2 bad (0.2 s)"""


def test_lines_with_another_mark_than_most_are_taken_for_failures_of_a_failed_run(cli: Cli) -> None:
    tool = cli.folder / "grommet"
    tool.write_text(f"#!/bin/sh\necho '{ODD}'\nexit $1\n")
    tool.chmod(0o755)
    cli("run", "--", "./grommet", "4")
    started = cli("rules", "new", "grommet", "--from", "@last")
    assert "hinge 3 is bent" in started.out and "lacks teeth" in started.out and "widget/a.gro" not in started.out
    example = tomllib.loads((cli.home / "rules" / "grommet.toml").read_text())["grommet"]["example"][0]
    assert example["failures"] == [3, 5]
    assert example["counts"] == {"widgets": 6, "fine": 4, "bad": 2}
    assert example["named"] == ["widget/b.gro", "widget/d.gro:12"]
    file = cli.home / "rules" / "grommet.toml"
    assert [check.problems for check in check_rules(file.read_text(), RuleFile(str(file)))] == [()]
    (cli.home / "rules" / "grommet.toml").unlink()
    cli("run", "--", "./grommet", "0")
    assert "No line of the output looks like a failure" in cli("rules", "new", "grommet", "--from", "@last").out


@pytest.mark.parametrize("last", ["gamma", "2 pots, 1 whole"])
def test_an_output_in_which_nothing_looks_like_a_failure_starts_no_rule_until_its_lines_are_named(
    cli: Cli, last: str
) -> None:
    cli("run", "-c", f"printf 'alpha\\nbeta\\n{last}\\n'; exit 1 # mute")
    refused = cli("rules", "new", "mute", "--from", "@last")
    assert refused.code == 2 and "looks like a failure" in refused.err
    assert "sightline rules new mute --from @last --failed" in refused.err
    assert not (cli.home / "rules").exists()
    assert "beta" in cli("rules", "new", "mute", "--from", "@last", "--failed", "2").out
    example = tomllib.loads((cli.home / "rules" / "mute.toml").read_text())["mute"]["example"][0]
    assert example["failures"] == [2]


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("bowls 12 ok 11 lost 1", {"bowls": 12, "ok": 11, "lost": 1}),
        ("12 bowls, 11 ok, 1 lost", {"bowls": 12, "ok": 11, "lost": 1}),
        ("bowls: 12, lost: 1", {"bowls": 12, "lost": 1}),
    ],
)
def test_the_numbers_of_the_last_line_are_called_by_the_words_that_belong_to_them(
    line: str, counts: dict[str, int]
) -> None:
    found = {noun: re.search(pattern, line) for noun, pattern in count_in(["firing", line]).items()}
    assert {noun: int(number[1].strip(",")) for noun, number in found.items() if number} == counts


def test_a_failure_that_stands_on_standard_error_alone_is_found_there(cli: Cli) -> None:
    cli("run", "-c", "echo one; echo two; echo 'a.frob:3 >> bent' >&2; exit 1 # frob")
    assert "a.frob:3 >> bent" in cli("rules", "new", "frob", "--from", "@last").out
    assert cli("rules", "try", "@last", "--json").data["named"] == ["a.frob:3"]


def test_a_person_says_which_lines_are_failures(cli: Cli) -> None:
    told = "one.zap went up\ntwo.zap went sideways\nthree.zap went up\nfour.zap went sideways\n"
    (cli.folder / "zap.log").write_text(told)
    cli("run", "-c", "cat zap.log; exit 1 # zap")
    for wrong in ("0", "5", "x", "3-2", "1,"):
        refused = cli("rules", "new", "zap", "--from", "@last", "--failed", wrong)
        assert refused.code == 2 and "from 1 to 4" in refused.err, wrong
    started = cli("rules", "new", "zap", "--from", "@last", "--failed", "2,4", "--json").data
    assert started["failures"] == ["two.zap went sideways", "four.zap went sideways"]


@pytest.mark.parametrize("name", ["a.b", "c++", "a b", ""])
def test_what_is_no_plain_key_of_a_file_of_rules_names_no_tool(captured: Cli, name: str) -> None:
    refused = captured("rules", "new", name, "--from", "@last")
    assert refused.code != 0 and "cannot be the name of a tool" in refused.err
    assert not (captured.home / "rules").exists()
