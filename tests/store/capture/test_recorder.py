"""What keeps bytes as they come: whatever fails in the store, all of them are shown."""

from typing import Any

import pytest

from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer
from sightline.capture.recorder import Recorder, Size, Unkept
from sightline.disk.buffer_writer import BufferWriter
from sightline.disk.recording import Recording
from sightline.store import Store


def begun(store: Store, **options: Any) -> Recorder:
    recorder = Recorder(store, **options)
    recorder.begin(lambda: store.begin("cmd", "make", "/", "s"))
    recorder.register()
    assert recorder.recording
    return recorder


def sealed(recording: Recording) -> Buffer:
    return recording.seal(exit_code=0)


def test_what_came_is_a_buffer(store: Store) -> None:
    recorder = begun(store)
    recorder.take("out", b"one\n")
    recorder.take("err", b"two\n")
    kept = recorder.end(sealed)
    assert isinstance(kept, Buffer)
    assert (kept.stream("out").bytes, kept.stream("err").lines, recorder.failure) == (4, 1, None)


@pytest.mark.parametrize("error", [StoreFailed("storing failed: odd"), ZeroDivisionError("odd")])
@pytest.mark.parametrize("redacted", [False, True])
def test_whatever_fails_all_that_came_is_shown(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: Exception, redacted: bool
) -> None:
    if redacted:
        store.access.settings = store.settings._replace(redact_known=True)
    passed = dict[str, bytes]()
    append = BufferWriter.append

    def pass_on(stream: str, data: memoryview) -> None:
        passed[stream] = passed.get(stream, b"") + data

    def fails(self: BufferWriter, stream: str, data: bytes) -> None:
        if bytes(data) == b"two\n":
            raise error
        append(self, stream, data)

    monkeypatch.setattr(BufferWriter, "append", fails)
    recorder = begun(store, unkept_to=pass_on)
    recorder.take("out", b"one\n")
    recorder.take("out", b"two\n")
    recorder.take("err", b"three")
    recorder.take("part.1", b"not shown", shown=False)
    kept = recorder.end(sealed)
    assert isinstance(kept, Unkept)
    assert (kept.out, kept.err) == (b"one\ntwo\n", b"three")
    assert passed == {"out": b"one\ntwo\n", "err": b"three"}
    assert (kept.out_size, kept.err_size, kept.passed_on, kept.lacks) == (Size(8, 2), Size(5, 1), True, False)
    assert kept.error
    assert "odd" in kept.error.message
    assert store.listed(9) == []


def test_where_nothing_may_be_kept_no_failure_is_told(store: Store) -> None:
    recorder = Recorder(store)
    assert not recorder.register()
    recorder.take("out", b"one")
    kept = recorder.end(sealed)
    assert kept == Unkept(b"one", b"", None, out_size=Size(3, 1))
