"""Four harnesses, each run once, offline, in a home of its own, with the MCP server configured as its manual says."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sightline.verbs.next_call import TOOLS
from tests import node_peers
from tests.peers.scripted_model import Chat, Code, Contents, Dialect, Messages, Responses, ScriptedModel

PATIENCE_SECONDS = 120
_SIGHTLINE = [sys.executable, "-m", "sightline.doors.cli.main"]
SERVER = [*_SIGHTLINE, "mcp"]
PROXY = [*_SIGHTLINE, "proxy"]
NOWHERE = "http://127.0.0.1:9"
"""The proxy for everything but loopback: nobody answers there, so nothing leaves this machine."""


class Run(NamedTuple):
    """What one run is given.

    Attributes:
        home: the harness' home, and its working directory's parent.
        store: the root of the store that its server uses.
        model: the model that it asks.
        server: the command that it starts as its MCP server; none where it is installed as people do.
        patience: seconds that it waits for a tool of the server; 0 for as long as it does by itself.
        install: called when its settings have been written.
    """

    home: Path
    store: Path
    model: ScriptedModel
    server: list[str]
    patience: float = 0
    install: Callable[["Run"], None] = lambda _: None

    @property
    def project(self) -> Path:
        """The working directory."""
        return self.home / "project"

    def settings(self, name: str, text: str) -> Path:
        """Write a file of the harness' settings."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def change(self, name: str, more: dict[str, Any]) -> None:
        """Put more members into a file of JSON settings, which need not be there."""
        path = self.home / name
        settings = json.loads(path.read_text()) if path.exists() else {}
        self.settings(name, json.dumps({**settings, **more}, indent=2))


class Harness(NamedTuple):
    """One harness.

    Attributes:
        name: as our log calls it, and after a ``+`` which of its ways this is.
        client: as it names itself to a server.
        package: of npm.
        dialect: the API of its model.
        prepare: writes its settings; its arguments and its environment.
        form: how it shows its model the blocks of a result.
        uses: which ids of tool uses a server is told: those of the ``model``, of its ``own``, or ``none``.
        sessions: where its home has a file for each session, with the session's id in its name; empty where a server
            is told no such id.
        offers: the tools that the model is offered at once.
    """

    name: str
    client: str
    package: str
    dialect: Callable[[], Dialect]
    prepare: Callable[[Run], tuple[list[str], dict[str, str]]]
    form: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple
    uses: str = "model"
    sessions: str = ""
    offers: tuple[str, ...] = TOOLS


def _server(run: Run) -> dict[str, Any]:
    """The server as most settings have it, among all servers."""
    if not run.server:
        return {}
    server = {"command": run.server[0], "args": run.server[1:], "env": {"SIGHTLINE_HOME": str(run.store)}}
    return {"mcpServers": {"sightline": server}}


def _claude_code(run: Run) -> tuple[list[str], dict[str, str]]:
    environment = {
        "ANTHROPIC_BASE_URL": run.model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        **({"MCP_TOOL_TIMEOUT": f"{run.patience * 1000:.0f}"} if run.patience else {}),
    }
    if not run.server:
        return ["-p", "go"], environment
    configured = run.settings("mcp.json", json.dumps(_server(run)))
    allowed = "mcp__sightline,ToolSearch"
    return ["-p", "go", "--mcp-config", str(configured), "--allowedTools", allowed], environment


def _codex(run: Run) -> tuple[list[str], dict[str, str]]:
    """A model that Codex does not know; such it shows a quarter of what it shows others, unless told so."""
    return _codex_with('model = "scripted"\ntool_output_token_limit = 10000', run)


def _codex_coding(run: Run) -> tuple[list[str], dict[str, str]]:
    """A model that Codex knows to call tools from programs that it writes."""
    return _codex_with('model = "gpt-6.1-sol"', run)


def _codex_sandboxed(run: Run) -> tuple[list[str], dict[str, str]]:
    """As it is when nobody has set anything."""
    return _codex_with('model = "scripted"', run, sandbox="read-only")


