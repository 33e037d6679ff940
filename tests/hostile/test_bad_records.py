"""One bad record of the store is left out and reported; it never breaks a command, nor hides another output."""

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from benchmarks.bad_records import AGENT, ODD_VALUES, Sample, make_sample, survey, try_seed
from sightline.base.records import Buffer
from sightline.disk.meta import decode_buffer, encode_buffer
from sightline.doors.doctor.doctor import examine
from sightline.log.log import lines_of, read_all, verify
from sightline.log.log_index import append_entry, list_views
from sightline.settings.config import Settings
from sightline.store import Store

SEEDS = range(8)
QUICK = (
    ("list", "--json"),
    ("show", "@HIT"),
    ("audit",),
    ("timeline",),
    ("notes",),
    ("gc",),
    ("doctor",),
    ("run", "-c", "echo words of it"),
)


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    (tmp_path / "file.txt").write_text("a file\n")
    return make_sample(str(tmp_path / "root"))


def forget_index(root: str) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(root, "index.sqlite" + ending).unlink(missing_ok=True)


def change(path: str, **fields: Any) -> None:
    with open(path) as file:
        record = json.load(file)
    Path(path).write_text(json.dumps({**record, **fields}))


def faults(sample: Sample, *verbs: tuple[str, ...]) -> list[str]:
    return [f"{fault.command}: {fault.why}: {fault.output}" for fault in survey(sample, verbs or QUICK)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_damaged_at_random_breaks_no_command(sample: Sample, tmp_path: Path, seed: int) -> None:
    done, found = try_seed(seed, str(tmp_path), sample, QUICK)
    assert not found, (done, found)


def test_an_exit_code_of_twenty_digits_is_left_out_and_a_command_still_prints_its_output(sample: Sample) -> None:
    change(os.path.join(sample.root, "buffers", sample.hit, "meta.json"), exit_code=10**20 - 1)
    forget_index(sample.root)
    assert faults(sample, ("run", "-c", "echo words of it"), ("list", "--json"), ("list",), ("doctor",)) == []


@pytest.mark.parametrize("field", [name for name in Buffer._fields if name != "accessed"])
def test_a_record_is_read_as_it_was_written_or_not_at_all(store: Store, field: str) -> None:
    recording = store.begin("cmd", "make", "/", "s")
    recording.append("out", b"x\n")
    fields = json.loads(encode_buffer(recording.seal(exit_code=0)))
    usual = decode_buffer(json.dumps(fields).encode())
    for odd in ODD_VALUES:
        try:
            read = decode_buffer(json.dumps({**fields, field: odd}).encode())
        except ValueError:
            continue
        store.index.put_buffer(read)  # what is read fits into the index
        assert not odd or read == usual or json.loads(encode_buffer(read))[field] == odd


def test_a_trigger_in_the_index_has_it_made_anew(sample: Sample) -> None:
    with contextlib.closing(sqlite3.connect(os.path.join(sample.root, "index.sqlite"))) as index:
        index.execute("CREATE TRIGGER odd AFTER INSERT ON buffers BEGIN DELETE FROM buffers; END")
    with Store(sample.root, Settings()) as store:
        assert sample.whole in {item.buffer.name for item in store.listed(9)}
        assert any("made anew" in notice for notice in store.notices)


def test_a_damaged_row_is_left_out_and_there_again_when_the_index_is_opened_next(sample: Sample) -> None:
    with contextlib.closing(sqlite3.connect(os.path.join(sample.root, "index.sqlite"))) as index, index:
        index.execute("UPDATE buffers SET exit_code = 'x' WHERE name = ?", (sample.hit,))
    for is_there in (False, True):
        with Store(sample.root, Settings()) as store:
            names = {item.buffer.name for item in store.listed(9)}
            assert (sample.whole in names, sample.hit in names) == (True, is_there)
            assert any("damaged" in notice for notice in store.notices) is not is_there


@pytest.mark.parametrize(
    "change", ["views SET time = '['", "views SET entry = 'x'", "logs SET bytes = 'x'", "totals SET bytes = 'x'"]
)
def test_a_number_of_the_index_that_is_none_breaks_no_command(sample: Sample, change: str) -> None:
    with contextlib.closing(sqlite3.connect(os.path.join(sample.root, "index.sqlite"))) as index, index:
        index.execute(f"UPDATE OR IGNORE {change}")
    assert faults(sample, ("sessions",), ("list", "--json"), ("timeline",), ("gc",)) == []


@pytest.mark.parametrize("line", [b"[" * 100_000, b"7", b'{"n": 1e999}', b"\xff", b'{"time": "x", "kind": "view"}'])
def test_a_line_of_a_log_that_nobody_wrote_hides_no_other(sample: Sample, line: bytes) -> None:
    path = Path(sample.root, "audit", f"{AGENT.name}.jsonl")
    lines = path.read_bytes().splitlines()
    with Store(sample.root, Settings()) as store:
        before = {indexed.view.id for indexed in list_views(store)}
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[3:]]) + b"\n")
    forget_index(sample.root)
    with Store(sample.root, Settings()) as store:
        assert {indexed.view.id for indexed in list_views(store)} == before - {f"{AGENT.name}:2"}
        assert [entry for _, entry in read_all(str(path))][2] == {}
        problems = [found.text for found in examine(store) if found.level == "problem"]
        assert any(f"{AGENT.name}.jsonl:3 is not what was written" in text for text in problems)


