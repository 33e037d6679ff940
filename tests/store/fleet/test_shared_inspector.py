"""The inspector on the place that many hosts ship to: all of them are there, and what runs is followed."""

import pytest

from sightline.log.log_index import list_views
from tests.store.fleet.conftest import Hosts, keep_in, show
from tests.tui.tui_kit import buffers, opened, press, run, text, until, viewer

pytest.importorskip("psycopg", reason="the extra `fleet` is not installed")

from sightline.fleet.shipper import Shipper
from sightline.shared.store import SharedStore

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
            await until(pilot, lambda: "1 failure no agent saw" in text(header)[0])
            await until(pilot, lambda: "collected 2 items" in "".join(text(viewer(pilot))))
            await press(pilot, "p")  # only its host could pin it
            assert not place.resolve(hosts.ref("a", kept)).buffer.pinned
            keep_in(hosts.stores["b"], b"later\n", command="make later")
            hosts.ship("b")
            await until(pilot, lambda: "make later" in "".join(text(buffers(pilot))))

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
