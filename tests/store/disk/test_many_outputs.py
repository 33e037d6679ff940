"""What changes with the number of outputs: the length of new refs, and what the beginning of a ref may mean."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.base.errors import AmbiguousRef, UnknownRef
from sightline.base.records import Buffer
from sightline.base.refs import MANY_BUFFERS
from sightline.disk.recording import count_folders, reserve
from sightline.doors.cli.main import main
from sightline.settings.config import Settings, load_settings
from sightline.store import Store
from sightline.verbs import typed_ref

Keep = Callable[..., Buffer]


def test_new_refs_have_eight_digits_from_ten_thousand_outputs_on(store: Store) -> None:
    for number in range(MANY_BUFFERS - 1):
        os.mkdir(store.layout.folder(f"cmd_{number:06x}"))
    assert len(reserve(store.layout, "cmd")) == len("cmd_a1b2c3")
    assert len(reserve(store.layout, "file")) == len("file_a1b2c3d4")


def test_folders_are_counted_by_size_where_links_do_not_count_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = os.stat(tmp_path)
    few = os.stat_result((*status[:3], 1, *status[4:6], 20 * 9_000, *status[7:]))
    monkeypatch.setattr(os, "stat", lambda _: few)
    assert count_folders(str(tmp_path)) == 9_000


def put(store: Store, keep: Keep, *digits: str) -> None:
    for one in digits:
        store.index.put_buffer(keep(b"x\n")._replace(name=f"cmd_{one}", command=f"make {one}"))


def test_a_beginning_of_several_refs_lists_them_and_says_how_many_digits_differ(store: Store, keep: Keep) -> None:
    put(store, keep, "abcd00ff", "abcd01ee", "abcd01ed")
    with pytest.raises(AmbiguousRef) as error:
        store.resolve("@cmd_abcd", prefixes=True)
    for one in ("abcd00ff", "abcd01ee", "abcd01ed"):
        assert f"@cmd_{one} make {one}" in error.value.message
    assert error.value.hint == "type 8 digits, or the whole ref"
    assert store.resolve("@cmd_abcd00", prefixes=True).buffer.name == "cmd_abcd00ff"


def test_a_short_ref_that_also_begins_a_longer_one_names_itself(store: Store, keep: Keep) -> None:
    put(store, keep, "abcdef", "abcdef01")
    assert store.resolve("@cmd_abcdef", prefixes=True).buffer.name == "cmd_abcdef"


def test_a_ref_that_is_mistyped_after_its_first_digits_finds_an_output_of_any_age(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, keep, "014d72e7", "d01f4287")
    monkeypatch.setattr(typed_ref, "_NEAREST_OF", 1)
    error = UnknownRef("there is no such output", "list them")
    assert "did you mean @cmd_014d72e7?" in typed_ref.with_nearest(store, "@cmd_014d72e8", error).hint
    assert typed_ref.with_nearest(store, "@cmd_a14d42e8", error).hint == "list them"


def test_a_store_keeps_its_own_limits_and_codescout_its_fifty(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('profile = "codescout"')
    assert load_settings(str(config), {}).max_buffers == 50
    config.write_text('profile = "codescout"\nmax_buffers = 7\nmax_age_days = 30')
    assert load_settings(str(config), {})[:3] == (7, Settings().max_bytes, 30.0)


def test_a_large_store_at_its_limit_evicts_several_outputs_at_once(tmp_path: Path) -> None:
    with Store(str(tmp_path / "root"), Settings(max_buffers=5_000)) as store:
        kept = [f"cmd_{number:08x}" for number in range(5_001)]
        ended = (1.0, 2.0, time.time(), 0, 0, False, "", False, "", "", "", {})
        store.index.add_buffers([Buffer(name, "cmd", "sealed", "make", "/", "s", *ended) for name in kept])
        assert [one.name for one in store.limits.over()] == kept[:6]


def test_the_first_start_after_an_upgrade_says_once_what_the_limits_are_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    monkeypatch.setenv("SIGHTLINE_HOME", str(root))
    with Store(str(root)) as store:
        recording = store.begin("cmd", "make", "/", "s")
        recording.append("out", b"x\n")
        recording.seal(exit_code=0)
    said = "outputs now stay 180 days, 100,000 of them and 4 GiB at most"
    assert [main(["list"]), said in capfd.readouterr().err] == [0, True]
    assert [main(["list"]), said in capfd.readouterr().err] == [0, False]
    (root / "clock.json").unlink()
    (root / "config.toml").write_text("max_age_days = 30")
    assert [main(["list"]), "outputs now stay" in capfd.readouterr().err] == [0, False]


def test_a_lost_index_is_filled_in_steps_that_are_shown(store: Store, keep: Keep) -> None:
    for _ in range(3):
        keep(b"x\n")
    store.close()
    os.remove(store.layout.index)
    steps = list[tuple[int, int]]()
    with Store(store.root, Settings()) as again:
        again.access.filled = lambda done, total: steps.append((done, total))
        assert again.index.totals().buffers == 3
    assert steps == [(0, 3), (3, 3)]
