"""Sessions that real harnesses had, recorded as they happened and imported afterwards: both say the same of them."""

import json
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from sightline.agents.hooks.event import answer_to
from sightline.agents.past_sessions import importer
from sightline.agents.past_sessions.importer import Importer
from sightline.agents.past_sessions.live_transcript import catch_up
from sightline.base.records import Gap
from sightline.disk.layout import Layout
from sightline.harnesses.formats import find_sources
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.store import Store
from tests.store.harnesses.past_kit import RECORDED, make_database

PLACES = {
    "claude-code": ".claude/projects",
    "codex": ".codex/sessions",
    "gemini": ".gemini/tmp",
    "opencode": ".local/share/opencode",
}
HOME = "/home/user"


class Said(NamedTuple):
    """What a store says of one call.

    Attributes:
        asked: the tool and what it was called with.
        exit_code: of the command.
        gave: what its buffers hold.
        partial: whether they hold only some of it.
        gaps: where the rest is missing.
        shown: exactly what the model was shown.
        unknown: what of this is not known.
        lines: how many lines of them stood in it.
    """

    asked: str
    exit_code: int | None
    gave: bytes
    partial: bool
    gaps: tuple[Gap, ...]
    shown: str
    unknown: str
    lines: int


def _settled(harness: str, home: Path) -> list[dict[str, Any]]:
    """Put a recorded session into a home; the events that hooks were told of it."""
    place = home / PLACES[harness]
    shutil.copytree(RECORDED / harness, place)
    (place / "seen.json").unlink()
    for path in place.rglob("*"):
        if path.is_file():
            path.write_text(path.read_text().replace(HOME, str(home)))
    events = place / "events.jsonl"
    told = [json.loads(line) for line in events.read_text().splitlines()]
    events.unlink()
    for path in {Path(path) for event in told if (path := event["given"].get("transcript_path"))}:
        if (flat := place / path.name).exists():
            path.parent.mkdir(parents=True)
            flat.rename(path)
    make_database(place)
    return told


def _happen(harness: str, events: list[dict[str, Any]]) -> None:
    """Tell the hook all events, each while the transcript has what it had then; in the end all is there."""
    for event in events:
        given = event["given"]
        path = Path(given.get("transcript_path") or "nowhere")
        whole = path.read_bytes() if path.exists() else b""
        if whole:
            path.write_bytes(b"".join(whole.splitlines(keepends=True)[: event["lines"]]))
        answer_to([harness, event["event"], "--mode", "record"], json.dumps(given).encode())
        if whole:
            path.write_bytes(whole)


def _said(store: Store) -> dict[str, Said]:
    """What a store says of each call, by the call."""
    found: dict[str, Said] = {}
    for one in reversed(list_views(store)):
        request = json.loads(one.view.request)
        asked = (
            request.get("command") or f"{request['tool']} {Path(request.get('path') or _read(request)).name}".strip()
        )
        while asked in found:
            asked += " again"
        buffers = [buffer for name in one.view.refs if (buffer := store.index.buffer(name))]
        streams = [store.layout.stream(buffer.name, name) for buffer in buffers for name in sorted(buffer.streams)]
        found[asked] = Said(
            asked=asked,
            exit_code=one.view.exit_code,
            gave=b"".join(Path(path).read_bytes() for path in streams),
            partial=any(buffer.is_partial for buffer in buffers),
            gaps=tuple(gap for buffer in buffers for gap in buffer.gaps),
            shown=view_text(store, one),
            unknown=one.view.unknown,
            lines=one.view.lines_shown,
        )
    return found


def _read(request: dict[str, Any]) -> str:
    arguments = request.get("arguments") or {}
    return str(arguments.get("file_path", arguments.get("filePath", "")))


UNTOLD = {"opencode": ("read nowhere.txt",)}
"""Calls that a harness tells no hook of, and that it writes into no transcript either which a hook could read."""


