"""A store that version 0.1.0 made opens unchanged.

`stores/0.1.0.tar.gz` was made once, by `stores/make.py` with that version installed; it is never made again.
"""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from sightline.audit.buffer_coverage import coverage_of
from sightline.audit.coverage import told_share
from sightline.audit.kept_facts import facts_for, share_in
from sightline.audit.timeline import calls_of, share_seen
from sightline.base.errors import ExpiredRef
from sightline.base.records import Buffer, LinePart, Session, Shown, View
from sightline.base.sha256 import sha256_hex
from sightline.doors.doctor.doctor import examine
from sightline.log.log_index import list_views
from sightline.log.notes import list_notes
from sightline.log.view_text import TextGone, view_text
from sightline.log.views import Shows, record_view
from sightline.store import Store, Target
from tests.faults.fault_kit import PROGRAM

ARCHIVE = Path(__file__).parent / "stores" / "0.1.0.tar.gz"
AGENT = "claude-code-0001"


def unpack(folder: Path) -> Path:
    """The store as it was made, its modes and times included."""
    with tarfile.open(ARCHIVE) as file:
        file.extraction_filter = lambda member, _: member  # Python 3.14 would change its modes
        file.extractall(folder)
    return folder / "root"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return unpack(tmp_path)


def buffers(store: Store) -> dict[str, Buffer]:
    """All that is there, by its label or command, the newest of these."""
    return {item.buffer.label or item.buffer.command: item.buffer for item in store.listed(100)[::-1]}


def texts(store: Store) -> dict[str, str | None]:
    """What was shown, by the id of the view; None where it is gone."""
    found: dict[str, str | None] = {}
    for indexed in list_views(store, limit=100):
        try:
            found[indexed.view.id] = view_text(store, indexed)
        except TextGone:
            found[indexed.view.id] = None
    return found


def problems(store: Store, *, rebuild: bool = False) -> list[str]:
    return [finding.text for finding in examine(store, rebuild=rebuild) if finding.level == "problem"]


def test_all_outputs_are_there_with_their_bytes(root: Path) -> None:
    with Store(str(root)) as store:
        found = buffers(store)
        assert {name: buffer.state for name, buffer in found.items() if buffer.state != "sealed"} == {
            "echo so far; read -r _": "interrupted",  # what nobody had adopted
            "seq 1 9000; echo evicted": "evicted",
        }
        for buffer in (buffer for buffer in found.values() if buffer.state == "sealed"):
            for name, stream in buffer.streams.items():
                with store.open(Target(buffer, name)) as source:
                    assert sha256_hex(source.read(0, stream.bytes)) == stream.sha256
        assert (found["nightly"].pinned, found["nightly"].exit_code) == (True, None)
        assert (found["seq 1 500 | tail -2"].exit_code, found["items"].stream("part.1").lines) == (0, 900)
        with pytest.raises(ExpiredRef):
            store.resolve(found["seq 1 9000; echo evicted"].ref)


def test_what_was_told_to_be_partial_still_is(root: Path) -> None:
    with Store(str(root)) as store:
        found = buffers(store)
        assert found["./step 0"].is_partial
        assert not found["./step 1"].is_partial
        assert not found["items"].is_partial


def test_every_view_has_its_exact_text_or_says_that_it_is_gone(root: Path) -> None:
    with Store(str(root)) as store:
        found = texts(store)
        gone = {view for view, text in found.items() if text is None}
        assert gone == {f"{AGENT}:16", "removed-agent:1", "removed-agent:2", "removed-agent:3"}
        assert len(found) == 22
        assert "400% \u202eabc\u202c a\u200bb\U000e0041c" in str(
            found[f"{AGENT}:18"]
        )  # as ranges: by the cleaning of then
        line = next(one.view for one in list_views(store, limit=100) if one.view.request.find("050000d") > 0)
        assert "50,000" in str(found[line.id]) or "elided" in str(found[line.id])
        assert [one.last for one in line.shown] == [2]  # as 0.1.0 logged it: by its number alone


def test_notes_and_names_of_sessions_are_there(root: Path) -> None:
    with Store(str(root)) as store:
        notes = {note.text: note for note in list_notes(store)}
        assert (notes["look here"].sent_to, notes["for nobody"].to) == (AGENT, "")
        sessions = {session.name: session for session in store.index.sessions()}
        assert sessions[AGENT].title == "the agent"
        assert {name for name, session in sessions.items() if session.removed} == {"removed-agent"}


