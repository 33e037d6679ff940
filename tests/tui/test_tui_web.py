"""The inspector in a browser: who is let in, who is not, and that it really opens."""

import asyncio
import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from email.message import Message
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from sightline.base.errors import SightlineError, UsageError
from sightline.base.http_guard import Address
from sightline.doors.cli.main import main as command
from sightline.settings.config import Settings
from sightline.store import Store

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

from multidict import CIMultiDict, CIMultiDictProxy  # noqa: E402 (aiohttp brings it)

from sightline_tui.__main__ import main  # noqa: E402 (only where those are installed)
from sightline_tui.web.server import (  # noqa: E402
    TOKEN_VARIABLE,
    InspectorServer,
    as_reader,
    link,
    listen,
    token_for,
    words_for,
)
from sightline_tui.web.visitors import SECRET_HEADER, SignIn, sign_in  # noqa: E402

LOCAL = Address("127.0.0.1", is_loopback=True)
PUBLIC = Address("box.example.org", is_loopback=False)
CLI = [sys.executable, "-m", "sightline.doors.cli.main"]


class Replied(NamedTuple):
    """What was answered."""

    status: int
    headers: Message
    text: str


class Served(NamedTuple):
    """A server that runs.

    Attributes:
        process: its process.
        port: where.
        token: what it asks for.
        name: name of its output.
    """

    process: "subprocess.Popen[str]"
    port: int
    token: str
    name: str

    def get(self, path: str, **headers: str) -> Replied:
        with contextlib.closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return Replied(response.status, response.headers, response.read().decode())

    @property
    def cookie(self) -> str:
        return f"sightline-{self.port}={self.token}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = tmp_path_factory.mktemp("served") / "root"
    with Store(str(root), Settings()) as store:
        recording = store.begin("cmd", "echo over the wire", "/", "s")
        recording.register()
        recording.append("out", b"over the wire\n")
        recording.seal(exit_code=0)
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("SIGHTLINE_", "TEXTUAL"))}
    process = subprocess.Popen(
        [*CLI, "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**environment, "SIGHTLINE_HOME": str(root)},
    )
    assert process.stdout is not None
    said = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)\n", process.stdout.readline())
    assert said is not None
    yield Served(process, int(said[1]), said[2], recording.buffer.name)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_the_link_lets_in_and_leaves_the_token_behind(served: Served) -> None:
    response = served.get(f"/?token={served.token}")
    assert (response.status, response.headers["Location"]) == (303, "/")
    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith(f"sightline-{served.port}={served.token};")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    page = served.get("/", Cookie=cookie.partition(";")[0])
    text = page.text
    assert page.status == 200
    assert f'data-session-websocket-url="ws://127.0.0.1:{served.port}/ws"' in text
    assert not re.search(r"https?://", text)  # nothing comes from elsewhere
    assert served.token not in text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1" />' in text  # a phone's own width
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'; script-src 'self';" in policy
    assert f"connect-src 'self' ws://127.0.0.1:{served.port} wss://127.0.0.1:{served.port};" in policy
    assert page.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/ws", "/page.js", "/static/js/textual.js", "/nothing", "/?token=", "/?token=x"])
def test_without_the_token_nothing_is_answered(served: Served, path: str) -> None:
    response = served.get(path)
    assert response.status == 403
    assert "<" not in response.text


def test_the_token_opens_the_first_page_only(served: Served) -> None:
    assert served.get(f"/ws?token={served.token}").status == 403
    assert served.get("/", Cookie=f"sightline-{served.port}=wrong").status == 403
    assert served.get("/", Cookie=f"other={served.token}").status == 403


@pytest.mark.parametrize("path", ["/page.js", "/static/js/textual.js", "/static/css/xterm.css"])
def test_what_the_page_needs_is_there(served: Served, path: str) -> None:
    response = served.get(path, Cookie=served.cookie)
    assert response.status == 200
    assert response.text


def test_no_other_file_is(served: Served) -> None:
    for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/download/x", "/static/"):
        assert served.get(path, Cookie=served.cookie).status in (403, 404)


def test_a_foreign_name_or_page_is_refused_even_with_the_cookie(served: Served) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "10.0.0.7", ""):
        assert served.get("/", Host=host, Cookie=served.cookie).status == 403
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{served.port + 1}"):
        assert served.get("/ws", Origin=origin, Cookie=served.cookie).status == 403
        assert served.get(f"/?token={served.token}", Origin=origin).status == 403


def test_the_inspector_really_opens(served: Served) -> None:
    async def body() -> bytes:
        url = f"http://127.0.0.1:{served.port}"
        shown = b""
        async with (
            aiohttp.ClientSession(headers={"Cookie": served.cookie, "Origin": url}) as session,
            session.ws_connect(f"{url}/ws?width=100&height=30") as socket,
            asyncio.timeout(30),
        ):
            while b"over the wire" not in re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown):
                message = await socket.receive()
                assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT)
                shown += message.data if isinstance(message.data, bytes) else b""
        return shown

    assert b"1" in asyncio.run(body())


