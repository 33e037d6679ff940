"""Seals: whether a stored file is still what was sealed, and what of it may be shared or believed."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer, Seal, read_seals, written_seals
from sightline.capture.file import capture_file
from sightline.capture.result import ResultBlock, capture_result
from sightline.disk import seals
from sightline.disk.meta import encode_buffer, fields_in, read_meta
from sightline.disk.sharing import share_stream
from sightline.store import Store, Target

Keep = Callable[..., Buffer]
LARGE = b"".join(b"%d\n" % number for number in range(4000))


def file_of(store: Store, buffer: Buffer, stream: str = "out") -> Path:
    return Path(store.layout.stream(buffer.name, stream))


def content(store: Store, buffer: Buffer, stream: str = "out") -> bytes:
    return file_of(store, buffer, stream).read_bytes()


def replace(path: Path, data: bytes) -> None:
    """Change a file as `sed -i` does: another one gets its name and mode."""
    new = path.with_suffix(".new")
    new.write_bytes(data)
    new.chmod(0o400)
    new.replace(path)


def overwrite(path: Path, data: bytes, at: int = 0) -> None:
    """Change some bytes of a file in place."""
    path.chmod(0o600)
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)
    path.chmod(0o400)


def set_time(path: Path, nanoseconds: int) -> None:
    os.utime(path, ns=(nanoseconds, nanoseconds))


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The sizes of what is hashed to compare it with its seal."""
    sizes: list[int] = []
    real = seals.hash_file

    def counted(fd: int, size: int, took: Callable[[int], None] | None = None) -> str:
        sizes.append(size)
        return real(fd, size, took)

    monkeypatch.setattr(seals, "hash_file", counted)
    yield sizes


def opened(store: Store, buffer: Buffer, stream: str = "out") -> Buffer:
    """The record after one opening of a stream, as another process finds it."""
    with store.open(Target(buffer, stream)):
        pass
    known = store.index.buffer(buffer.name)
    assert known
    return known


# sharing


@pytest.mark.parametrize("change", [replace, overwrite])
def test_a_fresh_capture_holds_what_its_command_wrote_beside_a_changed_twin(
    store: Store, keep: Keep, change: Callable[[Path, bytes], None]
) -> None:
    twin = keep(LARGE, LARGE[::-1])
    for stream in ("out", "err"):
        path = file_of(store, twin, stream)
        change(path, b"X" + path.read_bytes()[1:])
    fresh = keep(LARGE, LARGE[::-1])
    assert (content(store, fresh), content(store, fresh, "err")) == (LARGE, LARGE[::-1])
    assert not store.checked(fresh, "out", "err").altered


def test_a_changed_last_byte_of_a_large_twin_is_noticed(store: Store, keep: Keep) -> None:
    data = b"x" * ((1 << 20) + 5)
    overwrite(file_of(store, keep(data)), b"y", len(data) - 1)
    assert content(store, keep(data)) == data


