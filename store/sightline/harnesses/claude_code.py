"""Claude Code, as version 2.1.332 was seen to behave: its hooks and their payloads, its settings, its limits."""

import os

from sightline.harnesses.base import (
    AFTER,
    BATCH,
    BEFORE,
    CONTEXT,
    END,
    FAILED,
    KEEP,
    PROMPT,
    SHAPE,
    START,
    ZSH,
    Harness,
    Hook,
    Json,
    Limit,
    known_shell,
)
from sightline.light.json_text import loads
from sightline.light.late_pattern import re
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, Iterator, Mapping

if TYPE_CHECKING:
    from sightline.harnesses.tool_call import ToolCall

_CWD_RESET = r"\n?Shell cwd was reset to [^\n]*\n?"
_PREVIEW = 2_250
"""Bytes of a preview of 2 KB, with the frame that names the file with the whole output."""

_NOTICE = r"(?s)<task-notification>(.*?)</task-notification>"
_FIELD = r"(?s)<([a-z-]+)>(.*?)</\1>"
_CODE = r"\(?exit code (-?\d{1,10})\)?$"
_ADDED = rb"\n\[exited with code \d{1,3}\]\n\Z"
_EVAL = " && eval "
_ID = r"[A-Za-z0-9_-]{1,120}"


class ClaudeCode(Harness):
    """Its shells write into a file, which is read beside them. Only views of failures need rewritten commands."""

    name, title, seen = "claude-code", "Claude Code", "2.1.332"
    programs = ("claude",)
    missing = "what it shows of a command that fails cannot be replaced afterwards"

    hooks = (
        Hook("SessionStart", START),
        Hook("UserPromptSubmit", PROMPT),
        Hook("PreToolUse", BEFORE, "Bash", (SHAPE,)),
        Hook("PostToolUse", AFTER, "*"),
        Hook("PostToolUseFailure", FAILED, "*"),
        Hook("PostToolBatch", BATCH),
        Hook("PreCompact", CONTEXT),
        Hook("PostCompact", CONTEXT),
        Hook("Stop", END),
    )
    timeout = 20  # seconds
    runs = ("Bash",)
    reads = ("Read",)
    own = ("mcp__sightline__", "mcp__plugin_sightline_sightline__")
    rewrites = replaces = tells = tells_context = asks = True
    judged = ("grep", "rg", "egrep", "fgrep", "find", "diff", "test", "[", "git diff", "git grep")
    shell_start = "CLAUDE_ENV_FILE"
    ways: Mapping[str, str] = {  # noqa: RUF012 - a mapping is not changed
        KEEP: "outputs are read from the file that its shells write into; no command is rewritten",
        SHAPE: "outputs are read from the file that its shells write into; single commands are rewritten to show views",
    }
    exit_line = r"Exit code (\d+)(?:\n|$)"
    compacted = "PostCompact"
    background = "<task-notification>"

    limits: Mapping[str, Limit] = {  # noqa: RUF012 - a mapping is not changed
        "cmd": Limit(30_000, _PREVIEW),
        "file": Limit(1 << 18, 300),  # an error that suggests reading a part
        "tool": Limit(50_000, _PREVIEW),
    }
    failure_limit = Limit(10_000, 10_040)  # head and tail of the first 30,000 bytes

    servers = ("mcpServers",)
    rules = ("permissions", "allow")
    variables = ("env",)
    switch = (("disableAllHooks",), True)
    hints = (
        "to let it read outputs without asking, allow mcp__sightline__read_output and mcp__sightline__query in "
        "/permissions",
    )
    project_hints = (
        "Claude Code asks once whether the server of this folder may be started",
        "Claude Code runs the hooks of a folder at once, but heeds its rules only when you trust it: start claude here "
        "once, or it asks about every command in the mode shape",
    )

    endings = (".jsonl",)
    reader = "sightline.harnesses.claude_code_transcript"

    def command_of(self, script: str) -> str:
        """Its shells run ``… && eval COMMAND … && pwd -P …``, with the command quoted."""
        import shlex  # it loads `re`, and only recorders of commands need it

        with suppress(ValueError):
            return shlex.split(script.partition(_EVAL)[2])[0] if _EVAL in script else script
        return script

    def shell(self, given: Json) -> str:
        """If a person's shell is another, it takes zsh, or bash without one; what zsh understands, bash does, too."""
        return known_shell(os.environ.get("CLAUDE_CODE_SHELL") or os.environ.get("SHELL", "")) or ZSH

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """A command's result is an object with both streams; that of a read file is its text, or an image."""
        response, error, took = given.get("tool_response"), given.get("error"), given.get("duration_ms")
        if isinstance(took, int | float):  # without hooks, and without the time in which a person was asked
            call = call._replace(asked=call.answered - took / 1000)
        if when == FAILED:
            return self._failed(call, error if isinstance(error, str) else "")
        if call.kind == "cmd" and isinstance(response, dict):
            return None if response.get("backgroundTaskId") else self._ran(call, response)
        file = response.get("file") if isinstance(response, dict) else None
        if isinstance(file, dict) and isinstance(file.get("base64"), str):
            return call.with_result([{"type": "image", "data": file["base64"], "mimeType": file.get("type")}])
        if isinstance(file, dict) and isinstance(file.get("content"), str):
            first, path = file.get("startLine"), file.get("filePath")
            if isinstance(path, str):
                call = call._replace(kind="file", command=path, first=first if isinstance(first, int) else 1)
            return call.with_text(text_read(file))
        return call.with_result(response)

    def _ran(self, call: "ToolCall", response: Json) -> "ToolCall":
        out, err, path = (_text(response.get(name)) for name in ("stdout", "stderr", "persistedOutputPath"))
        call = call._replace(exit_code=None if response.get("interrupted") else 0)
        call = call.with_text(out, re.sub(_CWD_RESET, "", err) if err else "")
        if not path:
            return call
        size = response.get("persistedOutputSize")
        ends = ("projects", "", call.session.id, "tool-results", "")
        return call._replace(partial=self.cut).with_saved(path, ends, size if isinstance(size, int) else 0)

    def _failed(self, call: "ToolCall", error: str) -> "ToolCall":
        found = re.match(self.exit_line, error) if call.kind == "cmd" else None
        start = found.end() if found else 0
        call = call._replace(exit_code=int(found[1]) if found else None, failed=True)
        if " truncated] ..." not in error:
            return call.with_text(error[start:])
        return call.with_rest(self.transcripts().left_of(error, start, call.stream), self.cut)

    def replacement(self, event: str, call: "ToolCall", given: Json) -> Callable[[str], Json] | None:
        """A replacement must have the same shape; a read file stays, because its lines get numbers."""
        response = given.get("tool_response")

        def answer(output: Any) -> Json:
            return {"hookSpecificOutput": {"hookEventName": event, "updatedToolOutput": output}}

        if call.kind == "cmd" and isinstance(response, dict):
            same = {"stderr": "", "interrupted": bool(response.get("interrupted")), "isImage": False}
            return lambda text: answer({"stdout": text, **same})
        if isinstance(response, list):
            return lambda text: answer([{"type": "text", "text": text}])
        return answer if isinstance(response, str) else None

    def goes_on(self, given: Json) -> bool:
        """Such a command is answered long before its end."""
        response = given.get("tool_response")
        return isinstance(response, dict) and bool(response.get("backgroundTaskId"))

    def ended_commands(self, prompt: str, session: str) -> Iterator[tuple[str, str, tuple[str, ...], int | None]]:
        """It writes what comes after the answer into a file, and names that file with the tool use and how it ended."""
        for notice in notices_in(prompt):
            if re.fullmatch(_ID, notice.use):
                yield notice.use, notice.path, output_file(notice.task, session), notice.exit_code

    def told_within(self, line: bytes) -> str:
        """It puts the notice into a running turn as an attachment."""
        if b'"queued_command"' not in line or self.background.encode() not in line:
            return ""
        record = loads(line)
        attached = record.get("attachment") if isinstance(record, dict) else None
        prompt = _text(attached.get("prompt")) if isinstance(attached, dict) else ""
        return prompt if prompt.startswith(self.background) else ""

    def added_bytes(self, tail: bytes) -> int:
        """It adds a line that says how the command ended."""
        added = re.search(_ADDED, tail)
        return len(added[0]) if added else 0

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """``CLAUDE_CONFIG_DIR`` holds for both files."""
        told = environment.get("CLAUDE_CONFIG_DIR")
        return f"{told or home}/.claude.json", f"{told or home + '/.claude'}/settings.json"

    def project_settings(self, project: str) -> tuple[str, str]:
        """These hold for all who work in the folder."""
        return f"{project}/.mcp.json", f"{project}/.claude/settings.json"

    def hook_entry(self, hook: Hook, command: str) -> Json:
        """What a batch's hook logs changes nothing for the agent, which need not wait for it."""
        entry = super().hook_entry(hook, command)
        for one in entry["hooks"] if hook.when == BATCH else ():
            one["async"] = True
        return entry

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """It adds the type of the connection."""
        return {"type": "stdio", **super().server_entry(words, environment)}

    def allow_rules(self, piped: str, option: str) -> tuple[str, ...]:
        """It applies its rules to the rewritten command."""
        return (f"Bash({piped}:*)", f"Bash({option})")

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """It has a folder for each project."""
        return [os.path.join(environment.get("CLAUDE_CONFIG_DIR", "") or f"{home}/.claude", "projects")]


