"""What a person and other packages add is found, tried and written down; views take it from there."""

import json
import os
from pathlib import Path

import pytest

from sightline import run_command
from sightline.audit.buffer_failures import failures_of
from sightline.doors.doctor.doctor import examine, examine_plugins
from sightline.harnesses import find, load_harness
from sightline.settings.entry_points import refresh_plugins
from sightline.settings.plugins import FILE, Plugins, read_plugins, rule_files, write_plugins
from sightline.shape.failure.catalogue import MAX_FILE_BYTES, RuleFile
from sightline.store import Store

RULE = """
[frob]
programs = ["frob"]
marks = ["frob says"]

[[frob.failure]]
has = "BROKE"
line = "^BROKE (?P<name>.+)$"

[[frob.example]]
command = "frob"
output = "BROKE a leg\\n"
failures = [1]
named = ["a leg"]
"""


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / "store" / "rules").mkdir(parents=True)
    return str(tmp_path / "store")


def own(root: str, name: str = "frob.toml", text: str = RULE) -> Path:
    path = Path(root, "rules", name)
    path.write_text(text)
    return path


def package(folder: Path, value: str = "frob_rules", files: tuple[str, ...] = ("frob.toml",)) -> None:
    """A distribution with an entry point, and the package that it should lead to."""
    described = folder / "frob-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: frob\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[sightline.rules]\nfrob = {value}\n")
    (folder / "frob_rules").mkdir()
    (folder / "frob_rules" / "__init__.py").write_text("raise RuntimeError('nobody imports it')\n")
    for file in files:
        (folder / "frob_rules" / file).write_text(RULE)


def levels(root: str) -> list[str]:
    return [finding.level for finding in examine_plugins(root)]


def texts(root: str) -> str:
    return "\n".join(finding.text for finding in examine_plugins(root))


def test_where_nothing_was_added_there_is_nothing(tmp_path: Path) -> None:
    assert rule_files(str(tmp_path)) == ()
    assert read_plugins(str(tmp_path)) == Plugins()


def test_a_persons_rule_counts_at_once(root: str) -> None:
    path = own(root)
    (file,) = rule_files(root)
    assert (file.path, file.size) == (str(path), path.stat().st_size)


def test_a_rule_that_does_not_stand_its_example_is_left_out_until_it_is_changed(root: str) -> None:
    path = own(root, text=RULE.replace("failures = [1]", "failures = [2]"))
    assert levels(root) == ["problem"]
    assert [file.refused for file in rule_files(root)] == [("frob",)]
    path.write_text(RULE)
    assert [file.refused for file in rule_files(root)] == [()]
    assert levels(root) == ["ok"]


