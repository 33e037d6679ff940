"""What a harness provides: facts, the payloads of its hooks, its settings, its limits, its transcripts.

A harness is a module beside this one, with a subclass and an instance as ``HARNESS``. All that it provides is optional.
A hook loads that module at each event, so the reader of transcripts may be a second one, ``NAME_transcript``.
"""

import os
import time

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, Iterator, Mapping

if TYPE_CHECKING:  # loading takes a millisecond, which events before a tool can save
    from types import ModuleType

    from sightline.harnesses.tool_call import ToolCall

Json = dict[str, Any]

RECORD, KEEP, SHAPE = "record", "keep", "shape"
MODES = (RECORD, KEEP, SHAPE)
"""What hooks do: only record; also keep the whole output of commands; also show our views instead."""

DEFAULT_MODE = KEEP

BASH, ZSH = "bash", "zsh"
"""The shells that know all that hooks put into commands."""

BEFORE, AFTER, FAILED, BATCH, START, PROMPT, END = "before", "after", "failed", "batch", "start", "prompt", "end"
CONTEXT = "context"
"""The kinds of event: before a tool, after it, after it failed, what the model is shown, a session's start, a prompt,
the end of a turn or of a session, and something that happens to its context."""


def known_shell(path: str) -> str:
    """Return BASH or ZSH for the path of such a shell, and an empty text for that of another."""
    name = os.path.basename(path)
    return next((shell for shell in (BASH, ZSH) if name.startswith(shell)), "")


class Hook(NamedTuple):
    """One hook.

    Attributes:
        event: the harness' own name for the event.
        when: its kind: BEFORE, AFTER, …
        matcher: which tools it is for, as the settings write it; empty to leave that key out.
        modes: the modes in which it is installed.
    """

    event: str
    when: str
    matcher: str = ""
    modes: tuple[str, ...] = MODES


class Limit(NamedTuple):
    """How much a harness shows of one kind of output, in bytes; limits in characters are right for ASCII.

    Attributes:
        whole: the largest size that it shows whole.
        over: how much it shows of a larger one, about.
        head: how much of the beginning it surely shows then; tail is the same for the end.
    """

    whole: int
    over: int
    head: int = 0
    tail: int = 0


