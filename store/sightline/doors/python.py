"""The door for Python: the verbs as functions, for people who build agents; `from sightline import query` leads here.

Each call is logged with the exact text of its reply before it returns, as every view is. ``str(reply)`` is that text,
to be given to the model as it stands. A refusal is a reply, too, with ``error`` among its fields, so that the
model can read why.
"""

import os
import threading
from collections.abc import Callable, Sequence

from sightline.base.errors import SightlineError
from sightline.base.profile import load_profile
from sightline.base.records import Session, storable
from sightline.light.typing_names import Any
from sightline.log.sessions import SHELL, current_session, safe_name
from sightline.settings.config import default_root, working_directory
from sightline.store import Store
from sightline.verbs import list_outputs as list_outputs_verb
from sightline.verbs import query as query_verb
from sightline.verbs import read_file as read_file_verb
from sightline.verbs import read_output as read_output_verb
from sightline.verbs import run_command as run_command_verb
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.list_outputs import LIMIT
from sightline.verbs.reply import Reply, error_reply

HARNESS = "python"
"""The name for the harness of a session that no known harness has begun."""


def run_command(
    command: str | Sequence[str],
    *,
    cwd: str | os.PathLike[str] = "",
    timeout_secs: float | None = None,
    verbosity: str = "auto",
    background: bool = False,
    acknowledge_risk: bool = False,
    label: str = "",
    compare: str = "",
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """Run a command, capture it whole, and reply with a view of it.

    Args:
        command: a line for the shell, or a program with its arguments, which no shell reads.
        cwd: folder in which it runs; the current one by default.
        timeout_secs: seconds after which it is ended with all that it started; 0 for never, None for the profile's.
        verbosity: ``auto`` or a mode, such as ``concise``.
        background: whether to reply at once and let the command go on.
        acknowledge_risk: whether a destructive command is run without asking back.
        label: a name for the output.
        compare: ``last``, or a ref: the reply says what changed since the last run of the command, or that output.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.

    Example:
        >>> reply = run_command("seq 1 3; exit 4")
        >>> reply.fields["exit_code"]
        4
        >>> str(run_command("seq 1 3"))
        '1\\n2\\n3\\n'
    """
    request = run_command_verb.RunRequest(
        command=command if isinstance(command, str) else "",
        argv=() if isinstance(command, str) else tuple(command),
        cwd=os.fspath(cwd),
        timeout_secs=timeout_secs,
        verbosity=verbosity,
        background=background,
        acknowledge_risk=acknowledge_risk,
        label=label,
        compare=compare,
    )
    return _answered(
        store,
        session,
        run_command_verb.VERB,
        request.logged(),
        lambda asking: run_command_verb.run_command(asking, request),
    )


def read_file(
    path: str | os.PathLike[str],
    *,
    start_line: int = 0,
    end_line: int = 0,
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """Show a file, whole, in part or as a view; what was shown stays readable when the file changes.

    Args:
        path: the file to read.
        start_line: first line wanted, from 1; 0 for the whole file.
        end_line: last line, inclusive; 0 for the end of the file, or of the profile's window.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.
    """
    request = read_file_verb.FileRequest(os.fspath(path), start_line, end_line)
    return _answered(
        store, session, read_file_verb.VERB, request.logged(), lambda asking: read_file_verb.read_file(asking, request)
    )


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
    path: str = "",
    schema: bool = False,
    verbosity: str = "",
    until: str = "",
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """Show a captured output: its view, a part by lines, bytes, search or JSON path, or the new lines of a running one.

    Args:
        ref: the output, such as ``@cmd_a1b2c3`` or ``@last``.
        lines: ``"42-80"``, ``"42"`` or ``"42-"``.
        offset: byte at which the page begins.
        limit: bytes of the page; None for the profile's number.
        search: a regular expression, or plain text if it is not a valid one.
        context: lines shown around each match.
        ignore_case: whether letters match in either case; None for the profile's choice.
        stream: ``out``, ``err`` or ``all``, instead of the ref's.
        wait: seconds to wait for a running output: for its end, or for new lines and 2 s of quiet after them.
        path: a JSON path such as ``$.items[0].name``.
        schema: whether the skeleton of a JSON text is wanted.
        verbosity: ``auto`` or a mode, for the view; empty for the profile's choice.
        until: a regular expression; the wait then ends when a line matches it.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.

    Example:
        >>> ref = run_command("seq 1 5000").ref
        >>> print(read_output(ref, lines="4000-4001").text, end="")
        4000
        4001
    """
    request = read_output_verb.ReadRequest(
        ref, lines, offset, limit, search, context, ignore_case, stream, wait, path, schema, verbosity, until
    )
    return _answered(
        store,
        session,
        read_output_verb.VERB,
        request.logged(),
        lambda asking: read_output_verb.read_output(asking, request),
    )


def query(pipeline: str, *, store: Store | None = None, session: str = "") -> Reply:
    """Ask a question of captured outputs with ordinary Unix filters, which can only read.

    Args:
        pipeline: such as ``grep FAILED @last | sort | uniq -c``.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.

    Example:
        >>> ref = run_command("seq 1 5000").ref
        >>> query(f"grep -c 7 {ref}").text
        '1355\\n'
    """
    request = query_verb.QueryRequest(pipeline)
    return _answered(
        store, session, query_verb.VERB, request.logged(), lambda asking: query_verb.query(asking, request)
    )


def list_outputs(
    match: str = "",
    *,
    captured_by: str = "",
    limit: int = LIMIT,
    mine: bool = False,
    store: Store | None = None,
    session: str = "",
) -> Reply:
    """List outputs, a line each, the most recently used first; with ``match``, those that match best.

    Args:
        match: words that command, ref or label must resemble.
        captured_by: name of the session that captured them; all by default.
        limit: how many at most.
        mine: whether to list the calls of the session that asks, and its answers, newest first.
        store: the store; that of `SIGHTLINE_HOME` by default.
        session: name of the session that asks; one for each process by default.

    Raises:
        SightlineError: the store cannot be opened, or its settings are wrong.
    """
    request = list_outputs_verb.ListRequest(match, captured_by, limit, mine=mine)
    return _answered(
        store,
        session,
        list_outputs_verb.VERB,
        request.logged(),
        lambda asking: list_outputs_verb.list_outputs(asking, request),
    )


def _answered(
    store: Store | None, session: str, verb: str, request: dict[str, Any], ask: Callable[[Asker], Reply]
) -> Reply:
    """Call a verb, and deliver its reply."""
    store = store or _opened.store()
    store.obey_settings()
    asking = Asker(store, _opened.session(session), _call, load_profile(store.settings.profile))
    try:
        reply = ask(asking)
    except SightlineError as error:
        reply = error_reply(error, verb, request)
    sent: list[str] = []
    deliver(asking, reply, render_text, sent.append)
    return reply._replace(sent=sent[0])


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
