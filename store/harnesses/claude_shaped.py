"""Harnesses whose hooks have Claude Code's names and payloads: what they share, to which a module each adds its own."""

from typing import TYPE_CHECKING

from sightline.harnesses.base import AFTER, FAILED, PROMPT, START, Harness, Hook, Json

if TYPE_CHECKING:
    from sightline.harnesses.tool_call import ToolCall


class ClaudeShaped(Harness):
    """One of them. Commands are not rewritten, which none of them was seen to do."""

    hooks = (
        Hook("SessionStart", START),
        Hook("UserPromptSubmit", PROMPT),
        Hook("PostToolUse", AFTER, "*"),
        Hook("PostToolUseFailure", FAILED, "*"),
    )
    own = ("mcp__sightline__",)
    tells = True
    servers = ("mcpServers",)

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """As any; of a failure what was told of it."""
        if when != FAILED:
            return super().result(call, when, given)
        error = given.get("error")
        return call._replace(failed=True).with_text(error if isinstance(error, str) else "")
