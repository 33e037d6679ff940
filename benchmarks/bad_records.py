"""``python -m benchmarks.bad_records [SECONDS]``: damages files of a store at random, and runs every verb on it.

No verb may end in a traceback, take minutes or gigabytes, or lose an output that was not damaged. `run` must print what
its command wrote. Tests run it with fixed seeds; it prints the seed of each fault that it finds.
"""

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from sightline.base.records import Session
from sightline.doors.cli.main import main as sightline
from sightline.log.log_index import append_entry
from sightline.log.notes import send_note, write_note
from sightline.log.retention import evict, remove
from sightline.log.views import Shows, record_view
from sightline.settings.config import Settings
from sightline.shape.segments import Segment
from sightline.store import Store, Target

_LIMIT_SECONDS = 60  # of one command, which usually takes 0.05
_LIMIT_BYTES = 4 << 30  # of its address space
_SPARSE_BYTES = 1 << 40

AGENT = Session("agent", "claude-code", "1", "", "/", 1.0)
_PERSON = Session("me", "shell", "", "", "/", 1.0)

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, "", "x", "\ud800", "\udcff", "\x00", "../../x", "a/b", "x" * 100_000, "é\n" * 99),
    *(0, -1, 0.5, 1 << 31, 1 << 63, -(1 << 63) - 1, 10**19, 10**20, 10**300, 1e308),
    *(float("inf"), float("-inf"), float("nan")),
    *([], {}, [[]], [None], ["x"], {"": None}, {"x": {}}, [[1, 2, 3, 4, 5]], list(range(1000))),
    {f"part.{number}": {"bytes": 1, "lines": 1} for number in range(100_000)},
    {"../../x": {"bytes": 1, "lines": 1, "sha256": "", "mime": ""}},
    {"out": {"bytes": 10**20, "lines": -1, "sha256": 5, "mime": None}},
)
"""What a field of a record may be found to hold."""

_DEEP = 100_000

VERBS: tuple[tuple[str, ...], ...] = (
    ("list",),
    ("list", "--json"),
    ("list", "--match", "seq"),
    ("show", "@WHOLE"),
    ("show", "@WHOLE", "--search", "7"),
    ("show", "@HIT"),
    ("show", "@HIT.all", "--lines", "1-3"),
    ("show", "@last"),
    ("path", "@HIT"),
    ("query", "grep -c . @WHOLE"),
    ("query", "grep -c . @HIT"),
    ("grep", "7"),
    ("diff", "@WHOLE", "@HIT"),
    ("read", "FILE"),
    ("note", "@WHOLE:1", "look"),
    ("notes",),
    ("audit",),
    ("brief",),
    ("evidence",),
    ("coverage",),
    ("timeline",),
    ("views",),
    ("sessions",),
    ("report",),
    ("export",),
    ("pin", "@HIT"),
    ("unpin", "@HIT"),
    ("gc",),
    ("doctor",),
    ("run", "-c", "echo words of it"),
    ("run", "--json", "-c", "false"),
    ("rm", "@HIT"),
)
"""The commands that are run on each damaged store; HIT is the damaged output, WHOLE another one."""


class Fault(NamedTuple):
    """A command that did not do what it should.

    Attributes:
        command: its words.
        why: the reason in a line.
        output: what it wrote, shortened.
    """

    command: tuple[str, ...]
    why: str
    output: str


class Sample(NamedTuple):
    """A store to damage.

    Attributes:
        root: its folder.
        whole: name of an output that stays whole.
        hit: name of one with two streams that need not.
        names: names of all outputs, in the order in which they were made.
    """

    root: str
    whole: str
    hit: str
    names: tuple[str, ...]


