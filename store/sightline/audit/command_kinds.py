"""Names the kind of command or tool that wrote an output: ``git log``, ``pytest``, ``Read``."""

from sightline.base.records import View
from sightline.light.json_text import loads
from sightline.light.library import lru_cache
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.pipelines import plain_words
from sightline.shell_words.programs import programs_of

_KEPT_KINDS = 4096
_PARTED_WORDS = """apt aws brew bun bundle cargo dnf docker dotnet gcloud gh git go helm kubectl make npm npx pip pip3
pnpm podman poetry rails swift terraform uv yarn"""
_PARTED = frozenset(_PARTED_WORDS.split())
"""Programs whose next word is the kind of work."""

_MODULES = frozenset(("python", "python3", "py"))


def kind_of(view: View) -> str:
    """Return the kind of what a view was asked for: a program, with its subcommand, or a tool, such as ``Read``."""
    request = loads(view.request)
    command, tool = request.get("command"), request.get("tool")
    if isinstance(command, str) and command.strip():
        return kind_of_command(command)
    return tool if isinstance(tool, str) and tool else view.verb


@lru_cache(maxsize=_KEPT_KINDS)
def kind_of_command(command: str) -> str:
    """Return the kind of a command line: the last program that writes its output, such as ``git log`` or ``pytest``."""
    try:
        programs = programs_of(command)
    except Unclear:
        programs = ()
    words = programs[-1].words if programs else plain_words(command) or tuple(command.split()[:1])
    name = words[0].rpartition("/")[2] if words else "command"
    if name in _MODULES and "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    if name in _PARTED and programs and (plain := programs[-1].plain):
        return f"{name} {plain[0]}"
    return name or "command"
