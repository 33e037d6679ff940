"""What a person sets when starting the MCP server."""

from typing import NamedTuple

TOOLS = ("run_command", "read_file", "read_output", "query", "list_outputs")
"""The tools that can be offered, in the order that they are listed."""

PATIENCE_SECONDS = 50.0
"""After so long a command is answered as running: clients give up on an answer after 60 s."""


class Options(NamedTuple):
    """How the server is to behave.

    Attributes:
        tools: the tools that are offered, some of TOOLS.
        profile: name of the profile; empty for that of the settings.
        session: name of the session for all that is asked; empty to go by client and harness.
        root: folder that read_file and cwd stay under, resolved; empty for anywhere.
        patience_secs: seconds after which a command that goes on is answered as running.
    """

    tools: tuple[str, ...] = TOOLS
    profile: str = ""
    session: str = ""
    root: str = ""
    patience_secs: float = PATIENCE_SECONDS
