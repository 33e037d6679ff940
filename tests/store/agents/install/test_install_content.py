"""What a file is to have from us, beside what a person has in it, before and since."""

import json
from typing import Any

import pytest

from sightline.agents.install.harness_settings import SCOPES, SettingsTarget, Where, installable, places_of, targets_of
from sightline.agents.install.jsonc import parse, plain
from sightline.agents.install.settings_text import Undo, of_ours, with_ours, without_ours
from sightline.harnesses import known
from sightline.harnesses.base import KEEP, MODES, RECORD, SHAPE
from tests.each import each

WHERE = Where("/h", "/p", {})
THEIRS = '{"matcher": "Bash", "hooks": [{"type": "command", "command": "/their/hook"}]}'


def _target(harness: str, mode: str = KEEP, *, which: int = -1) -> SettingsTarget:
    return targets_of(known()[harness], mode, places_of(known()[harness], "user", WHERE), "")[which]


def _data(text: str) -> Any:
    return plain(parse(text))


@each("scope", SCOPES)
@each("mode", MODES)
@each("harness", installable())
def test_what_was_put_in_is_found_again_and_goes_without_a_trace(harness: str, mode: str, scope: str) -> None:
    for path, content in targets_of(
        known()[harness], mode, places_of(known()[harness], scope, WHERE), "/a store of one's own"
    ):
        assert path.startswith("/h" if scope == "user" else "/p")
        empty = "" if content.form != "json" else "{}\n"
        text, undo = with_ours("", content)
        assert len(of_ours(text, content)) >= len(content.puts) + len(content.adds)
        assert with_ours(text, content)[0] == text
        rest = without_ours(text, content, undo)
        assert rest == empty or (harness in ("copilot", "cursor") and _data(rest) == {"version": 1})


def test_hooks_of_a_person_stay_before_and_behind_ours() -> None:
    _, content = _target("claude-code", SHAPE)
    before = f'{{"hooks": {{"PreToolUse": [{THEIRS}]}}, "permissions": {{"deny": ["Bash(rm:*)"]}}}}'
    text, undo = with_ours(before, content)
    first, ours = _data(text)["hooks"]["PreToolUse"]
    assert first == json.loads(THEIRS)
    assert ours["matcher"] == "Bash"
    assert _data(text)["permissions"]["deny"] == ["Bash(rm:*)"]
    assert without_ours(text, content, undo) == before


def test_an_agent_waits_for_the_hooks_that_may_answer_it() -> None:
    """What is logged of a batch of calls changes nothing for it."""
    _, content = _target("claude-code")
    hooks = _data(with_ours("", content)[0])["hooks"]
    apart = {event for event, groups in hooks.items() for group in groups for one in group["hooks"] if one.get("async")}
    assert apart == {"PostToolBatch"}


def test_what_a_person_adds_later_stays_when_ours_goes() -> None:
    _, content = _target("claude-code", SHAPE)
    text, undo = with_ours('{\n  "model": "opus" // the best\n}\n', content)
    data = _data(text)
    edited = text.replace('"PreToolUse": [', f'"PreToolUse": [\n      {THEIRS}, // mine', 1)
    edited = edited.replace('"allow": [', '"allow": [\n      "Bash(ls:*)",', 1).replace("opus", "haiku")
    assert _data(edited) != data
    rest = without_ours(edited, content, undo)
    assert _data(rest) == {
        "model": "haiku",
        "hooks": {"PreToolUse": [json.loads(THEIRS)]},
        "permissions": {"allow": ["Bash(ls:*)"]},
    }
    assert "// the best" in rest
    assert "// mine" in rest


def test_a_hook_that_a_person_put_beside_ours_in_one_group_stays() -> None:
    _, content = _target("claude-code", SHAPE)
    text, undo = with_ours("{}", content)
    data = _data(text)
    data["hooks"]["PreToolUse"][0]["hooks"].append({"type": "command", "command": "/their/hook"})
    rest = without_ours(json.dumps(data), content, undo)
    assert _data(rest) == {"hooks": {"PreToolUse": [json.loads(THEIRS)]}}


