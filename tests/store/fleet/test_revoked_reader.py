"""A reader whose right was taken back keeps nothing of that host, whichever command asks first."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from tests.store.fleet.conftest import Hosts, keep_in, show
from tests.store.fleet.test_shared_commands import Run, run

__all__ = ["run"]

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.fleet.reader.store import SharedStore

SECRET = b"only the red team reads this\n"


def kept_files(home: Path) -> set[str]:
    """Files of fetched bytes below a reader's folder of shared places."""
    return {str(path) for path in home.glob("shared/*/objects/*/*")} | {str(one) for one in home.glob("shared/*/all-*")}


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "--match", "tests"),
        ("show", "REF"),
        ("show", "NAME"),
        ("path", "REF"),
        ("query", "grep red REF"),
        ("show", "HOST/@last"),
        ("show", "SHA"),
        ("grep", "red"),
        ("timeline",),
        ("views", "REF"),
        ("diff", "REF", "OTHER"),
    ],
    ids=" ".join,
)
def test_after_a_revoke_the_first_command_shows_nothing_and_removes_what_was_kept(
    hosts: Hosts, run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    kept = keep_in(hosts.stores["a"], SECRET, command="make tests", session="agent")
    show(hosts.stores["a"], "agent", kept)
    hosts.ship("a")
    ref, other = hosts.ref("a", kept), hosts.ref("b", keep_in(hosts.stores["b"], b"others\n", command="make docs"))
    hosts.ship("b")
    assert run("sessions")[0] == 0
    assert "red team" in run("show", ref)[1]
    assert run("path", ref)[0] == 0
    assert kept_files(tmp_path / "reader")
    hosts.fleet.rows("UPDATE sightline.hosts SET team = 'blue' WHERE name = %s", hosts.names["a"])
    keep_in(hosts.stores["a"], b"new secret\n", command="make news")
    hosts.ship("a")
    own = {"REF": ref, "OTHER": other, "NAME": kept.ref, "SHA": f"@sha256:{kept.streams['out'].sha256}"}
    own["grep red REF"] = f"grep red {ref}"
    asked = [own.get(word, word.replace("HOST", hosts.names["a"])) for word in words]
    _, out, err = run(*asked)
    for text in ("red team", "news", "make tests"):
        assert text not in out + err
    assert "REF" not in words or f"called {ref}" in out + err
    assert not any(b"red team" in Path(path).read_bytes() for path in kept_files(tmp_path / "reader"))
    for path in (tmp_path / "reader").glob("shared/*/index.sqlite"):
        with contextlib.closing(sqlite3.connect(path)) as index:
            assert not [row for row in index.iterdump() if hosts.names["a"] in row]
    for again in (asked, ["list"], ["show", ref], ["path", ref], ["query", f"grep red {ref}"], ["grep", "red"]):
        _, out, err = run(*again, "--offline")
        assert "red team" not in out + err, again
        assert hosts.names["a"] not in out.replace(f"called {ref}", ""), again


def test_after_a_revoke_the_inspector_opens_on_what_is_still_granted(hosts: Hosts, place: SharedStore) -> None:
    place.bring_up_to_date()
    place.close()
    hosts.fleet.rows("UPDATE sightline.hosts SET team = 'blue' WHERE name = %s", hosts.names["a"])
    with SharedStore(place.local, place.address) as again:
        again.take_in_newest()
        assert {item.buffer.name.partition("/")[0] for item in again.listed(10)} == {hosts.names["b"]}
        assert again.hosts() == [one for one in again.hosts() if one.name == hosts.names["b"]]


def test_a_reader_whose_role_was_removed_reads_with_offline_alone(hosts: Hosts, run: Run) -> None:
    kept = keep_in(hosts.stores["a"], SECRET, session="agent")
    hosts.ship("a")
    ref = hosts.ref("a", kept)
    assert "red team" in run("show", ref)[1]
    hosts.fleet.rows(f'ALTER ROLE "carl_{hosts.fleet.id}" NOLOGIN')
    code, out, err = run("show", ref)
    assert (code, "red team" in out, "refused" in out + err) == (1, False, True)
    assert "red team" in run("show", ref, "--offline")[1]