def test_lines_that_a_view_may_have_cut_are_seen_at_most(root: Path) -> None:
    with Store(str(root)) as store:
        found = buffers(store)
        told = {name: told_share(coverage_of(store, found[name])) for name in found if found[name].state == "sealed"}
        line = next(name for name in found if "050000d" in name)
        assert told[line] == "at most 100 %"
        assert told["items"] == "at most 1.4 %"  # of the line with its longest string only a marker was shown
        assert told["seq 1 500 | tail -2"] == "100 %"
        assert next(told[name] for name in told if name.startswith("seq 1 3000")) == "96.4 %"
        facts = facts_for(store, found.values())
        assert {name: told_share(share_in(facts[found[name].name], found[name])) for name in told} == told
        assert share_seen(calls_of(store), list(found.values())).at_most
        with store.open(Target(found[line], "out")) as source:
            for at in range(0, source.byte_count, 1 << 14):
                shown = source.line_span(at, min(at + (1 << 14), source.byte_count))
                parts = tuple(LinePart(found[line].name, "out", *cut) for cut in shown.cuts)
                ranges = (Shown(found[line].name, "out", 2, 2),) if shown.last == 2 else ()
                shows = Shows("read_output", {}, (found[line].name,), ranges, parts=parts)
                record_view(store, Session("later", "shell", "", "", "/", 1.0), shows, ())
        assert told_share(coverage_of(store, found[line])) == "100 %"  # a view of today showed all of it for certain


def test_an_index_made_anew_from_it_has_the_same(root: Path) -> None:
    with Store(str(root)) as store:
        before = (buffers(store), texts(store), list_notes(store), set(store.index.sessions()))
        assert problems(store) == []
    for path in root.glob("index.sqlite*"):
        path.unlink()
    with Store(str(root)) as store:
        assert problems(store, rebuild=True) == []
        after = (buffers(store), texts(store), list_notes(store), set(store.index.sessions()))
    for one in (before[0], after[0]):  # the use of a buffer is in the index alone, and reading seals it
        one.update({name: buffer._replace(accessed=0.0, seals="") for name, buffer in one.items()})
    assert after == before


@pytest.mark.parametrize(
    "line",
    [
        "list --limit 100",
        "views --limit 100",
        "sessions --all",
        "notes",
        f"timeline --session {AGENT}",
        "coverage {numbers}",
        "coverage {line}",
        "show {numbers} --lines 100-1600",
        "show {line}",
        "show {items} --path $.items[7].name",
        "query grep{space}299{space}{numbers}",
        "diff {numbers} {line}",
        "audit",
        f"report --session {AGENT}",
        "doctor",
    ],
)
def test_every_read_of_it_works(root: Path, line: str) -> None:
    with Store(str(root)) as store:
        found = buffers(store)
    refs = {
        "numbers": next(buffer.ref for name, buffer in found.items() if name.startswith("seq 1 3000")),
        "line": next(buffer.ref for name, buffer in found.items() if "050000d" in name),
        "items": found["items"].ref,
        "space": " ",
    }
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "SIGHTLINE_HOME": str(root)}
    words = [word.format(**refs) for word in line.split(" ")]
    ran = subprocess.run([*PROGRAM, *words], capture_output=True, env=environment, cwd=root.parent, timeout=60)
    said = b"" if ran.stderr.startswith(b"sightline: numbers count all entries") else ran.stderr  # of `views`
    assert (ran.returncode, said) in ((0, b""), (1, b"")), said.decode()
    assert ran.stdout


def test_what_is_captured_and_shown_in_it_goes_on(root: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "SIGHTLINE_HOME": str(root)}
    environment |= {"CLAUDE_CODE_SESSION_ID": "0001"}
    ran = subprocess.run(
        [*PROGRAM, "run", "-c", "seq 1 3000"], capture_output=True, env=environment, cwd=root.parent, timeout=60
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    with Store(str(root)) as store:
        newest: View = list_views(store, limit=1)[0].view
        assert newest.session == AGENT
        assert problems(store) == []
