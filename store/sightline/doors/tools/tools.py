"""The tools as clients and models read them: names, descriptions, schemas, hints, and how the server introduces itself.

Each byte of these texts stands in the context of every agent that uses the server.
"""

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Sequence
from sightline.verbs.arguments import arguments_of
from sightline.verbs.arguments import schema_of as properties_of
from sightline.verbs.next_call import TOOLS
from sightline.verbs.requests import FileRequest, ListRequest, QueryRequest, ReadRequest, RunRequest

PATIENCE_SECONDS = 50.0
"""After so long a call for a command is answered with ``running``; clients wait no longer than 60 s."""


class Options(NamedTuple):
    """How the server is to behave.

    Attributes:
        tools: the tools that are offered, some of TOOLS.
        profile: name of the profile; empty for that of the settings.
        session: name of the session for all that is asked; empty to go by client and harness.
        root: folder that read_file and cwd stay under, resolved; empty for anywhere.
        patience_secs: seconds after which a call is answered while its command runs on.
        store: address of the shared place to read instead of this machine's store; empty for the store.
        offline: whether to read only what was read of it before.
    """

    tools: tuple[str, ...] = TOOLS
    profile: str = ""
    session: str = ""
    root: str = ""
    patience_secs: float = PATIENCE_SECONDS
    store: str = ""
    offline: bool = False


_LARGEST_REPLY_CHARACTERS = 65_536  # clients that read this leave replies of that size whole


def _tool(
    name: str,
    title: str,
    description: str,
    request: Any,
    *needed: str,
    writes: bool = False,
    **meta: Any,
) -> dict[str, Any]:
    required = [*needed, *(one.name for one in arguments_of(request) if one.is_required)]
    schema: dict[str, Any] = {"type": "object", "properties": properties_of(request), "additionalProperties": False}
    if required:
        schema["required"] = required
    tool: dict[str, Any] = {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": schema,
        "annotations": {
            "readOnlyHint": not writes,
            "destructiveHint": writes,
            "idempotentHint": not writes,
            "openWorldHint": writes,
        },
    }
    if meta:
        tool["_meta"] = {f"anthropic/{key}": value for key, value in meta.items()}
    return tool


_DEFINED = {
    tool["name"]: tool
    for tool in (
        _tool(
            "run_command",
            "Run a command",
            "Run a bash command and keep all it prints. Short output comes back whole; of long output you get a view, "
            "failures first, and a ref such as @cmd_a1b2c3: ask the ref (read_output, query) instead of running again. "
            "No need for head, tail or grep: nothing is lost. A ref in the command becomes the path of a file with "
            'that output. What takes long is answered with status "running" and goes on: follow it with '
            "read_output(ref, wait), end it with kill @cmd_a1b2c3. Destructive commands ask back (pending_ack). "
            "Outputs are kept until the store is full; an expired ref says how to get it again.",
            RunRequest,
            "command",
            writes=True,
            alwaysLoad=True,
            maxResultSizeChars=_LARGEST_REPLY_CHARACTERS,
        ),
        _tool(
            "read_file",
            "Read a file",
            "Read a text file. What you read is kept as it was, under a @file_ ref that stays the same while the file "
            "does. A large file comes as a view; read on by lines.",
            FileRequest,
            maxResultSizeChars=_LARGEST_REPLY_CHARACTERS,
        ),
        _tool(
            "read_output",
            "Read a captured output",
            "Read an output by its ref. The ref alone gives the view again, failures first; or ask in one way: lines, "
            "bytes (offset, limit), search, JSON path, or wait for a running command: its end, a line (until), or new "
            "lines and 2 s of quiet. .err after a ref is its stderr, .all both streams in order; @last is your newest "
            "command.",
            ReadRequest,
            alwaysLoad=True,
            maxResultSizeChars=_LARGEST_REPLY_CHARACTERS,
        ),
        _tool(
            "query",
            "Query captured outputs",
            "Filter and count captured outputs, read-only: grep FAILED @cmd_a1b2c3 | sort | uniq -c. Programs: grep rg "
            "sed awk head tail cut wc sort uniq tr comm diff cmp join paste nl tac rev fold fmt column jq cat strings "
            "xxd od. Refs are the only files, | the only operator: no redirection, variables or substitution. At most "
            "100 lines come back; next has the following page.",
            QueryRequest,
        ),
        _tool(
            "list_outputs",
            "List captured outputs",
            "List captured outputs, most recently used first: ref, exit, failures, how much you have not seen, lines, "
            "size, age, command. mine=true lists what you asked before and were told: for after a compaction.",
            ListRequest,
        ),
    )
}


def definitions(names: Sequence[str] = TOOLS) -> list[dict[str, Any]]:
    """The definitions of some tools as ``tools/list`` gives them, in order; callers must not change them."""
    return [_DEFINED[name] for name in TOOLS if name in names]


def schema_of(name: str) -> dict[str, Any]:
    """The JSON schema of a tool's arguments. Raises KeyError."""
    schema: dict[str, Any] = _DEFINED[name]["inputSchema"]
    return schema


_WHOLE = "Sightline keeps every output whole and shows you a small, honest view"
_REF = "with a ref such as @cmd_a1b2c3"
_USES = {
    "read_output": "page or search it with read_output",
    "query": "filter it with query",
    "run_command": "use it as a file in run_command",
}
_RUN = "So run a command once, without head, tail or grep, and ask its ref afterwards."
_FIELDS = (
    "Each reply begins with a line of JSON fields: truncated with …_shown and …_total says what is missing, next is a "
    "ready-made call that gets it."
)
_RUNNING = "status running: it goes on; read_output(ref, wait=20) follows it."


def instructions(tools: Sequence[str]) -> str:
    """At most 120 words."""
    uses = [use for tool, use in _USES.items() if tool in tools]
    told = f"{', '.join(uses[:-1])}{' or ' if len(uses) > 1 else ''}{uses[-1]}" if uses else ""
    sentences = [f"{_WHOLE} {_REF}: {told}." if told else f"{_WHOLE}."]
    if "run_command" in tools:
        sentences.append(_RUN)
    sentences.append(_FIELDS)
    if "run_command" in tools and "read_output" in tools:
        sentences.append(_RUNNING)
    return " ".join(sentences)