def test_another_mode_takes_the_hooks_of_the_one_before_along() -> None:
    text, _ = with_ours("{}", _target("claude-code", SHAPE).content)
    text, _ = with_ours(text, _target("claude-code", RECORD).content)
    assert "--mode shape" not in text
    assert "PreToolUse" not in {event for event, groups in _data(text)["hooks"].items() if groups}
    assert _data(text) != _data(with_ours("{}", _target("claude-code", SHAPE).content)[0])


def test_keys_that_a_person_added_to_our_server_stay_on_reinstalling() -> None:
    _, content = _target("gemini")
    text, _ = with_ours("{}", content)
    data = _data(text)
    data["mcpServers"]["sightline"] |= {"timeout": 5, "command": "/an/older/python"}
    again = _data(with_ours(json.dumps(data), content)[0])["mcpServers"]["sightline"]
    assert again == {**_data(text)["mcpServers"]["sightline"], "timeout": 5}


@pytest.mark.parametrize("harness", ["claude-code", "codex"])
def test_a_server_of_ours_name_that_is_not_ours_comes_back(harness: str) -> None:
    _, content = _target(harness, which=0)
    before = {
        "claude-code": '{"mcpServers": {"sightline": {"url": "http://else"}}}',
        "codex": '[mcp_servers.sightline]\nurl = "http://else"\n',
    }[harness]
    text, undo = with_ours(before, content)
    assert "http://else" not in text
    assert without_ours(text, content, undo) == before


def test_a_rule_that_a_person_had_already_stays() -> None:
    _, content = _target("claude-code")
    before = '{"permissions": {"allow": ["Bash(set -o pipefail)"]}}'
    text, undo = with_ours(before, content)
    assert _data(text)["permissions"]["allow"][1:] == [value for keys, value in content.adds if "allow" in keys]
    assert without_ours(text, content, undo) == before
    assert "Bash(set -o pipefail)" in without_ours(text, content, Undo()), "where it is not known to be ours it stays"


@pytest.mark.parametrize("rule", ["Bash(sightline capture:*)", "Bash(sightline:*)", "Bash(sightline-capture:*)"])
def test_a_rule_about_us_that_a_person_wrote_stays(rule: str) -> None:
    _, content = _target("claude-code")
    before = json.dumps({"permissions": {"allow": [rule]}})
    text, undo = with_ours(before, content)
    assert rule in _data(text)["permissions"]["allow"]
    again, more = with_ours(text, content)
    assert without_ours(again, content, more.after(undo)) == before


def test_a_rule_that_came_with_another_mode_goes_with_it_and_a_persons_stays() -> None:
    keep, record = (_target("claude-code", mode).content for mode in (KEEP, RECORD))
    for before in ('{"a": 1}', '{"permissions": {"allow": ["Bash(set -o pipefail)"]}}'):
        text, undo = with_ours(before, keep)
        text, more = with_ours(text, record)
        assert without_ours(text, record, more.after(undo)) == before


def test_a_text_that_only_speaks_of_our_hooks_is_not_touched() -> None:
    _, content = _target("claude-code", which=0)
    before = '{"history": ["sightline mcp", {"command": "sightline", "args": ["mcp"]}]}'
    assert without_ours(before, content, Undo()) == before


def test_a_store_elsewhere_is_told_to_the_agents_own_shell_and_what_stood_there_comes_back() -> None:
    """Claude Code's hooks rewrite commands, and those run where no hook's variables are."""
    (_, content) = targets_of(
        known()["claude-code"], KEEP, places_of(known()["claude-code"], "user", WHERE), "/a store"
    )[-1]
    before = '{"env": {"SIGHTLINE_HOME": "/theirs", "A": "b"}}'
    text, undo = with_ours(before, content)
    assert _data(text)["env"] == {"SIGHTLINE_HOME": "/a store", "A": "b"}
    assert without_ours(text, content, undo) == before
    text, undo = with_ours('{"env": {"A": "b"}}', content)
    assert without_ours(text, content, undo) == '{"env": {"A": "b"}}'
    text, undo = with_ours("{}", content)
    assert without_ours(text, content, undo) == "{}"
