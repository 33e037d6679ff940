"""Codex, as version 0.169.0 was seen to behave: its hooks and their payloads, its settings, what it cuts."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sightline.harnesses.base import AFTER, BEFORE, END, KEEP, PROMPT, SHAPE, START, Harness, Hook, Json, Limit

if TYPE_CHECKING:
    from sightline.harnesses.tool_call import ToolCall

_CUT_STARTS = ("Warning: truncated", "Total output lines: ")


class Codex(Harness):
    """A command is rewritten where nobody is asked anyway, since it rewrites only with permission "allow".

    Its sandbox and the person's rules hold as before: these are held against plain words and pipes, and against nothing
    of a command with a redirection, so none is put in, and standard error goes past the pipe.
    """

    name, title, seen = "codex", "Codex", "0.169.0"
    programs = ("codex",)
    clients = ("codex-mcp-client",)
    missing = (
        "of more than 64 KiB it tells the beginning and the end: standard output is kept whole all the same where "
        "commands run without asking and outside of its sandbox"
    )

    hooks = (
        Hook("SessionStart", START),
        Hook("UserPromptSubmit", PROMPT),
        Hook("PreToolUse", BEFORE, "Bash", (KEEP, SHAPE)),
        Hook("PostToolUse", AFTER, "*"),
        Hook("Stop", END),
    )
    timeout = 20  # seconds
    runs = ("Bash",)
    own = ("mcp__sightline__",)
    joins = False
    rewrites = replaces = tells = tells_context = transcribes = True

    # Of a model that it does not know. Those that it knows are shown four times as much, which a hook is not told: so
    # rather too little is said to be saved.
    limits = dict.fromkeys(("cmd", "file", "tool"), Limit(10_500, 10_500, head=5_000, tail=5_000))
    reply_bytes = 39_500  # less some that it adds, of the 10,000 tokens of 4 bytes that it shows models that it knows

    servers = ("mcp_servers",)
    servers_form = "toml"
    hints = (
        "Codex runs hooks only once you trust them: type /hooks in it",
        'default_tools_approval_mode = "approve" below [mcp_servers.sightline] lets run_command run without asking; '
        "its commands then stand outside of Codex' sandbox",
        "of a model that Codex does not know it shows 12,000 bytes of a result; tool_output_token_limit = 10000 at the "
        "top of config.toml makes that 40,000",
    )
    project_hints = ("Codex reads .codex/ only in folders that you trust",)

    endings = (".jsonl",)
    reader = "sightline.harnesses.codex_transcript"

    def may_rewrite(self, given: Json) -> bool:
        """Only where it asks about nothing: elsewhere the permission would be an answer to what a person is asked."""
        return given.get("permission_mode") == "bypassPermissions"

    def rewriting(self, event: str, updated: Json) -> Json:
        """It takes no other input without a permission."""
        answer = super().rewriting(event, updated)
        answer["hookSpecificOutput"]["permissionDecision"] = "allow"
        return answer

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """A command's is a text, which is cut already; anything else is whole."""
        response = given.get("tool_response")
        if not isinstance(response, str):
            return call.with_result(response)
        unknown = f"{self.title} does not tell its hooks which lines it puts above a result"
        call = call.with_text(response)._replace(shown=(response,), unknown=unknown)
        if not response.startswith(_CUT_STARTS):
            return call
        return call.with_rest(self.transcripts().left_of(response, call.stream), self.cut)

    def replacement(self, event: str, call: "ToolCall", given: Json) -> Callable[[str], Json] | None:
        """Of a command the rollout tells more than an event: its result stays."""
        response = given.get("tool_response")
        content = response.get("content") if isinstance(response, dict) else response
        return (lambda text: {"decision": "block", "reason": text}) if isinstance(content, list) and content else None

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """``CODEX_HOME`` is for both."""
        folder = environment.get("CODEX_HOME") or f"{home}/.codex"
        return f"{folder}/config.toml", f"{folder}/hooks.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """Read where a person trusts the folder."""
        return f"{project}/.codex/config.toml", f"{project}/.codex/hooks.json"

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """Required: otherwise it begins without a server that takes longer than a second to start."""
        return {**super().server_entry(words, environment), "required": True}

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """Its rollouts, and those that were put away."""
        folder = environment.get("CODEX_HOME", "") or f"{home}/.codex"
        return [os.path.join(folder, "sessions"), os.path.join(folder, "archived_sessions")]


HARNESS = Codex()
