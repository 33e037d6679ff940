"""A pattern that is compiled late is used as any other."""

import re

import pytest

from sightline.light.late_pattern import late_pattern


def test_it_has_all_that_a_pattern_has() -> None:
    late, pattern = late_pattern(r"(?P<word>[a-z]+)", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)", re.IGNORECASE)
    text = "12 Ab cd"
    assert [match["word"] for match in late.finditer(text, 4)] == [match["word"] for match in pattern.finditer(text, 4)]
    assert late.sub("_", text) == pattern.sub("_", text)
    assert (late.pattern, late.flags, late.groupindex) == (pattern.pattern, pattern.flags, pattern.groupindex)
    assert late_pattern(rb"\d").search(b"a1")


def test_a_faulty_one_is_told_when_it_is_used() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error, match="missing"):
        late.search("")


def test_a_name_that_no_pattern_has_is_an_error() -> None:
    with pytest.raises(AttributeError):
        late_pattern("a").serch("a")  # type: ignore[attr-defined]
