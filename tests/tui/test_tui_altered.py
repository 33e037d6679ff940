"""The inspector over outputs whose stored bytes were changed after their capture."""

from pathlib import Path
from unittest.mock import patch

import pytest

from sightline.audit.verdict import Verdict
from sightline.base.errors import StoreFailed
from sightline.base.records import Buffer
from sightline.store import Store
from sightline_tui import misses
from sightline_tui.evidence.dossier import facts_of, read_dossier
from sightline_tui.header import verdict_parts
from sightline_tui.inspector import Header
from sightline_tui.viewer.info_bar import Info
from tests.tui.audit_kit import ask
from tests.tui.tui_kit import NOW, add, buffers, numbered, opened, press, rest, run, text, until, viewer


def change(store: Store, buffer: Buffer) -> None:
    path = Path(store.layout.stream(buffer.name, "out"))
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(b"LINE" + data[4:])
    path.chmod(0o400)


def refuse(*_: object, **__: object) -> Buffer:
    raise StoreFailed("storing failed: the file system is read-only")


@pytest.mark.parametrize("keeps", [True, False])
def test_row_and_header_say_that_an_output_is_altered_once_it_was_opened(store: Store, keeps: bool) -> None:
    first = add(store, "cmd_00000a", "make paint", numbered(60), ago=30.0)
    add(store, "cmd_00000b", "make lint", numbered(60), ago=20.0)

    async def body() -> None:
        async with opened(store, (150, 24)) as pilot:
            info = pilot.app.query_one(Info)
            for row in text(buffers(pilot)):
                assert "≠" not in row
            change(store, first)
            await press(pilot, "down")
            await rest(pilot)
            assert "altered: out was changed" in "\n".join(text(info))
            assert [("≠" in row) for row in text(buffers(pilot)) if "make" in row] == [False, True]
            assert "LINE 1" in text(viewer(pilot))[0]
            await press(pilot, "up", "down")
            assert "altered: out was changed" in "\n".join(text(info))

    with patch.object(Store, "amend", Store.amend if keeps else refuse):
        run(body)


def test_the_top_row_counts_altered_outputs_and_is_not_green(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(misses, "FIRST_SECONDS", 0.01)
    change(store, add(store, "cmd_00000a", "make paint", numbered(60)))

    async def body() -> None:
        async with opened(store, (150, 24)) as pilot:
            await until(pilot, lambda: "1 altered" in text(pilot.app.query_one(Header))[0])

    run(body)
    for verdict in (Verdict(captured=1), Verdict(captured=1, failures=2)):
        assert [part.style for part in verdict_parts(verdict)] == ["ok"]
        assert [part.style for part in verdict_parts(verdict._replace(altered=1))] == ["failed"]


def test_the_evidence_of_an_output_names_what_was_changed(store: Store) -> None:
    change(store, add(store, "cmd_00000a", "make paint", numbered(60), b"err\n"))
    facts = {fact.label: fact for fact in facts_of(read_dossier(store, "cmd_00000a"), NOW)}
    assert (facts["altered"].text, facts["altered"].style) == ("out was changed after its capture", "failed")


def test_the_bars_of_an_altered_stream_do_not_call_its_lines_seen(store: Store) -> None:
    made = add(store, "cmd_00000a", "make paint", numbered(40), b"err\n" * 3)
    ask(store, made, [(1, 3), (11, 13)])
    ask(store, made, [(1, 2)], stream="err")

    async def bars(sign: str) -> tuple[str, set[str], str]:
        async with opened(store, (180, 60)) as pilot:
            await press(pilot, "enter")
            await until(pilot, lambda: sign in "".join(text(viewer(pilot))))
            shown = "".join(row[:1] for row in text(viewer(pilot)))
            strips = {cell.fate for cell in viewer(pilot).overview.cells}
            await press(pilot, "2", "G")
            await until(pilot, lambda: "seen 1×" in "".join(text(pilot.app.screen.query_one("#info"))))
            told = "".join(text(pilot.app.screen.query_one("#info")))
        return shown, strips, told

    async def body() -> None:
        before, _, told = await bars("▎")
        assert before.count("▎") == 8
        assert "changed since" not in told
        change(store, made)
        after, strips, told = await bars("≠")
        assert after == "≠" * 40 + before[40:]
        assert strips == {"", "unsure"}
        assert "changed since" in told

    run(body)