@pytest.mark.parametrize("file", ["meta.json", "order", "lines", "out", "err"])
def test_a_file_of_a_sparse_terabyte_is_not_read(sample: Sample, file: str) -> None:
    path = os.path.join(sample.root, "buffers", sample.hit, file)
    os.chmod(path, 0o600)
    os.truncate(path, 1 << 40)
    forget_index(sample.root)
    shown = ("show", "@HIT"), ("show", "@HIT.all", "--lines", "1-3"), ("path", "@HIT.all"), ("audit",)
    assert faults(sample, ("list", "--json"), *shown, ("run", "-c", "echo words of it")) == []


@pytest.mark.parametrize("file", ["meta.json", "order", "out"])
def test_a_file_of_a_sparse_terabyte_is_not_read_when_its_writer_has_died(sample: Sample, file: str) -> None:
    (name,) = (name for name in os.listdir(os.path.join(sample.root, "live")))
    path = os.path.join(sample.root, "buffers", name, file)
    os.truncate(path, 1 << 40)
    forget_index(sample.root)
    assert faults(sample, ("list", "--json"), ("show", f"@{name}"), ("run", "-c", "echo words of it")) == []
    if file == "out":
        with Store(sample.root, Settings()) as store:
            buffer = store.checked(store.resolve("@" + name).buffer)
            assert buffer.stream("out").bytes < 1 << 20 and buffer.altered  # a file system finds holes by blocks


def test_a_log_that_is_a_sparse_terabyte_is_read_to_its_hole_and_reported(sample: Sample) -> None:
    path = os.path.join(sample.root, "audit", f"{AGENT.name}.jsonl")
    entries = [entry for _, entry in read_all(path)]
    os.truncate(path, 1 << 40)
    with open(path, "rb") as file:
        assert sum(len(line) for _, line in lines_of(file)) < 1 << 20
    assert faults(sample, *QUICK, ("brief",), ("secrets",)) == []
    assert [entry for _, entry in read_all(path)][: len(entries)] == entries, "gc has blanked texts"
    with Store(sample.root, Settings()) as store:
        problems = [found.text for found in examine(store) if found.level == "problem"]
    assert any(f"{AGENT.name}.jsonl:{len(entries) + 1} is not what was written" in text for text in problems)
    assert faults(sample, ("rm", "--purge", f"@{sample.names[2]}")) == []


@pytest.mark.parametrize("file", ["hooks.log", "queries"])
def test_a_purge_leaves_no_file_that_is_too_large_to_be_searched(sample: Sample, file: str) -> None:
    path = Path(sample.root, file)
    path.touch(0o600)
    os.truncate(path, 1 << 40)
    assert faults(sample, ("rm", "--purge", "@WHOLE")) == []
    assert not path.exists()


def test_a_session_whose_log_is_a_sparse_terabyte_goes_on_after_its_last_whole_line(sample: Sample) -> None:
    path = os.path.join(sample.root, "audit", f"{AGENT.name}.jsonl")
    lines = verify(path)
    os.truncate(path, 1 << 40)
    with Store(sample.root, Settings()) as store:
        append_entry(store, AGENT, {"kind": "message", "text": "on", "time": 10.0})
    assert verify(path) == lines + 1


def test_records_that_cannot_be_read_are_reported_when_the_index_is_made_anew(sample: Sample) -> None:
    Path(sample.root, "buffers", sample.hit, "meta.json").write_text("[" * 100_000)
    forget_index(sample.root)
    with Store(sample.root, Settings()) as store:
        assert sample.whole in {item.buffer.name for item in store.listed(9)}
        assert any("cannot be read, and which are not listed: 1;" in notice for notice in store.notices)
        problems = [found.text for found in examine(store) if found.level == "problem"]
        assert any(text.startswith(f"@{sample.hit} has a record that cannot be read") for text in problems)


@pytest.mark.parametrize("bad", [{"exit_code": False}, {"streams": []}, {"label": 5}, {"command": None}])
def test_doctor_keeps_what_can_be_read_of_a_record_that_cannot(sample: Sample, bad: dict[str, Any]) -> None:
    path = os.path.join(sample.root, "buffers", sample.hit, "meta.json")
    with open(path) as file:
        before = json.load(file)
    change(path, **bad)
    os.utime(os.path.dirname(path), (1.0, 1.0))  # its writer is not about to write it
    forget_index(sample.root)
    with Store(sample.root, Settings()) as store:
        mended = [found.text for found in examine(store) if found.level == "mended"]
        assert any("what could be of it is in a new one" in text for text in mended)
        buffer = store.resolve("@" + sample.hit).buffer
        assert buffer.state == "interrupted" and "record lost" in buffer.note
        for field in {"command", "cwd", "session", "created", "exit_code", "label"} - bad.keys():
            assert getattr(buffer, field) == before[field]
        assert {name: info.sha256 for name, info in buffer.streams.items()} == {
            name: info["sha256"] for name, info in before["streams"].items()
        }
