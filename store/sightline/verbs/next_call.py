"""Writes a next call as the one who reads the reply would make it: as a command line, or as a call of a tool."""

from sightline.light.json_text import dumps
from sightline.light.typing_names import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sightline.verbs.asker import Calls


TOOLS = ("run_command", "read_file", "read_output", "query", "list_outputs")
"""The tools that can be offered, in the order in which they are listed."""


def cli_call(verb: str, **arguments: Any) -> str:
    """Write a call of a verb as a command line; without a verb, only options to add to the call that was made."""
    match verb:
        case "read_output" | "":
            words = ["sightline show", arguments.pop("ref")] if verb else []
            words += [_option(name, value) for name, value in arguments.items()]
            return " ".join(words)
        case "query":
            return f"sightline query {_quote(arguments['pipeline'])}"
        case "run_command":
            return f"sightline run -c {_quote(arguments['command'])}"
    return " ".join(["sightline", verb, *map(str, arguments.values())])


def shared_call(address: str, verb: str, **arguments: Any) -> str:
    """Write a call as a command line with ``--store``, if the call before had that option."""
    if not verb:
        return cli_call(verb, **arguments)
    sightline, name, *rest = cli_call(verb, **arguments).split(" ", 2)
    return " ".join([sightline, name, f"--store {_quote(address)}", *rest])


def _option(name: str, value: Any) -> str:
    if name == "ignore_case":
        return "--ignore-case" if value else "--case"
    return f"--{name} {_word(str(value))}"


def _word(text: str) -> str:
    return text if all(char.isalnum() or char in "-_.,:/" for char in text) and text else _quote(text)


def _quote(text: str) -> str:
    """Quote text as a word of the shell, in double quotes if it has single ones and nothing that these would change."""
    if "'" not in text:
        return f"'{text}'"
    if not set(text) & set('"$`\\!'):
        return f'"{text}"'
    return "'" + text.replace("'", "'\\''") + "'"


def calls_in(tools: tuple[str, ...]) -> "Calls":
    """How a next call is written: as a call of the tool, or as a command line if the tool is not offered.

    Texts stand in single quotes, because the fields are JSON, where double ones would get a backslash.
    """

    def calls(verb: str, **arguments: Any) -> str:
        if verb and verb not in tools:
            return cli_call(verb, **arguments)
        given = ", ".join(f"{name}={_literal(value)}" for name, value in arguments.items())
        return f"{verb}({given})" if verb else given

    return calls


def _literal(value: Any) -> str:
    if isinstance(value, str) and "'" not in value and "\\" not in value and value.isprintable():
        return f"'{value}'"
    return dumps(value, ensure_ascii=False)
