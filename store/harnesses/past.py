"""What every format is read as: sessions, calls of tools with what came of them, and records that could not be read."""

from typing import Any, NamedTuple

from sightline.records import Gap

FORMATS = ("claude-code", "codex", "gemini", "opencode", "swe-agent", "mini-swe-agent", "roo")
"""The harnesses whose past sessions can be read, as sessions are named by them."""


CHANGES_FILES = frozenset(
    ("Edit", "Write", "MultiEdit", "NotebookEdit", "TodoWrite", "apply_patch", "write_file", "replace", "edit", "write")
)
"""Tools whose result says what the agent has just said itself: it is logged, and no buffer is made of it."""


class PastSession(NamedTuple):
    """Whose transcript it is.

    Attributes:
        harness: one of FORMATS.
        id: the harness' own id of the session.
        client: the harness and its version, as it introduces itself; without a version where none is known.
        cwd: working directory at the start, empty where it is unknown.
        started: seconds since the epoch.
        agent: id of the helper whose calls these are, within the session; empty for the agent itself.
    """

    harness: str
    id: str
    client: str
    cwd: str
    started: float
    agent: str = ""


class Beside(NamedTuple):
    """A file that a transcript names, which lies below the harness' own folder.

    Attributes:
        root: the folder; it may be one behind a symbolic link, since a person or a harness chose it.
        names: folders and file below it; none of them is followed where it is a symbolic link.
    """

    root: str
    names: tuple[str, ...]


class Part(NamedTuple):
    """One stream of what a tool gave.

    Attributes:
        stream: ``out``, ``err`` or ``part.N``.
        content: its bytes, or the file that has them.
        mime: what the bytes of a ``part.N`` are.
    """

    stream: str
    content: bytes | Beside
    mime: str = "text/plain"


class PastCall(NamedTuple):
    """One call of a tool, and what came of it.

    Attributes:
        session: who called.
        id: what the transcript calls it, or its place there: unique within the session's transcripts.
        use: the model's id of the tool's use, as a server or hook is told it; empty where there is none.
        line: the line of the transcript that has the result, from 1; 0 where there are no lines.
        asked: when it was called, seconds since the epoch.
        answered: when its result came.
        tool: the tool's name, as the harness has it.
        arguments: its arguments.
        kind: ``cmd``, ``file`` or ``tool``, as of buffers.
        command: the command line, or the file's path; empty for any other tool.
        cwd: where it ran.
        shown: what the model was shown, exactly: a text for each block.
        parts: what the tool gave; empty where it gave nothing.
        exit_code: None where it is unknown, or there is none.
        partial: why the parts are not the whole; empty where they are.
        note: what else a reader must know.
        failed: whether the harness marked it as an error.
        unknown: what is not known of what was shown, and why; empty where it is all known.
        inner: calls that a program of the model's made meanwhile, of whose results it was shown what the program chose.
        gaps: where something of the parts is missing, as far as that is told.
    """

    session: PastSession
    id: str
    use: str
    line: int
    asked: float
    answered: float
    tool: str
    arguments: Any
    kind: str
    command: str
    cwd: str
    shown: tuple[str, ...]
    parts: tuple[Part, ...]
    exit_code: int | None = None
    partial: str = ""
    note: str = ""
    failed: bool = False
    unknown: str = ""
    inner: tuple["PastCall", ...] = ()
    gaps: tuple[Gap, ...] = ()


class Trouble(NamedTuple):
    """A record that could not be read.

    Attributes:
        line: where it stands, from 1; 0 where there are no lines.
        text: what is wrong with it.
        unknown: whether it is of a sort that is not known, rather than damaged.
    """

    line: int
    text: str
    unknown: bool = False


Event = PastCall | Trouble
