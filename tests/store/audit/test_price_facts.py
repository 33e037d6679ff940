"""What an output cost in words: in Info and in the brief, with whether it was used later."""

from pathlib import Path
from typing import Any

import pytest

from sightline.audit.brief import make_brief
from sightline.audit.later_use import later_use
from sightline.audit.price_facts import UNUSED, price_facts
from sightline.store import Store
from tests.store.audit.usage_kit import NAME, Requests

TEXT = "".join(f"src/module_{number}.py: loads settings\n" for number in range(100))


def _session(*later: str, said: str = "") -> Requests:
    session, context = Requests(), 10_000
    session.reply(TEXT, written=10_000, command="grep -r settings")
    for command in (*later, ""):
        session.reply(*(["done"] if command else []), read=context, written=1000, command=command)
        context += 1000
    if said:
        session.lines[-1]["message"]["content"] = [{"type": "text", "text": said}]
    return session


def _output(store: Store) -> Any:
    return next(one.buffer for one in store.listed(10) if one.buffer.bytes > 1000)


def test_an_output_has_its_price_and_that_no_later_use_is_seen(store: Store, tmp_path: Path) -> None:
    _session("ls", "make all").imported(store, tmp_path)
    facts = dict(price_facts(store, _output(store)))
    assert facts["cost"].startswith(f"$0.01 for 900 tokens in 3 requests of {NAME}, at list price of 20")
    assert facts["use"] == UNUSED


@pytest.mark.parametrize(
    ("later", "said", "use"),
    [
        (["sed -n 1,5p src/module_7.py"], "", "src/module_7.py taken up by "),
        ([], "The settings are loaded in src/module_42.py.", "src/module_42.py taken up by what the agent said"),
        (["grep -r settings"], "Done with it all.", ""),  # words of its own request, and such as anybody writes
    ],
)
def test_words_that_it_was_the_first_to_show_are_a_use(
    store: Store, tmp_path: Path, later: list[str], said: str, use: str
) -> None:
    _session(*later, said=said).imported(store, tmp_path)
    output = _output(store)
    found = later_use(store, NAME, output.name, 1)
    assert found.startswith(use) if use else found == ""


def test_places_that_each_machine_has_are_no_words_of_an_output(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(TEXT + "/dev/null /usr/bin/env\n", written=10_000, command="grep -r settings")
    session.reply("done", read=10_000, written=1000, command="/usr/bin/env make > /dev/null").reply(read=11_000)
    session.imported(store, tmp_path)
    assert later_use(store, NAME, _output(store).name, 1) == ""


def test_words_of_a_language_are_no_words_of_an_output(store: Store, tmp_path: Path) -> None:
    session = Requests().reply(
        TEXT + "automatically made read-only 100644\n", written=10_000, command="grep -r settings"
    )
    session.reply("done", read=10_000, written=1000, command="echo automatically read-only 100644").reply(read=11_000)
    session.imported(store, tmp_path)
    assert later_use(store, NAME, _output(store).name, 1) == ""


def test_an_edit_of_the_file_that_was_read_is_a_use(store: Store, tmp_path: Path) -> None:
    session, path = Requests(), "/home/user/project/settings.py"
    session.reply(TEXT, written=10_000).reply("done", read=10_000, written=1000).reply(read=11_000)
    for name, line in zip(("Read", "Edit"), (session.lines[0], session.lines[2]), strict=True):
        edit = {"old_string": "a", "new_string": "b"} if name == "Edit" else {}
        line["message"]["content"][0] |= {"name": name, "input": {"file_path": path, **edit}}
    numbered = "".join(f"{number:>6}→{line}\n" for number, line in enumerate(TEXT.splitlines(), 1))
    session.lines[1]["message"]["content"][0]["content"] = numbered
    session.lines[1]["toolUseResult"] = {
        "type": "text",
        "file": {"filePath": path, "content": TEXT, "numLines": 100, "startLine": 1, "totalLines": 100},
    }
    session.lines[3]["toolUseResult"] = {"filePath": path, "oldString": "a", "newString": "b", "originalFile": TEXT}
    session.imported(store, tmp_path)
    assert later_use(store, NAME, _output(store).name, 1).startswith("its file taken up by ")


def test_what_the_whole_would_have_cost_stands_beside_a_view_of_a_part(store: Store, tmp_path: Path) -> None:
    _session().imported(store, tmp_path)
    output = _output(store)
    assert "whole" not in dict(price_facts(store, output))
    streams = {name: info._replace(bytes=10 * info.bytes) for name, info in output.streams.items()}
    whole = dict(price_facts(store, output._replace(streams=streams)))["whole"]
    assert whole == f"about $0.06 if all {10 * output.bytes:,} bytes had been shown, rather than {len(TEXT):,}"


def test_the_brief_of_a_session_lists_what_cost_most(store: Store, tmp_path: Path) -> None:
    _session("ls").imported(store, tmp_path)
    (section,) = (one for one in make_brief(store, session=NAME).sections if one.name == "dearest")
    assert section.title == "2 outputs that cost most"
    first = section.items[0]
    assert first.text == f"$0.01 for 900 tokens in 2 requests; {UNUSED}"
    assert (first.command, first.ref.startswith("@cmd_")) == ("grep -r settings", True)
    assert not any(one.name == "dearest" for one in make_brief(store).sections)
