"""Every case of the reference systems is tested, or declined with a reason."""

import re
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent
_TEST = re.compile(r"^def test_((?:[a-q]\d\d_)+)", re.MULTILINE)


def _tested() -> set[str]:
    """The ids in the names of this folder's tests."""
    return {
        case.upper()
        for file in FOLDER.glob("test_*.py")
        for name in _TEST.findall(file.read_text(encoding="utf-8"))
        for case in name.strip("_").split("_")
    }


def test_each_case_is_either_tested_or_declined() -> None:
    cases = tomllib.loads((FOLDER / "cases.toml").read_text(encoding="utf-8"))
    known = cases["ids"].split()
    groups = [_tested(), set(cases["declined"])]
    assert len(known) == len(set(known)) == 145
    assert set.union(*groups) == set(known)
    assert sum(map(len, groups)) == len(known), "a case is in both groups"
    assert all(len(reason) > 10 for reason in cases["declined"].values())
