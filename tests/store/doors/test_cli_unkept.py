"""Where there can be no store: what was to be kept is given all the same."""

from pathlib import Path
from typing import Any

AGENT = {"CLAUDE_CODE_SESSION_ID": "an-agent"}


def test_where_no_store_can_be_made_a_person_gets_all_of_it_as_it_comes(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a\nb\n")
    home = {"SIGHTLINE_HOME": str(tmp_path / "file" / "store")}
    ran = cli("run", "-c", "seq 300000; echo oh >&2; exit 3", **home)
    assert ran.code == 3
    assert ran.out.splitlines() == [str(number) for number in range(1, 300_001)]
    said, warning = ran.err.splitlines()
    assert said == "oh"
    assert "nothing was kept" in warning
    assert "truncated" not in warning
    piped = b"piped\n" * 20_000
    ran = cli("capture", "--command", "x", stdin=piped, **home)
    assert (ran.code, ran.out.encode()) == (0, piped)
    assert "nothing was kept" in ran.err
    ran = cli("capture", "-p", stdin=piped, **home)
    assert (ran.code, ran.out.encode()) == (0, piped)
    assert "storing failed" in ran.err
    ran = cli("read", "file:2-", **home)
    assert (ran.code, ran.out.splitlines()[1:]) == (0, ["b"])
    assert "nothing was kept" in ran.out.splitlines()[0]


def test_where_no_store_can_be_made_an_agent_gets_the_output_with_a_warning(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    home = {"SIGHTLINE_HOME": str(tmp_path / "file" / "store"), **AGENT}
    ran = cli("run", "-c", "echo out; echo oh >&2; exit 3", **home)
    assert ran.code == 3
    assert "nothing was kept" in ran.out.splitlines()[0]
    assert ran.out.splitlines()[1:] == ["out", "[stderr]", "oh"]
    ran = cli("capture", "--command", "x", stdin=b"piped\n", **home)
    assert (ran.code, ran.out.splitlines()[1:]) == (0, ["piped"])
    assert "nothing was kept" in ran.out.splitlines()[0]
    ran = cli("run", "-c", "seq 300000", **home)
    assert "stdout_total=300000" in ran.out.splitlines()[0]
    assert len(ran.out.encode()) <= 1 << 16


def test_what_only_a_view_was_asked_for_is_no_more_than_a_view(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    home = {"SIGHTLINE_HOME": str(tmp_path / "file" / "store")}
    told = cli("run", "--json", "-c", "seq 300000", **home).data
    assert (told["stdout_total"], told["truncated"]) == (300_000, True)
    assert "stdout_total=300000" in cli("run", "--quiet", "-c", "seq 300000", **home).out


def test_where_nothing_may_be_kept_a_person_gets_all_of_it(cli: Any, tmp_path: Path) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text(f'[directories."{tmp_path}"]\ncapture = "off"\n')
    ran = cli("run", "-c", "seq 300000")
    assert ran.out.splitlines() == [str(number) for number in range(1, 300_001)]
    assert "nothing is kept in this folder" in ran.err
