"""The inspector on the place that many hosts ship to: all of them are there, and what runs is followed."""

import os
import threading

import pytest

from sightline.log.log_index import list_views
from sightline_tui.buffers.buffer_row import row_parts
from tests.store.fleet.conftest import Hosts, keep_in, show
from tests.tui.tui_kit import NOW, buffers, opened, press, rest, run, text, until, viewer

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from textual.app import App

from sightline.fleet.objects import Objects
from sightline.fleet.reader.store import SharedStore
from sightline.fleet.shipper import Shipper

FAILED = b"collected 2 items\n" + b"x = 1\n" * 50 + b"FAILED tests/test_a.py::test_it - assert 1 == 2\n1 failed\n"


def test_it_shows_all_hosts_and_the_failure_that_nobody_saw(hosts: Hosts, place: SharedStore) -> None:
    store = hosts.stores["a"]
    kept = keep_in(store, FAILED, command="pytest -q", exit_code=1, session="agent")
    show(store, "agent", kept)
    hosts.ship("a")
    place.take_in_newest()

    async def body() -> None:
        async with opened(place, live=True) as pilot:
            await until(pilot, lambda: len(text(buffers(pilot))) >= 3)
            listed = "".join(text(buffers(pilot)))
            assert all(command in listed for command in ("make a", "make b", "pytest -q"))
            assert "make c" not in listed
            header = pilot.app.query_one("#header")
            await until(pilot, lambda: "2 hosts, newest" in text(header)[0])
            await until(pilot, lambda: "1 failure unseen" in text(header)[0])
            await until(pilot, lambda: "collected 2 items" in "".join(text(viewer(pilot))))
            await press(pilot, "p")  # only its host could pin it
            assert not place.resolve(hosts.ref("a", kept)).buffer.pinned
            keep_in(hosts.stores["b"], b"later\n", command="make later")
            hosts.ship("b")
            await until(pilot, lambda: "make later" in "".join(text(buffers(pilot))))

    run(body)


def test_an_output_that_was_named_stays_open_as_the_others_come(hosts: Hosts, place: SharedStore) -> None:
    for number in range(30):
        keep_in(hosts.stores["b"], b"x\n", command=f"make more {number}")
    hosts.ship("b")
    place.take_in_newest()
    target = place.resolve(f"{hosts.names['a']}/@last")

    async def body() -> None:
        async with opened(place, live=True, target=target) as pilot:
            header = pilot.app.query_one("#header")
            await until(pilot, lambda: "2 hosts, newest" in text(header)[0])
            await rest(pilot)
            await until(pilot, lambda: len(buffers(pilot).rows) == 32)
            assert buffers(pilot).rows.selected == target.buffer.name
            assert "first of a" in "".join(text(viewer(pilot)))

    run(body)


def test_one_host_is_shown_or_one_project_of_it_and_a_job_that_has_ended_is_dim(
    hosts: Hosts, place: SharedStore
) -> None:
    keep_in(hosts.stores["a"], FAILED, command="pytest -q", exit_code=1, session="agent", cwd="/srv/shop")
    keep_in(hosts.stores["b"], b"fine\n", command="pytest -x", cwd="/srv/shop")
    for host in ("a", "b"):
        hosts.ship(host)
    job = hosts.fleet.store("job", hosts.fleet.add_host("job", "red", kind="ci")._replace(host="run-7"))
    with job:
        built = keep_in(job, b"built\n", command="make dist")
        hosts.stores["job"] = job
        hosts.ship("job")
    place.bring_up_to_date()
    a, b, ended = (hosts.names[name] for name in ("a", "b", "job"))
    assert place.place.ended == {ended}

    def listed(app: App[None]) -> list[str]:
        rows = app.screen_stack[0].query_one("#buffers").rows
        return sorted(place.index.buffer(rows.name(at)).command for at in range(len(rows)))

    async def body() -> None:
        async with opened(place) as pilot:
            app = pilot.app
            await until(pilot, lambda: len(listed(app)) == 5)
            told = row_parts(place.index.buffer(f"{ended}/{built.name}"), 100, NOW, ended=place.place.ended)
            assert {part.style for part in told if part.text.strip()} == {"dim"}
            await press(pilot, "c")
            choices = app.screen.query_one("#choices")
            await until(pilot, lambda: "1 failure unseen" in "".join(text(choices)))
            offered = [(one.name, one.host, one.buffers, one.hosts) for one in choices.offered[1:]]
            assert offered[:3] == sorted([(a, a, 2, 1), (b, b, 2, 1), (ended, ended, 1, 1)])
            shop = offered.index(("shop", "", 2, 2))
            assert offered[shop + 1 : shop + 3] == sorted([("shop", a, 1, 1), ("shop", b, 1, 1)])
            await press(pilot, *a, "enter")
            await until(pilot, lambda: listed(app) == ["make a", "pytest -q"])
            assert a in text(app.screen_stack[0].query_one("#header"))[0]
            await press(pilot, "c", *"shop", "down", "down", "enter")
            await until(pilot, lambda: listed(app) == ["pytest -x"])
            assert f"shop on {b}" in text(app.screen_stack[0].query_one("#header"))[0]

    run(body)