def test_a_twin_that_is_a_link_elsewhere_is_not_shared(store: Store, keep: Keep, tmp_path: Path) -> None:
    twin = keep(LARGE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(LARGE)
    elsewhere.chmod(0o400)
    file_of(store, twin).unlink()
    file_of(store, twin).symlink_to(elsewhere)
    fresh = keep(LARGE)
    assert not file_of(store, fresh).is_symlink()
    assert file_of(store, fresh).stat().st_nlink == 1
    assert sorted(os.listdir(store.layout.folder(fresh.name))) == ["meta.json", "order", "out"]


def test_a_shared_stream_has_the_seal_of_the_file_that_it_is(store: Store, keep: Keep, hashed: list[int]) -> None:
    first = keep(LARGE)
    set_time(file_of(store, first), 10**18)
    opened(store, first)
    second = keep(LARGE)
    assert file_of(store, second).samefile(file_of(store, first))
    hashed.clear()
    assert opened(store, second).seal("out") == Seal("out", len(LARGE), 10**18)
    assert hashed == []
    assert read_meta(store.layout, second.name).seals == second.seals


def test_another_sound_twin_is_shared_where_the_newest_is_changed(store: Store, keep: Keep) -> None:
    first, second = keep(LARGE), keep(LARGE)
    replace(file_of(store, second), b"X" + LARGE[1:])
    assert file_of(store, keep(LARGE)).samefile(file_of(store, first))


def test_what_changes_while_it_is_linked_is_not_shared(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = keep(LARGE), keep(LARGE[:-1] + b"#")
    real = os.link

    def changed_before(source: str, target: str, **more: bool) -> None:
        replace(Path(source), b"X" + LARGE[1:])
        real(source, target, **more)

    monkeypatch.setattr(os, "link", changed_before)
    path = str(file_of(store, second))
    assert share_stream(str(file_of(store, first)), path, "out", first.stream("out")) is None
    assert content(store, second) == LARGE[:-1] + b"#"


def test_a_changed_version_of_a_file_is_captured_anew(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "read.txt"
    path.write_bytes(LARGE)
    os.utime(path, (1, 1))
    first = capture_file(store, str(path), "s")
    assert capture_file(store, str(path), "s").name == first.name
    replace(file_of(store, first), b"X" + LARGE[1:])
    second = capture_file(store, str(path), "s")
    assert second.name != first.name
    assert content(store, second) == LARGE
    file_of(store, second).unlink()
    assert content(store, capture_file(store, str(path), "s")) == LARGE


# seals


def test_the_record_has_size_and_time_of_each_file_from_its_seal_on(store: Store, keep: Keep) -> None:
    buffer = keep(b"out\n", b"err\n")
    assert [seal.file for seal in read_seals(buffer.seals)] == ["out", "err", "order"]
    for seal in read_seals(buffer.seals):
        status = file_of(store, buffer, seal.file).stat()
        assert (seal.bytes, seal.mtime_ns, seal.altered) == (status.st_size, status.st_mtime_ns, ())
    assert store.index.buffer(buffer.name) == buffer
    assert read_meta(store.layout, buffer.name).seals == buffer.seals


def test_opening_an_unchanged_stream_reads_nothing_of_it(
    store: Store, keep: Keep, hashed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = keep(LARGE)
    monkeypatch.setattr(os, "pread", lambda *_: pytest.fail("it was read"))
    with store.open(Target(buffer, "out")) as reader:
        assert reader.byte_count == len(LARGE)
    assert hashed == []


@pytest.mark.parametrize("change", [replace, overwrite])
def test_a_changed_stream_is_altered_once_it_was_opened(
    store: Store, keep: Keep, hashed: list[int], change: Callable[[Path, bytes], None]
) -> None:
    buffer = keep(LARGE)
    change(file_of(store, buffer), b"X" + LARGE[1:])
    known = store.index.buffer(buffer.name)
    assert known and not known.altered  # lists look at nothing by themselves
    assert opened(store, buffer).altered == "out was changed after its capture"
    assert read_meta(store.layout, buffer.name).altered
    opened(store, buffer)
    with Store(store.root) as another:
        opened(another, buffer)
    assert hashed == [len(LARGE)]


def test_another_size_needs_no_hash(store: Store, keep: Keep, hashed: list[int]) -> None:
    buffer = keep(b"1234")
    replace(file_of(store, buffer), b"12")
    assert opened(store, buffer).altered == "out was changed after its capture: 2 B instead of 4 B"
    assert hashed == []


def test_a_missing_stream_and_one_that_is_no_file_are_altered(store: Store, keep: Keep) -> None:
    gone, linked = keep(b"out"), keep(b"out", b"err")
    file_of(store, gone).unlink()
    file_of(store, linked, "err").unlink()
    file_of(store, linked, "err").symlink_to(file_of(store, linked))
    assert store.checked(gone).altered == "out is missing"
    assert store.checked(linked).altered == "err is no longer a file"


def test_an_output_that_was_removed_meanwhile_is_not_altered(store: Store, keep: Keep) -> None:
    buffer = keep(LARGE)
    store.remove(buffer, "evicted")
    assert store.checked(buffer) == buffer


def test_what_was_put_back_is_sound_again(store: Store, keep: Keep) -> None:
    buffer = keep(LARGE)
    overwrite(file_of(store, buffer), b"X")
    assert opened(store, buffer).altered
    overwrite(file_of(store, buffer), LARGE[:1])
    assert not opened(store, buffer).altered


def test_an_altered_stream_with_the_sealed_times_stays_altered(store: Store, keep: Keep) -> None:
    buffer = keep(LARGE)
    sealed = file_of(store, buffer).stat().st_mtime_ns
    overwrite(file_of(store, buffer), b"X")
    assert opened(store, buffer).altered
    set_time(file_of(store, buffer), sealed)
    assert opened(store, buffer).altered


def test_new_times_with_the_same_bytes_become_the_seal(store: Store, keep: Keep, hashed: list[int]) -> None:
    buffer = keep(LARGE)
    set_time(file_of(store, buffer), 10**18)
    restored = opened(store, buffer)
    assert not restored.altered
    assert restored.seal("out") == Seal("out", len(LARGE), 10**18)
    opened(store, buffer)
    assert hashed == [len(LARGE)]


@pytest.mark.parametrize("is_changed", [False, True])
def test_a_store_that_keeps_no_record_hashes_once_a_process(
    store: Store, keep: Keep, hashed: list[int], monkeypatch: pytest.MonkeyPatch, is_changed: bool
) -> None:
    buffer = keep(LARGE)
    set_time(file_of(store, buffer), 10**18)
    if is_changed:
        overwrite(file_of(store, buffer), b"X")

    def fails(*_: object, **__: object) -> Buffer:
        raise StoreFailed("storing failed: the file system is read-only")

    monkeypatch.setattr(Store, "amend", fails)
    for _ in range(3):
        with store.open(Target(buffer, "out")):
            assert bool(store.checked(buffer).altered) == is_changed
    assert hashed == [len(LARGE)]
    assert read_meta(store.layout, buffer.name).seals == buffer.seals


def of_before_seals(store: Store, buffer: Buffer) -> Buffer:
    """The buffer as a version without seals writes it."""
    with store.index.transaction():
        store.index.put_buffer(buffer._replace(seals=""))
    fields = json.loads(encode_buffer(buffer))
    del fields["seals"]
    Path(store.layout.meta(buffer.name)).write_text(json.dumps(fields))
    return buffer._replace(seals="")


def test_a_stream_without_a_seal_is_not_altered_and_is_sealed_once_it_was_opened(
    store: Store, keep: Keep, hashed: list[int]
) -> None:
    buffer = of_before_seals(store, keep(LARGE, b"err"))
    assert not store.checked(buffer).altered
    assert hashed == []
    sealed = opened(store, buffer)
    assert [seal.file for seal in read_seals(sealed.seals)] == ["out"]
    assert hashed == [len(LARGE)]
    opened(store, sealed)
    assert hashed == [len(LARGE)]


def test_a_stream_without_a_seal_that_hashes_otherwise_is_altered(store: Store, keep: Keep) -> None:
    buffer = of_before_seals(store, keep(LARGE))
    overwrite(file_of(store, buffer), b"X")
    assert opened(store, buffer).altered


def test_a_version_that_knows_no_seals_keeps_them(store: Store, keep: Keep) -> None:
    """0.2.0 writes those columns of a row and those fields of a record that it knows."""
    buffer = keep(LARGE)
    with sqlite3.connect(store.layout.index) as connection:
        connection.execute(
            "INSERT INTO buffers (name, kind, state, command, cwd, session, created, accessed, signal, timed_out,"
            " label, pinned, artifact, note, origin, streams, partial, gaps, project, bytes, used)"
            " SELECT name, kind, state, command, cwd, session, created, accessed, signal, timed_out, 'named',"
            " 1, artifact, note, origin, streams, partial, gaps, project, bytes, used + 1 FROM buffers WHERE true"
            " ON CONFLICT (name) DO UPDATE SET pinned = excluded.pinned, label = excluded.label"
        )
    connection.close()
    known = store.index.buffer(buffer.name)
    assert known and known.label == "named"
    assert known.seals == buffer.seals
    assert fields_in(store.layout, buffer.name)["seals"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "out", "out 5", "out five 1", "out 5 1 ! 1", "out 5 1 ! a b", "out 5 1 ! 1 2 3", "out 5 1 a b", ";;",
        "out " + "9" * 5000 + " 1", "! 5 1",
    ],
)  # fmt: skip
def test_what_is_no_seal_is_left_out(store: Store, keep: Keep, text: str) -> None:
    assert read_seals(f"err 1 1; {text}") == (Seal("err", 1, 1),)
    assert not store.checked(keep(LARGE)._replace(seals=text), "out").altered


def test_a_seal_leads_to_no_file_outside(store: Store, keep: Keep, hashed: list[int]) -> None:
    buffer = keep(LARGE)
    store.rehashed(buffer._replace(seals="../../../../etc/passwd 1 1; out 1 1"))
    assert hashed == [len(LARGE)]


@given(
    st.lists(
        st.builds(
            Seal,
            st.sampled_from(["out", "part.7", "order"]),
            st.integers(0, 1 << 62),
            st.integers(0, 1 << 62),
            st.one_of(st.just(()), st.tuples(st.integers(-2, 1 << 62), st.integers(0, 1 << 62))),
            st.sampled_from(["", "5f" * 32]),
        )
    )
)
def test_seals_are_read_as_they_were_written(seals: list[Seal]) -> None:
    assert read_seals(written_seals(seals)) == tuple(seals)


# the order of two streams, and the line index


def test_a_cut_or_changed_order_is_noticed(store: Store, keep: Keep) -> None:
    cut, changed = keep(b"out\n", b"err\n"), keep(b"out\n", b"err\n")
    file_of(store, cut, "order").write_bytes(content(store, cut, "order")[:13])
    order = content(store, changed, "order")
    file_of(store, changed, "order").write_bytes(order[16:] + order[:16])
    for buffer in (cut, changed):
        store.open_merged(buffer).close()
        known = store.index.buffer(buffer.name)
        assert known and known.altered == "the order of out and err was changed after its capture"


def test_a_changed_line_index_is_not_used_and_alters_nothing(store: Store) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    for start in range(0, 400_000, 1000):
        recording.append("out", b"".join(b"%06d\n" % number for number in range(start, start + 1000)))
    buffer = recording.seal(exit_code=0)
    lines = file_of(store, buffer, "lines")
    assert buffer.seal("lines")
    lines.write_bytes(lines.read_bytes()[::-1])
    with store.open(Target(buffer, "out")) as reader:
        assert [line.data for line in reader.lines(300_001, 300_001)] == [b"300000"]
        assert reader.line_at(7 * 300_000) == 300_001
    assert not store.checked(buffer, "out").altered


def test_what_a_dead_writer_left_is_sealed(store: Store) -> None:
    recording = store.begin("cmd", "true", "/", "s")
    recording.append("out", LARGE)
    recording.append("err", b"err\n")
    recording.abandon()
    store.end_dead_captures()
    buffer = store.index.buffer(recording.name)
    assert buffer and buffer.state == "interrupted"
    assert [seal.file for seal in read_seals(buffer.seals)] == ["err", "out", "order"]
    overwrite(file_of(store, buffer), b"X")
    assert opened(store, buffer).altered


# what is made from streams


def test_both_streams_as_one_file_are_made_anew_if_that_file_was_changed(store: Store, keep: Keep) -> None:
    buffer = keep(b"out\n", b"err\n")
    path = Path(store.path(Target(buffer, "all")))
    made = path.stat().st_ino
    assert Path(store.path(Target(buffer, "all"))).stat().st_ino == made
    overwrite(path, b"OUT")
    assert Path(store.path(Target(buffer, "all"))).read_bytes() == b"out\nerr\n"
    replace(path, b"out\nERR\n")
    assert Path(store.path(Target(buffer, "all"))).read_bytes() == b"out\nerr\n"


def test_a_stream_under_the_name_of_its_content_is_that_stream(store: Store, keep: Keep) -> None:
    buffer = keep(LARGE)
    target = Target(buffer, "out")
    path = Path(store.path(target, by_content=True))
    assert path.name.endswith(".json")
    replace(path, b"other")
    assert Path(store.path(target, by_content=True)).read_bytes() == LARGE
    replace(file_of(store, buffer), b"other")
    assert store.path(target, by_content=True) == str(file_of(store, buffer))  # it has not that content


def test_a_large_pretty_form_that_was_changed_is_made_anew(store: Store) -> None:
    data = json.dumps({"key": list(range(300_000))}).encode()
    buffer = capture_result(store, [ResultBlock([data])], command="t", cwd="/", session="s")
    assert isinstance(buffer, Buffer)
    path = Path(store.local_copy(Target(buffer, "part.0")))
    whole, made = path.read_bytes(), path.stat().st_ino
    assert len(whole) > 1 << 20
    assert Path(store.local_copy(Target(buffer, "part.0"))).stat().st_ino == made
    overwrite(path, b"[")
    assert Path(store.local_copy(Target(buffer, "part.0"))).read_bytes() == whole


@pytest.mark.parametrize("has_pretty", [True, False])
def test_a_changed_result_can_be_read(store: Store, has_pretty: bool) -> None:
    data = json.dumps({"key": list(range(3000))}).encode()
    buffer = capture_result(store, [ResultBlock([data])], command="t", cwd="/", session="s")
    assert isinstance(buffer, Buffer)
    if not has_pretty:
        os.unlink(store.layout.pretty(buffer.name, "part.0"))
    replace(file_of(store, buffer, "part.0"), b"{no JSON")
    with store.open_text(Target(buffer, "part.0")) as reader:
        assert reader.line_count
    assert store.checked(buffer).altered
