"""Record what real harnesses write of a session: ``SIGHTLINE_PEERS=DIR python tests/peers/record_transcripts.py``.

Each runs once with a model that follows a script and uses the harness' own tools. What it leaves is put below
``tests/store/harnesses/recorded/``, without anything of this machine and without the harness' own instructions,
beside what the model was shown, and what the harness told the hooks of mode ``record`` meanwhile, with the number of
lines that its transcript had by then. Names of harnesses as arguments record those alone.
"""

import hashlib
import json
import re
import shlex
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from sightline.harnesses import known
from sightline.harnesses.opencode import HARNESS as OPENCODE
from tests import node_peers
from tests.peers import harnesses
from tests.peers import scripted_model as models
from tests.peers.scripted_model import Json, Seen, Step, Use

HOME = "/home/user"
OUT = Path(__file__).parent.parent / "store/harnesses/recorded"
NOTES = "".join(f"note {number}\n" for number in range(1, 41))
HELPER = "be the helper"
_LONG_TEXT = 100  # characters; longer ones in records without calls are a harness' own words
PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: x.txt\n+hello\n*** End Patch\nEOF\n"
MANY = "seq -f 'line %g of many' 1 "


class _Native:
    """A dialect in which the model uses the harness' own tools, by their own names."""

    prefix = ""

    def offered(self, body: Json) -> list[str]:
        return [str(tool.get("name") or tool.get("type")) for tool in self._tools(body)]  # type: ignore[attr-defined]


class Messages(_Native, models.Messages): ...


class Contents(_Native, models.Contents): ...


class Chat(_Native, models.Chat): ...


class Responses(_Native, models.Responses):
    def _tools(self, body: Json) -> Any:
        yield from body.get("tools") or []

    def seen(self, body: Json) -> list[Seen]:
        outputs = ("function_call_output", "custom_tool_call_output")
        results = [one for one in body.get("input", []) if one.get("type") in outputs]
        return [Seen(one["call_id"], models._texts(one["output"])) for one in results]

    def _item(self, number: str, use: Use) -> Json:
        space, _, name = use.tool.rpartition("__")
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name}
        return {**item, "arguments": json.dumps(use.arguments), **({"namespace": space} if space else {})}


class Model(models.ScriptedModel):
    """A scripted model that has another script for a helper's conversation."""

    helper: tuple[Step, ...] = ()

    def answer(self, body: Json, *, streamed: bool) -> bytes:
        with self._lock:
            self._number += 1
            uses: tuple[Use, ...] = ()
            if self.dialect.offered(body):
                helping = HELPER in json.dumps(body.get("messages", [])[:1])
                seen, steps = self.dialect.seen(body), self.helper if helping else self._steps
                self.asked.append({"helper": helping, "seen": seen})
                if len(seen) < len(steps):
                    said = steps[len(seen)](seen)
                    uses = (said,) if isinstance(said, Use) else said
            return b"".join(self.dialect.say(self._number, body, uses, streamed=streamed))


def call(tool: str, **arguments: Any) -> Step:
    """A step that needs nothing of what came before."""
    return lambda _: Use(tool, arguments)


def _go_on(seen: list[Seen]) -> Use:
    found = re.search(r"session ID (\d+)", " ".join(seen[-1].blocks))
    assert found, seen
    return Use("write_stdin", {"session_id": int(found[1]), "chars": "", "yield_time_ms": 9000})


EVENTS = "events.jsonl"
_EVENT = """\
import json, os, sys
given = json.load(sys.stdin)
given.pop("mcp_context", None)  # where a server's program lies on this machine
path = given.get("transcript_path") or ""
lines = open(path, "rb").read().count(b"\\n") if os.path.isfile(path) else 0
line = json.dumps({"event": sys.argv[2], "lines": lines, "given": given}).encode() + b"\\n"
os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND), line)
"""


def _hook(run: harnesses.Run, event: str) -> list[str]:
    """The words of a hook that writes down what it is told."""
    program = run.settings("event.py", _EVENT)
    return [sys.executable, str(program), str(run.home / EVENTS), event]


def _hooks(run: harnesses.Run, name: str) -> Json:
    """The settings of such hooks at all events of mode ``record``."""
    facts = known()[name]
    return {
        hook.event: [
            {
                **({"matcher": hook.matcher} if hook.matcher else {}),
                "hooks": [{"type": "command", "command": shlex.join(_hook(run, hook.event)), "timeout": facts.timeout}],
            }
        ]
        for hook in facts.hooks
        if "record" in hook.modes
    }


class Recorded(NamedTuple):
    """One harness: its package, dialect and script, and how what it leaves is cleaned."""

    package: str
    dialect: Callable[[], models.Dialect]
    prepare: Callable[[harnesses.Run], tuple[list[str], dict[str, str]]]
    steps: Callable[[Path], tuple[Step, ...]]
    gather: Callable[[Path, Path, Callable[[str], str]], None]


def _server() -> tuple[str, list[str]]:
    return node_peers.node(), [node_peers.program("@modelcontextprotocol/server-everything")]


