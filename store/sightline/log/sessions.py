"""Finds out who asks: one session for each run of an agent, known by what its harness leaves in the environment."""

import os
import time

from sightline.base.project import working_directory
from sightline.base.records import Session, known_fields, storable
from sightline.base.sha256 import sha256_hex
from sightline.light.late_pattern import re
from sightline.light.typing_names import Any, Mapping

SHELL = "shell"
"""The harness of a caller that is not known to be an agent; each parent process gets a session."""

INSPECTOR, TERMINAL = "inspector", "terminal"
"""Clients of people who look at the store: the inspector, and commands whose answers go to a terminal."""

_NAME_LENGTH = 60
_SHORT_ID = 6  # characters of a short id
_LONG_ID = 20  # characters from which on nobody can read an id; a UUID has 36


# Variables seen in the environment of each harness' tools and servers. They stand here, and not with the harnesses,
# because every command looks for them, and loading all harnesses would take too long.
_HARNESSES = {
    "claude-code": ("CLAUDE_CODE_SESSION_ID",),
    "codex": ("CODEX_SESSION_ID", "CODEX_THREAD_ID"),
    "gemini": ("GEMINI_SESSION_ID",),
}


def current_session(environment: Mapping[str, str] = os.environ, *, name: str = "", client: str = "") -> Session:
    """Return the session of this process.

    Args:
        environment: the environment, with the harness' variables.
        name: a given name of the session; ``SIGHTLINE_SESSION`` by default.
        client: name and version of the client, if it gave them.
    """
    harness, harness_id = _harness(environment)
    name = name or environment.get("SIGHTLINE_SESSION", "")
    if not name:
        name = f"{harness}-{harness_id}" if harness_id else f"{SHELL}-{_parent()}"
    return Session(
        name=safe_name(name),
        harness=harness,
        harness_id=harness_id,
        client=client,
        cwd=storable(working_directory()),
        started=time.time(),
    )


def use_key(session: str, use: str, *, unfiltered: bool = False) -> str:
    """Return the key by which a tool use finds its buffer again; empty for a use without an id.

    Args:
        session: name of the session.
        use: the harness' id of the use.
        unfiltered: whether the buffer has the input of the command's filters instead of their output.
    """
    return f"{session}:{use}{':unfiltered' * unfiltered}" if use else ""


def is_person(session: Session) -> bool:
    """Return whether a person seems to ask; then refs may be prefixes, and ``@last`` is the store's."""
    return session.harness == SHELL


def is_onlooker(session: Session) -> bool:
    """Return whether a person seems to look at the store, without an agent that reads along."""
    return session.harness == SHELL and session.client in (INSPECTOR, TERMINAL)


def agent_of(session: Session) -> str:
    """Return what to call the agent of a session: its harness; of a mere shell the name that its session was given."""
    is_named = session.harness == SHELL and not session.name.startswith((f"{SHELL}-", TERMINAL))
    return session.name if is_named else session.harness


def at_terminal(session: Session) -> Session:
    """Return the session of the person at a terminal, distinct from other programs in the same shell."""
    if session.harness != SHELL or not session.name.startswith(f"{SHELL}-"):
        return session
    return session._replace(name=TERMINAL + session.name.removeprefix(SHELL), client=TERMINAL)


def safe_name(text: str) -> str:
    """Make a name fit for a file, of letters, digits, ``.``, ``_`` and ``-``; a hash stands for what had to change."""
    letters = text.replace("-", "").replace(".", "").replace("_", "")
    if letters.isascii() and letters.isalnum() and text[0] not in ".-" and len(text) <= _NAME_LENGTH:
        return text
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", text).lstrip(".-")[:_NAME_LENGTH]
    if safe == text and safe:
        return safe
    return f"{safe[: _NAME_LENGTH - 9] or 'session'}-{sha256_hex(text.encode(errors='surrogatepass'))[:8]}"


def session_title(session: Session) -> str:
    """Return a session's title: a person's, else its first prompt, else folder and harness, but never an id alone.

    A harness' name for a session is a long number, whose beginning is added to tell sessions apart.
    """
    if session.title:
        return session.title
    number = session.harness_id
    if not number or len(number) < _LONG_ID or session.harness in ("", SHELL):
        return session.name
    helper = "" if session.name.endswith(number) else f"/{session.name[-_SHORT_ID:]}"
    folder = os.path.basename(session.cwd.rstrip("/"))
    return " ".join(filter(None, (folder, session.harness, number[:_SHORT_ID] + helper)))


def header_of(session: Session) -> dict[str, Any]:
    """Return the first line of a session's log."""
    return {"kind": "session", "session": session._asdict()}


def session_from(header: dict[str, Any]) -> Session:
    """Return the session in a log's first line."""
    return Session(**known_fields(Session, header["session"]))


def _harness(environment: Mapping[str, str]) -> tuple[str, str]:
    for harness, variables in _HARNESSES.items():
        for variable in variables:
            if value := environment.get(variable):
                return harness, value
    return SHELL, ""


def _parent() -> str:
    """Identify the parent process, by when it started, too, because numbers are used again."""
    pid = os.getppid()
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            started = file.read().rpartition(b")")[2].split()[19].decode()
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            started += file.read().decode()
    except (OSError, IndexError):
        import subprocess  # 5 ms, which Linux does not need

        answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, check=False)
        started = answer.stdout.decode(errors="replace")
    return f"{pid}-{sha256_hex(started.encode())[:6]}"
