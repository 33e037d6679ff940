"""Where overlooked failures begin: each is found by its number, and its number by its place, in little memory."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.buffer_failures import Failure, FailurePlace
from sightline.audit.overlooked_places import places_of
from sightline.disk.recording import new_buffer

BUFFER = new_buffer("cmd_00000a", "cmd", "make", "/", "s")
PLACES = st.lists(st.tuples(st.sampled_from(("out", "err")), st.integers(1, 1 << 33)), unique=True, max_size=12)


def failing(stream: str, line: int) -> Failure:
    return Failure("", "", "", (FailurePlace(stream, line, line, ((line, line),)),))


@given(PLACES)
def test_places_and_numbers_lead_to_each_other(places: list[tuple[str, int]]) -> None:
    found = places_of(BUFFER, [failing(*place) for place in places])
    assert found.number == len(places)
    assert [found.number_of(place) for place in places] == [*range(1, len(places) + 1)]
    assert [found.place(number) for number in range(1, len(places) + 1)] == places
    assert found.number_of(("out", 1 << 34)) == 0


def test_a_failure_more_takes_four_bytes_more() -> None:
    few, many = (places_of(BUFFER, [failing("err", line) for line in range(1, count)]) for count in (10, 10_000))
    assert few.runs == many.runs == ((1, "err"),)
    assert many.lines.itemsize == 4
