"""Outputs as resources: listed, read by lines, completed, subscribed to."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.doors.tools.resources import BASE, ResourceAddress

MODERN = "2026-07-28"
GO = "until [ -e go ]; do sleep 0.1; done"
TEMPLATE = BASE + "{ref}"
Until = Callable[[Callable[[], object]], None]


def text_of(client: Any, uri: str) -> str:
    [content] = client.request("resources/read", uri=uri)["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, "text/plain")
    return str(content["text"])


def has_said_one(client: Any) -> bool:
    """Whether a command has written its first word: nothing of it grows before it may write the next."""
    told = client.answer(client.send("resources/read", uri=BASE + "last"))
    return "result" in told and told["result"]["contents"][0]["text"] == "one\n"


@pytest.fixture
def ref(client: Any) -> str:
    """The ref of a large output."""
    return str(client.call("run_command", command="seq 1 30000; echo oh >&2")[0]["output_id"])


@pytest.mark.parametrize(
    ("uri", "ref", "lines"),
    [
        ("cmd_a1b2c3", "@cmd_a1b2c3", ""),
        ("@cmd_a1b2c3.err", "@cmd_a1b2c3.err", ""),
        ("%40cmd_a1b2c3?from=3&to=9", "@cmd_a1b2c3", "3-9"),
        ("cmd_a1b2c3?from=3", "@cmd_a1b2c3", "3-"),
        ("cmd_a1b2c3?to=9", "@cmd_a1b2c3", "1-9"),
        ("cmd_a1b2c3?from=&to=", "@cmd_a1b2c3", ""),
        ("last", "@last", ""),
        ("cmd-1706119234567.txt", "cmd-1706119234567.txt", ""),
    ],
)
def test_a_uri_names_a_ref_and_lines(uri: str, ref: str, lines: str) -> None:
    address = ResourceAddress(BASE + uri)
    assert (address.ref, address.lines) == (ref, lines)


@pytest.mark.parametrize("uri", ["", "?from=1", "cmd_a1b2c3?from=0", "cmd_a1b2c3?from=x", "cmd_a1b2c3?lines=3"])
def test_other_uris_name_nothing(uri: str) -> None:
    with pytest.raises(ValueError):
        ResourceAddress(BASE + uri)


@given(st.text())
def test_no_uri_is_deadly(uri: str) -> None:
    for text in (uri, BASE + uri):
        try:
            assert ResourceAddress(text).ref
        except ValueError:
            continue


def test_a_resource_is_read_by_lines(client: Any, ref: str) -> None:
    uri = BASE + ref[1:]
    assert text_of(client, uri + "?from=42&to=44") == "42\n43\n44\n"
    assert text_of(client, uri + "?from=29999") == "29999\n30000\n"
    assert text_of(client, uri + ":7-8") == "7\n8\n"
    assert text_of(client, uri + ".err") == "oh\n"
    assert client.error("resources/read", uri=uri + "?from=30001")["code"] == -32602


def test_what_a_page_cannot_hold_is_marked_where_it_is_missing(client: Any, ref: str) -> None:
    *lines, marker = text_of(client, BASE + ref[1:]).splitlines()
    assert lines == [str(n + 1) for n in range(len(lines))]
    left = 30000 - len(lines)
    assert marker == f"[… {left:,} lines elided: {ref}:{len(lines) + 1}-30000 …]"
    assert text_of(client, BASE + ref[1:] + ":7-8?from=1").splitlines() == [*lines, marker]  # the query says which


def test_an_empty_output_reads_as_empty(client: Any) -> None:
    client.call("run_command", command="true")
    assert text_of(client, BASE + "last") == ""


def test_reading_a_resource_is_logged_as_a_view(client: Any, ref: str) -> None:
    from sightline.log.log_index import list_views
    from sightline.log.view_text import view_text

    uri = BASE + ref[1:] + "?from=42&to=44"
    text_of(client, uri)
    with client.store() as store:
        newest = list_views(store)[0]
        assert view_text(store, newest) == "42\n43\n44\n"
        assert [tuple(shown) for shown in newest.view.shown] == [(ref[1:], "out", 42, 44)]
        assert json.loads(newest.view.request)["resource"] == uri


def test_resources_are_listed_in_pages_most_recently_used_first(client: Any) -> None:
    with client.store() as store:
        for n in range(250):
            recording = store.begin("cmd", f"echo {n}", "/", "s")
            recording.register()
            recording.append("out", b"x\n")
            recording.seal(exit_code=0)
    titles, cursor = [], None
    for _ in range(5):
        page = client.request("resources/list", **({"cursor": cursor} if cursor else {}))
        titles += [resource["title"] for resource in page["resources"]]
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    assert titles == [f"echo {n}" for n in reversed(range(250))]


def test_a_listed_resource_can_be_read_and_says_how_large_it_is(client: Any) -> None:
    client.call("run_command", command="echo only >&2; exit 3")
    [resource] = client.request("resources/list")["resources"]
    assert resource["name"].endswith(".err")
    assert resource["size"] == len(text_of(client, resource["uri"])) == 5
    assert resource["description"].startswith("exit 3, 1 line")


def test_refs_are_completed_from_their_beginning_or_from_a_command(client: Any, ref: str) -> None:
    def completed(value: str, name: str = "ref", uri: str = TEMPLATE) -> list[str]:
        reference = {"type": "ref/resource", "uri": uri}
        told = client.request("completion/complete", ref=reference, argument={"name": name, "value": value})
        assert told["completion"]["total"] == len(told["completion"]["values"])
        return list(told["completion"]["values"])

    client.call("run_command", command="echo another")
    # Refs are random: only a beginning one digit short of the whole cannot be the other's, too.
    assert completed(ref[1:-1]) == completed(ref[:-1]) == [ref[1:]]
    assert len(completed("")) == 2
    assert completed("30000") == [ref[1:]]
    assert completed("cmd_zzz") == []
    assert completed("1", name="from", uri=TEMPLATE + "{?from,to}") == []


def test_the_templates_are_those_that_are_completed(client: Any) -> None:
    templates = client.request("resources/templates/list")["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == [TEMPLATE, TEMPLATE + "{?from,to}"]


def test_a_subscriber_of_before_is_told_of_growth_and_of_the_end(client: Any, tmp_path: Path) -> None:
    client.begin("run_command", command=f"echo one; {GO}; echo two")
    uri = BASE + "last"
    client.until(lambda: "result" in client.answer(client.send("resources/subscribe", uri=uri)))
    (tmp_path / "go").touch()
    client.until(lambda: client.notifications("notifications/resources/updated"))
    assert client.notifications("notifications/resources/updated")[0] == {"uri": uri}
    assert client.request("resources/unsubscribe", uri=uri) == {}


def test_who_has_unsubscribed_is_told_nothing_more(client: Any, tmp_path: Path, until: Until) -> None:
    client.begin("run_command", command=f"echo one; {GO}; echo two")
    until(lambda: has_said_one(client))
    uris = [BASE + "last", BASE + "last.out"]
    for uri in uris:
        assert client.request("resources/subscribe", uri=uri) == {}
    client.request("resources/unsubscribe", uri=uris[0])
    (tmp_path / "go").touch()
    client.until(lambda: client.notifications("notifications/resources/updated"))
    client.request("ping")
    assert {told["uri"] for told in client.notifications("notifications/resources/updated")} == {uris[1]}


def test_nobody_subscribes_to_what_is_not_there(client: Any) -> None:
    assert client.error("resources/subscribe", uri=BASE + "cmd_000000")["code"] == -32002


def test_a_stream_of_today_acknowledges_what_it_will_tell_of_and_tells_it(modern: Any, tmp_path: Path) -> None:
    modern.begin("run_command", command=f"echo one; {GO}; echo two")
    modern.until(lambda: modern.request("resources/list")["resources"])
    uri, stamp = BASE + "last", "io.modelcontextprotocol/subscriptionId"
    wanted = {"resourceSubscriptions": [uri, BASE + "cmd_000000", "file:///x"], "toolsListChanged": True}
    number = modern.send("subscriptions/listen", notifications=wanted)
    modern.until(lambda: modern.notifications("notifications/subscriptions/acknowledged"))
    [acknowledged] = modern.notifications("notifications/subscriptions/acknowledged")
    assert acknowledged == {"_meta": {stamp: number}, "notifications": {"resourceSubscriptions": [uri]}}
    (tmp_path / "go").touch()
    modern.until(lambda: modern.notifications("notifications/resources/updated"))
    told = modern.notifications("notifications/resources/updated")[0]
    assert told == {"_meta": {stamp: number}, "uri": uri}
    assert not modern.answered(number)
    assert modern.end() == 0
    closing = modern.answer(number)["result"]
    assert (closing["resultType"], closing["_meta"][stamp]) == ("complete", number)


def test_a_cancelled_stream_tells_nothing_more(modern: Any, tmp_path: Path, until: Until) -> None:
    modern.begin("run_command", command=f"echo one; {GO}; echo two")
    until(lambda: has_said_one(modern))
    wanted = {"resourceSubscriptions": [BASE + "last"]}
    numbers = [modern.send("subscriptions/listen", notifications=wanted) for _ in range(2)]
    modern.until(lambda: len(modern.notifications("notifications/subscriptions/acknowledged")) == 2)
    modern.cancel(numbers[0])
    modern.request("tools/list")
    (tmp_path / "go").touch()
    modern.until(lambda: modern.notifications("notifications/resources/updated"))
    told = modern.notifications("notifications/resources/updated")
    assert {one["_meta"]["io.modelcontextprotocol/subscriptionId"] for one in told} == {numbers[1]}
    assert modern.end() == 0
    assert not modern.answered(numbers[0])


def test_a_stream_that_asks_for_list_changes_is_acknowledged_as_empty(modern: Any) -> None:
    modern.send("subscriptions/listen", notifications={"toolsListChanged": True, "resourcesListChanged": True})
    modern.until(lambda: modern.notifications("notifications/subscriptions/acknowledged"))
    assert modern.notifications("notifications/subscriptions/acknowledged")[0]["notifications"] == {}
