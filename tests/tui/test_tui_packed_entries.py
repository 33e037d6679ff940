"""Entries in columns: what goes in comes out, by place and by name."""

from hypothesis import given
from hypothesis import strategies as st

from sightline_tui.buffers.catalog import SPARE, Catalog
from sightline_tui.buffers.packed_entries import ListEntry, PackedTexts, entries_of

TEXTS = st.lists(st.text(max_size=9), max_size=20)


def entry(name: str, used: int = 0) -> ListEntry:
    return ListEntry(
        name,
        used,
        f"make {used % 7}\n@{name}\n\nsession-{used % 3}",
        f"session-{used % 3}",
        used * 7,
        used * 2,
        used / 2,
        used % 5,
    )


@given(TEXTS, st.sampled_from([1, 40]))
def test_texts_come_out_as_they_went_in(texts: list[str], times: int) -> None:
    wanted, kept = texts * times, PackedTexts()  # more than are kept as one, too
    for text in wanted:
        kept.append(text)
    assert [kept[at] for at in range(len(wanted))] == wanted
    backwards = range(len(wanted) - 1, -1, -1)
    assert list(kept.at(backwards)) == wanted[::-1]


@given(st.lists(st.text("ab", max_size=3), max_size=20), st.sampled_from([1, 40]))
def test_a_text_is_found_in_those_that_hold_it_and_never_across_two(texts: list[str], times: int) -> None:
    wanted, kept = texts * times, PackedTexts()
    for text in wanted:
        kept.append(text)
    for part in ("a", "ab", "bb"):
        assert list(dict.fromkeys(kept.holding(part))) == [at for at, text in enumerate(wanted) if part in text]


def test_entries_are_what_they_were() -> None:
    wanted = [entry(f"cmd_{number:06x}", number) for number in range(600)]
    entries = entries_of(wanted)
    assert list(entries) == wanted
    assert list(entries[500:]) == wanted[500:]
    assert entries.position("cmd_000200") == 0x200
    assert entries.position("cmd_ffffff") == -1


def test_some_can_be_left_out_and_the_others_stay_as_they_are() -> None:
    entries = entries_of(entry(f"cmd_{number:06x}", number) for number in range(5))
    left = entries.without(["cmd_000001", "cmd_000003", "cmd_ffffff"])
    assert [each.used for each in left] == [0, 2, 4]
    assert len(entries) == 5


def test_what_was_used_again_and_again_is_kept_once_and_who_looks_at_the_old_order_still_may() -> None:
    catalog = Catalog()
    catalog.put_newer([entry("cmd_00000b", 2), entry("cmd_00000a", 1)])
    before = catalog.entries
    for used in range(3, 3 + 2 * SPARE):
        catalog.put_newer([entry("cmd_00000a" if used % 2 else "cmd_00000b", used)])
    assert [each.name for each in catalog.entries] == ["cmd_00000b", "cmd_00000a"]
    assert len(catalog.entries.columns) < 2 * SPARE
    assert [each.used for each in before] == [2, 1]
