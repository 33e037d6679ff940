"""Makes the pictures of the inspector: really captures a few commands, opens the store, exports what the screen shows.

Run it from anywhere: ``python screenshots/make.py``. It writes ``inspector.svg``, ``inspector-light.svg``,
``diff.svg``, ``query.svg``, ``json.svg``, ``audit.svg``, ``shown.svg``, ``timeline.svg``, ``replay.svg``, ``missed.svg`` and
``cost.svg`` (those in the README; ``make.py cost`` makes the last one alone), where a converter (rsvg-convert) is installed the same as PNG, and ``story.svg`` and ``story.cast``,
which move: from the start to the line that no agent saw, in two keys.
"""

import asyncio
import codecs
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
import time
from collections.abc import Iterator
from unittest.mock import patch

import session
from textual.pilot import Pilot

from sightline.capture.command import CommandCapture
from sightline.settings.config import Settings
from sightline.verbs.head_line import render_text
from sightline.log.notes import write_note
from sightline.base.records import Session, Shown
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store
from sightline_tui.app import InspectorApp
from sightline_tui.asking.answers import bar_call
from sightline_tui.diff.screen import DiffScreen
from sightline_tui.viewer.annotations import AUDIT_SECONDS
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.query import query
from sightline.verbs.requests import QueryRequest
from sightline.verbs.run_command import run_command
from sightline.verbs.requests import RunRequest

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = (144, 38)
SMALL = (133, 26)  # for the README: letters that can be read on a page of its width
CELL_WIDTH = 12.2  # of Textual's SVG export
PROJECT = os.path.join(tempfile.gettempdir(), "shop")
AGENT, OTHER_AGENT, PERSON = "claude-code-7f3a", "codex-11c9", "shell-2210"
TEST_RUN, BEFORE, AFTER = "python3 -m unittest -v test_parser", "cmd_4c7e90", "cmd_a1b2c3"

TESTS = """
    import unittest

    from parser import parse

    class ParserTest(unittest.TestCase):
        def setUp(self):
            print("checking", self.id().rpartition(".")[2], flush=True)

        def test_empty(self):
            self.assertEqual(parse(""), [])

        def test_words(self):
            self.assertEqual(parse("a b"), ["a", "b"])

        def test_quotes(self):
            self.assertEqual(parse('say "hello world"'), ["say", "hello world"])

        def test_trailing_space(self):
            self.assertEqual(parse("a "), ["a"])

        def test_unicode(self):
            self.assertEqual(parse("naïve 日本"), ["naïve", "日本"])
"""
PARSER_BEFORE = """
    def parse(text):
        return text.split(" ")
"""
PARSER = """
    def parse(text):
        return text.split()
"""
LOG = """
    import sys, time
    for number in range(1, 2000):
        stream = sys.stderr if number % 9 == 0 else sys.stdout
        slow = number % 9 == 0
        level = "WARN  slow upstream, retrying" if slow else "INFO  GET /api/items/%d 200" % (number * 37 % 911)
        print(f"10:42:{number % 60:02d} {level}", file=stream, flush=True)
        time.sleep(0.05)
"""


RELEASE = """
    for item in range(1, 401):
        if item == 217:
            print("ERROR: item 217 has no price in EUR; left out")
        else:
            print(f"packed item {item:03d} into shelf {item % 9}")
    print("catalogue written")
"""


@contextlib.contextmanager
def named(store: Store, name: str) -> Iterator[None]:
    """What is captured meanwhile has a name that looks well."""

    def reserved(*_: object) -> str:
        os.mkdir(os.path.join(store.layout.buffers, name), 0o700)
        return name

    with patch("sightline.disk.reserve", reserved):
        yield


def capture(store: Store, command: str, session: str = AGENT, label: str = "", name: str = "") -> None:
    """Run a command in the project and keep what it writes."""
    with named(store, name):
        captured = CommandCapture(store, ["sh", "-c", command], command=command, session=session, label=label).run()
    if captured.buffer is not None:
        store.index.put_buffer(captured.buffer._replace(cwd=PROJECT))


def write(file: str, text: str) -> None:
    """Write a file of the project."""
    with open(file, "w", encoding="utf-8") as opened:
        opened.write(textwrap.dedent(text).lstrip())


