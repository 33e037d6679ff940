"""What refs name in a store."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.base.errors import AmbiguousRef, BadRef, ExpiredRef, StoreFailed, UnknownRef
from sightline.base.records import Buffer
from sightline.store import Store, Target

Keep = Callable[..., Buffer]


def named(store: Store, name: str, *, kind: str = "cmd", **fields: object) -> Buffer:
    """A buffer of a given name."""
    buffer = store.begin(kind, "x", "/", "s", **fields).seal(exit_code=0)
    os.rename(store.layout.folder(buffer.name), store.layout.folder(name))
    store.index.forget_buffer(buffer.name)
    store.index.put_buffer(buffer._replace(name=name))
    return buffer._replace(name=name)


def test_an_exact_name_gives_the_buffer_and_its_stream(store: Store, keep: Keep) -> None:
    buffer = keep(b"1\n2\n", b"e\n")
    assert store.resolve(buffer.ref) == Target(buffer, "out")
    assert store.resolve(buffer.ref + ".err:1-2") == Target(buffer, "err", 1, 2)
    assert store.resolve(buffer.ref + ".all").ref == buffer.ref + ".all"


def test_people_may_type_a_prefix_and_agents_may_not(store: Store) -> None:
    buffer = named(store, "cmd_a1b2c3")
    assert store.resolve("@cmd_a1b2", prefixes=True).buffer == buffer
    with pytest.raises(UnknownRef):
        store.resolve("@cmd_a1b2")
    with pytest.raises(UnknownRef):
        store.resolve("@file_a1b2", prefixes=True)
    with pytest.raises(BadRef):
        store.resolve("@cmd_a1b", prefixes=True)


def test_a_prefix_of_several_is_ambiguous_and_an_exact_name_wins(store: Store) -> None:
    named(store, "cmd_a1b2c3")
    named(store, "cmd_a1b2c4")
    exact = named(store, "cmd_a1b2c")
    with pytest.raises(AmbiguousRef) as told:
        store.resolve("@cmd_a1b2", prefixes=True)
    assert "@cmd_a1b2c3" in told.value.message
    assert store.resolve("@cmd_a1b2c", prefixes=True).buffer == exact


def test_a_ref_that_never_was_is_unknown(store: Store) -> None:
    with pytest.raises(UnknownRef) as told:
        store.resolve("@cmd_deadbeef")
    assert "@cmd_deadbeef" in told.value.message
    assert told.value.hint


@pytest.mark.parametrize("reason", ["evicted", "removed"])
@pytest.mark.parametrize(
    ("kind", "how"),
    [("cmd", "run the command again"), ("file", "read the file again"), ("tool", "call the tool again")],
)
def test_an_expired_ref_says_what_it_was_and_how_to_get_it_again(
    store: Store, reason: str, kind: str, how: str
) -> None:
    buffer = store.begin(kind, "pytest  -q\n tests", "/", "s").seal(exit_code=0)
    assert store.remove(buffer, reason)
    for prefixes in (False, True):
        with pytest.raises(ExpiredRef) as told:
            store.resolve(buffer.ref, prefixes=prefixes)
        assert told.value.hint == how
        assert ("expired (removed 2" if reason == "removed" else "expired (2") in told.value.message
        assert told.value.message.endswith("pytest -q tests")
    assert not os.path.exists(store.layout.folder(buffer.name))
    assert not store.remove(buffer, reason)


def test_last_is_the_newest_command_of_the_session_or_of_the_store(store: Store, keep: Keep) -> None:
    mine = [keep(b"x", session="mine") for _ in range(3)]
    theirs = keep(b"x", session="theirs")
    store.begin("file", "f", "/", "mine").seal(exit_code=None)
    store.touch(mine[0].name)
    assert store.resolve("@last").buffer == theirs
    assert store.resolve("@last~1").buffer == mine[2]
    assert store.resolve("@last", session="mine").buffer == mine[2]
    assert store.resolve("@last~2.err", session="mine").buffer.name == mine[0].name
    for ref, session in (("@last~3", "mine"), ("@last", "nobody"), ("@last~4", None)):
        with pytest.raises(UnknownRef, match=ref):
            store.resolve(ref, session=session)
    store.remove(theirs, "evicted")
    assert store.resolve("@last").buffer == mine[2]


def test_a_hash_names_the_newest_buffer_with_these_bytes(store: Store, keep: Keep) -> None:
    keep(b"same")
    newest, other = keep(b"err", b"same"), keep(b"other")
    sha256 = newest.stream("err").sha256
    assert store.resolve(f"@sha256:{sha256[:8]}") == Target(newest, "err")
    assert store.resolve(f"@sha256:{sha256}:1-2") == Target(newest, "err", 1, 2)
    assert store.resolve(f"@sha256:{other.stream('out').sha256[:12]}").buffer == other
    with pytest.raises(UnknownRef):
        store.resolve("@sha256:" + "0" * 64)


def test_a_hash_names_an_unaltered_buffer_if_there_is_one(store: Store, keep: Keep) -> None:
    first, second = keep(b"same"), keep(b"same")
    for buffer, found in ((second, first), (first, second)):
        os.chmod(path := store.layout.stream(buffer.name, "out"), 0o600)
        Path(path).write_bytes(b"other")
        store.checked(buffer)
        assert store.resolve(f"@sha256:{buffer.stream('out').sha256}").buffer.name == found.name


def test_a_hash_prefix_of_several_is_ambiguous(store: Store, keep: Keep) -> None:
    for data in (b"1", b"2"):
        buffer = keep(data)
        info = buffer.stream("out")
        store.index.put_buffer(buffer._replace(streams={"out": info._replace(sha256="abcdef" + info.sha256[6:])}))
    with pytest.raises(AmbiguousRef):
        store.resolve("@sha256:abcdef")


def test_an_artifact_id_names_what_was_imported_under_it(store: Store) -> None:
    buffer = store.begin("cmd", "x", "/", "s", artifact="cmd-1706119234567.txt").seal(exit_code=0)
    assert store.resolve("cmd-1706119234567.txt").buffer == buffer
    with pytest.raises(UnknownRef):
        store.resolve("cmd-1706119234568.txt")
    store.remove(buffer, "evicted")
    with pytest.raises(ExpiredRef):
        store.resolve("cmd-1706119234567.txt") and store.resolve(buffer.ref)


def test_blocks_of_a_result_are_streams(store: Store) -> None:
    recording = store.begin("tool", "t", "/", "s")
    for stream in ("part.0", "part.1"):
        recording.append(stream, stream.encode() + b"\n")
    buffer = recording.seal(exit_code=None)
    with store.open(store.resolve(f"{buffer.ref}.1")) as reader:
        assert reader.read(0, 99) == b"part.1\n"
        assert (reader.ref, reader.line_count) == (f"{buffer.ref}.1", 1)
    with pytest.raises(BadRef) as told:
        store.resolve(f"{buffer.ref}.2")
    assert told.value.hint == "it has: part.0, part.1"


def test_a_buffer_that_only_its_folder_knows_is_found(store: Store, keep: Keep) -> None:
    buffer = keep(b"x")
    store.index.forget_buffer(buffer.name)
    assert store.resolve(buffer.ref).buffer.streams == buffer.streams
    assert store.index.knows(buffer.name)


def test_bytes_that_are_gone_are_never_shown_as_empty(store: Store, keep: Keep) -> None:
    lost, evicted = keep(b"x"), keep(b"y")
    os.unlink(store.layout.stream(lost.name, "out"))
    store.remove(evicted, "evicted")
    for read in (store.open, store.path):
        with pytest.raises(StoreFailed, match="missing"):
            read(Target(lost, "out"))
        with pytest.raises(ExpiredRef):
            read(Target(evicted, "out"))


def test_a_pin_is_part_of_the_record(store: Store, keep: Keep) -> None:
    buffer = keep(b"x")
    assert store.amend(buffer.name, pinned=True).pinned
    os.unlink(store.layout.index)
    store.close()
    assert store.resolve(buffer.ref).buffer.pinned
    with pytest.raises(UnknownRef):
        store.amend("cmd_aaaaaa", pinned=True)


def test_an_output_of_another_host_is_not_looked_for_here(store: Store, keep: Keep) -> None:
    buffer = keep(b"1\n")
    with pytest.raises(UnknownRef, match="host7") as told:
        store.resolve(f"host7/{buffer.ref}", prefixes=True)
    assert "--store" in told.value.hint
