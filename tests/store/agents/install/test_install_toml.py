"""Changes to TOML settings: one table comes, changes and goes, and the rest stays to the byte."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.agents.install.json_edit import NoPlace
from sightline.agents.install.toml_edit import NotToml, put_table, remove_table
from tests.store.agents.install.settings_kit import unhurried

KEYS = ("mcp_servers", "sightline")
SERVER = {"command": "/a b/python", "args": ["-m", 'é"\\'], "env": {"A B": "c"}, "required": True}
PIECES = [
    'model = "x" # [not.a.table]\n',
    "# a comment, and an 'apostrophe\n",
    "\n",
    'text = """\n[mcp_servers.sightline]\n""" # end\n',
    "raw = '''\n[a]\n'''\n",
    "list = [\n  [1, 2], # ]\n  [3],\n]\n",
]
TABLES = [
    '[profiles."a.b"]\nk = 1\n',
    "[[hooks]]\nx = { y = [1] }\n[[hooks]]\nx = 2\n",
    '[mcp_servers.other]\ncommand = "o"\n\n# about nothing\n',
    "[tools]\n  indented = true\n",
]


@st.composite
def documents(draw: st.DrawFn) -> str:
    head = draw(st.lists(st.sampled_from(PIECES), unique=True))
    tables = draw(st.lists(st.sampled_from(TABLES), unique=True))
    text = "".join([*head, *tables])
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@unhurried
@given(documents())
def test_a_table_comes_and_goes_without_a_trace(text: str) -> None:
    after = put_table(text, KEYS, SERVER)
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["sightline"] == SERVER
    assert remove_table(after, KEYS) == text


@unhurried
@given(documents(), st.sets(st.sampled_from(TABLES)))
def test_it_changes_and_goes_wherever_it_stands(before: str, behind: set[str]) -> None:
    tail = "".join(sorted(table for table in behind if table not in before.replace("\r\n", "\n")))
    text = put_table(before, KEYS, SERVER) + "startup_timeout_sec = 5 # mine\n" + tail
    changed = put_table(text, KEYS, {**SERVER, "command": "new"})
    assert changed == text.replace('"/a b/python"', '"new"')
    data = tomllib.loads(remove_table(changed, KEYS))
    rest = tomllib.loads(text)
    del rest["mcp_servers"]["sightline"]
    assert data.get("mcp_servers", {}) == rest.pop("mcp_servers")
    assert {name: value for name, value in data.items() if name != "mcp_servers"} == rest


def test_tables_within_ours_go_along() -> None:
    """Codex keeps there which tools it need not ask about."""
    text = put_table("a = 1\n\n[x]\nb = 2\n", KEYS, SERVER)
    asked = text + '\n[mcp_servers.sightline.verbs.query]\napproval_mode = "approve"\n\n[y]\nc = 3\n'
    assert put_table(asked, KEYS, SERVER) == asked
    assert tomllib.loads(remove_table(asked, KEYS)) == {"a": 1, "x": {"b": 2}, "y": {"c": 3}}


def test_our_table_under_another_spelling_is_found() -> None:
    text = '[ "mcp_servers" . sightline ] # mine\ncommand = "old"\n'
    assert put_table(text, KEYS, {"command": "new"}) == '[ "mcp_servers" . sightline ] # mine\ncommand = "new"\n'
    assert remove_table(text, KEYS) == ""


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "x" } }',
        'mcp_servers = { sightline = { command = "sightline", args = ["mcp"] } }',
        '[mcp_servers]\nsightline = { command = "sightline" }\n',
        "mcp_servers = 3",
        "[[mcp_servers]]\na = 1\n",
    ],
)
def test_what_cannot_be_changed_in_a_table_of_its_own_is_left_alone(text: str) -> None:
    with pytest.raises(NoPlace):
        put_table(text, KEYS, SERVER)


def test_what_is_no_toml_is_told() -> None:
    with pytest.raises(NotToml, match="line 2"):
        put_table("a = 1\nb = \n", KEYS, SERVER)
