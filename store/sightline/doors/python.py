"""The door for Python: the verbs as functions, for people who build agents; `from sightline import query` leads here.

Each call is logged with the exact text of its reply before it returns, as every view is. ``str(reply)`` is that text,
to be given to the model as it stands. A refusal is a reply, too, with ``error`` among its fields, so that the
model can read why.

Example:
    >>> reply = run_command("seq 1 3; exit 4")
    >>> reply.fields["exit_code"]
    4
    >>> str(run_command("seq 1 3"))
    '1\\n2\\n3\\n'
    >>> ref = run_command("seq 1 5000").ref
    >>> print(read_output(ref, lines="4000-4001").text, end="")
    4000
    4001
    >>> query(f"grep -c 7 {ref}").text
    '1355\\n'

The functions are made from the arguments that the verbs declare, by ``python docs/generate.py``.
"""

import os
import threading
from collections.abc import Callable, Sequence

from sightline.base.errors import SightlineError
from sightline.base.profile import load_profile
from sightline.base.project import working_directory
from sightline.base.records import Session, storable
from sightline.light.typing_names import Any
from sightline.log.sessions import SHELL, current_session, safe_name
from sightline.settings.config import default_root
from sightline.store import Store
from sightline.verbs import list_outputs as list_outputs_verb
from sightline.verbs import query as query_verb
from sightline.verbs import read_file as read_file_verb
from sightline.verbs import read_output as read_output_verb
from sightline.verbs import requests
from sightline.verbs import run_command as run_command_verb
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.reply import Reply, error_reply

HARNESS = "python"
"""The name for the harness of a session that no known harness has begun."""


VERBS: dict[str, tuple[Any, Callable[..., Reply]]] = {
    "run_command": (requests.RunRequest, run_command_verb.run_command),
    "read_file": (requests.FileRequest, read_file_verb.read_file),
    "read_output": (requests.ReadRequest, read_output_verb.read_output),
    "query": (requests.QueryRequest, query_verb.query),
    "list_outputs": (requests.ListRequest, list_outputs_verb.list_outputs),
}
"""The class of the request, and what answers it, for each function."""


# made: functions


def run_command(
    command: str | Sequence[str],
    *,
    cwd: str | os.PathLike[str] = "",
    timeout_secs: float | None = None,
    verbosity: str = "auto",
    background: bool = False,
    compare: str = "",
    label: str = "",
    acknowledge_risk: bool = False,
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """Run a command and reply with a view of its output.

    Args:
        command: run a command line by bash, or by sh where there is no bash.
        cwd: run it in this folder.
        timeout_secs: end it, and what it has started, after this time; 0 is never.
        verbosity: show less or more of the output: silent, concise, normal, verbose or full; auto shows little of a
            success and more of a failure.
        background: print the ref at once and let the command go on, as for a server.
        compare: print what changed since the run before (last) of this command, or since another one.
        label: name the buffer, so that `list --match` finds it.
        acknowledge_risk: run a command that destroys things without asking back.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.
    """
    return _answered("run_command", locals())


def read_file(
    path: str | os.PathLike[str],
    *,
    start_line: int = 0,
    end_line: int = 0,
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """Show a file; for the ref of an output, do what read_output does.

    Args:
        path: the file to read.
        start_line: show lines from this one on.
        end_line: show lines up to this one.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.
    """
    return _answered("read_file", locals())


def read_output(
    ref: str,
    *,
    lines: str = "",
    offset: int | None = None,
    limit: int | None = None,
    search: str = "",
    context: int = 0,
    ignore_case: bool | None = None,
    stream: str = "",
    wait: float | None = None,
    until: str = "",
    verbosity: str = "",
    path: str = "",
    schema: bool = False,
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """Show a buffer, as a view or in the part that is asked for.

    Args:
        ref: the output: @last or @cmd_a1b2c3; @cmd_a1b2c3.err is its standard error, @cmd_a1b2c3:10-40 some of its
            lines.
        lines: show lines A to B, counted from 1.
        offset: show a page of bytes that begins at byte N, for output whose lines are very long.
        limit: show at most N bytes in that page (default 40,960).
        search: show the lines that match this regular expression; what is not a valid one is looked for as text.
        context: also show N lines before and after each match.
        ignore_case: search without regard to capital and small letters, as most profiles do anyway.
        stream: show this stream: out, err, or all, which is both in the order they came.
        wait: wait up to this long for a running command to end, or to write lines and be quiet for 2 s.
        until: wait until a line matches, however quiet the command is.
        verbosity: show less or more in the view: silent, concise, normal, verbose, full or auto.
        path: show the value at this path of a JSON result, such as '$.items[0].name'.
        schema: show the structure of a JSON result: types instead of values, one item instead of all.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.
    """
    return _answered("read_output", locals())


def query(
    pipeline: str,
    *,
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """Ask a question of captured outputs.

    Args:
        pipeline: the programs and the refs they read, in quotes as one argument.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.
    """
    return _answered("query", locals())


def list_outputs(
    match: str = "",
    *,
    captured_by: str = "",
    limit: int = 20,
    project: str | os.PathLike[str] = "",
    mine: bool = False,
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """List buffers, or the calls of a session, a line each.

    Args:
        match: only outputs that match these words and filters.
        captured_by: list only outputs that this session captured.
        limit: list at most N (default 20).
        project: list only outputs of the project that this folder belongs to.
        mine: list instead the questions that this session has asked, and their answers.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.
    """
    return _answered("list_outputs", locals())


# end


def _answered(verb: str, given: dict[str, Any]) -> Reply:
    """Call a verb with the arguments of its function, and deliver its reply."""
    store, session = given.pop("store") or _opened.store(), given.pop("session")
    request_class, answer = VERBS[verb]
    request = request_class(**_fields(given))
    store.obey_settings()
    asking = Asker(store, _opened.session(session), _call, load_profile(store.settings.profile))
    try:
        reply = answer(asking, request)
    except SightlineError as error:
        reply = error_reply(error, verb, request.logged())
    sent: list[str] = []
    deliver(asking, reply, render_text, sent.append)
    return reply._replace(sent=sent[0])


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as the verb takes them: a path as text, a program with its arguments as ``argv``."""
    fields = {
        "session" if name == "captured_by" else name: os.fspath(value) if isinstance(value, os.PathLike) else value
        for name, value in given.items()
    }
    if not isinstance(fields.get("command", ""), str):
        fields["argv"] = tuple(fields.pop("command"))
    return fields


def _call(verb: str, **arguments: Any) -> str:
    """Write a next call as Python; agents know the functions by these names."""
    return f"{verb}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


class _Opened:
    """What all calls of a process share: its stores by folder, and its sessions by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stores: dict[str, Store] = {}
        self._sessions: dict[str, Session] = {}
        self._own = os.urandom(4).hex()

    def store(self) -> Store:
        """Return the store that the environment names."""
        with self._lock:
            root = default_root()
            if root not in self._stores:
                self._stores[root] = Store(root)
            return self._stores[root]

    def session(self, name: str) -> Session:
        """Return a session by name; without one, that of `SIGHTLINE_SESSION` or a harness, else the process' own."""
        name = name or os.environ.get("SIGHTLINE_SESSION", "")
        with self._lock:
            if name not in self._sessions:
                self._sessions[name] = self._begun(name)
            return self._sessions[name]._replace(cwd=storable(working_directory()))

    def _begun(self, name: str) -> Session:
        session = current_session(name=name)
        if session.harness != SHELL:
            return session
        return session._replace(name=safe_name(name or f"{HARNESS}-{self._own}"), harness=HARNESS)


_opened = _Opened()
