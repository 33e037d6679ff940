"""Where there can be no store: what was to be kept is given all the same."""

from pathlib import Path
from typing import Any


def test_where_no_store_can_be_made_what_was_to_be_kept_is_given_with_a_warning(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a\nb\n")
    home = {"SIGHTLINE_HOME": str(tmp_path / "file" / "store")}
    ran = cli("run", "-c", "echo out; echo oh >&2; exit 3", **home)
    assert ran.code == 3
    assert "nothing was kept" in ran.out.splitlines()[0]
    assert ran.out.splitlines()[1:] == ["out", "[stderr]", "oh"]
    ran = cli("capture", "--command", "x", stdin=b"piped\n", **home)
    assert (ran.code, ran.out.splitlines()[1:]) == (0, ["piped"])
    assert "nothing was kept" in ran.out.splitlines()[0]
    ran = cli("capture", "-p", stdin=b"piped\n", **home)
    assert (ran.code, ran.out) == (0, "piped\n")
    assert "storing failed" in ran.err
    ran = cli("read", "file:2-", **home)
    assert (ran.code, ran.out.splitlines()[1:]) == (0, ["b"])
    assert "nothing was kept" in ran.out.splitlines()[0]
