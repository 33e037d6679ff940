"""``sightline secrets`` finds what is stored already, never prints it, and purges it."""

from pathlib import Path
from typing import Any

from sightline.store import Store
from sightline.verbs import stored_secrets as module
from sightline.verbs.stored_secrets import stored_secrets

IN_PROCESS = True

TOKEN = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN RSA PRIVATE" + " KEY-----\n" + "MIIEow+/" * 8 + "\n" + "q0==\n-----END RSA PRIVATE" + " KEY-----\n"


def _keep(cli: Any, text: str) -> str:
    """The ref of an output with this text, whose command does not have it."""
    (cli.folder / "text").write_text(text)
    cli("run", "--", "cat", "text")
    return str(cli("list", "--json").data[0]["ref"])


def test_a_stored_secret_is_found_by_its_place_and_never_printed(cli: Any) -> None:
    ref = _keep(cli, f"one\ntwo {TOKEN}\n")
    ran = cli("secrets")
    assert ran.code == 1
    assert f"github-token             {ref}.out:2" in ran.out or f"github-token             {ref}:2" in ran.out
    assert TOKEN not in ran.out + ran.err
    assert "transcripts" in ran.err
    [found] = [one for one in cli("secrets", "--json").data["secrets"] if one["buffer"]]
    assert (found["kind"], found["line"], "@" + found["buffer"]) == ("github-token", 2, ref)


def test_secrets_in_commands_and_keys_over_lines_are_found(cli: Any) -> None:
    cli("run", "--", "echo", "-n", TOKEN)
    _keep(cli, f"x\n{KEY}")
    rows = [(one["kind"], one["line"]) for one in cli("secrets", "--json").data["secrets"] if one["buffer"]]
    assert ("github-token", 0) in rows
    assert ("private-key", 2) in rows


def test_a_store_without_secrets_has_none(cli: Any) -> None:
    _keep(cli, "one\ntwo\n")
    ran = cli("secrets")
    assert (ran.code, ran.out) == (0, "0 secrets of known formats\n")
    assert ran.err == ""


def test_purging_leaves_nothing_of_a_secret_in_any_file(cli: Any) -> None:
    _keep(cli, f"one\ntwo {TOKEN}\n")
    kept = _keep(cli, "other\n")
    ran = cli("secrets", "--purge")
    assert "removed, and the replies that showed it blanked" in ran.out
    assert cli("secrets").code == 0
    assert [one["ref"] for one in cli("list", "--json").data] == [kept]
    files = [path for path in Path(cli.home).rglob("*") if path.is_file() and not path.name.startswith("index.sqlite")]
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]


def test_labels_and_what_is_left_of_removed_outputs_are_looked_through(cli: Any) -> None:
    cli("run", "--label", TOKEN, "--", "true")
    labelled = cli("list", "--json").data[0]["ref"]
    gone = _keep(cli, "a line\n" * 3_000 + f"a {TOKEN}\n")
    cli("show", gone, "--lines", "1-3001")  # of which the log has the place, and a tombstone the text
    cli("rm", gone)
    cli("run", "--", "echo", TOKEN)
    [of_command, *_] = cli("list", "--json").data
    cli("rm", of_command["ref"])
    found = {one["ref"]: one for one in cli("secrets", "--json").data["secrets"] if one["buffer"]}
    assert set(found) == {labelled, of_command["ref"], gone}
    assert f"{gone}, what is left of it" in cli("secrets").out
    cli("secrets", "--purge")
    assert cli("secrets").code == 0
    assert not [path for path in Path(cli.home).rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


def test_a_secret_at_any_edge_of_a_window_is_found_once(cli: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "_WINDOW_BYTES", 256)
    monkeypatch.setattr(module, "_OVERLAP_BYTES", 64)
    _keep(cli, "".join(f"{'.' * (at % 97)} {TOKEN}\n" for at in range(60)))
    with Store(str(cli.home)) as store:
        [buffer] = [one.buffer for one in store.listed(9)]
        looked: list[int] = []
        found = [one.line for one in stored_secrets(store, [buffer], [], [], looked.append)]
    assert found == list(range(1, 61))
    assert sum(looked) == buffer.bytes