class Harness:
    """One harness.

    Attributes:
        name: our name for it.
        title: its makers' name for it.
        seen: the version that was tried; empty if nothing was, and this follows its documentation.
        programs: names of its program on ``PATH``.
        clients: names by which its MCP client introduces itself, beside `name`; each begins with that.
        missing: what it lacks, in a sentence for people; empty for nothing.

        hooks: its hooks, in the order of a session; none if it has no hooks of use to us.
        timeout: how long a hook may take, in the settings' own unit; 0 to leave that key out.
        runs: names of its tools that run shell commands.
        reads: names of its tools that read a file, of which their last event tells the path alone.
        own: how names of our MCP server's tools begin; the server records these itself.
        rewrites: whether commands may be rewritten to be kept whole, with the person's rules still applied.
        shell_start: variable that tells a hook at a session's start which file its shells run before each command. They
            have both streams in a regular file, so outputs are kept whole without any rewriting. Empty for none.
        ways: how it keeps outputs of commands whole, a sentence for people by the mode of hooks.
        joins: whether standard error may go into the pipe, too; False if its rules apply only without redirections.
        replaces: whether a hook can replace what the model is shown of a successful tool.
        tells: whether hooks can tell the model something.
        asks: whether a hook at the end of a turn can have the model continue, with a reason.
        tells_context: whether its hooks, or the transcript they follow, report all that happens to a context.
        judged: commands whose exit code it reads specially when they come last: ``PROGRAM`` or ``PROGRAM WORD``.
        exit_line: pattern of what it puts before a failing command's output; empty for nothing.
        says: the member of an event at the end of a turn that has what the agent said last.
        compacted: its event after a compaction; empty if it has none.
        background: how a prompt begins that reports the end of a command in the background; empty for none.
        transcribes: whether it writes into its transcript, whose path hooks get, what its model was shown; for some
            tools the transcript may then have more than their events.

        limits: how much it shows of outputs by itself, by the kind of their buffers.
        failure_limit: how much it shows of a failure; None if a failure is as any other output.
        reply_bytes: how large a reply of our server it leaves whole; 0 if any that we send.
        reply_lines: the same in lines.

        servers: the path of names in its settings to MCP servers; empty if it has no settings that we know.
        servers_form: ``json`` or ``toml``.
        rules: the path of names in its settings to rules that allow a command.
        variables: the path of names to variables of the shell in which its commands run.
        fills: members without which it does not read its file of hooks.
        switch: the setting that turns all hooks off, and the value that does so.
        hints: what a person should know or do after an installation, in sentences.
        project_hints: the same for an installation in one folder.
        plugin_file: name of the plugin that runs our hooks; empty if settings list hooks.

        endings: how names of its transcripts end.
        transcript_folder: name of a folder that is one transcript; empty for none.
        reader: the module that reads its transcripts; empty for none.
    """

    name: str
    title: str
    seen = ""
    programs: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    missing = ""

    hooks: tuple[Hook, ...] = ()
    timeout = 0
    runs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    rewrites = False
    shell_start = ""
    ways: Mapping[str, str] = {}  # noqa: RUF012 - a mapping is not changed
    joins = True
    replaces = False
    tells = False
    tells_context = False
    asks = False
    judged: tuple[str, ...] = ()
    exit_line = ""
    says = "last_assistant_message"
    compacted = ""
    background = ""
    transcribes = False

    limits: Mapping[str, Limit] = {}  # noqa: RUF012 - a mapping is not changed
    failure_limit: Limit | None = None
    reply_bytes = reply_lines = 0

    servers: tuple[str, ...] = ()
    servers_form = "json"
    rules: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    fills: tuple[tuple[tuple[str, ...], Any], ...] = ()
    switch: tuple[tuple[str, ...], bool] | None = None
    hints: tuple[str, ...] = ()
    project_hints: tuple[str, ...] = ()
    plugin_file = ""

    endings: tuple[str, ...] = ()
    transcript_folder = ""
    reader = ""

    # ---- hooks

    def when(self, event: str) -> str:
        """Return the kind of an event; empty if none of our hooks is for it."""
        return next((hook.when for hook in self.hooks if hook.event == event), "")

    def may_rewrite(self, given: Json) -> bool:
        """Return whether the command of an event may be rewritten, given how the harness is going to judge it."""
        return True

    def shell(self, given: Json) -> str:
        """Return which shell runs the command of an event: BASH, ZSH, or empty for another, or if that is not known."""
        return known_shell(os.environ.get("SHELL", ""))

    def command_of(self, script: str) -> str:
        """Return the command in all that a shell of this harness runs for it."""
        return script

    def rewriting(self, event: str, updated: Json) -> Json:
        """Return the answer that changes a tool's input, and does nothing else that it need not do."""
        return {"hookSpecificOutput": {"hookEventName": event, "updatedInput": updated}}

    def is_own(self, given: Json) -> bool:
        """Return whether an event is about a tool of our own server, which logs that itself."""
        name = given.get("tool_name")
        return isinstance(name, str) and name.startswith(self.own)

    def caller(self, given: Json) -> tuple[str, str, str]:
        """Return whose an event is: (its id of the session, the working directory, the id of the helper).

        The directory may be empty if the event does not state it, and the helper's id is, for the agent itself.
        """
        found = (given.get("session_id") or given.get("conversation_id"), given.get("cwd"), given.get("agent_id"))
        session, cwd, helper = (one if isinstance(one, str) else "" for one in found)
        return session, cwd, helper

    def call_of(self, given: Json) -> "ToolCall | None":
        """Return the call that an event is about, without its result; None if it is about none."""
        from sightline.harnesses.tool_call import CallSession, ToolCall, dict_of, text_of  # no event before a tool

        tool, now = given.get("tool_name"), time.time()
        if not isinstance(tool, str):
            return None
        session, cwd, helper = self.caller(given)
        arguments, use = dict_of(given.get("tool_input")), text_of(given.get("tool_use_id"))
        cwd = cwd or os.getcwd()
        command = text_of(arguments.get("command")) if tool in self.runs else ""
        return ToolCall(
            session=CallSession(self.name, session, self.name, cwd, now, helper),
            id=use or f"{session}:{now}",
            use=use,
            line=0,
            asked=now,
            answered=now,
            tool=tool,
            arguments=arguments,
            kind="cmd" if command else "tool",
            command=command,
            cwd=cwd,
        )

    def result(self, call: "ToolCall", when: str, given: Json) -> "ToolCall | None":
        """Add to the call what an event says about its result; None if it says nothing, or the call goes on.

        Args:
            call: the call, from `call_of`.
            when: AFTER or FAILED.
            given: the event's payload.
        """
        return call.with_result(given.get("tool_response"))

    def shows(self, given: Json) -> bool:
        """Return whether the model is shown the result that an event tells, or something of ours in its place."""
        return True

    def replacement(self, event: str, call: "ToolCall", given: Json) -> Callable[[str], Json] | None:
        """Return a function that makes the answer which replaces a result by a text; None if the result must stay.

        Args:
            event: the harness' own name for the event.
            call: the call.
            given: the event's payload.
        """
        return None

    def addition(self, event: str, text: str) -> Json:
        """Return the answer that shows a model a text in addition."""
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}

    def limit(self, kind: str, *, failed: bool) -> Limit | None:
        """Return how much it shows by itself of an output of this kind of buffer; None if that is not known."""
        return self.failure_limit if failed and self.failure_limit else self.limits.get(kind)

    def surely_shown(self, kind: str, text: str, *, failed: bool) -> str | None:
        """Return the part of a text that it surely shows, both ends; None if it shows all, or that is not known."""
        limit = self.limit(kind, failed=failed)
        if limit is None or len(text) <= limit.whole:
            return None
        return f"{text[: limit.head]}\n{text[-limit.tail :] if limit.tail else ''}"

    def alone_bytes(self, kind: str, size: int, *, failed: bool) -> int | None:
        """Return how many bytes of an output of this size it shows by itself; None if its limits are not known."""
        limit = self.limit(kind, failed=failed)
        return None if limit is None else size if size <= limit.whole else limit.over

    def goes_on(self, given: Json) -> bool:
        """Return whether an event after a tool says that its command goes on in the background."""
        return False

    def ended_commands(self, prompt: str, session: str) -> Iterator[tuple[str, str, tuple[str, ...], int | None]]:
        """Yield the commands in the background that a prompt reports as ended.

        Args:
            prompt: the prompt, which begins with `background`.
            session: the harness' id of the session.

        Returns:
            For each the id of the tool use that started it, the path of its output file, the last names of such a path
            for `own_file`, and the exit code, None if the prompt does not tell.
        """
        return iter(())

    def told_within(self, line: bytes) -> str:
        """Return the prompt that reports commands as ended if a line of its transcript says that a turn was told it.

        No event reports such a prompt. Empty for any other line.
        """
        return ""

    def added_bytes(self, tail: bytes) -> int:
        """Return how many of the last bytes of such a command's file the harness has added itself."""
        return 0

    # ---- settings

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """Return the files in which a person lists MCP servers and hooks, perhaps the same one; empty for none.

        A harness with ``servers``, or a ``plugin_file``, has to provide them.
        """
        raise NotImplementedError(f"{self.name} does not say in which files a person lists its MCP servers and hooks")

    def project_settings(self, project: str) -> tuple[str, str]:
        """Return the same files of a project's folder."""
        raise NotImplementedError(f"{self.name} does not say in which files of a project its MCP servers stand")

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """Return the entry for an MCP server in its settings, started by this command with these variables."""
        return {"command": words[0], "args": words[1:], **({"env": environment} if environment else {})}

    def hook_entry(self, hook: Hook, command: str) -> Json:
        """Return the entry for a hook in its settings."""
        matcher = {"matcher": hook.matcher} if hook.matcher else {}
        return {**matcher, "hooks": [{"type": "command", "command": command, **self.time_limit}]}

    @property
    def time_limit(self) -> Json:
        """Return the member that limits how long a hook may take."""
        return {"timeout": self.timeout} if self.timeout else {}

    def allow_rules(self, piped: str, option: str) -> tuple[str, ...]:
        """Return rules that allow what a hook adds to a command; without them the harness asks about every command.

        Args:
            piped: the program that hooks pipe into, as it stands in a command; the id of the tool use follows it.
            option: the command before it that passes exit codes on.
        """
        return ()

    def plugin(self, words: list[str], root: str) -> str:
        """Return the text of the plugin that runs a hook.

        Args:
            words: words of the hook's command line.
            root: the store's root if it is not the usual one, else empty.
        """
        raise NotImplementedError(f"{self.name} does not give the plugin that runs its hooks")

    def plugin_words(self, text: str) -> list[str]:
        """Return the words of the hook that such a plugin runs; none if it runs none."""
        return []

    # ---- transcripts

    @property
    def cut(self) -> str:
        """The reason to give for an output that it has cut."""
        return f"cut by {self.title}"

    def transcripts(self) -> "ModuleType":
        """The module that reads its transcripts, and texts that it has cut; hooks rarely need to load it."""
        return __import__(self.reader, fromlist=["reading_of"])

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """Return folders and files in which it keeps transcripts, whether they exist or not."""
        return []
