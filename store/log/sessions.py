"""Who is asking: one session for each run of an agent, told by what its harness leaves in the environment."""

import os
import re
import time
from collections.abc import Mapping
from typing import Any

from sightline.config import working_directory
from sightline.records import Session, known_fields, storable
from sightline.sha256 import sha256_hex

SHELL = "shell"
"""The harness of whoever is not known to be an agent: one session for each parent process."""

INSPECTOR, TERMINAL = "inspector", "terminal"
"""The clients of people who look at what there is: in the inspector, or by commands whose answers go to a terminal."""

_NAME_LENGTH = 60
_SHORT_ID = 6  # characters
_LONG_ID = 20  # from which on nobody can read it: a UUID has 36


# Variables observed in the environment of each harness' tools and servers. They stand here, and not with the harnesses,
# since each command looks for them, and none has the time to load all harnesses.
_HARNESSES = {
    "claude-code": ("CLAUDE_CODE_SESSION_ID",),
    "codex": ("CODEX_SESSION_ID", "CODEX_THREAD_ID"),
    "gemini": ("GEMINI_SESSION_ID",),
}


def current_session(environment: Mapping[str, str] = os.environ, *, name: str = "", client: str = "") -> Session:
    """The session of the process that calls.

    Args:
        environment: where the harness' variables are looked for.
        name: a session's name that was given; ``SIGHTLINE_SESSION`` by default.
        client: name and version of the client, where it gave them.
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
    """Under which a buffer is found again by the use of a tool that made it; empty for a use without an id.

    Args:
        session: name of the session.
        use: the harness' id of the use.
        unfiltered: whether the buffer has what went into the command's filters, and not what came of it.
    """
    return f"{session}:{use}{':unfiltered' * unfiltered}" if use else ""


def is_person(session: Session) -> bool:
    """Whether a person asks, as far as one can tell: refs may be prefixes then, and ``@last`` is the store's."""
    return session.harness == SHELL


def is_onlooker(session: Session) -> bool:
    """Whether a person looks at what there is, as far as one can tell, and no agent reads along."""
    return session.harness == SHELL and session.client in (INSPECTOR, TERMINAL)


def at_terminal(session: Session) -> Session:
    """The session of the person at a terminal, apart from that of what else runs in the same shell."""
    if session.harness != SHELL or not session.name.startswith(f"{SHELL}-"):
        return session
    return session._replace(name=TERMINAL + session.name.removeprefix(SHELL), client=TERMINAL)


def safe_name(text: str) -> str:
    """A name that can be a file's, of letters, digits, ``.``, ``_`` and ``-``; a hash tells what had to change."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", text).lstrip(".-")[:_NAME_LENGTH]
    if safe == text and safe:
        return safe
    return f"{safe[: _NAME_LENGTH - 9] or 'session'}-{sha256_hex(text.encode(errors='surrogatepass'))[:8]}"


def session_title(session: Session) -> str:
    """What a session is called: by a person, by what it was first asked, else by folder and harness, never an id alone.

    What a harness calls a session is a long number, of which the beginning tells it from others.
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
    """The first line of a session's log."""
    return {"kind": "session", "session": session._asdict()}


def session_from(header: dict[str, Any]) -> Session:
    """The session that a log's first line tells of."""
    return Session(**known_fields(Session, header["session"]))


def _harness(environment: Mapping[str, str]) -> tuple[str, str]:
    for harness, variables in _HARNESSES.items():
        for variable in variables:
            if value := environment.get(variable):
                return harness, value
    return SHELL, ""


def _parent() -> str:
    """The parent process, told from a later one with the same number by when it started."""
    pid = os.getppid()
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            started = file.read().rpartition(b")")[2].split()[19].decode()
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            started += file.read().decode()
    except (OSError, IndexError):
        import subprocess  # 5 ms that Linux does without

        answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, check=False)
        started = answer.stdout.decode(errors="replace")
    return f"{pid}-{sha256_hex(started.encode())[:6]}"
