"""Reads sed, awk and jq scripts far enough to refuse by name what would write, execute or read elsewhere.

This makes for clear messages. The actual safeguards are the programs' own safe modes and the kernel.
"""

from sightline.base.errors import QueryRefused
from sightline.light.late_pattern import late_pattern, re
from sightline.light.typing_names import Iterator, NoReturn

_SED_FILES = {
    "r": "reads a file",
    "R": "reads a file",
    "w": "writes a file",
    "W": "writes a file",
    "e": "runs a program",
}
_SED_ADDRESS = late_pattern(r"[0-9]+(?:~[0-9]+)?|\$|[+~][0-9]+")
_SED_TEXT = late_pattern(r"(?:[^\\\n]|\\.)*", re.DOTALL)
_SED_LABEL = late_pattern(r"[^;\n]*")
_SED_COMMENT = late_pattern(r"[^\n]*")

_AWK_TOKEN = late_pattern(
    r"(?P<skip>\s+|\\\r?\n|\#[^\n]*)"
    r'|(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")'
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>[0-9.]+)"
    r"|(?P<operator>\|\||&&|\+\+|--|>=|>>|[<=!]=|\|&|[^\s])",
    re.DOTALL,
)
# It counts anywhere, because awk may not take for a string what looks like one here, and no query needs it in one.
_AWK_INCLUDE = late_pattern(r"@(?:\s|\\\r?\n)*(?:include|load)\b")
# The pattern has no two ways to match, so that a script costs only its length.
_AWK_BRACKET = r"\[(?:\^|(?!\^))(?:\]|(?!\]))(?:\[:[a-z]+:\]|\\.|\[(?!:[a-z]+:\])|[^\[\]\\\n])*\]"
_AWK_REGEX = late_pattern(rf"/[^/\\\[\n]*(?:(?:\\.|{_AWK_BRACKET})[^/\\\[\n]*)*/")
_AWK_KEYWORDS = {"print", "printf", "return", "in", "case", "else", "do", "delete", "exit"}

_JQ_TOKEN = late_pattern(
    r"(?P<comment>\#[^\n]*)|(?P<field>\.[A-Za-z_]\w*)|(?P<name>\$?[A-Za-z_]\w*)|(?P<blank>\s+)|.", re.DOTALL
)
_JQ_TEXT = late_pattern(r'[^"\\]*(?:\\[^(][^"\\]*)*')
"""The text of a string, up to its end or to a program within it: ``\\(…)``."""

_FILES, _ENVIRONMENT = "it tells of files; a query knows refs", "it reads the environment; a query knows refs"
_MODULES = "it reads a file: write the filter in the query"
_JQ_NAMES = {
    "import": _MODULES,
    "include": _MODULES,
    "modulemeta": _FILES,
    "input_filename": _FILES,
    "get_search_list": _FILES,
    "env": _ENVIRONMENT,
    "$ENV": _ENVIRONMENT,
}


def check_sed(script: str) -> None:
    """Raise QueryRefused if a sed script reads, writes or executes anything by itself."""
    at = 0
    while at < len(script):
        at = _sed_command(script, at)


def _sed_command(script: str, at: int) -> int:
    """Check the command that begins at ``at``, and return where the next may begin."""
    at = _sed_addresses(script, at)
    if at >= len(script):
        return at
    command, at = script[at], at + 1
    if command in _SED_FILES:
        _refuse_sed(command, _SED_FILES[command])
    if command == "s":
        return _sed_substitute(script, at)
    if command == "y":
        return _sed_delimited(script, at, parts=2)
    if command in "aic":
        match = _SED_TEXT.match(script, at)
        return match.end() if match else at
    if command in ":btT#":
        match = (_SED_COMMENT if command == "#" else _SED_LABEL).match(script, at)
        return match.end() if match else at
    return at


def _sed_addresses(script: str, at: int) -> int:
    while at < len(script):
        char = script[at]
        if char in " \t\n;{},!":
            at += 1
        elif char == "/":
            at = _sed_address_flags(script, _sed_part(script, at + 1, "/"))
        elif char == "\\" and at + 1 < len(script):
            at = _sed_address_flags(script, _sed_part(script, at + 2, script[at + 1]))
        elif match := _SED_ADDRESS.match(script, at):
            at = match.end()
        else:
            return at
    return at


def _sed_address_flags(script: str, at: int) -> int:
    while at < len(script) and script[at] in "IM":
        at += 1
    return at


def _sed_part(script: str, at: int, delimiter: str) -> int:
    """Return where the part at ``at`` ends, after its delimiter; as in GNU sed, brackets do not hide one."""
    while at < len(script):
        if script[at] == "\\":
            at += 2
        elif script[at] == delimiter:
            return at + 1
        else:
            at += 1
    return at


