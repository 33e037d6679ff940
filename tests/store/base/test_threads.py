"""What threads do to a process' memory, and what it gives back."""

import platform
import subprocess
import sys

import pytest

HEAP_BYTES = 64 << 20  # of addresses that glibc sets aside for each heap
THREADS = 6
GROWN = f"""
import re, sys, threading
from sightline.base.threads import share_one_heap

def addresses():
    return int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10

def work():
    held.append(bytearray(50_000))
    ready.wait()

if sys.argv[1:]:
    share_one_heap()
held, ready = [], threading.Barrier({THREADS})
threading.stack_size(1 << 20)
before = addresses()
threads = [threading.Thread(target=work) for _ in range({THREADS})]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(addresses() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has such heaps")
def test_threads_share_one_heap() -> None:
    def grown(*words: str) -> int:
        return int(subprocess.run([sys.executable, "-c", GROWN, *words], capture_output=True, check=True).stdout)

    assert grown("one") < HEAP_BYTES
    assert grown() > 2 * HEAP_BYTES


FREED_BYTES = 32 << 20
FREED = f"""
import re
from sightline.base.threads import give_back_memory, share_one_heap

def held():
    return int(re.search(r"VmRSS:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10

share_one_heap()
kept = [bytearray(100_000) for _ in range({2 * FREED_BYTES} // 100_000)]
del kept[::2]  # holes, none of which lies at the end
before = held()
give_back_memory()
print(before - held())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries have their own ways")
def test_holes_in_the_heap_are_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, check=True)
    assert int(done.stdout) > FREED_BYTES / 2
