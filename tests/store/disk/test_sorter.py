"""Records come out in the order of their keys, and of the same key as they came."""

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sightline.disk.sorter import Sorter


@given(st.lists(st.tuples(st.floats(-9, 9), st.text(max_size=3))))
def test_records_come_out_as_a_stable_sort_has_them(records: list[tuple[float, str]]) -> None:
    with Sorter[str]() as sorter:
        for key, record in records:
            sorter.put(key, record)
        assert sorter.count == len(records)
        assert list(sorter) == [record for _, record in sorted(records, key=lambda one: one[0])]
        assert list(sorter) == list(sorter)


def test_where_there_is_no_room_on_disk_all_is_done_again_in_memory(tmp_path: Path) -> None:
    code = (
        "import resource, signal\n"
        "from sightline.disk.sorter import with_sorter\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))\n"
        "begun = []\n"
        "def work(sorter):\n"
        "    begun.append(sorter)\n"
        "    for number in range(20_000):\n"
        "        sorter.put(-number, str(number).rjust(300))\n"
        "    return [int(record) for record in sorter]\n"
        "assert with_sorter(work) == list(reversed(range(20_000)))\n"
        "assert len(begun) == 2\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, timeout=60)