def make_sample(root: str) -> Sample:
    """Make a store that has every kind of file."""
    with Store(root, Settings()) as store:

        def kept(kind: str, command: str, streams: dict[str, bytes], **fields: Any) -> str:
            recording = store.begin(kind, command, "/", AGENT.name, **fields)
            recording.register()
            for stream, data in streams.items():
                recording.append(stream, data)
            return recording.seal(exit_code=1 if kind == "cmd" else None).name

        lines = b"".join(b"%d\n" % number for number in range(30_000))
        whole = kept("cmd", "seq 9", {"out": b"7\n" * 9})
        hit = kept(
            "cmd",
            "make",
            {
                "out": lines,
                "err": b"FAILED tests/test_x.py::test_y\n" * 9,
            },
        )
        tool = kept(
            "tool", "search {}", {"part.0": b'{"a": [1, 2, {"b": null}]}', "part.1": b"text"}, artifact="cmd-17.txt"
        )
        gone = [kept("cmd", f"echo {number}", {"out": b"gone\n"}) for number in range(2)]
        for name in (whole, hit, *gone):
            shows = Shows("run_command", {"command": "make"}, (name,), exit_code=1)
            record_view(store, AGENT, shows, (Segment("7\n", f"@{name}", 1, 1),))
        note = write_note(store, _PERSON, Target(store.resolve("@" + hit).buffer, "out", 1, 2), "look here")
        send_note(store, _PERSON, note, AGENT.name)
        for entry in ({"kind": "message", "text": "all passed"}, {"kind": "context", "event": "compacted"}):
            append_entry(store, AGENT, {"time": 9.0, **entry})
        store.index.put_ack("@ack_00000000", "{}", AGENT.name, time.time(), 0.0)
        evict(store, store.resolve("@" + gone[0]).buffer)
        remove(store, [store.resolve("@" + gone[1]).buffer])
        dead = store.begin("cmd", "sleep 9", "/", AGENT.name)
        dead.register()
        dead.append("out", b"so far\n")
        dead.abandon()
    for path, text in (("config.toml", "max_buffers = 900\n"), ("imports.json", '{"format": 1, "files": []}')):
        with open(os.path.join(root, path), "w") as file:
            file.write(text)
    return Sample(root, whole, hit, (whole, hit, tool, *gone, dead.name))


def files_of(sample: Sample) -> list[str]:
    """Return the paths of all files of the store but those of the whole output and of SQLite.

    Their order is the same in every sample, though names of outputs are random, so that a seed damages the same file.
    """

    def place(path: str) -> str:
        for at, name in enumerate(sample.names):
            path = path.replace(name, str(at))
        return path

    found = [os.path.join(folder, name) for folder, _, names in os.walk(sample.root) for name in names]
    return sorted((path for path in found if sample.whole not in path and "index.sqlite" not in path), key=place)


def damage(sample: Sample, chance: random.Random) -> str:
    """Damage one place of a store, and return in a line what was done."""
    ways = [_odd_value] * 6 + [_odd_bytes] * 4 + [_odd_name, _odd_row, _odd_row, _odd_table]
    way = chance.choice(ways)
    done = way(sample, chance)
    if way is not _odd_row and way is not _odd_table and chance.random() < 0.5:
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(sample.root, "index.sqlite" + ending))
        done += "; the index is gone"
    return done


def _odd_value(sample: Sample, chance: random.Random) -> str:
    """Put an odd value into a field of a line of JSON."""
    path = chance.choice([path for path in files_of(sample) if path.endswith((".json", ".jsonl"))])
    with open(path, "rb") as file:
        lines = file.read().splitlines()
    at = chance.randrange(len(lines))
    value, places = json.loads(lines[at]), []

    def walk(inner: Any) -> None:
        items = inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
        for key, item in items:
            places.append((inner, key))
            walk(item)

    walk(value)
    holder, key = chance.choice(places)
    if chance.random() < 0.15:
        odd: Any = "(missing)"
        del holder[key]
    else:
        odd = holder[key] = chance.choice(ODD_VALUES)
    text = json.dumps(value)
    if chance.random() < 0.1:
        odd = "(deep)"
        text = text.replace("{", '{"deep": ' + "[" * _DEEP + "]" * _DEEP + ", ", 1)
    lines[at] = text.encode()
    _write(path, b"\n".join(lines) + b"\n")
    return f"{os.path.relpath(path, sample.root)}:{at + 1} {key} = {str(odd)[:60]!r}"


