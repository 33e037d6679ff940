"""Whom a server on HTTP answers: under which names, to which pages, with which token."""

import pytest

from sightline.base.errors import UsageError
from sightline.base.http_guard import Address, Guard, address_of

LOCAL = Address("127.0.0.1", is_loopback=True)
PUBLIC = Address("box.example.org", is_loopback=False)
EVERYWHERE = Address("0.0.0.0", is_loopback=False)


@pytest.mark.parametrize(
    ("header", "address", "ours"),
    [
        ("localhost", LOCAL, True),
        ("LOCALHOST", LOCAL, True),
        ("localhost:9000", LOCAL, True),  # a tunnel's port
        ("127.0.0.1:8000", LOCAL, True),
        ("[::1]:8000", LOCAL, True),
        ("192.168.1.2:8000", LOCAL, False),
        ("evil.example", LOCAL, False),
        ("127.0.0.1.evil.example", LOCAL, False),
        ("", LOCAL, False),
        ("[", LOCAL, False),
        ("[broken", LOCAL, False),
        ("127.0.0.1:80; script-src *", LOCAL, False),
        ("evil@127.0.0.1", LOCAL, False),
        ("192.168.1.2:8000", PUBLIC, True),  # a number cannot be made to lead elsewhere
        ("BOX.example.org:8000", PUBLIC, True),
        ("localhost:8000", PUBLIC, True),  # a tunnel
        ("evil.example", PUBLIC, False),
        ("any.name.example:8423", EVERYWHERE, True),
        ("a b", EVERYWHERE, False),
    ],
)
def test_names_that_can_only_mean_this_server(header: str, address: Address, ours: bool) -> None:
    refusal = Guard(address, "right").refusal(header, None)
    assert (refusal and refusal.status) == (None if ours else 421)


@pytest.mark.parametrize(
    ("origin", "host", "answered", "of_other_ports"),
    [
        (None, "localhost:8000", True, True),
        ("http://localhost:8000", "localhost:8000", True, True),
        ("https://localhost:8000", "localhost:8000", True, True),
        ("http://localhost:8001", "localhost:8000", False, True),
        ("http://localhost:3000", "127.0.0.1:8000", False, True),
        ("http://a.example", "localhost:8000", False, False),
        ("http://localhost.a.example", "localhost:8000", False, False),
        ("null", "localhost:8000", False, False),
        ("", "localhost:8000", False, False),
        ("http://[", "localhost:8000", False, False),
        ("http://10.0.0.8", "localhost:8000", False, False),
    ],
)
def test_pages_that_may_ask(origin: str | None, host: str, answered: bool, of_other_ports: bool) -> None:
    for guard, expected in ((Guard(LOCAL, ""), answered), (Guard(LOCAL, "", other_ports=True), of_other_ports)):
        refusal = guard.refusal(host, origin)
        assert (refusal and refusal.status) == (None if expected else 403)


def test_who_listens_everywhere_answers_pages_of_the_name_it_is_called_by() -> None:
    guard = Guard(EVERYWHERE, "right", other_ports=True)
    assert guard.refusal("a.example:1", "http://a.example:1") is None
    assert guard.refusal("a.example:1", "http://b.example:1") is not None


def test_tokens() -> None:
    guard = Guard(LOCAL, "abc")
    assert guard.has_token("abc")
    assert not guard.has_token("abd")
    assert not guard.has_token("é\ud800")
    assert not guard.has_token(None)
    assert Guard(LOCAL, "").has_token(None)


def test_addresses() -> None:
    for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost"):
        assert address_of(host).is_loopback
    for host in ("0.0.0.0", "::", "10.0.0.7", ""):
        assert not address_of(host).is_loopback
    with pytest.raises(UsageError):
        address_of("no such host")
