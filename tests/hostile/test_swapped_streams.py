"""A link that takes the place of a stored stream, at whatever moment, never shows what it leads to."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.errors import SightlineError, UnsafeStore
from sightline.base.private_files import open_stored
from sightline.base.records import Session
from sightline.search.contents import search_contents
from sightline.search.executables import Executable, find
from sightline.search.handed_files import HandedFiles, WithPaths
from sightline.search.processes import Cancel, Group
from sightline.search.sandbox import NO_BACKING, Backing, describe
from sightline.settings.config import Settings
from sightline.store import Store, Target
from sightline.verbs.asker import Asker
from sightline.verbs.query import query
from sightline.verbs.read_output import read_output
from sightline.verbs.reply import Reply
from sightline.verbs.requests import QueryRequest, ReadRequest, RunRequest
from sightline.verbs.run_command import run_command
from tests.each import each

SECRET = "what the link leads to"
LINES = "".join(f"line {number}\n" for number in range(1, 2001)).encode()


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asker]:
    """Somebody who asks a store with one output."""
    monkeypatch.chdir(tmp_path)
    with Store(str(tmp_path / "store"), Settings()) as store:
        recording = store.begin("cmd", "make", "/", "s")
        recording.append("out", LINES)
        recording.seal(exit_code=0)
        yield Asker(store, Session("s", "", "", "", "/", 0.0), lambda verb, **_: verb)


def _out(store: Store) -> Path:
    return Path(store.path(Target(store.index.listed(1)[0].buffer, "out")))


def _text(reply: Reply) -> str:
    return reply.text + str(reply.fields)


def _found(asking: Asker) -> str:
    found: list[str] = []
    search_contents(asking.store, "line", lambda progress: found.append(repr(progress)), cancel=Cancel())
    return "".join(found)


ASKED: dict[str, Callable[[Asker], str]] = {
    "grep": lambda asking: _text(query(asking, QueryRequest("grep -n li @last"))),
    "two stages": lambda asking: _text(query(asking, QueryRequest("cat @last | comm -12 - @last"))),
    "rg": lambda asking: _text(query(asking, QueryRequest("rg -c '' @last"))),
    "awk": lambda asking: _text(query(asking, QueryRequest("awk '{print FILENAME, $0}' @last"))),
    "search": lambda asking: _text(read_output(asking, ReadRequest("@last", search="li"))),
    "page": lambda asking: _text(read_output(asking, ReadRequest("@last", lines="1-3"))),
    "contents": _found,
    "command": lambda asking: _text(run_command(asking, RunRequest("head -n 3 @last; true"))),
}


@each("asked", [*ASKED])
@pytest.mark.parametrize("what", ["stream", "folder"])
def test_link_put_in_place_after_a_ref_was_resolved_is_not_followed(
    asking: Asker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, what: str
) -> None:
    stored = _out(asking.local)
    swapped = stored if what == "stream" else stored.parent
    beside, secret = tmp_path / "beside", tmp_path / "secret"
    if what == "stream":
        secret.write_text(f"line {SECRET}\n" * 2000)
    elif not secret.exists():
        secret.mkdir()
        (secret / "out").write_text(f"line {SECRET}\n" * 2000)
    plain = Store.local_copy

    def put_back() -> None:
        if swapped.is_symlink():
            swapped.unlink()
            beside.rename(swapped)

    def swap(self: Store, target: Target, **more: Any) -> str:
        put_back()
        path = plain(self, target, **more)
        swapped.rename(beside)
        swapped.symlink_to(secret)
        return path

    with monkeypatch.context() as during:
        during.setattr(Store, "local_copy", swap)
        try:
            shown = ASKED[asked](asking)
        except (UnsafeStore, SightlineError) as error:
            shown = error.message
    put_back()
    assert SECRET not in shown


@pytest.mark.parametrize("backing", [describe(), NO_BACKING], ids=["kernel", "tables"])
def test_program_reads_what_was_opened_whatever_lies_there_when_it_starts(
    asking: Asker, tmp_path: Path, backing: Backing
) -> None:
    path = str(_out(asking.local))
    (tmp_path / "secret").write_text(SECRET)
    programs = [Executable(find("cat"), ("cat", path, path)), Executable(find("wc"), ("wc", "-c"))]
    out, err = bytearray(), bytearray()
    before = HandedFiles(programs, [path])
    try:
        os.rename(path, path + ".kept")
        os.symlink(tmp_path / "secret", path)
        with open(before.fds[0], "rb", closefd=False) as file:
            assert file.read() == LINES
        with pytest.raises(UnsafeStore):
            Group(programs, seconds=5, memory_bytes=1 << 30, backing=backing, reads=(path,))
    finally:
        before.close()
        os.rename(path + ".kept", path)
    with Group(programs, seconds=5, memory_bytes=1 << 30, backing=backing, reads=(path,)) as group:
        os.rename(path, path + ".kept")
        os.symlink(tmp_path / "secret", path)
        assert group.collect(out.extend, err.extend).exit_code == 0
    assert (int(out), bytes(err)) == (2 * len(LINES), b"")


@pytest.mark.parametrize("backing", [describe(), NO_BACKING], ids=["kernel", "tables"])
def test_programs_name_files_by_their_paths(asking: Asker, backing: Backing) -> None:
    path = str(_out(asking.local))
    out, err = bytearray(), bytearray()
    gone = path + ".gone"
    programs = [Executable(find("wc"), ("wc", "-l", path, gone, path))]
    with Group(programs, seconds=5, memory_bytes=1 << 30, backing=backing, reads=(path, gone)) as group:
        group.collect(out.extend, err.extend)
    assert out.decode().split() == ["2000", path, "2000", path, "4000", "total"]
    assert gone in err.decode()


def test_stream_is_never_shown_as_another_file_while_it_is_swapped_all_the_time(asking: Asker, tmp_path: Path) -> None:
    stored = str(_out(asking.local))
    secret, link = str(tmp_path / "secret"), str(tmp_path / "link")
    Path(secret).write_text(f"line {SECRET}\n" * 2000)
    ended = threading.Event()

    def swap() -> None:
        kept = str(tmp_path / "kept")
        os.link(stored, kept)
        while not ended.is_set():
            os.symlink(secret, link)
            os.rename(link, stored)
            os.link(kept, link)
            os.rename(link, stored)

    swapping = threading.Thread(target=swap)
    swapping.start()
    shown = 0
    try:
        for _ in range(4):
            for ask in ASKED.values():
                with suppress(SightlineError):
                    text = ask(asking)
                    assert SECRET not in text
                    shown += 1
    finally:
        ended.set()
        swapping.join()
    assert shown  # some are answered


def test_link_in_the_place_of_a_folder_or_a_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").write_text("x")
    (folder / "link").symlink_to("out")
    (tmp_path / "other").symlink_to("folder")
    os.close(open_stored(str(folder / "out")))
    for path in (folder / "link", tmp_path / "other" / "out"):
        with pytest.raises(UnsafeStore, match="is a symbolic link"):
            open_stored(str(path))
    with pytest.raises(UnsafeStore, match="is not a file"):
        open_stored(str(folder))
    with pytest.raises(FileNotFoundError):
        open_stored(str(folder / "missing"))


@given(st.lists(st.sampled_from(["a", "/dev//fd//", "10", "11", "12", "/dev//fd//1", "0", "/", "d", "\n"])), st.data())
def test_names_become_paths_however_an_output_is_cut_into_pieces(words: list[str], data: st.DataObject) -> None:
    text = "".join(words).encode()
    whole, pieces = bytearray(), bytearray()
    at_once, by_pieces = WithPaths(["/p", "/q"], whole.extend), WithPaths(["/p", "/q"], pieces.extend)
    at_once.feed(text)
    at_once.finish()
    while text:
        size = data.draw(st.integers(1, len(text)))
        by_pieces.feed(text[:size])
        text = text[size:]
    by_pieces.finish()
    assert whole == pieces


def test_row_of_the_index_that_names_a_path_is_not_followed(asking: Asker, tmp_path: Path) -> None:
    store = asking.local
    target = tmp_path / "x"
    target.mkdir()
    (target / "out").write_text(SECRET)
    sha256 = store.index.listed(1)[0].buffer.stream("out").sha256
    name = store.index.listed(1)[0].buffer.name
    for statement, values in (
        ("UPDATE hashes SET stream = '../../../x/out'", ()),
        ("UPDATE hashes SET buffer = '../../x'", ()),
        ("UPDATE buffers SET name = '../../x' WHERE name = ?", (name,)),
    ):
        with store.index.transaction():
            store.index._db.execute(statement, values)
        for ref in (f"@sha256:{sha256[:12]}", "@last"):
            for ask in (
                lambda ref: _text(query(asking, QueryRequest(f"cat {ref}"))),
                lambda ref: _text(read_output(asking, ReadRequest(ref))),
                lambda ref: store.path(store.resolve(ref)),
            ):
                try:
                    shown = ask(ref)
                except SightlineError:
                    continue
                assert SECRET not in shown
                assert "x/out" not in shown