def _claude(run: harnesses.Run) -> tuple[list[str], dict[str, str]]:
    _, environment = harnesses._claude_code(run)
    run.settings(".claude/settings.json", json.dumps({"hooks": _hooks(run, "claude-code")}))
    return ["-p", "go", "--allowedTools", "Bash,Read,Grep,Glob,Write,Edit,Agent"], environment


def _claude_steps(project: Path) -> tuple[Step, ...]:
    notes = str(project / "notes.txt")
    return (
        call("Bash", command="echo hello; echo oops >&2", description="short"),
        call("Bash", command="echo out; echo err >&2; exit 3", description="fails"),
        call("Bash", command=f"{MANY}1800", description="long"),
        call("Bash", command=f"{MANY}1800; exit 4", description="long and fails"),
        call("Write", file_path=notes, content=NOTES),
        call("Read", file_path=notes),
        call("Read", file_path=notes, offset=10, limit=5),
        call("Grep", pattern="note 1", path=str(project), output_mode="content"),
        call("Edit", file_path=notes, old_string="note 7\n", new_string="NOTE 7\n"),
        call("Read", file_path=str(project / "nowhere.txt")),
        call("Agent", description="help", prompt=HELPER, subagent_type="general-purpose", run_in_background=False),
    )


def _short(value: Any) -> bool:
    return isinstance(value, str | int | float | None) and len(str(value)) <= _LONG_TEXT


def _gather_claude(home: Path, out: Path, clean: Callable[[str], str]) -> None:
    projects = home / ".claude/projects"
    for path in sorted(projects.rglob("*")):
        if path.suffix not in (".jsonl", ".txt") or "memory" in path.parts:
            continue
        place = out / clean(str(path.relative_to(projects)))
        place.parent.mkdir(parents=True, exist_ok=True)
        text = clean(path.read_text())
        if path.suffix == ".jsonl":
            records = [json.loads(line) for line in text.splitlines()]
            kept = [
                one
                if one["type"] in ("user", "assistant")
                else {name: value for name, value in one.items() if _short(value)}
                for one in records
            ]
            text = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in kept)
        place.write_text(text)


def _codex(run: harnesses.Run) -> tuple[list[str], dict[str, str]]:
    words, environment = harnesses._codex(run)
    path = run.home / ".codex/config.toml"
    command, arguments = _server()
    server = f"[mcp_servers.everything]\ncommand = {json.dumps(command)}\nargs = {json.dumps(arguments)}\n"
    path.write_text(
        path.read_text().partition("[mcp_servers")[0] + server + "required = true\nstartup_timeout_sec = 20\n"
    )
    run.settings(".codex/hooks.json", json.dumps({"hooks": _hooks(run, "codex")}))
    return [*words[:-1], "--dangerously-bypass-hook-trust", words[-1]], environment


def _codex_steps(_: Path) -> tuple[Step, ...]:
    return (
        call("exec_command", cmd="echo hello; echo oops >&2"),
        call("exec_command", cmd="echo out; echo err >&2; exit 3"),
        call("exec_command", cmd=f"{MANY}3900; exit 4"),
        call("mcp__everything__echo", message="hello from a tool"),
        call("mcp__everything__echo", wrong=True),
        call("exec_command", cmd="sleep 3; echo late", yield_time_ms=500),
        _go_on,
        lambda _: tuple(Use("exec_command", {"cmd": command}) for command in ("sleep 1; echo one", "echo two; exit 5")),
        call("never"),
        call("exec_command", cmd="exit 6"),
        call("exec_command", cmd=PATCH),
    )


_CODEX_CALLS = ("function_call", "function_call_output", "item_completed")


def _gather_codex(home: Path, out: Path, clean: Callable[[str], str]) -> None:
    (path,) = home.glob(".codex/sessions/**/rollout-*.jsonl")
    lines = []
    for line in clean(path.read_text()).splitlines():
        record = json.loads(line)
        if record["payload"].get("type") not in _CODEX_CALLS:
            record["payload"] = {name: value for name, value in record["payload"].items() if _short(value)}
        lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
    (out / path.name).write_text("".join(lines))


def _gemini(run: harnesses.Run) -> tuple[list[str], dict[str, str]]:
    words, environment = harnesses._gemini(run)
    command, arguments = _server()
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    servers = {"everything": {"command": command, "args": arguments}}
    hooks = {"hooksConfig": {"enabled": True}, "hooks": _hooks(run, "gemini")}
    run.settings(".gemini/settings.json", json.dumps({**settings, "mcpServers": servers, **hooks}))
    return words, environment


def _gemini_steps(project: Path) -> tuple[Step, ...]:
    notes = str(project / "notes.txt")
    return (
        call("run_shell_command", command="echo hello; echo oops >&2"),
        call("run_shell_command", command="echo out; exit 3"),
        call("run_shell_command", command=f"{MANY}2400"),
        call("write_file", file_path=notes, content=NOTES),
        call("read_file", file_path=notes),
        call("read_file", file_path=notes, start_line=10, end_line=14),
        call("grep_search", pattern="note 1"),
        call("mcp_everything_echo", message="hello from a tool"),
        call("mcp_everything_get-structured-content", location="Chicago"),
        call("read_file", file_path=str(project / "nowhere.txt")),
        lambda _: tuple(
            Use("run_shell_command", {"command": command}) for command in ("sleep 1; echo one", "echo two; exit 5")
        ),
        call("never"),
        call("run_shell_command", command="exit 6"),
    )