@pytest.mark.parametrize("harness", sorted(PLACES))
def test_the_live_record_and_the_import_of_one_session_agree(harness: str, root: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    _happen(harness, _settled(harness, home))
    assert not (root / "hooks.log").exists(), (root / "hooks.log").read_text()
    with Store(str(root)) as live, Store(str(tmp_path / "imported")) as imported:
        importer = Importer(imported)
        importer.run(find_sources(str(home / PLACES[harness])))
        assert not importer.troubles
        happened, told = _said(live), _said(imported)
    assert {asked for asked in told if asked not in UNTOLD.get(harness, ())} == happened.keys()
    for asked, said in happened.items():
        if asked.lower().startswith("read"):  # the file itself was there then; of its other lines a transcript has none
            said = said._replace(gave=told[asked].gave, partial=told[asked].partial, gaps=told[asked].gaps)
        assert said == told[asked]
        assert not said.unknown


def test_of_a_command_that_wrote_nothing_gemini_s_words_of_its_end_are_no_output(root: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    _happen("gemini", _settled("gemini", home))
    with Store(str(root)) as store:
        said = _said(store)["exit 6"]
    assert (said.gave, said.exit_code) == (b"", 6)
    assert "Output: (empty)" in said.shown


@pytest.mark.parametrize("harness", sorted(PLACES))
def test_a_session_that_was_recorded_is_not_imported_again(
    harness: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "SAME_SECONDS", time.time())  # the transcript is of a day long before
    home = tmp_path / "home"
    _happen(harness, _settled(harness, home))
    with Store(str(root)) as store:
        before = _said(store)
        counts = Importer(store).run(find_sources(str(home / PLACES[harness])))
        assert counts.calls == len(UNTOLD.get(harness, ()))
        after = _said(store)
    assert {asked: said for asked, said in after.items() if asked not in UNTOLD.get(harness, ())} == before


@pytest.mark.parametrize("harness", ["codex", "gemini"])
def test_a_view_is_exact_though_nobody_asked_before_the_session_was_killed(
    harness: str, root: Path, tmp_path: Path
) -> None:
    """The last events are missing: whoever looks has the transcript read on."""
    home = tmp_path / "home"
    events = _settled(harness, home)
    last = max(place for place, event in enumerate(events) if "tool_name" in event["given"])
    _happen(harness, events[: last + 1])
    with Store(str(root)) as store:
        assert store.layout.waiting_sessions()
        before = len(list_views(store))
        catch_up(store)
        assert not store.layout.waiting_sessions()
        assert len(list_views(store)) > before
        assert not any(said.unknown for said in _said(store).values())


@pytest.mark.parametrize("harness", ["codex", "gemini"])
def test_a_transcript_that_is_lost_leaves_what_hooks_were_told_and_says_so(
    harness: str, root: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    events = _settled(harness, home)
    first = next(place for place, event in enumerate(events) if "tool_name" in event["given"])
    _happen(harness, events[: first + 1])
    Path(events[0]["given"]["transcript_path"]).unlink()
    with Store(str(root)) as store:
        catch_up(store)
        ((_, said),) = _said(store).items()
    assert "hello\noops\n" in said.shown
    assert "cannot be read" in said.unknown
    assert said.exit_code == 0


def test_looking_at_a_store_that_cannot_be_written_waits_for_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = _settled("codex", tmp_path / "home")
    _happen("codex", events[:3])
    with Store(str(root)) as store:
        monkeypatch.setattr(store.index, "unwritable", "no room")  # and it is not tried again
        monkeypatch.setattr(
            "sightline.disk.index_access.time", SimpleNamespace(monotonic=float, time=time.time)
        )  # it is not retried
        catch_up(store)
        assert store.layout.waiting_sessions()
        assert list_views(store) == []


@pytest.mark.parametrize("harness", ["codex", "gemini"])
@pytest.mark.parametrize("ends", [False, True], ids=["goes on", "ends"])
def test_while_a_lost_index_is_made_anew_no_call_is_taken_for_an_unknown_one(
    harness: str, ends: bool, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    events = _settled(harness, home)
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "undisturbed"))
    _happen(harness, events)
    with Store(str(tmp_path / "undisturbed")) as store:
        expected = _said(store), store.index.totals().buffers
    monkeypatch.setenv("SIGHTLINE_HOME", str(root))
    half = max(place for place, event in enumerate(events) if "tool_name" in event["given"]) if ends else 3
    _happen(harness, events[:half])
    for path in root.glob("index.sqlite*"):
        path.unlink()
    with Layout(str(root)).filling(0) as is_ours:
        assert is_ours
        with Store(str(root), waits=False) as store:
            catch_up(store)
            _happen(harness, events[half:] if ends else events[half : half + 2])
            catch_up(store)
            assert store.index.is_unfilled()
    _happen(harness, [] if ends else events[half + 2 :])
    with Store(str(root)) as store:
        catch_up(store)
        assert (_said(store), store.index.totals().buffers) == expected
