"""What a harness has to give: facts, the payloads of its hooks, its settings, its limits, its transcripts.

A harness is a module beside this one, with a class of its own and one of it as ``HARNESS``. What it does not give, it
has not. A hook loads that module at each event, so what reads transcripts may be a second one, ``NAME_transcript``.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sightline.named_tuple import NamedTuple

if TYPE_CHECKING:  # loading it takes a millisecond, which events before a tool need not pay
    from sightline.harnesses.tool_call import ToolCall

Json = dict[str, Any]

RECORD, KEEP, SHAPE = "record", "keep", "shape"
MODES = (RECORD, KEEP, SHAPE)
"""What hooks do: only look on; also keep the whole of what commands write; also show our views instead."""

DEFAULT_MODE = KEEP

BEFORE, AFTER, FAILED, BATCH, START, PROMPT, END = "before", "after", "failed", "batch", "start", "prompt", "end"
CONTEXT = "context"
"""What an event is: before a tool, after it, after it failed, what the model is shown, a session's start, a prompt, the
end of a turn or of a session, something that happens to its context."""


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


class Limit(NamedTuple):
    """What a harness shows of one kind of output, in bytes; those that it counts in characters are right for ASCII.

    Attributes:
        whole: up to this size it shows all.
        over: of more it shows about so much.
        head: of more it surely shows so much of the beginning; tail, of the end.
    """

    whole: int
    over: int
    head: int = 0
    tail: int = 0


class Harness:
    """One harness.

    Attributes:
        name: what we call it.
        title: what its makers call it.
        seen: the version that was looked at; empty where nothing was run, and this is what its documentation says.
        programs: names of its program on ``PATH``.
        clients: by which names its MCP client introduces itself, beside `name`, with which each of them begins.
        missing: what it lacks, in a sentence for people; empty for nothing.

        hooks: its hooks, in the order in which a session meets them; none where it has none that we can use.
        timeout: how long a hook may take, in the settings' own unit; 0 for no such key.
        runs: names of its tools that run shell commands.
        reads: names of its tools that read a file, whose path is all that its last event tells of it.
        own: how names of our MCP server's tools begin; they are recorded by the server itself.
        rewrites: whether a command may be rewritten so that the person's rules still hold, and its output is whole.
        joins: whether standard error may be joined to the pipe then; else its rules hold only without redirections.
        replaces: whether a hook can replace what the model is shown of a successful tool.
        tells: whether hooks can say something to the model.
        asks: whether a hook at the end of a turn can have the model go on, with a reason.
        tells_context: whether its hooks, or the transcript that they follow, tell all that happens to a context.
        judged: commands whose code it reads in its own way where they come last: ``PROGRAM`` or ``PROGRAM WORD``.
        exit_line: the pattern of what it puts before what a failing command wrote; empty for no such thing.
        background: how a prompt begins that tells of the end of a command in the background; empty for no such thing.
        transcribes: whether it writes into its transcript, whose path hooks are told, what its model was shown; of what
            a tool gave it may tell more there than in its events.

        limits: what it shows of outputs by itself, by the kind of their buffers.
        failure_limit: what it shows of a failure; None where that is as of any other.
        reply_bytes: how large a reply of our server it leaves whole; 0 for any that we give.
        reply_lines: likewise.

        servers: the names below which its settings list MCP servers; none where it has no settings that we know.
        servers_form: ``json`` or ``toml``.
        rules: the names below which its settings list rules that let a command pass.
        variables: likewise the variables of the shell that its commands run in.
        fills: members that its file of hooks needs to be read at all.
        switch: the setting that turns all hooks off, and its value then.
        hints: what a person should know or do after an installation, in sentences.
        project_hints: likewise, where it was for one folder.
        plugin_file: the name of the plugin that runs our hooks; empty where settings list hooks.

        endings: how names of its transcripts end.
        transcript_folder: the name of a folder that is a transcript as a whole; empty for none.
        reader: the module that reads its transcripts; empty where nothing does.
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
    joins = True
    replaces = False
    tells = False
    tells_context = False
    asks = False
    judged: tuple[str, ...] = ()
    exit_line = ""
    background = ""
    transcribes = False

    limits: Mapping[str, Limit] = {}
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
        """What an event is; empty for one that no hook of ours is for."""
        return next((hook.when for hook in self.hooks if hook.event == event), "")

    def may_rewrite(self, given: Json) -> bool:
        """Whether the command that an event is about may be rewritten, by how it is going to be judged."""
        return True

    def rewriting(self, event: str, updated: Json) -> Json:
        """The answer that has a tool called with another input, and says nothing else where it need not."""
        return {"hookSpecificOutput": {"hookEventName": event, "updatedInput": updated}}

    def is_own(self, given: Json) -> bool:
        """Whether an event is about a tool of our own server, which logs what it does itself."""
        name = given.get("tool_name")
        return isinstance(name, str) and name.startswith(self.own)

    def call_of(self, given: Json) -> "ToolCall | None":
        """The call that an event tells of, without what came of it; None where it tells of none."""
        from sightline.harnesses.tool_call import CallSession, ToolCall, dict_of, text_of  # for no event before a tool

        tool, now = given.get("tool_name"), time.time()
        if not isinstance(tool, str):
            return None
        session = text_of(given.get("session_id") or given.get("conversation_id"))
        arguments, use = dict_of(given.get("tool_input")), text_of(given.get("tool_use_id"))
        cwd = text_of(given.get("cwd")) or os.getcwd()
        command = text_of(arguments.get("command")) if tool in self.runs else ""
        return ToolCall(
            session=CallSession(self.name, session, self.name, cwd, now),
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
        """The call with what an event tells of its result; None where it tells nothing, or the call goes on.

        Args:
            call: as `call_of` gives it.
            when: AFTER or FAILED.
            given: what the event says.
        """
        return call.with_result(given.get("tool_response"))

    def replacement(self, event: str, call: "ToolCall", given: Json) -> Callable[[str], Json] | None:
        """What makes the answer that shows a model a text instead of a result; None where the result must stay.

        Args:
            event: the harness' own name of the event.
            call: what it is about.
            given: what it says.
        """
        return None

    def addition(self, event: str, text: str) -> Json:
        """The answer that shows a model a text beside all else."""
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}

    def limit(self, kind: str, *, failed: bool) -> Limit | None:
        """What it shows of an output of a kind of buffer by itself; None where that is not known."""
        return self.failure_limit if failed and self.failure_limit else self.limits.get(kind)

    def surely_shown(self, kind: str, text: str, *, failed: bool) -> str | None:
        """What of a text it surely shows, the beginning and the end; None where it shows all, or that is not known."""
        limit = self.limit(kind, failed=failed)
        if limit is None or len(text) <= limit.whole:
            return None
        return f"{text[: limit.head]}\n{text[-limit.tail :] if limit.tail else ''}"

    def alone_bytes(self, kind: str, size: int, *, failed: bool) -> int | None:
        """How many bytes of an output of a size it shows by itself; None where its limits are not known."""
        limit = self.limit(kind, failed=failed)
        return None if limit is None else size if size <= limit.whole else limit.over

    def goes_on(self, given: Json) -> bool:
        """Whether an event after a tool says that its command goes on in the background."""
        return False

    def ended_commands(self, prompt: str, session: str) -> Iterator[tuple[str, str, tuple[str, ...], int | None]]:
        """The commands that went on in the background and that a prompt says have ended.

        Args:
            prompt: which begins with `background`.
            session: the harness' id of the session.

        Returns:
            Of each the id of the use that started it, the path of the file that has its output, the last names of such
            a path as `own_file` takes them, and the exit code, None where it is not told.
        """
        return iter(())

    def added_bytes(self, tail: bytes) -> int:
        """How many of the last bytes of such a command's file the harness has added itself."""
        return 0

    # ---- settings

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """The files in which a person lists MCP servers and hooks, which may be the same; empty for none.

        A harness that names ``servers``, or a ``plugin_file``, has to give them.
        """
        raise NotImplementedError(f"{self.name} does not say in which files a person lists its MCP servers and hooks")

    def project_settings(self, project: str) -> tuple[str, str]:
        """Likewise those of a project's folder."""
        raise NotImplementedError(f"{self.name} does not say in which files of a project its MCP servers stand")

    def server_entry(self, words: list[str], environment: Mapping[str, str]) -> Json:
        """An MCP server as its settings have it, started by a command in some variables."""
        return {"command": words[0], "args": words[1:], **({"env": environment} if environment else {})}

    def hook_entry(self, hook: Hook, command: str) -> Json:
        """A hook as its settings have it."""
        matcher = {"matcher": hook.matcher} if hook.matcher else {}
        return {**matcher, "hooks": [{"type": "command", "command": command, **self.time_limit}]}

    @property
    def time_limit(self) -> Json:
        """The member that says how long a hook may take."""
        return {"timeout": self.timeout} if self.timeout else {}

    def allow_rules(self, piped: str) -> tuple[str, ...]:
        """The rules that let pass what a hook adds to a command; without them the harness asks about every command.

        Args:
            piped: what hooks pipe into, as it stands in a command; the id of the tool's use follows it.
        """
        return ()

    def plugin(self, words: list[str], root: str) -> str:
        """The text of the plugin that runs a hook.

        Args:
            words: of the hook's command line.
            root: the store's root where it is not the usual one, else empty.
        """
        raise NotImplementedError(f"{self.name} does not give the plugin that runs its hooks")

    def plugin_words(self, text: str) -> list[str]:
        """The words of the hook that such a plugin runs; none where it runs none."""
        return []

    # ---- transcripts

    @property
    def cut(self) -> str:
        """Why an output is partial that it has cut."""
        return f"cut by {self.title}"

    def transcripts(self) -> ModuleType:
        """What reads its transcripts, and texts that it has cut; loaded with this, as hooks rarely need it."""
        return __import__(self.reader, fromlist=["reading_of"])

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """Folders and files in which it keeps transcripts, whether they are there or not."""
        return []