def test_a_rule_without_an_example_is_taken_and_told_of(root: str) -> None:
    own(root, text=RULE[: RULE.index("[[frob.example]]")])
    assert levels(root) == ["ok", "note"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (RULE + "# " + "x" * MAX_FILE_BYTES, "larger than"),
        ("[frob\n", "no file of rules"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_file_that_is_none_is_left_out_whole_and_told_of(root: str, text: str, why: str) -> None:
    own(root).write_bytes(text.encode(errors="surrogateescape"))
    assert why in texts(root)
    assert levels(root) == ["problem"]


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(root: str) -> None:
    os.mkfifo(Path(root, "rules", "pipe.toml"))
    assert "it is not a file" in texts(root)


def test_a_link_to_a_file_of_rules_is_followed(root: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(RULE)
    Path(root, "rules", "frob.toml").symlink_to(tmp_path / "mine.toml")
    with Store(root) as store:
        told = [finding for finding in examine(store) if "frob" in finding.text]
    assert [finding.level for finding in told] == ["ok"]
    assert "BROKE" not in told[0].text


@pytest.mark.parametrize("target", ["nowhere", "frob.toml", "/dev/zero"])
def test_a_link_that_leads_to_no_file_is_told_of_and_costs_no_reply(root: str, target: str) -> None:
    Path(root, "rules", "frob.toml").symlink_to(target)
    assert levels(root) == ["problem"]
    with Store(root) as store:
        assert run_command("seq 3000; exit 1; : frob", store=store).fields["exit_code"] == 1


def test_rules_of_a_package_are_found_without_importing_it(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert rule_files(root) == ()  # nobody has looked yet
    assert levels(root) == ["ok"]
    assert [file.path for file in rule_files(root)] == [str(tmp_path / "site" / "frob_rules" / "frob.toml")]


def test_a_persons_rule_goes_before_a_packages(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    mine = own(root)
    refresh_plugins(root)
    assert rule_files(root)[-1].path == str(mine)


@pytest.mark.parametrize(
    ("value", "files", "why"),
    [
        ("no_such_package", (), "there is no package no_such_package"),
        ("frob_rules.sub", (), "RuntimeError"),  # its parent raises
        ("frob_rules", (), "has no file that ends in .toml"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_told_of(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, files: tuple[str, ...], why: str
) -> None:
    package(tmp_path / "site", value, files)
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert why in texts(root)


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", '{"rules": 3, "harnesses": {}, "refused": []}', "\0"])
def test_what_was_written_down_and_cannot_be_read_is_nothing(root: str, text: str) -> None:
    Path(root, FILE).write_text(text)
    assert read_plugins(root) == Plugins()
    own(root)
    assert len(rule_files(root)) == 1


def test_what_was_written_down_is_read_again(root: str) -> None:
    plugins = Plugins(("/a.toml",), {"hal": "hal:HARNESS"}, (RuleFile("/b.toml", 3, 4, ("frob",)),))
    write_plugins(root, plugins)
    assert read_plugins(root) == plugins
    assert json.loads(Path(root, FILE).read_text())["rules"] == ["/a.toml"]


def test_a_view_and_the_audit_read_an_output_by_a_persons_rule(root: str) -> None:
    command = "seq 3000; echo BROKE a leg; seq 3000; exit 1; : frob"
    with Store(root) as store:
        before = run_command(command, store=store)
        assert failures_of(store, store.resolve(before.ref).buffer) == ()
    own(root)
    with Store(root) as store:
        buffer = next(item.buffer for item in store.listed(1))
        assert [failure.name for failure in failures_of(store, buffer)] == ["a leg"]
        assert "BROKE a leg" in str(run_command(command, store=store))


def test_a_reply_says_which_rule_was_given_up(root: str) -> None:
    failure = '[[slow.failure]]\nhas = "BROKE"\nline = "(?:a|aa)+(?:a|aa)+$|x"\n'
    own(root, text='[slow]\nprograms = ["slow"]\nmarks = []\n' + failure)
    with Store(root) as store:
        reply = run_command("printf 'BROKE %05000d!\\n' 0 | tr 0 a; seq 3000; exit 1; : slow", store=store)
    assert "the rules of slow took too long" in reply.fields["warning"]
    assert "3000" in str(reply)


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("raise RuntimeError('no luck')", "RuntimeError: no luck"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("HARNESS = 3", "is no harness but int"),
        ("", "AttributeError"),
    ],
)
def test_a_harness_that_does_not_load_is_told_of_and_costs_no_hook(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, why: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = f"bad_agent_{abs(hash(module))}"  # what was imported once is not imported again
    (tmp_path / f"{name}.py").write_text(module)
    with pytest.raises(ImportError, match=why):
        load_harness("bad-agent", f"{name}:HARNESS")
    described = tmp_path / "bad-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[sightline.harnesses]\nbad-agent = {name}:HARNESS\n")
    (told,) = list(examine_plugins(root))
    assert told.level == "problem" and "the harness bad-agent" in told.text and why in told.text
    monkeypatch.setenv("SIGHTLINE_HOME", root)
    find.cache_clear()
    assert find("bad-agent") is None


def test_what_a_harness_prints_as_it_is_loaded_is_no_answer_of_a_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "loud_agent.py").write_text("print('hello')\nHARNESS = 3\n")
    with pytest.raises(ImportError):
        load_harness("loud", "loud_agent:HARNESS")
    assert capsys.readouterr() == ("", "hello\n")
