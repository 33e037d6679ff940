"""JSON that is made to burst. Run as a script it keeps and shows what is named, with little memory and time to do so.

``bombs.py ROOT NAME…`` prints each name once that one is done.
"""

import resource
import sys

from sightline.base.errors import SightlineError
from sightline.base.records import Buffer, Session
from sightline.capture.result import ResultBlock, capture_result
from sightline.settings.config import Settings
from sightline.shape.budgets import HARD_LIMIT_BYTES
from sightline.store import Store
from sightline.verbs.asker import Asker
from sightline.verbs.next_call import cli_call
from sightline.verbs.read_output import read_output
from sightline.verbs.reply import Reply
from sightline.verbs.requests import ReadRequest
from sightline.verbs.result_view import result_reply

MEMORY_BYTES = 96 << 20
"""Beyond what the interpreter has taken with everything loaded."""

CPU_SECONDS = 20
PATHS = ("$", "$.a", "$[0]", "$[-1]", "$.k", "$.s", "$" + ".a" * 20)

BOMBS: dict[str, bytes] = {
    "deep arrays": b"[" * 50_000 + b"]" * 50_000,
    "deep arrays without an end": b"[" * 150_000,
    "deep objects": b'{"a":' * 25_000 + b"1" + b"}" * 25_000,
    "deep, of both": b'[{"a":' * 15_000 + b"1" + b"}]" * 15_000,
    "as deep as it may be": b'{"a":' * 900 + b"1" + b"}" * 900,
    "wide": b"[" + b"0," * 50_000 + b"0]",
    "many keys": b"{" + b",".join(b'"k%d":%d' % (n, n) for n in range(10_000)) + b"}",
    "one key many times": b"{" + b",".join(b'"k":%d' % n for n in range(10_000)) + b"}",
    "a huge number": b"[" + b"9" * 300_000 + b"]",
    "many huge numbers": b"[" + b",".join([b"9" * 5_000] * 50) + b"]",
    "huge exponents": b"[1e999999999,-1e999999999,1e-999999999]",
    "a huge string": b'{"s":"' + b"x" * 1_000_000 + b'"}',
    "a huge string of escapes": b'{"s":"' + b"\\u0041" * 100_000 + b'"}',
    "half characters": b'{"s":"' + b"\\ud800" * 50_000 + b'"}',
    "a huge key": b'{"' + b"k" * 1_000_000 + b'":1}',
    "elements that all differ": b"[" + b",".join(b'{"k%d":%d}' % (n, n) for n in range(5_000)) + b"]",
    "nothing but space": b"[" + b" " * 1_000_000 + b"]",
    "no end": b'{"a":[' + b"1," * 50_000,
    "NaN and friends": b'[NaN,Infinity,-Infinity,{"a":NaN}]',
    "not UTF-8": b'{"\xff\xfe":"\xc0\x80"}',
    "a key of escapes": b'{"\\u0000\\u202e\\ud800":1,"\\u0000":2}',
}


def _held(reply: Reply) -> None:
    assert len(reply.text.encode(errors="surrogateescape")) <= HARD_LIMIT_BYTES


def _show(asking: Asker, data: bytes) -> None:
    buffer = capture_result(asking.store, [ResultBlock([data])], command="t", cwd="/", session="s")
    assert isinstance(buffer, Buffer)
    _held(result_reply(asking, buffer, verb="tool", request={}))
    for path in PATHS:
        try:
            _held(read_output(asking, ReadRequest(buffer.ref, path=path)))
        except SightlineError:
            continue  # the path leads nowhere, or it is no JSON


def main(root: str, names: list[str]) -> None:
    """Try some; raises MemoryError, or is ended by the limit of its time."""
    with Store(root, Settings()) as store:
        asking = Asker(store, Session("s", "shell", "", "", "/", 0.0), cli_call)
        _show(asking, b'{"a": [1, "x"]}')
        if sys.platform.startswith("linux"):
            with open("/proc/self/statm", encoding="ascii") as file:
                taken = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY_BYTES, taken + MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        for name in names:
            _show(asking, BOMBS[name])
            print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
