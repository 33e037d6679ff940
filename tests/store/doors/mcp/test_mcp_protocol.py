"""The two eras: who is speaking which version, and what each is told."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.doors.tools.protocol import (
    LEGACY,
    MODERN,
    VERSIONS,
    Context,
    Rejected,
    client_label,
    context_of,
    finished,
    introduction,
    opened_by,
)

OPENED = Context("2025-06-18", "old 1")
KEY = "io.modelcontextprotocol/"
ENVELOPE = {KEY + "protocolVersion": MODERN, KEY + "clientCapabilities": {}, KEY + "clientInfo": {"name": "new"}}


def test_a_request_with_an_envelope_stands_alone() -> None:
    context = context_of("tools/list", {"_meta": {**ENVELOPE, "progressToken": 3}}, OPENED)
    assert (context.version, context.client, context.modern) == (MODERN, "new", True)
    assert context.meta["progressToken"] == 3


def test_a_request_without_one_is_what_initialize_settled_on() -> None:
    context = context_of("tools/list", {"_meta": {"progressToken": "a"}}, OPENED)
    assert (context.version, context.client, context.modern) == ("2025-06-18", "old 1", False)
    assert context.meta == {"progressToken": "a"}


def test_a_bare_probe_is_answered_as_modern() -> None:
    assert context_of("server/discover", {}, OPENED).modern


@pytest.mark.parametrize(
    ("envelope", "code"),
    [
        ({**ENVELOPE, KEY + "protocolVersion": "1900-01-01"}, -32022),
        ({**ENVELOPE, KEY + "protocolVersion": "2025-11-25"}, -32022),
        ({**ENVELOPE, KEY + "protocolVersion": 7}, -32602),
        ({KEY + "protocolVersion": MODERN}, -32602),
        ({**ENVELOPE, KEY + "clientCapabilities": "all"}, -32602),
    ],
)
def test_a_wrong_envelope_gets_the_error_of_the_specification(envelope: dict[str, Any], code: int) -> None:
    with pytest.raises(Rejected) as told:
        context_of("tools/list", {"_meta": envelope}, OPENED)
    assert told.value.code == code
    if code == -32022:
        assert told.value.data == {"supported": list(VERSIONS), "requested": envelope[KEY + "protocolVersion"]}


@pytest.mark.parametrize(("wanted", "settled"), [*zip(LEGACY, LEGACY, strict=True), ("2099-01-01", LEGACY[0])])
def test_initialize_settles_on_the_version_asked_for_or_the_newest_of_its_era(wanted: str, settled: str) -> None:
    context = opened_by({"protocolVersion": wanted, "clientInfo": {"name": "c", "version": "2"}})
    assert (context.version, context.client) == (settled, "c 2")
    assert introduction(context, "hello")["protocolVersion"] == settled


def test_initialize_without_a_version_is_refused() -> None:
    with pytest.raises(Rejected):
        opened_by({"clientInfo": {"name": "c"}})


def test_modern_results_carry_what_their_era_demands_and_older_ones_do_not() -> None:
    result = {"tools": [], "_meta": {"mine": 1}}
    told = finished(result, "tools/list", Context(MODERN))
    assert told["resultType"] == "complete"
    assert told["_meta"][KEY + "serverInfo"]["name"] == "sightline"
    assert told["_meta"]["mine"] == 1
    assert (told["ttlMs"] > 0, told["cacheScope"]) == (True, "private")
    assert "ttlMs" not in finished({}, "tools/call", Context(MODERN))
    assert finished(result, "tools/list", Context("2025-11-25")) == result


def test_a_missing_resource_has_the_error_code_of_its_era() -> None:
    assert Context(MODERN).not_found("gone").code == -32602
    assert Context("2025-11-25").not_found("gone").code == -32002


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda more: st.dictionaries(st.text(), more))
)
def test_whatever_a_client_calls_itself_is_one_short_line(info: Any) -> None:
    label = client_label({"name": info, "version": info})
    assert label == " ".join(label.split())
    assert len(label) <= 100


@pytest.mark.parametrize("info", [None, {}, {"version": "1"}, {"name": " ", "version": "1"}, {"name": 1}])
def test_a_client_without_a_name_has_no_label(info: Any) -> None:
    assert client_label(info) == ""
