"""How the server introduces itself to a model, in few words; they name only tools that are offered.

What matters most comes first: Codex shows some models the first 250 characters only, instead of the tools.
"""

from collections.abc import Sequence

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
