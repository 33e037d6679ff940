"""Records come out in the order of their keys, and of the same key as they came."""

from hypothesis import given
from hypothesis import strategies as st
from sightline.store.disk.sorting import Sorter, with_sorter


@given(st.lists(st.tuples(st.floats(-9, 9), st.text(max_size=3))))
def test_records_come_out_as_a_stable_sort_has_them(records: list[tuple[float, str]]) -> None:
    with Sorter[str]() as sorter:
        for key, record in records:
            sorter.put(key, record)
        assert sorter.count == len(records)
        assert list(sorter) == [record for _, record in sorted(records, key=lambda one: one[0])]
        assert list(sorter) == list(sorter)


def test_where_there_is_no_room_on_disk_the_work_is_done_again_in_memory() -> None:
    begun: list[Sorter[str]] = []

    def work(sorter: Sorter[str]) -> list[str]:
        begun.append(sorter)
        if len(begun) == 1:
            sorter.put(1, "x")
            sorter._connection.execute("PRAGMA max_page_count = 2")  # as a full disk does
        for number in range(2000):
            sorter.put(-number, str(number))
        return list(sorter)

    assert with_sorter(work) == [str(number) for number in reversed(range(2000))]
    assert len(begun) == 2