def _odd_bytes(sample: Sample, chance: random.Random) -> str:
    """Change the bytes of any file."""
    path = chance.choice(files_of(sample))
    with open(path, "rb") as file:
        data = bytearray(file.read())
    name, made = chance.choice(
        (
            ("empty", b""),
            ("cut", bytes(data[: chance.randrange(len(data) + 1)])),
            ("zeros", bytes(max(len(data), 64))),
            ("not UTF-8", b"\xff\xfe" + bytes(data)),
            ("deep", b"[" * _DEEP + b"\n"),
            ("random", chance.randbytes(4096)),
            ("flipped", _flipped(data, chance)),
            ("twice", bytes(data) * 2),
            ("long line", b"x" * (8 << 20)),
            ("sparse", None),
        )
    )
    if made is None:
        os.chmod(path, 0o600)
        os.truncate(path, _SPARSE_BYTES)
    else:
        _write(path, made)
    return f"{os.path.relpath(path, sample.root)} {name}"


def _flipped(data: bytearray, chance: random.Random) -> bytes:
    for _ in range(min(len(data), 8)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def _odd_name(sample: Sample, chance: random.Random) -> str:
    """Add an entry whose name is not ours."""
    name = chance.choice((b"\xff\xfe", b"cmd_\xff", b"a\nb", b"x" * 250, b"cmd_zzzzzz", b"cmd_0a0a0a", b".x", b"..x"))
    folder = chance.choice(("", "buffers", "audit", "tombstones", "live", f"buffers/{sample.hit}", "hooks", "outbox"))
    ending = chance.choice((b"", b".json", b".jsonl", b".tmp"))
    path = os.path.join(os.fsencode(os.path.join(sample.root, folder)), name + ending)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if chance.random() < 0.4:
        os.makedirs(path, exist_ok=True)
    else:
        with open(path, "wb") as file:
            file.write(chance.choice((b"", b"{}\n", b"x")))
    return f"{path!r} is there"


def _odd_row(sample: Sample, chance: random.Random) -> str:
    """Put an odd value into a row of the index."""
    connection = sqlite3.connect(os.path.join(sample.root, "index.sqlite"))
    with contextlib.closing(connection):
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = chance.choice(sorted(tables))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = chance.choice(columns)
        odd = chance.choice(
            (
                "x",
                b"\xff\x00",
                -1,
                1 << 62,
                0.5,
                float("inf"),
                "../../x",
                "[" * _DEEP,
                '{"out": [1]}',
                '{"out": null}',
                None,
            )
        )
        where = "" if chance.random() < 0.3 or "name" not in columns else f"WHERE name <> '{sample.whole}'"
        with contextlib.suppress(sqlite3.Error), connection:
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ? {where}", (odd,))
    return f"index: {table}.{column} = {str(odd)[:40]!r} {where}"


_TRIGGERS = (
    "CREATE TRIGGER odd BEFORE INSERT ON buffers BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TRIGGER odd AFTER INSERT ON buffers BEGIN DELETE FROM buffers; END",
    "CREATE TRIGGER odd BEFORE UPDATE ON totals BEGIN SELECT RAISE(FAIL, 'no'); END",
    "CREATE TRIGGER odd AFTER INSERT ON views BEGIN UPDATE views SET record = '['; END",
    "DROP TRIGGER buffer_added",
    "DROP TABLE views",
    "DROP TABLE totals",
    "DELETE FROM totals",
    "INSERT INTO totals VALUES (1, 2, 0)",
    "ALTER TABLE buffers RENAME COLUMN label TO title",
    "ALTER TABLE buffers ADD COLUMN odd GENERATED ALWAYS AS (json_extract(command, '$')) VIRTUAL",
    "CREATE UNIQUE INDEX odd ON buffers (kind, state, cwd) WHERE state = 'odd'",
    "CREATE UNIQUE INDEX odd ON buffers (state) WHERE state = 'running'",
    "DROP INDEX buffers_by_use",
    "PRAGMA user_version = 0",
    "PRAGMA user_version = 3",
    "CREATE VIEW odd AS SELECT * FROM buffers",
)


def _odd_table(sample: Sample, chance: random.Random) -> str:
    """Change the tables of the index."""
    statement = chance.choice(_TRIGGERS)
    connection = sqlite3.connect(os.path.join(sample.root, "index.sqlite"))
    with contextlib.closing(connection), contextlib.suppress(sqlite3.Error), connection:
        connection.execute(statement)
    return f"index: {statement}"


def _write(path: str, data: bytes) -> None:
    os.chmod(path, 0o600)
    with open(path, "wb") as file:
        file.write(data)


def survey(sample: Sample, verbs: tuple[tuple[str, ...], ...] = VERBS) -> Iterator[Fault]:
    """Run commands on a store, and yield those that did not do what they should."""
    for verb in verbs:
        file = os.path.join(sample.root, "..", "file.txt")
        names = {"@WHOLE": f"@{sample.whole}", "@HIT": f"@{sample.hit}", "FILE": file}
        words = tuple(_named(word, names) for word in verb)
        code, out = _run(words, sample.root)
        if why := _wrong(verb, code, out, sample):
            yield Fault(words, why, out[-3000:])


def _named(word: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        word = word.replace(name, value)
    return word


def _wrong(verb: tuple[str, ...], code: int, out: str, sample: Sample) -> str:
    if "Traceback" in out:
        return "a traceback"
    if code < 0:
        return f"ended by signal {-code}"
    if verb == ("run", "-c", "echo words of it") and "words of it" not in out:
        return "the command's output is lost"
    if verb == ("list", "--json") and sample.whole not in out and "unknown setting" not in out and "TOML" not in out:
        return "another output is not listed"
    return ""


def _run(words: tuple[str, ...], root: str) -> tuple[int, str]:
    """Run one command line in a fork; return its exit code, below zero a signal's, and what it wrote."""
    with tempfile.TemporaryFile() as taken:
        pid = os.fork()
        if pid == 0:
            _be(words, root, taken.fileno())
        _, status = os.waitpid(pid, 0)
        taken.seek(0)
        return os.waitstatus_to_exitcode(status), taken.read(1 << 20).decode(errors="replace")


def _be(words: tuple[str, ...], root: str, out: int) -> None:
    signal.alarm(_LIMIT_SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (_LIMIT_BYTES, _LIMIT_BYTES))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.stdout, sys.stderr = open(1, "w", errors="surrogateescape"), open(2, "w", errors="backslashreplace")  # noqa: SIM115
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIGHTLINE_")}
    os.environ.clear()
    os.environ.update(kept, SIGHTLINE_HOME=root, HOME=os.path.dirname(root))
    try:
        code = sightline(list(words))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def try_seed(
    seed: int, folder: str, sample: Sample, verbs: tuple[tuple[str, ...], ...] = VERBS
) -> tuple[str, list[Fault]]:
    """Damage a copy of a store by a seed, and return what was done and what went wrong then."""
    root = os.path.join(folder, f"seed-{seed}")
    shutil.copytree(sample.root, root, symlinks=True)
    try:
        copy = sample._replace(root=root)
        done = damage(copy, random.Random(seed))
        return done, list(survey(copy, verbs))
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main(words: list[str], tell: Callable[[str], None] = print) -> int:
    """Try seeds for so many seconds from one by chance, or one seed alone; return 1 where a verb failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        sample = make_sample(os.path.join(folder, "sample"))
        with open(os.path.join(folder, "file.txt"), "w") as file:
            file.write("a file\n")
        begun = time.monotonic()
        seconds = float(words[0]) if words else 60.0
        seeds = [int(word) for word in words[1:]]
        count = 0
        while time.monotonic() - begun < seconds:
            if words[1:] and not seeds:
                break
            seed = seeds.pop(0) if seeds else random.SystemRandom().randrange(1 << 32)
            done, faults = try_seed(seed, folder, sample)
            count += 1
            for fault in faults:
                failed += 1
                tell(f"seed {seed}: {done}\n  {' '.join(fault.command)}: {fault.why}\n{fault.output}")
        tell(f"{count} damaged stores, {failed} faults")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
