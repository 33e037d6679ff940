"""The common part of harnesses whose hooks have Claude Code's names and payloads; each adds its own module."""

from sightline.harnesses.base import AFTER, FAILED, PROMPT, START, Harness, Hook, Json
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.harnesses.tool_call import ToolCall


class ClaudeShaped(Harness):
    """One of these harnesses. Commands are not rewritten, because none of them was seen to run the rewritten one."""

    hooks = (
        Hook("SessionStart", START),
        Hook("UserPromptSubmit", PROMPT),
        Hook("PostToolUse", AFTER, "*"),
        Hook("PostToolUseFailure", FAILED, "*"),
    )
    own: tuple[str, ...] = ("mcp__sightline__",)
    tells = True
    servers = ("mcpServers",)

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """Add the result as for any harness; for a failure, what the event says about it."""
        if when != FAILED:
            return super().result(call, when, given)
        error = given.get("error")
        return call._replace(failed=True).with_text(error if isinstance(error, str) else "")