class Notice(NamedTuple):
    """What it says of a task in the background that has ended.

    Attributes:
        task: its id.
        use: the id of the tool use that started it; empty if that is not told.
        path: the file with its output; empty if that is not told.
        exit_code: its exit code; None if that is not told.
    """

    task: str
    use: str
    path: str
    exit_code: int | None


def notices_in(text: str) -> "Iterator[Notice]":
    """Yield the notices in a prompt."""
    for block in re.findall(_NOTICE, text):
        said = dict(re.findall(_FIELD, block))
        if re.fullmatch(_ID, said.get("task-id", "").strip()):
            task, use, path = (said.get(name, "").strip() for name in ("task-id", "tool-use-id", "output-file"))
            yield Notice(task, use, path, code_in(said.get("summary", "")))


def use_of_notice(use: str) -> str:
    """Return the id by which the log knows the notice about the end of a tool's use."""
    return f"{use}/end"


def code_in(summary: str) -> int | None:
    """Return the exit code at the end of a summary of such a task; None for none."""
    found = re.search(_CODE, summary.strip())
    return int(found[1]) if found else None


def text_read(file: Json) -> str:
    """Return the text of the lines that Read gave; if others follow, the last one has its newline, too."""
    first, count, total = (file.get(name) for name in ("startLine", "numLines", "totalLines"))
    if not (isinstance(first, int) and isinstance(count, int) and isinstance(total, int)):
        return _text(file["content"])
    return _text(file["content"]) + ("\n" if count > 0 and first + count - 1 < total else "")


def output_file(task: str, session: str) -> tuple[str, ...]:
    """Return the last names of the path of a task's output, as for `own_file`."""
    return (f"claude-{os.getuid()}", "", session, "tasks", f"{task}.output")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


HARNESS = ClaudeCode()