@contextlib.contextmanager
def project() -> Iterator[Store]:
    """A small project, and a store with what an agent and a person ran in it."""
    before = os.getcwd()
    # Its name stands in the pictures as it is: one that is put in place of another leaves a gap, or covers something.
    os.mkdir(PROJECT)
    with tempfile.TemporaryDirectory() as folder, Store(os.path.join(folder, "store"), Settings()) as store:
        os.chdir(PROJECT)
        for file, text in (("test_parser.py", TESTS), ("parser.py", PARSER_BEFORE), ("serve.py", LOG)):
            write(file, text)
        try:
            yield store
        finally:
            os.chdir(before)
            shutil.rmtree(PROJECT)


def fill(store: Store) -> None:
    """What was run, the oldest first."""
    items = '[{"id": n, "name": f"item {n}", "price": n * 7 % 90} for n in range(400)]'
    python = f"import json; print(json.dumps({items}, indent=1))"
    capture(store, "ls -la", PERSON, name="cmd_0d41aa")
    capture(store, "find /usr/share -type f | head -20000", name="cmd_77c0de")
    capture(store, f"python3 -c '{python}'", label="items.json", name="cmd_51a9e3")
    capture(store, "grep -rn 'def parse' .", name="cmd_b3d2f8")
    capture(store, "wc -l *.py", PERSON, name="cmd_e4470b")
    capture(store, "python3 -m compileall -q . && echo compiled", name="cmd_29f6c1")
    capture(store, "cat missing.toml", PERSON, name="cmd_8c15d0")
    for name, text in ((BEFORE, PARSER_BEFORE), (AFTER, PARSER)):
        write("parser.py", text)
        capture(store, TEST_RUN, name=name)
    show(store, "cmd_b3d2f8")
    show(store, "cmd_29f6c1")
    show(store, BEFORE)
    store.amend("cmd_51a9e3", pinned=True)
    for at, item in reversed([*enumerate(store.index.listed(100))]):
        store.index.touch(item.buffer.name, time.time() - 60 * (1 + at * at // 3) - 5)


EVERYDAY = (
    "git status --short", "ls", "cat parser.py", "python3 -c 'import parser; print(parser.parse(\"a b\"))'",
    "grep -n split parser.py", "wc -l parser.py", "git diff --stat", "sed -n 1,20p test_parser.py",
    "python3 -m compileall -q .", "head -c 200 parser.py", "find . -name '*.py'", "du -sh .",
    "python3 -m json.tool package.json", "git log --oneline -3", "tail -5 test_parser.py", "python3 -W error -c 'import parser'",
)  # fmt: skip
"""What agents run all day long; most of it ends well."""


def everyday(store: Store) -> None:
    """Two agents that work beside each other, as the list of a store looks after a while."""
    subprocess.run(
        "git init -q && git add . && git -c user.name=a -c user.email=a@b.c commit -qm 'Parse words'",
        shell=True,
        check=True,
    )
    write("parser.py", PARSER_BEFORE + "\n    # split at each blank\n")
    now = time.time()
    for name in (AGENT, OTHER_AGENT):
        store.index.put_session(Session(name, name.rpartition("-")[0], "", "", PROJECT, now - 7_000))
    for at, command in enumerate(EVERYDAY):
        name = f"cmd_{(at * 40_503 + 659_918) % 0xFFFFFF:06x}"
        capture(store, command, (AGENT, OTHER_AGENT)[at % 3 == 2], name=name)
        show(store, name)


def show(store: Store, name: str) -> None:
    """Log that the agent that ran a command was shown all that it wrote."""
    buffer = store.resolve(f"@{name}").buffer
    agent = next(one for one in store.index.sessions() if one.name == buffer.session)
    streams = {stream: facts.lines for stream, facts in buffer.streams.items() if facts.lines}
    shown = tuple(Shown(name, stream, 1, lines) for stream, lines in streams.items())
    record_view(store, agent, Shows("run_command", {"command": buffer.command}, (name,), shown), [Segment("\n")])


def overlook(store: Store) -> None:
    """Have an agent pack a release and ask about it, without ever being shown what failed; a person points at it."""
    agent = Session(AGENT, "claude-code", "", "", PROJECT, time.time())
    asking = Asker(store, agent, bar_call)
    write("release.py", RELEASE)
    with named(store, "cmd_9d2e61"):
        reply = run_command(asking, RunRequest("python3 release.py", verbosity="silent"))
    deliver(asking, reply, render_text, lambda _: None)
    store.amend("cmd_9d2e61", cwd=PROJECT)
    for pipeline in ("grep 'shelf 4' @cmd_9d2e61 | head -8", "sed -n 300,330p @cmd_9d2e61"):
        deliver(asking, query(asking, QueryRequest(pipeline)), render_text, lambda _: None)
    person = Session(PERSON, "shell", "", "", PROJECT, time.time())
    write_note(store, person, store.resolve("@cmd_9d2e61:217-217"), "this one never made it into the catalogue")


def costs() -> None:
    """What the outputs of a session cost, which is made up: as a transcript, imported like any other."""
    with project() as store:
        folder = os.path.join(os.path.dirname(store.root), "transcripts")
        session.write_transcript(folder, PROJECT)
        command = [sys.executable, "-P", "-m", "sightline.doors.cli.main", "import", folder]
        subprocess.run(command, env={**os.environ, "SIGHTLINE_HOME": store.root}, check=True, stdout=subprocess.DEVNULL)
        asyncio.run(picture(store, "cost", "W", "j", "c", size=(133, 22)))


async def story(store: Store) -> None:
    """The two keys that lead to the line that no agent saw: one picture of all, and what a terminal was sent."""
    app, shown = InspectorApp(store, live=False), list[str]()
    async with app.run_test(size=SMALL) as pilot:
        for key in ("", "t", "exclamation_mark"):
            if key:
                await pilot.press(key)
            for _ in range(4):  # what is counted behind the screen is there, too
                await rest(pilot)
                await pilot.pause(AUDIT_SECONDS * 3)
            shown.append(aligned(app.export_screenshot(title=f"sightline{'   ' if key else ''}{_TOLD[key]}")))
    with open(os.path.join(HERE, "story.svg"), "w", encoding="utf-8") as file:
        file.write(animated(shown))
    record(store.root)


_TOLD = {"": "", "t": "t: what was asked", "exclamation_mark": "!: what no agent saw"}
_FRAME_SECONDS = 2.5


def animated(frames: list[str]) -> str:
    """Pictures of one size as one that shows them in turn; names of each are made its own."""
    total = _FRAME_SECONDS * len(frames)
    share = 100 / len(frames)
    size = re.search(r'viewBox="([^"]+)"', frames[0])
    assert size is not None
    rules = [f".frame {{ visibility: hidden; animation: turn {total}s step-end infinite; }}"]
    rules.append(f"@keyframes turn {{ 0% {{ visibility: visible; }} {share:.3f}% {{ visibility: hidden; }} }}")
    rules += [f".frame-{at} {{ animation-delay: {_FRAME_SECONDS * at}s; }}" for at in range(len(frames))]
    inner = (
        f'<g class="frame frame-{at}">{frame.replace("terminal", f"frame{at}")}</g>' for at, frame in enumerate(frames)
    )
    style = "<style>" + "\n".join(rules) + "</style>"
    return f'<svg viewBox="{size[1]}" xmlns="http://www.w3.org/2000/svg">{style}{"".join(inner)}</svg>\n'


def record(root: str) -> None:
    """The same in a real terminal, as a file of asciinema's second format: ``asciinema play story.cast``."""
    columns, rows = SMALL
    environment = {**os.environ, "SIGHTLINE_HOME": root, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    process, terminal = pty.fork()
    if not process:
        os.execve(sys.executable, [sys.executable, "-m", "sightline_tui"], environment)  # noqa: S606 (no shell is wanted)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    told = [json.dumps({"version": 2, "width": columns, "height": rows, "title": "sightline: t, !"})]
    begun = time.time()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for keys, seconds in ((b"", 3.0), (b"t", 2.5), (b"!", 3.0), (b"q", 1.0)):
        os.write(terminal, keys)
        until = time.time() + seconds
        while (left := until - time.time()) > 0:
            if select.select([terminal], [], [], left)[0]:
                try:
                    text = decoder.decode(os.read(terminal, 1 << 16))
                except OSError:  # it has ended
                    break
                if text and keys != b"q":
                    told.append(json.dumps([round(time.time() - begun, 3), "o", text], ensure_ascii=False))
    os.kill(process, signal.SIGTERM)
    os.waitpid(process, 0)
    os.close(terminal)
    with open(os.path.join(HERE, "story.cast"), "w", encoding="utf-8") as file:
        file.write("\n".join(told) + "\n")


async def picture(
    store: Store, name: str, *keys: str, compared: tuple[str, str] | None = None, size: tuple[int, int] = SIZE
) -> None:
    """Open the inspector, or the comparison of two buffers, press some keys, and export the screen."""
    app = InspectorApp(store, live=False)
    async with app.run_test(size=size) as pilot:
        await rest(pilot)
        if compared:
            left, right = (store.resolve(f"@{buffer}").buffer for buffer in compared)
            await app.push_screen(DiffScreen(store, left, right))
            await rest(pilot)
        await pilot.press(*keys)
        await rest(pilot)
        await pilot.pause(AUDIT_SECONDS * 3)  # who has seen what comes a moment later
        await rest(pilot)
        svg = aligned(app.export_screenshot(title="sightline"))
    path = os.path.join(HERE, f"{name}.svg")
    with open(path, "w", encoding="utf-8") as file:
        file.write(svg)
    if shutil.which("rsvg-convert"):
        subprocess.run(["rsvg-convert", path, "-o", path.replace(".svg", ".png")], check=True)


async def rest(pilot: Pilot[None]) -> None:
    """Until nothing is being read any more."""
    for _ in range(3):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()


def aligned(svg: str) -> str:
    """The same picture with every word at its own place: columns hold in fonts of any width."""
    svg = re.sub(r"terminal-\d+", "terminal", svg)

    def words(match: re.Match[str]) -> str:
        start, x, rest_of_tag, text = match[1], float(match[2]), match[3], match[4].replace("&#160;", " ")
        tag = re.sub(r' textLength="[^"]*"', "", rest_of_tag)
        placed = []
        for word in re.finditer(r"\S+(?: \S+)*?(?=\s{1,}|$)", text):
            column = len(re.sub(r"&[^;]+;", "_", text[: word.start()]))
            placed.append(f'{start}{x + column * CELL_WIDTH:.1f}"{tag}>{word[0]}</text>')
        return "".join(placed)

    return re.sub(r'(<text class="terminal-r\d+" x=")([\d.]+)"([^>]*)>([^<]*)</text>', words, svg)


def main() -> int:
    """Make the pictures."""
    with project() as store:
        everyday(store)
        fill(store)
        log = subprocess.Popen([sys.executable, __file__, "--log", store.root], stdout=subprocess.DEVNULL)
        try:
            while not (store.index.running() and store.listed(1)[0].buffer.lines > 60):
                time.sleep(0.1)
            for buffer in store.index.running():
                store.index.put_buffer(buffer._replace(cwd=PROJECT))
            asyncio.run(picture(store, "inspector", "j"))
            asyncio.run(picture(store, "diff", "W", "n", compared=(BEFORE, AFTER)))
            asyncio.run(picture(store, "query", "j", ":", *"grep -n ok @cmd_a1b2c3.err | head", "enter"))
            asyncio.run(picture(store, "json", "/", *"items", "enter", "J", "j", "enter", "j"))
            asyncio.run(picture(store, "inspector-light", "C", "down", "enter"))
            overlook(store)
            asyncio.run(picture(store, "audit", "C", "up", "enter", "enter", "exclamation_mark"))
            asyncio.run(picture(store, "shown", "V", "k"))
        finally:
            log.terminate()
            log.wait()
    with project() as store:
        write("release.py", RELEASE)
        agent = AGENT.removeprefix("claude-code-")
        session.ask(store.root, agent, PERSON, lambda done: write("parser.py", PARSER) if done == "read" else None)
        asyncio.run(picture(store, "timeline", "t", "k", "k"))
        asyncio.run(picture(store, "replay", "t", "k", "k", "r"))
        asyncio.run(picture(store, "missed", "exclamation_mark", size=SMALL))
        asyncio.run(story(store))
    costs()
    return 0


def keep_a_log(root: str) -> int:
    """In a process of its own: capture a log that goes on."""
    with Store(root, Settings()) as store:
        capture(store, "python3 serve.py --port 8000", name="cmd_f00d5e")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["cost"]:
        sys.exit(costs())
    sys.exit(keep_a_log(sys.argv[2]) if sys.argv[1:2] == ["--log"] else main())