async def first_screen(url: str, path: str, wanted: bytes, headers: dict[str, str]) -> bytes:
    shown = b""
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.ws_connect(f"{url}{path}?width=100&height=30") as socket,
        asyncio.timeout(30),
    ):
        while wanted not in re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown):
            message = await socket.receive()
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), shown
            shown += message.data if isinstance(message.data, bytes) else b""
    return shown


def test_a_link_opens_an_output_at_a_line(served: Served) -> None:
    page = served.get(f"/o/{served.name}", Cookie=served.cookie)
    assert (page.status, f'/ws/o/{served.name}"' in page.text) == (200, True)
    headers = {"Cookie": served.cookie, "Origin": f"http://127.0.0.1:{served.port}"}
    asyncio.run(first_screen(headers["Origin"], f"/ws/o/{served.name}/L1", b"over the wire", headers))


def test_a_link_opens_the_calls_of_a_session(served: Served) -> None:
    page = served.get("/s/s", Cookie=served.cookie)
    assert (page.status, '/ws/s/s"' in page.text) == (200, True)
    headers = {"Cookie": served.cookie, "Origin": f"http://127.0.0.1:{served.port}"}
    asyncio.run(first_screen(headers["Origin"], "/ws/s/s", b"Timeline", headers))


def test_the_token_leaves_the_address_of_a_link(served: Served) -> None:
    first = served.get(f"/o/{served.name}?token={served.token}")
    assert (first.status, first.headers["Location"]) == (303, f"/o/{served.name}")


@pytest.mark.parametrize(
    "path", ["/o/x", "/o/cmd_12", "/o/--read-only", "/o/a b/cmd_123456", "/s/..", "/s/-x", "/s/a/b/c"]
)
def test_a_link_to_what_cannot_be_there_is_refused(served: Served, path: str) -> None:
    assert served.get(quote(path), Cookie=served.cookie).status == 404


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, ()),
        ({"name": "cmd_a1b2c3"}, ("@cmd_a1b2c3",)),
        ({"name": "host7/cmd_a1b2c3", "line": "/L217"}, ("host7/@cmd_a1b2c3:217",)),
        ({"session": "claude-code-42"}, ("--session", "claude-code-42")),
    ],
)
def test_words_of_a_link(asked: dict[str, str], words: tuple[str, ...]) -> None:
    assert words_for(asked) == words


def signed(headers: list[tuple[str, str]], peer: str, how: SignIn) -> str:
    return how.reader(CIMultiDictProxy(CIMultiDict(headers)), peer)


USER, SECRET = "X-Forwarded-User", "s" * 16
BEHIND = sign_in(USER, "10.0.0.5, 10.1.0.0/24", SECRET, over_socket=False)


@pytest.mark.parametrize(
    ("headers", "peer", "reader"),
    [
        ([(USER, "ann"), (SECRET_HEADER, SECRET)], "10.0.0.5", "ann"),
        ([(USER, "ann@example.org"), (SECRET_HEADER, SECRET)], "10.1.0.77", "ann@example.org"),
        ([(USER, "ann")], "10.0.0.5", ""),
        ([(USER, "ann"), (SECRET_HEADER, "t" * 16)], "10.0.0.5", ""),
        ([(USER, "ann"), (SECRET_HEADER, SECRET)], "10.0.0.6", ""),
        ([(USER, "ann"), (SECRET_HEADER, SECRET)], "127.0.0.1", ""),
        ([(USER, "ann"), (USER, "bo"), (SECRET_HEADER, SECRET)], "10.0.0.5", ""),
        ([(USER, "ann'; --"), (SECRET_HEADER, SECRET)], "10.0.0.5", ""),
        ([(USER, ""), (SECRET_HEADER, SECRET)], "10.0.0.5", ""),
        ([(SECRET_HEADER, SECRET)], "10.0.0.5", ""),
    ],
)
def test_a_readers_name_counts_only_from_a_trusted_proxy(
    headers: list[tuple[str, str]], peer: str, reader: str
) -> None:
    assert signed(headers, peer, BEHIND) == reader


def test_a_readers_name_counts_on_a_socket() -> None:
    assert signed([(USER, "ann")], "", sign_in(USER, "", "", over_socket=True)) == "ann"


@pytest.mark.parametrize(
    ("header", "proxies", "secret", "socket"),
    [(USER, "", "", False), (USER, "10.0.0.5", "short", False), (USER, "ten", SECRET, False), ("a b", "", "", True)],
)
def test_a_sign_in_that_anybody_could_forge_is_refused(header: str, proxies: str, secret: str, socket: bool) -> None:
    with pytest.raises(UsageError):
        sign_in(header, proxies, secret, over_socket=socket)


def test_each_reader_reads_with_a_role_of_that_name() -> None:
    assert as_reader("postgresql://page@db.example:5433/fleet?sslmode=verify-full", "ann@x.org") == (
        "postgresql://ann%40x.org@db.example:5433/fleet?sslmode=verify-full"
    )


