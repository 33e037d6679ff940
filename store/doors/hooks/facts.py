"""What is known of each harness: its hooks, its tools, and what its hooks may do. One table for all who need it.

Observed by running the versions named here against a scripted model, unless ``seen`` is empty: then it is what the
harness' documentation says.
"""

from typing import NamedTuple

RECORD, KEEP, SHAPE = "record", "keep", "shape"
MODES = (RECORD, KEEP, SHAPE)
"""What hooks do: only look on; also keep the whole of what commands write; also show our views instead."""

DEFAULT_MODE = KEEP

PATIENCE_SECONDS = 3.0
"""How long hooks, and what they put into commands, wait for another process that changes the index: an agent waits."""

BEFORE, AFTER, FAILED, BATCH, START, PROMPT, END = "before", "after", "failed", "batch", "start", "prompt", "end"
"""What an event is: before a tool, after it, after it failed, what the model is shown, a session's start, a prompt, the
end of a turn or of a session."""


class Hook(NamedTuple):
    """One hook.

    Attributes:
        event: the harness' own name of the event.
        when: what the event is: BEFORE, AFTER, …
        matcher: what the settings say of the tools that it is for; empty for no such key.
        modes: those in which it is installed.
    """

    event: str
    when: str
    matcher: str = ""
    modes: tuple[str, ...] = MODES


class Facts(NamedTuple):
    """One harness.

    Attributes:
        name: what we call it.
        title: what its makers call it.
        seen: the version that was looked at; empty where nothing was run.
        hooks: its hooks, in the order in which a session meets them; none where it has none that we can use.
        timeout: how long a hook may take, in the settings' own unit; 0 for no such key.
        runs: names of its tools that run shell commands.
        own: how names of our MCP server's tools begin; they are recorded by the server itself.
        rewrites: whether a command may be rewritten so that the person's rules still hold, and its output is whole.
        replaces: whether a hook can replace what the model is shown of a successful tool.
        tells: whether hooks can say something to the model.
        reads: names of its tools that read a file, whose path is all that its last event tells of it.
        judged: commands whose code it reads in its own way where they come last: ``PROGRAM`` or ``PROGRAM WORD``.
        background: how a prompt begins that tells of the end of a command in the background; empty for no such thing.
        transcribes: whether it writes into its transcript, whose path hooks are told, what its model was shown; of what
            a tool gave it may tell more there than in its events.
        missing: what it lacks, in a sentence for people; empty for nothing.
    """

    name: str
    title: str
    seen: str
    hooks: tuple[Hook, ...]
    timeout: int
    runs: tuple[str, ...]
    own: tuple[str, ...]
    rewrites: bool
    replaces: bool
    tells: bool
    reads: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    background: str = ""
    transcribes: bool = False
    missing: str = ""

    def when(self, event: str) -> str:
        """What an event is; empty for one that no hook of ours is for."""
        return next((hook.when for hook in self.hooks if hook.event == event), "")


HARNESSES = {
    facts.name: facts
    for facts in (
        Facts(
            "claude-code",
            "Claude Code",
            "2.1.329",
            (
                Hook("SessionStart", START),
                Hook("UserPromptSubmit", PROMPT),
                Hook("PreToolUse", BEFORE, "Bash", (KEEP, SHAPE)),
                Hook("PostToolUse", AFTER, "*"),
                Hook("PostToolUseFailure", FAILED, "*"),
                Hook("PostToolBatch", BATCH),
            ),
            timeout=20,  # seconds
            runs=("Bash",),
            own=("mcp__sightline__", "mcp__plugin_sightline_sightline__"),
            rewrites=True,
            replaces=True,
            tells=True,
            reads=("Read",),
            judged=("grep", "rg", "egrep", "fgrep", "find", "diff", "test", "[", "git diff", "git grep"),
            background="<task-notification>",
            missing="what it shows of a command that fails cannot be replaced afterwards",
        ),
        Facts(
            "codex",
            "Codex",
            "0.169.0",
            (
                Hook("SessionStart", START),
                Hook("UserPromptSubmit", PROMPT),
                Hook("PostToolUse", AFTER, "*"),
                Hook("Stop", END),
            ),
            timeout=20,  # seconds
            runs=("Bash",),
            own=("mcp__sightline__",),
            # A command is rewritten only with permission "allow", and one with a redirection is no longer held against
            # the person's rules: those that forbid it would be passed by.
            rewrites=False,
            replaces=True,
            tells=True,
            transcribes=True,
            missing="commands are not rewritten, since its rules would not hold then: of more than 64 KiB it keeps the "
            "beginning and the end",
        ),
        Facts(
            "gemini",
            "Gemini CLI",
            "0.61.0",
            (
                Hook("SessionStart", START),
                Hook("BeforeAgent", PROMPT),
                Hook("AfterTool", AFTER, ".*"),
                Hook("AfterAgent", END),
                Hook("SessionEnd", END),
            ),
            timeout=20_000,  # milliseconds
            runs=("run_shell_command",),
            own=("mcp_sightline_",),
            rewrites=False,  # a hook gets all that a command wrote; and commands run on a terminal, which a pipe is not
            replaces=True,
            tells=True,
            transcribes=True,
            missing="of tools that run beside each other it tells what the model was shown when all have ended",
        ),
        Facts(
            "opencode",
            "opencode",
            "1.18.33",
            (Hook("tool.execute.after", AFTER),),
            timeout=0,
            runs=("bash",),
            own=("sightline_",),
            rewrites=False,  # it keeps all that a command wrote in a file, which the hook reads
            replaces=True,
            tells=True,
            missing="a tool that fails is not told to plugins",
        ),
        Facts(
            "cursor",
            "Cursor",
            "",
            (
                Hook("sessionStart", START),
                Hook("postToolUse", AFTER),
            ),
            timeout=20,  # seconds
            runs=("Shell",),
            own=("MCP:sightline",),
            rewrites=False,
            replaces=False,
            tells=True,
            missing="as documented, not tried: hooks look on only",
        ),
        Facts("vscode", "VS Code", "", (), 0, (), (), False, False, False, missing="no hooks: the MCP server only"),
    )
}
"""By name."""


def allow_rules(harness: str, piped: str) -> tuple[str, ...]:
    """The rules that let pass what a hook adds to a command; without them the harness asks about every command.

    Args:
        harness: its name.
        piped: what hooks pipe into, as it stands in a command; the id of the tool's use follows it.
    """
    if harness != "claude-code":
        return ()
    return (f"Bash({piped}:*)", "Bash(set -o pipefail)")
