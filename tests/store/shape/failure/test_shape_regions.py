"""Failures as regions of lines, in order."""

from itertools import pairwise

from sightline.shape.failure.examination import Examination
from sightline.shape.failure.judge import CAUSE, EXCEPTION
from sightline.shape.failure.regions import Region, regions_of
from sightline.shape.memory_stream import BytesSource

UNITTEST = b"""\
test_ok (t.T.test_ok) ... ok
test_one (t.T.test_one) ... FAIL

======================================================================
FAIL: test_one (t.T.test_one)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "t.py", line 3, in test_one
    self.assertEqual(1, 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 2 tests in 0.001s

FAILED (failures=1)
"""


def _regions(data: bytes, command: str = "") -> tuple[Region, ...]:
    nothing = BytesSource(b"")
    source = BytesSource(data)
    return regions_of(Examination(source, nothing, command), source)


def test_a_block_is_one_region_with_the_lines_that_tell_of_it() -> None:
    (region,) = [one for one in _regions(UNITTEST, "python -m unittest") if one.rank == CAUSE]
    assert (region.first, region.name, region.by_rule) == (5, "t.T.test_one", True)
    assert region.last >= 10
    lines = {line for first, last in region.telling for line in range(first, last + 1)}
    assert {5, 10} <= lines <= set(range(5, region.last + 1))


def test_regions_ascend_and_do_not_overlap() -> None:
    found = _regions(UNITTEST * 3, "python -m unittest")
    assert len(found) > 3
    assert all(one.first <= one.last < other.first for one, other in pairwise(found))


def test_without_a_rule_an_exception_is_a_region() -> None:
    (region,) = _regions(b"fine\n" * 20 + b"ValueError: no such thing\n" + b"fine\n" * 20)
    assert (region.rank, region.by_rule, region.first) == (EXCEPTION, False, 21)
    assert (21, 21) in region.telling


def test_what_went_well_has_none() -> None:
    assert _regions(b"all good\n" * 50) == ()
