"""Reads the programs that Codex' models write to call several tools at once: what they ran, and what they showed of it.

A program is JavaScript, the input of the tool ``exec``: ``const r = await tools.exec_command({cmd: "make"});
text(r.output)``. Its result is a head (``Script completed``) and a block for each ``text(…)``. Desktop versions 0.144.2
and 0.144.5 were seen to write no other record of what it ran. A program is read as a text, not run: commands that it
computes stay as they are written, and a result counts as that of a command only where each has a block of its own.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sightline.harnesses.tool_call import dict_of, text_of
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

RUNS = ("exec_command", "write_stdin")
"""Tools that run a command, or go on with one."""

PATCHES = "apply_patch"

_STRING = r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'" + r"|`(?:[^`\\]|\\.)*`"
_TOKEN = re.compile(rf"{_STRING}|[{{}}()\[\],:;]|[^\s\"'`{{}}()\[\],:;]+", re.S)
_CALL = re.compile(r"(?:.*[^\w.])?tools\.(\w+)", re.S)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_OPENING, _CLOSING = "{([", "})]"
_DONE = re.compile(r"\AScript (?:completed|failed)\b[^\n]*\nWall time[^\n]*\nOutput:\n")
_STATED = re.compile(
    r"\n?\b(?P<what>exit(?:[ _]?code)?|code|session(?:[ _]?id)?)\s*[=:]\s*(?P<value>[\w-]{1,20})\s*\Z", re.I
)
_TITLE = re.compile(r"\A--[^\n]{0,120}--(?:\n|\Z)")
_PART = re.compile(r"\.output\s*(?:\?\.|\.|\[)(?!length\b|trim\w*\()")
_NUMBER = re.compile(r"-?\d{1,10}")


class ProgramCall(NamedTuple):
    """A call in a program.

    Attributes:
        tool: name of the tool.
        arguments: those that are written as texts and numbers, others as their expressions; a text for a single one.
    """

    tool: str
    arguments: dict[str, str] | str


class ProgramResult(NamedTuple):
    """What a program showed of a command.

    Attributes:
        output: what it showed.
        exit_code: the exit code that it showed; None for none.
        goes_on: the number by which Codex knows a command that has not ended; empty for none.
        has_ended: whether it surely has ended.
        is_part: whether the program chose lines or characters of the output.
    """

    output: str
    exit_code: int | None = None
    goes_on: str = ""
    has_ended: bool = False
    is_part: bool = False


def calls_in(program: str) -> list[ProgramCall]:
    """Return the calls of a program in the order in which they are written."""
    tokens = list(_TOKEN.finditer(program))
    made = list[ProgramCall]()
    for at, (name, opening) in enumerate(pairwise(tokens)):
        called = _CALL.fullmatch(name[0])
        if called and opening[0] == "(" and at + 2 < len(tokens):
            if tokens[at + 2][0] == "{":
                made.append(ProgramCall(called[1], dict(_members(program, tokens, at + 3))))
            else:
                made.append(ProgramCall(called[1], _value(program, tokens, at + 2)[0]))
    return made


def _members(program: str, tokens: Sequence[re.Match[str]], at: int) -> Iterator[tuple[str, str]]:
    """Yield names and values of an object that begins before a token."""
    while at < len(tokens) and tokens[at][0] != "}":
        name = tokens[at][0]
        if at + 1 < len(tokens) and tokens[at + 1][0] == ":":
            value, at = _value(program, tokens, at + 2)
            yield name.strip("\"'`"), value
        else:  # an object with the name of a variable alone
            yield name, _named(program, name)
            at += 1
        at += at < len(tokens) and tokens[at][0] == ","


def _value(program: str, tokens: Sequence[re.Match[str]], at: int) -> tuple[str, int]:
    """Return the value that begins with a token, and the place of the token behind it."""
    end, depth = at, 0
    while end < len(tokens) and (depth or tokens[end][0] not in ",})]"):
        depth += (tokens[end][0] in _OPENING) - (tokens[end][0] in _CLOSING)
        end += 1
    if end == at:
        return "", end
    written = program[tokens[at].start() : tokens[end - 1].end()]
    if end == at + 1:
        return (_text(written) if written[0] in "\"'`" else _named(program, written)), end
    return (written.removeprefix("String.raw")[1:-1] if written.startswith("String.raw`") else written), end


def _named(program: str, name: str) -> str:
    """Return the text that a variable is set to; its name if that is not written as one."""
    found = re.search(rf"\b{re.escape(name)}\s*=\s*(String\.raw)?({_STRING})", program, re.S)
    if not found:
        return name
    return found[2][1:-1] if found[1] else _text(found[2])


def _text(written: str) -> str:
    """Return the text of a JavaScript string."""

    def unescaped(found: re.Match[str]) -> str:
        what = found[1]
        return chr(int(what[1:], 16)) if len(what) > 1 else _ESCAPED.get(what, what)

    return _ESCAPE.sub(unescaped, written[1:-1])


def results_in(program: str, shown: Sequence[str], count: int) -> list[ProgramResult] | None:
    """Return what a program showed of each of its commands.

    Args:
        program: the program.
        shown: the blocks of its result, or of all of its results.
        count: number of its commands.

    Returns:
        A result for each; None if the blocks do not tell which is whose.
    """
    blocks = [rest for block in shown if (rest := _DONE.sub("", block, count=1)) or not _DONE.match(block)]
    told = [_structured(block) for block in blocks]
    if count and len(told) == count and all(told):
        return [one for one in told if one]
    gathered = list[ProgramResult]()
    for block in blocks:
        result = _told(program, block)
        is_note = not result.output.strip() and result.output != block
        if is_note and gathered:
            gathered[-1] = _joined(gathered[-1], result)
        elif not (is_note and _TITLE.match(block)):
            gathered.append(result)
    if count == 1:
        one = ProgramResult("")
        for result in gathered:
            one = _joined(one, result)
        gathered = [one]
    return gathered if len(gathered) == count else None


def _joined(first: ProgramResult, then: ProgramResult) -> ProgramResult:
    return ProgramResult(
        first.output + then.output,
        first.exit_code if then.exit_code is None else then.exit_code,
        first.goes_on or then.goes_on,
        (first.has_ended and not then.goes_on) or then.exit_code is not None,
        first.is_part or then.is_part,
    )


def _structured(block: str) -> ProgramResult | None:
    """Return a result that was shown as the object that it is; None for another block."""
    if not block.startswith("{"):
        return None
    try:
        told = dict_of(loads(block))
    except ValueError:
        return None
    if not isinstance(told.get("output"), str):
        return None
    code, number = told.get("exit_code"), told.get("session_id")
    goes_on = str(number) if isinstance(number, int) and code is None else ""
    return ProgramResult(text_of(told["output"]), _code(code), goes_on, has_ended=code is not None)


def _told(program: str, block: str) -> ProgramResult:
    """Return what a block shows of a command, without titles and codes that the program has put around the output."""
    if result := _structured(block):
        return result
    left = _TITLE.sub("", block, count=1) if "--" in program else block
    code: int | None = None
    goes_on, states = "", ".session_id" in program or ".exit_code" in program
    while states and (found := _STATED.search(left)):
        left = left[: found.start()]
        if found["what"].lower().startswith("session"):
            goes_on = found["value"] if _NUMBER.fullmatch(found["value"]) else ""
        else:
            code = int(found["value"]) if _NUMBER.fullmatch(found["value"]) else None
    has_ended = not goes_on and (code is not None or ".session_id" in program)
    return ProgramResult(left, code, goes_on, has_ended, bool(_PART.search(program)))


def _code(value: Any) -> int | None:
    return value if isinstance(value, int) else None