def _gather_gemini(home: Path, out: Path, clean: Callable[[str], str]) -> None:
    folder = home / ".gemini/tmp/project"
    (path,) = folder.glob("chats/*.jsonl")
    lines = []
    for line in clean(path.read_text()).splitlines():
        record = json.loads(line)
        if "$set" in record:
            record["$set"].pop("messages", None)
        for one in record.get("toolCalls", ()):
            one["description"] = one["description"][:_LONG_TEXT]
        lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
    (out / "project/chats").mkdir(parents=True)
    (out / "project/chats" / path.name).write_text("".join(lines))
    (out / "project/.project_root").write_text(clean((folder / ".project_root").read_text()))


def _opencode(run: harnesses.Run) -> tuple[list[str], dict[str, str]]:
    words, environment = harnesses._opencode(run)
    path = run.home / ".config/opencode/opencode.json"
    settings = json.loads(path.read_text())
    command, arguments = _server()
    settings["mcp"] = {"everything": {"type": "local", "command": [command, *arguments]}}
    path.write_text(json.dumps(settings))
    plugin = OPENCODE.plugin(_hook(run, OPENCODE.hooks[0].event), "")
    run.settings(f".config/opencode/plugins/{OPENCODE.plugin_file}", plugin)
    return words, environment


def _opencode_steps(project: Path) -> tuple[Step, ...]:
    notes = str(project / "notes.txt")
    return (
        call("bash", command="echo hello; echo oops >&2", description="short"),
        call("bash", command="echo out; exit 3", description="fails"),
        call("bash", command=f"{MANY}2300", description="long"),
        call("write", filePath=notes, content=NOTES),
        call("read", filePath=notes),
        call("read", filePath=notes, offset=10, limit=5),
        call("everything_echo", message="hello from a tool"),
        call("everything_get-structured-content", location="Chicago"),
        call("read", filePath=str(project / "nowhere.txt")),
    )


def _gather_opencode(home: Path, out: Path, clean: Callable[[str], str]) -> None:
    folder = home / ".local/share/opencode"
    with sqlite3.connect(folder / "opencode.db") as database:
        tables = {
            "session": ("id", "directory", "version", "time_created", "time_updated"),
            "part": ("id", "message_id", "session_id", "time_created", "time_updated", "data"),
        }
        rows = {
            name: [list(row) for row in database.execute(f"SELECT {', '.join(columns)} FROM {name} ORDER BY rowid")]
            for name, columns in tables.items()
        }
    (out / "tables.json").write_text(clean(json.dumps({"columns": tables, "rows": rows}, ensure_ascii=False, indent=1)))
    shutil.copytree(folder / "tool-output", out / "tool-output")


RECORDED = {
    "claude-code": Recorded("@anthropic-ai/claude-code", Messages, _claude, _claude_steps, _gather_claude),
    "codex": Recorded("@openai/codex", Responses, _codex, _codex_steps, _gather_codex),
    "gemini": Recorded("@google/gemini-cli", Contents, _gemini, _gemini_steps, _gather_gemini),
    "opencode": Recorded("opencode-ai", Chat, _opencode, _opencode_steps, _gather_opencode),
}


def record(name: str, recorded: Recorded, home: Path) -> None:
    """Run one harness and keep what it left."""
    run_home = home / name
    run_home.mkdir()

    def clean(text: str) -> str:
        """Without this machine: the home, also as Claude Code writes it in the names of folders."""
        text = text.replace(str(run_home), HOME).replace(str(run_home)[1:], HOME[1:])
        return text.replace(re.sub(r"[^A-Za-z0-9]", "-", str(run_home)), "-home-user")

    with Model(recorded.dialect(), recorded.steps(run_home / "project")) as model:
        model.helper = (call("Bash", command="echo from the helper", description="help"),)
        harness = harnesses.Harness(name, "", recorded.package, recorded.dialect, recorded.prepare)
        said = harnesses.run_harness(harness, harnesses.Run(run_home, run_home / "store", model, ["true"]))
    seen: dict[bool, list[Seen]] = {one["helper"]: one["seen"] for one in model.asked}
    assert len(seen[False]) == len(recorded.steps(run_home)), said[-2000:]
    out = OUT / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    recorded.gather(run_home, out, clean)
    (out / EVENTS).write_text(clean((run_home / EVENTS).read_text()))
    shown = [clean("\n".join(one.blocks)) for results in seen.values() for one in results]
    about = {"version": node_peers.version_of(recorded.package), "shown": [_told(text) for text in shown]}
    (out / "seen.json").write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n")
    print(f"{name}: {len(shown)} results")


def _told(text: str) -> Json:
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "begins": text[:60]}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[1:] or RECORDED:
            record(name, RECORDED[name], Path(folder).resolve())