def _sed_delimited(script: str, at: int, parts: int) -> int:
    if at >= len(script):
        return at
    delimiter, at = script[at], at + 1
    for _ in range(parts):
        at = _sed_part(script, at, delimiter)
    return at


def _sed_substitute(script: str, at: int) -> int:
    at = _sed_delimited(script, at, parts=2)
    while at < len(script) and script[at] in "gpiIMmew0123456789":
        if script[at] == "w":
            _refuse_sed("s///w", "writes a file")
        if script[at] == "e":
            _refuse_sed("s///e", "runs a program")
        at += 1
    return at


def _refuse_sed(command: str, does: str) -> None:
    raise QueryRefused(f"a query cannot have sed's `{command}`: it {does}", "print with p, s///p or =")


def check_awk(program: str) -> None:
    """Raise QueryRefused if an awk program reads, writes or executes anything by itself."""
    if include := _AWK_INCLUDE.search(program):
        _refuse_awk(include[0], "reads a file")
    at, depth, printing, operand = 0, 0, -1, False
    while at < len(program):
        if program[at] == "/" and not operand:
            if (regex := _AWK_REGEX.match(program, at)) is None:
                _refuse_unended("awk", "regular expression")
            at, operand = regex.end(), True
            continue
        token = _AWK_TOKEN.match(program, at)
        if token is None:
            return
        if token[0] == '"':
            _refuse_unended("awk", "string")
        at, text = token.end(), token[0]
        if token.lastgroup == "skip":
            printing = -1 if "\n" in text and depth <= printing else printing
            continue
        _check_awk_token(token, redirects=printing == depth)
        if text in ("print", "printf"):
            printing = depth
        elif text in ";}" and depth <= printing:
            printing = -1
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text, 0)
        operand = token.lastgroup in ("string", "number") or text in (")", "]", "$", "++", "--")
        operand = operand or (token.lastgroup == "name" and text not in _AWK_KEYWORDS)


def _check_awk_token(token: "re.Match[str]", *, redirects: bool) -> None:
    text = token[0]
    if text == "system":
        _refuse_awk("system", "runs a program")
    elif text in ("ARGV", "SYMTAB"):
        _refuse_awk(text, "can name a file to be read next")
    elif text == "getline":
        _refuse_awk("getline", "reads a file or a program's output")
    elif token.lastgroup == "operator" and text in ("|", "|&"):
        _refuse_awk(text, "runs a program")
    elif token.lastgroup == "operator" and redirects and text in (">", ">>"):
        _refuse_awk(f"print {text}", "writes a file (a comparison there goes in parentheses)")


def _refuse_unended(program: str, what: str) -> NoReturn:
    raise QueryRefused(
        f"the {program} program has a {what} that does not end", "close it, or escape its first character"
    )


def _refuse_awk(what: str, does: str) -> None:
    raise QueryRefused(f"a query cannot have awk's `{what}`: it {does}", "join programs with `|` outside of awk")


def check_jq(program: str) -> None:
    """Raise QueryRefused if a jq program reads modules or the environment, or tells where its input lies."""
    refused = before = last = ""  # a name that is refused, unless it is that of an object's member
    for kind, text in _jq_tokens(program):
        if kind == "comment" and text.rstrip("\r").endswith("\\"):
            raise QueryRefused("a jq comment may not end in a backslash", "jq may take the next line for a part of it")
        if kind in ("comment", "blank"):
            continue
        is_member = text == ":" or (refused == "env" and before in ("{", ",") and text in (",", "}"))
        if refused and not is_member:
            break
        before, last = last, text
        refused = text if kind == "name" and text in _JQ_NAMES else ""
    if refused:
        raise QueryRefused(f"a query cannot have jq's `{refused}`", _JQ_NAMES[refused])


def _jq_tokens(program: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of each token, with those of programs within strings; a string is given by its quote."""
    at, in_string = 0, False
    within: list[int] = []  # open parentheses of each program within the present string
    while at < len(program):
        if in_string:
            text = _JQ_TEXT.match(program, at)
            at = text.end() if text else at
            if program.startswith("\\(", at):
                within.append(0)
            in_string, at = False, at + (2 if program.startswith("\\(", at) else 1)
            if at > len(program):
                _refuse_unended("jq", "string")
            continue
        token = _JQ_TOKEN.match(program, at)
        assert token is not None  # any character matches
        at = token.end()
        if within and token[0] == ")" and not within[-1]:
            within.pop()
            in_string = True
        elif within and token[0] in "()":
            within[-1] += 1 if token[0] == "(" else -1
        in_string = in_string or token[0] == '"'
        yield token.lastgroup or "", token[0]
    if in_string or within:
        _refuse_unended("jq", "string")