def test_a_store_that_does_not_answer_holds_no_key_and_shows_no_other_lines_meanwhile(
    hosts: Hosts, place: SharedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b"".join(b"line %d %s\n" % (number, os.urandom(20).hex().encode()) for number in range(200_000))
    keep_in(hosts.stores["a"], lines, command="make large")
    hosts.ship("a")
    place.take_in_newest()
    answers, get, get_range = threading.Event(), Objects.get, Objects.get_range
    monkeypatch.setattr(Objects, "get", lambda objects, key: (answers.wait(30), get(objects, key))[1])
    monkeypatch.setattr(Objects, "get_range", lambda *given: (answers.wait(30), get_range(*given))[1])
    answers.set()

    async def body() -> None:
        async with opened(place) as pilot:
            try:
                info = pilot.app.query_one("#info")
                await until(pilot, lambda: "line 0" in "".join(text(viewer(pilot))))
                answers.clear()
                await pilot.press("tab", "G")  # the end is in another frame
                await until(pilot, lambda: "waiting for its lines" in text(info)[0])
                assert "of 200,000" in text(info)[0]
                assert "line" not in "".join(text(viewer(pilot)))
                await pilot.press("g")
                assert "line 0" in "".join(text(viewer(pilot)))
                await pilot.press("tab", "down")
                assert "make large" not in text(info)[0]
                await until(pilot, lambda: "waiting for its lines" in text(info)[0])
                assert "line" not in "".join(text(viewer(pilot)))
                answers.set()
                await until(pilot, lambda: "first of" in "".join(text(viewer(pilot))))
                await pilot.press("up", "tab", "G")
                await until(pilot, lambda: "line 199999" in "".join(text(viewer(pilot))))
                assert "waiting" not in text(info)[0]
            finally:
                answers.set()  # or the threads that wait would keep it open

    run(body)


def test_it_follows_what_runs_elsewhere(hosts: Hosts, place: SharedStore) -> None:
    recording = hosts.stores["a"].begin("cmd", "make slow", "/", "agent")
    recording.register()
    recording.append("out", b"first\n")
    shipper = Shipper(hosts.stores["a"])
    shipper.greet()
    place.take_in_newest()

    async def body() -> None:
        async with opened(place, live=True) as pilot:
            await until(pilot, lambda: "make slow" in "".join(text(buffers(pilot))))
            await press(pilot, "g")

            def has(line: str) -> bool:
                shipper.greet()
                return line in "".join(text(viewer(pilot)))

            await until(pilot, lambda: has("first"))
            recording.append("out", b"second\n")
            await until(pilot, lambda: has("second"))
            recording.seal(exit_code=0)
            shipper.drain()
            shipper.greet()
            await until(pilot, lambda: not place.index.running())

    run(body)
    shipper.close()


def test_two_marked_outputs_of_two_hosts_are_compared_without_what_is_theirs_alone(
    hosts: Hosts, place: SharedStore
) -> None:
    for host in ("a", "b"):
        folder = f"/srv/{host}/shop"
        keep_in(hosts.stores[host], f"{folder}/x.py:1\n".encode() * 3 + host.encode() * 9, command="make", cwd=folder)
        hosts.ship(host)
    place.take_in_newest()

    async def body() -> None:
        async with opened(place) as pilot:
            await until(pilot, lambda: "".join(text(buffers(pilot))).count("make") >= 4)
            await press(pilot, "m", "m", "d")
            await until(pilot, lambda: pilot.app.screen.query("#diff-header"))
            header = pilot.app.screen.query_one("#diff-header")
            await until(pilot, lambda: "1 of 1 change" in text(header)[0])
            assert "without volatile tokens" in text(header)[0]

    run(body)


def test_what_is_read_there_is_no_view_of_an_agent(hosts: Hosts, place: SharedStore) -> None:
    place.take_in_newest()

    async def body() -> None:
        async with opened(place) as pilot:
            await until(pilot, lambda: "first of" in "".join(text(viewer(pilot))))

    run(body)
    assert list_views(place) == []
    assert list_views(place.local) == []
