"""What views of made outputs show: of each set at least so many cases in whole, at each budget that is asked of it."""

import pytest

from benchmarks.failure_recall import made, measure

AT_LEAST = {
    "names": {"8 KiB": 24, "2 KiB": 22},
    "markers": {"2 KiB": 20},
    "quiet": {"auto": 20},
    "floods": {"8 KiB": 18, "2 KiB": 11},
    "context": {"8 KiB": 24, "2 KiB": 24},
    "above": {"8 KiB": 26, "2 KiB": 26},
    "words": {"8 KiB": 33, "2 KiB": 31},
    "again": {"2 KiB": 20},
    "closing": {"8 KiB": 24, "2 KiB": 24},
    **{name: {"8 KiB": 24, "2 KiB": 24} for name in ("stacks", "below", "passing", "warned", "reports")},
}


@pytest.mark.parametrize("name", AT_LEAST)
def test_a_made_set_is_shown(name: str) -> None:
    results = [measure(case, AT_LEAST[name], beside=()) for case in made(name)]
    assert not [what for one in results for what in one.wrong]
    whole = {heading: sum(one.scores[heading]["ours"].whole for one in results) for heading in AT_LEAST[name]}
    assert {heading: count for heading, count in whole.items() if count < AT_LEAST[name][heading]} == {}