def test_on_a_socket_only_who_is_signed_in_gets_the_page(tmp_path: Path) -> None:
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("SIGHTLINE_", "TEXTUAL"))}
    environment |= {"SIGHTLINE_HOME": str(tmp_path / "root"), "SIGHTLINE_STORE": "postgresql://page@127.0.0.1:1/fleet"}
    place = tmp_path / "s"
    code = (
        "import sys; from sightline_tui import Proxied, serve_behind_proxy\n"
        "where = Proxied('X-Forwarded-User', '', 'look.example', sys.argv[1], '127.0.0.1', 0)\n"
        "serve_behind_proxy(where, ['--read-only'], lambda at: print(at, flush=True))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE, text=True, env=environment
    ) as one:
        try:
            assert one.stdout is not None
            assert one.stdout.readline().strip() == str(place)
            assert place.stat().st_mode & 0o007 == 0
            assert asyncio.run(asked_on(place, {"Host": "look.example"})) == 403
            assert asyncio.run(asked_on(place, {"Host": "look.example", USER: "ann"})) == 200
            assert asyncio.run(asked_on(place, {"Host": "evil.example", USER: "ann"})) == 403
        finally:
            one.send_signal(signal.SIGTERM)
            assert one.wait(20) == 0
    assert not place.exists()


async def asked_on(place: Path, headers: dict[str, str]) -> int:
    async with (
        aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(place))) as session,
        session.get("http://page/", headers=headers) as answer,
    ):
        return int(answer.status)


def test_tokens() -> None:
    assert token_for(LOCAL, {}, "made") == "made"
    assert token_for(LOCAL, {TOKEN_VARIABLE: "x" * 16}, "made") == "x" * 16
    assert token_for(PUBLIC, {TOKEN_VARIABLE: "x" * 16}, "made") == "x" * 16
    for address, given in ((PUBLIC, ""), (PUBLIC, "short"), (LOCAL, "short")):
        with pytest.raises(UsageError):
            token_for(address, {TOKEN_VARIABLE: given}, "made")


def test_a_link_names_numbers_as_a_browser_does() -> None:
    assert link("::1", 80, "t") == "http://[::1]:80/?token=t"


def test_a_port_that_is_taken_is_said() -> None:
    with listen("127.0.0.1", 0) as taken, pytest.raises(SightlineError, match="cannot be used"):
        listen("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0", "--port", "0"], "there is no token of yours"),
        (["--port", "99999"], "there is no port 99999"),
        (["@cmd_123456"], "@cmd_123456"),
    ],
)
def test_what_cannot_be_served_is_said(tmp_path: Path, words: list[str], told: str) -> None:
    environment = {name: text for name, text in os.environ.items() if not name.startswith("SIGHTLINE_")}
    done = subprocess.run(
        [*CLI, "serve", *words],
        capture_output=True,
        text=True,
        env={**environment, "SIGHTLINE_HOME": str(tmp_path / "root")},
        timeout=30,
    )
    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['textual_serve'] = None; sys.modules['aiohttp'] = None\n"
        "from sightline.doors.cli.main import main; sys.exit(main(['serve']))"
    )
    environment = {**os.environ, "SIGHTLINE_HOME": str(tmp_path / "root")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=30)
    assert done.returncode == 1
    assert "pip install '.[web]'" in done.stderr


def test_each_page_opens_an_inspector_of_the_project_that_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = list[object]()
    monkeypatch.setattr("sightline_tui.__main__.run", lambda *given, **more: taken.append((given, more)) or 0)
    words = ["--read-only", "--project", "/srv/a shop", "@cmd_00000a:3"]
    server = InspectorServer(LOCAL, 8000, "t" * 16, words)
    *_, module, option, project, folder, ref = shlex.split(server.command)
    assert module == "sightline_tui"
    assert main([option, project, folder, ref]) == 0
    (given, more), *_ = taken
    assert given == (None, "@cmd_00000a:3")
    assert (more["folder"], more["everything"], more["read_only"]) == ("/srv/a shop", False, True)


@pytest.mark.parametrize("store", ["fleet", "postgresql://page@127.0.0.1:1/fleet"])
def test_a_page_for_readers_opens_the_fleet_with_no_role_of_its_own(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = list[tuple[object, str]]()
    (tmp_path / "config.toml").write_text('[fleet]\nstore = "postgresql://page@127.0.0.1:1/fleet"\n')
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path))
    monkeypatch.setenv("SIGHTLINE_STORE", "")
    monkeypatch.setattr(
        "sightline_tui.serve_behind_proxy",
        lambda where, _words, _say: taken.append((where, os.environ["SIGHTLINE_STORE"])) or 0,
        raising=False,
    )
    words = ["serve", "--store", store, "--read-only", "--sign-in", USER, "--socket", str(tmp_path / "s")]
    assert command(words) == 0
    assert [address for _, address in taken] == ["postgresql://page@127.0.0.1:1/fleet"]
