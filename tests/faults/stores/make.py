"""Makes the store that tests open as one of an older version: ``python tests/faults/stores/make.py 0.1.0.tar.gz``.

Run it with the Sightline of that version installed; then the archive stays as it is, since nothing else can make it
again. It goes through the command line and the hooks alone, as an agent and a person would.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path
from typing import Any

SIGHTLINE = [str(Path(sys.executable).parent / "sightline")]  # by its name: modules have moved
AGENT, OTHER, PERSON = "claude-code-0001", "removed-agent", "person"
NUMBERS = "seq 1 3000; echo 'src/a.c:12: error: no luck' >&2; seq 3001 3005; exit 3"
ODD_LINES = (  # zero-width and tag characters, colours, a carriage return and the marks of a direction
    "for n in $(seq 400); do"
    r" printf '\033[31mred\033[0m 50%%\r%s%% \342\200\256abc\342\200\254 a\342\200\213b\363\240\201\201c\n' $n; done"
)
LONG_LINE = "printf '%050000d\\n' 0; echo 'FATAL: database is gone'; exit 1"
ITEMS = [{"id": number, "name": f"caf\u00e9 {number}", "tags": ["a", "b"]} for number in range(300)]
RESULT = {"items": ITEMS, "log": "".join(f"step {number} done\n" for number in range(900)), "next": None}
CUT = "1\n2\n\n... [56,789 characters truncated] ...\n\n29999\n30000\n"
CODEX_CUT = "Warning: truncated output (original token count: 60000)\nTotal output lines: 30000\n\n1\n2\n"


class Maker:
    """One who uses a store.

    Args:
        folder: holds the store, ``root``, and the files that commands work on.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "SIGHTLINE_HOME": str(folder / "root")}

    def run(self, session: str, *words: str, given: bytes = b"", **settings: str) -> str:
        """Call the command line as a session; what it printed."""
        named = {"CLAUDE_CODE_SESSION_ID": "0001"} if session == AGENT else {"SIGHTLINE_SESSION": session}
        ran = subprocess.run(
            [*SIGHTLINE, *words],
            input=given,
            stdout=subprocess.PIPE,
            cwd=self.folder,
            env=self.environment | named | settings,
        )
        return ran.stdout.decode()

    def ref(self, session: str, *words: str, given: bytes = b"") -> str:
        """The ref of the newest buffer after such a call."""
        self.run(session, *words, given=given)
        return "@" + Path(self.run(session, "path", "@last")).parent.name

    def tell(self, harness: str, event: str, mode: str = "keep", **given: Any) -> None:
        """Give the hook an event."""
        data = {"session_id": "0002", "cwd": str(self.folder), "hook_event_name": event, **given}
        self.run("hook", "hook", harness, event, "--mode", mode, given=json.dumps(data).encode())


def make(folder: Path) -> None:
    """Make all that a store can hold."""
    maker = Maker(folder)
    (folder / "root").mkdir(mode=0o700)
    (folder / "root" / "config.toml").write_text("max_age_days = 36500\n")  # it is opened years later
    evicted = maker.ref(OTHER, "run", "-c", "seq 1 9000; echo evicted")
    maker.run(OTHER, "show", evicted, "--lines", "1-2000")
    marked = maker.ref(PERSON, "capture", "--label", "nightly", "--command", "make", given=b"cc -c a.c\nok\n")
    maker.run(PERSON, "pin", marked)
    maker.run(PERSON, "gc", SIGHTLINE_MAX_BUFFERS="1")

    numbers = maker.ref(AGENT, "run", "-c", NUMBERS)
    maker.run(AGENT, "show", numbers, "--lines", "100-1600")  # long enough to be logged as a range
    maker.run(AGENT, "show", numbers, "--search", "^29..$")
    maker.run(AGENT, "query", f"grep error {numbers}.err | sort")
    maker.run(AGENT, "run", "-c", "rm -rf nothing")  # a confirmation that waits
    maker.run(AGENT, "run", "-c", "seq 1 500 | tail -2")  # what goes into the filter is kept, too
    maker.ref(AGENT, "run", "-c", LONG_LINE)
    maker.run(AGENT, "capture", "--tool", "items", "--arguments", "{}", given=json.dumps(RESULT).encode())
    for text in ("one\ntwo\n", "one\nTWO\nthree\n"):
        (folder / "read.txt").write_text(text)
        maker.run(AGENT, "read", "read.txt:1-2")

    maker.run(PERSON, "note", numbers + ":12-14", "look here", "--send")
    maker.run(PERSON, "note", marked, "for nobody")
    maker.run(AGENT, "show", numbers, "--lines", "12-14")  # the note is sent with it
    maker.run(PERSON, "sessions", "rename", AGENT, "the agent")

    for name, words in (("removed", ("rm",)), ("purged", ("rm", "--purge"))):
        buffer = maker.ref(AGENT, "run", "-c", f"seq 1 3000; echo {name}")
        maker.run(PERSON, *words, buffer)
    maker.run(OTHER, "run", "-c", "echo of a removed session")
    maker.run(PERSON, "sessions", "rm", OTHER)

    bash = {"tool_name": "Bash", "tool_input": {"command": "seq 1 30000"}}
    cut = {"stdout": CUT, "stderr": "", "interrupted": False}
    maker.tell("claude-code", "PostToolUse", tool_use_id="toolu_1", tool_response=cut, **bash)
    maker.tell("codex", "PostToolUse", tool_use_id="use1", tool_response=CODEX_CUT, **bash)
    import_past(maker)
    odd = maker.ref(AGENT, "run", "-c", ODD_LINES)
    maker.run(AGENT, "show", odd, "--lines", "1-400")  # as ranges, so it is rendered again by the rules of now
    interrupt(maker)


def import_past(maker: Maker) -> None:
    """A transcript of which one output is there only in part."""
    common = {"sessionId": "5e551011", "cwd": "/home/user/project", "version": "2.1.329"}
    lines = []
    for number, out in enumerate((CUT, "whole\n")):
        at = {"timestamp": f"2026-01-02T00:0{number}:00.000Z", **common}
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"./step {number}"}}
        told = {"stdout": out, "stderr": "", "interrupted": False}
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": out.rstrip(), "is_error": False}
        asked = {"role": "assistant", "content": [use]}
        lines.append({"type": "assistant", "uuid": f"a{number}", **at, "message": asked})
        answered = {"role": "user", "content": [result]}
        lines.append({"type": "user", "uuid": f"u{number}", **at, "message": answered, "toolUseResult": told})
    path = maker.folder / "5e551011.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    maker.run(PERSON, "import", str(path))


def interrupt(maker: Maker) -> None:
    """A capture whose writer was killed; nobody has looked since, so its record still says that it runs."""
    environment = maker.environment | {"SIGHTLINE_SESSION": PERSON}
    writer = subprocess.Popen(
        [*SIGHTLINE, "run", "-c", "echo so far; read -r _"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        cwd=maker.folder,
        env=environment,
    )
    while not any(path.read_bytes() == b"so far\n" for path in maker.folder.glob("root/buffers/*/out")):
        assert writer.poll() is None
        threading.Event().wait(0.01)
    writer.kill()
    writer.communicate()


def archive(folder: Path) -> bytes:
    """The store as a tar file: its modes and times, no owner, and nothing that SQLite makes again."""

    def without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if member.name.endswith("-shm"):
            return None
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as file:
        file.add(folder / "root", "root", filter=without_owner)
    return written.getvalue()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="sightline-") as made:
        make(Path(made).resolve())
        Path(sys.argv[1]).write_bytes(archive(Path(made).resolve()))
