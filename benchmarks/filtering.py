"""``python -m benchmarks.filtering ROOT``: letters typed into the inspector's filter over all buffers of a store.

Prints, as JSON: seconds until what the first thousands of buffers leave is drawn, and until all have been looked at
(medians of six letters); seconds until all titles were read; bytes of private memory at the end.
"""

import asyncio
import json
import os
import statistics
import sys
import time

from benchmarks.stores import BOUNDLESS
from benchmarks.terminal import private_bytes
from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.buffers.buffer_list import BufferList

_LETTERS = "crgtst"  # finds `cargo test`


async def _typed(store: Store) -> tuple[float, float, float]:
    first, everything = list[float](), list[float]()
    app = InspectorApp(store, clock=time.time)
    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.pause()
        buffers = app.query_one(BufferList)
        began = time.perf_counter()
        buffers.filter("e")  # stands in each title
        while not buffers.rows.catalog.complete:
            await asyncio.sleep(0.01)
        await buffers.settled()
        read = time.perf_counter() - began
        for end in range(1, len(_LETTERS) + 1):
            await pilot.pause()
            began = time.perf_counter()
            buffers.filter(_LETTERS[:end])
            first.append(time.perf_counter() - began)
            await buffers.settled()
            everything.append(time.perf_counter() - began)
    return statistics.median(first), statistics.median(everything), read


if __name__ == "__main__":
    with Store(sys.argv[1], BOUNDLESS) as opened:
        print(json.dumps([*asyncio.run(_typed(opened)), private_bytes(os.getpid())]))
