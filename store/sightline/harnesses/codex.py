"""Codex, as version 0.171.0 was seen to behave: its hooks and their payloads, its settings, its limits."""

import os
import pwd
import re
from collections.abc import Callable, Mapping

from sightline.harnesses.base import (
    AFTER,
    BEFORE,
    END,
    KEEP,
    PROMPT,
    SHAPE,
    START,
    Harness,
    Hook,
    Json,
    Limit,
    known_shell,
)
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.harnesses.tool_call import ToolCall

_NAMES_A_SHELL = re.compile(r"""\bshell\\*["']?\s*:""")
_TAIL_BYTES = 1 << 18
_CUT_STARTS = ("Warning: truncated", "Total output lines: ")


class Codex(Harness):
    """Commands are rewritten only if nobody is asked anyway, because Codex then needs permission "allow" for that.

    Its sandbox and the person's rules still apply. It applies rules to plain words and pipes, but to no command with a
    redirection; so none is added, and standard error goes past the pipe.
    """

    name, title, seen = "codex", "Codex", "0.171.0"
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
    ways: Mapping[str, str] = dict.fromkeys(
        (KEEP, SHAPE), "commands are rewritten to pipe their output, if it asks about nothing"
    )
    joins = False
    rewrites = replaces = tells = tells_context = transcribes = True

    # These are for a model that it does not know. A known model is shown four times as much, but a hook is not told
    # which it is, so the stated saving is rather too small.
    limits = dict.fromkeys(("cmd", "file", "tool"), Limit(10_500, 10_500, head=5_000, tail=5_000))
    reply_bytes = 39_500  # nearly the 10,000 tokens of 4 bytes that known models are shown

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
        """Only if it asks about nothing: elsewhere the permission would answer a question that is the person's."""
        return given.get("permission_mode") == "bypassPermissions"

    def shell(self, given: Json) -> str:
        """It takes the login shell, whatever ``SHELL`` says, unless the model names one, as only its rollout tells."""
        told = _told_of(str(given.get("transcript_path", "")), str(given.get("tool_use_id", "")))
        try:
            return "" if _NAMES_A_SHELL.search(told) else known_shell(pwd.getpwuid(os.getuid()).pw_shell)
        except KeyError:  # nobody's account
            return ""

    def rewriting(self, event: str, updated: Json) -> Json:
        """It takes another input only together with a permission."""
        answer = super().rewriting(event, updated)
        answer["hookSpecificOutput"]["permissionDecision"] = "allow"
        return answer

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """A command's result is a text, which is cut already; any other result is whole."""
        response = given.get("tool_response")
        if not isinstance(response, str):
            return call.with_result(response)
        unknown = f"{self.title} does not tell its hooks which lines it puts above a result"
        call = call.with_text(response)._replace(shown=(response,), unknown=unknown)
        if not response.startswith(_CUT_STARTS):
            return call
        return call.with_rest(self.transcripts().left_of(response, call.stream), self.cut)

    def replacement(self, event: str, call: "ToolCall", given: Json) -> Callable[[str], Json] | None:
        """A command's result stays, because the rollout has more of it than an event."""
        response = given.get("tool_response")
        content = response.get("content") if isinstance(response, dict) else response
        return (lambda text: {"decision": "block", "reason": text}) if isinstance(content, list) and content else None

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """``CODEX_HOME`` holds for both files."""
        folder = environment.get("CODEX_HOME") or f"{home}/.codex"
        return f"{folder}/config.toml", f"{folder}/hooks.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """It reads these if a person trusts the folder."""
        return f"{project}/.codex/config.toml", f"{project}/.codex/hooks.json"

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """The server is required; otherwise Codex starts without a server that takes longer than a second."""
        return {**super().server_entry(words, environment), "required": True}

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """These are its rollouts, and archived ones."""
        folder = environment.get("CODEX_HOME", "") or f"{home}/.codex"
        return [os.path.join(folder, "sessions"), os.path.join(folder, "archived_sessions")]


def _told_of(path: str, use: str) -> str:
    """Return the record of a call in a rollout, or of the program that makes it, which hooks find there."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
            tail = file.read().decode(errors="replace")
    except OSError:
        return ""
    calls = (line for line in reversed(tail.splitlines()) if f'"{use}"' in line or '"custom_tool_call"' in line)
    return next(calls, "")


HARNESS = Codex()