def _codex_with(model: str, run: Run, sandbox: str = "danger-full-access") -> tuple[list[str], dict[str, str]]:
    run.settings(
        ".codex/config.toml",
        f"""
{model}
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "{sandbox}"
[model_providers.scripted]
name = "scripted"
base_url = "{run.model.url}/v1"
wire_api = "responses"
env_key = "NO_KEY"
[features]
enable_request_compression = false
[analytics]
enabled = false
{_codex_server(run)}
""",
    )
    trusting = [] if run.server else ["--dangerously-bypass-hook-trust"]  # nobody can be asked
    return ["exec", "--skip-git-repo-check", "--json", *trusting, "go"], {"NO_KEY": "none"}


def _codex_server(run: Run) -> str:
    if not run.server:
        return ""
    return f"""
[mcp_servers.sightline]
command = {json.dumps(run.server[0])}
args = {json.dumps(run.server[1:])}
{f"tool_timeout_sec = {run.patience}" if run.patience else ""}
env = {{ SIGHTLINE_HOME = {json.dumps(str(run.store))} }}
"""


def _gemini(run: Run) -> tuple[list[str], dict[str, str]]:
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, **_server(run)}
    if run.patience:
        settings["mcpServers"]["sightline"]["timeout"] = int(run.patience * 1000)
    run.settings(".gemini/settings.json", json.dumps(settings))
    environment = {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": run.model.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return ["--approval-mode", "yolo", "--output-format", "json", "-p", "go"], environment


def _opencode(run: Run) -> tuple[list[str], dict[str, str]]:
    settings: dict[str, Any] = {
        "model": "scripted/scripted",
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": f"{run.model.url}/v1", "apiKey": "none"},
                "models": {"scripted": {}},
            }
        },
    }
    if run.server:
        settings["mcp"] = {
            "sightline": {
                "type": "local",
                "command": run.server,
                "environment": {"SIGHTLINE_HOME": str(run.store)},
                **({"timeout": int(run.patience * 1000)} if run.patience else {}),
            }
        }
    run.settings(".config/opencode/opencode.json", json.dumps(settings))
    return ["run", "--format", "json", "go"], {}


def _as_untrusted(blocks: tuple[str, ...]) -> tuple[str, ...]:
    return ("\n".join(f"<untrusted_context>\n{block}\n</untrusted_context>" for block in blocks),)


def _as_paragraphs(blocks: tuple[str, ...]) -> tuple[str, ...]:
    return ("\n\n".join(blocks),)


HARNESSES = (
    Harness(
        "claude-code",
        "claude-code",
        "@anthropic-ai/claude-code",
        Messages,
        _claude_code,
        sessions=".claude/projects/*/*.jsonl",
        offers=("run_command", "read_output"),  # marked as always to be loaded; it finds the others by searching
    ),
    Harness(
        "codex", "codex-mcp-client", "@openai/codex", Responses, _codex, sessions=".codex/sessions/**/rollout-*.jsonl"
    ),
    Harness(
        "codex+code",
        "codex-mcp-client",
        "@openai/codex",
        Code,
        _codex_coding,
        uses="own",
        sessions=".codex/sessions/**/rollout-*.jsonl",
        offers=("exec",),
    ),
    Harness("gemini", "gemini-cli-mcp-client", "@google/gemini-cli", Contents, _gemini, _as_untrusted, uses="none"),
    Harness("opencode", "opencode", "opencode-ai", Chat, _opencode, _as_paragraphs, uses="none"),
)


SANDBOXED = Harness("codex", "codex-mcp-client", "@openai/codex", Responses, _codex_sandboxed)


def run_harness(harness: Harness, run: Run) -> str:
    """Have it work until its model says that all is done; what it printed."""
    program = node_peers.program(harness.package)
    arguments, environment = harness.prepare(run)
    run.project.mkdir(exist_ok=True)
    run.install(run)
    if program.endswith(".js"):
        arguments = [program, *arguments]
        program = node_peers.node()
    process = subprocess.Popen(
        [program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=run.project,
        env={
            "PATH": node_peers.path(),
            "HOME": str(run.home),
            "SHELL": "/bin/bash",  # else some take zsh where it is installed
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "HTTP_PROXY": NOWHERE,
            "HTTPS_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
            **environment,
        },
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what it may have left behind, too
        except ProcessLookupError:
            pass
        process.wait()
    return said.decode(errors="replace")
