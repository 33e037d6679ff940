"""Records come out in the order of their keys, and of the same key as they came."""

from hypothesis import given
from hypothesis import strategies as st
from sightline.store.disk.sorting import Sorter


@given(st.lists(st.tuples(st.floats(-9, 9), st.text(max_size=3))))
def test_records_come_out_as_a_stable_sort_has_them(records: list[tuple[float, str]]) -> None:
    with Sorter[str]() as sorter:
        for key, record in records:
            sorter.put(key, record)
        assert sorter.count == len(records)
        assert list(sorter) == [record for _, record in sorted(records, key=lambda one: one[0])]
        assert list(sorter) == list(sorter)
