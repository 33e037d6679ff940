"""Checks the arguments of one program of a query: options against the tables, operands as text or files."""

from sightline.base.errors import QueryRefused
from sightline.light.late_imports import late_modules
from sightline.light.late_pattern import re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import NoReturn
from sightline.pipeline.options import GRAMMARS, NUMERIC, WHY_NOT, WIDEST, WIDTHS, Grammar

with late_modules(globals()):
    from sightline.pipeline import scripts  # few queries have one

PIPE = "-"  # the operand for the pipe


class Argument(NamedTuple):
    """One argument: its text, and whether it is a ref, which becomes a path."""

    text: str
    is_ref: bool


class Option(NamedTuple):
    """One option as it was given: ``-n`` or ``--lines``, and its values."""

    name: str
    values: tuple[Argument, ...] = ()


class ProgramArguments(NamedTuple):
    """A program's arguments, sorted.

    Attributes:
        options: the options, in order.
        texts: operands that are text: patterns, scripts, sets.
        files: operands that are files: refs, or ``-`` for the pipe.
    """

    options: tuple[Option, ...]
    texts: tuple[Argument, ...]
    files: tuple[Argument, ...]

    def values(self, *names: str) -> list[str]:
        """Return the first values of all options with these names, in order."""
        return [option.values[0].text for option in self.options if option.name in names and option.values]


class OptionTable(NamedTuple):
    """The options of a program, short and long, and what follows each in the tables of `options`."""

    short: dict[str, str]
    long: dict[str, str]


def check(program: str, arguments: list[Argument], *, first: bool) -> ProgramArguments:
    """Check a program and its arguments.

    Args:
        program: its name, as written.
        arguments: everything after it.
        first: whether it stands first, without a pipe to read.

    Raises:
        QueryRefused: names the program, option or operand that a query cannot have.
    """
    grammar = GRAMMARS.get(program)
    if grammar is None:
        raise QueryRefused(f"not a program that a query may use: {program}", f"it may use {' '.join(GRAMMARS)}")
    call = _Reader(program, grammar, arguments).read()
    _check_files(program, grammar, call, first=first)
    _check_texts(program, call)
    return call


class _Reader:
    """Walks over the arguments once, as the program itself does."""

    def __init__(self, program: str, grammar: Grammar, arguments: list[Argument]) -> None:
        self.program = program
        self.grammar = grammar
        self.arguments = arguments
        self.known = options_of(grammar)
        self.options: list[Option] = []
        self.operands: list[Argument] = []
        self.at = 0

    def read(self) -> ProgramArguments:
        only_operands = False
        while self.at < len(self.arguments):
            argument = self.arguments[self.at]
            self.at += 1
            if only_operands or argument.is_ref or argument.text == PIPE or not argument.text.startswith("-"):
                self.operands.append(argument)
                only_operands = only_operands or not self.grammar.permutes
            elif argument.text == "--":
                only_operands = True
            elif self.grammar.single_dash:
                self._single_dash(argument.text)
            elif argument.text.startswith("--"):
                self._long(argument.text)
            else:
                self._short(argument.text)
        return self._sort_out()

    def _sort_out(self) -> ProgramArguments:
        grammar = self.grammar
        given = any(option.name in grammar.pattern_options for option in self.options)
        wanted = 0 if given else grammar.texts
        if len(self.operands) < wanted:
            what = {"sed": "a script", "awk": "a program", "jq": "a filter", "tr": "a set"}.get(
                self.program, "a pattern"
            )
            raise QueryRefused(f"{self.program} lacks {what}", f"give {what} as the first word after {self.program}")
        texts = self.operands[: wanted + grammar.spare_texts]
        return ProgramArguments(tuple(self.options), tuple(texts), tuple(self.operands[len(texts) :]))

    def _long(self, text: str) -> None:
        name, equals, value = text.partition("=")
        takes = self.known.long.get(name)
        if takes is None:
            _refuse_option(self.program, name)
        if takes == "" and equals:
            raise QueryRefused(f"{self.program} {name} takes no value: {text}")
        if takes in ("", "[=]"):
            self.options.append(Option(name, (Argument(value, False),) if equals else ()))
        elif equals:
            self.options.append(Option(name, (Argument(value, False),)))
        else:
            self._take(name, 2 if takes == "==" else 1)

    def _short(self, text: str) -> None:
        if self.grammar.number and text[1:].isdigit() and text.isascii():
            self.options.append(Option("-NUM", (Argument(text[1:], False),)))
            return
        for index, char in enumerate(text[1:], 2):
            name, rest = "-" + char, text[index:]
            takes = self.known.short.get(char)
            if takes is None:
                _refuse_option(self.program, name, text)
            if takes and rest:
                self.options.append(Option(name, (Argument(rest, False),)))
                return
            if takes == ":":
                self._take(name, 1)
                return
            self.options.append(Option(name))

    def _single_dash(self, text: str) -> None:
        """Read ``-ps``, ``-c 16`` or ``-c16``: nothing is joined, and an attached value is a number."""
        name = text[1:]
        takes = self.known.long.get("--" + name, self.known.short.get(name))
        if takes is None:
            attached = re.fullmatch(r"([slcgo])([+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+))", name)
            if not attached:
                _refuse_option(self.program, text)
            self.options.append(Option("-" + attached[1], (Argument(attached[2], False),)))
        elif takes:
            self._take(text, 1)
        else:
            self.options.append(Option(text))

    def _take(self, name: str, count: int) -> None:
        values = tuple(self.arguments[self.at : self.at + count])
        if len(values) < count:
            raise QueryRefused(f"{self.program} {name} needs a value", "write it as the next word")
        self.at += count
        self.options.append(Option(name, values))


def options_of(grammar: Grammar) -> OptionTable:
    """Return the options that a program may have, and what follows each."""
    short: dict[str, str] = {}
    for at, letter in enumerate(grammar.short):
        if letter != ":":
            behind = grammar.short[at + 1 : at + 3]
            short[letter] = behind[: len(behind) - len(behind.lstrip(":"))]
    long: dict[str, str] = {}
    for word in grammar.long.split():
        name = word.rstrip("=[]")
        long["--" + name] = word.removeprefix(name)
    return OptionTable(short, long)


def _refuse_option(program: str, name: str, within: str = "") -> NoReturn:
    shown = f"{program} {name}" + (f" (in {within})" if within not in ("", name) else "")
    if why := WHY_NOT.get(_family(program), {}).get(name):
        raise QueryRefused(f"a query cannot have {shown}", why)
    hint = "write options in full; put -- before a pattern that begins with a dash"
    raise QueryRefused(f"not an option that a query may use: {shown}", hint)


def _family(program: str) -> str:
    return "grep" if program in ("egrep", "fgrep") else program


def _check_files(program: str, grammar: Grammar, call: ProgramArguments, *, first: bool) -> None:
    named = [value for option in call.options if option.name in grammar.file_options for value in option.values]
    reads = [file for file in call.files if not (grammar.assigns and _is_assignment(file))]
    for file in named + reads:
        if file.is_ref:
            continue
        if file.text != PIPE:
            hint = "a query reads refs and its pipe, nothing else; a ref is a word of its own, not in single quotes"
            raise QueryRefused(f"{program} may not read {file.text!r}: not a ref", hint)
        if first:
            raise QueryRefused(f"{program} is the first program, so its `-` has no pipe to read", "name a ref instead")
    if len(reads) > grammar.files:
        raise QueryRefused(_too_many(program, grammar.files), "give it one ref, or join programs with `|`")
    if len(reads) < grammar.least_files:
        raise QueryRefused(f"{program} needs {grammar.least_files} files", "give refs, or `-` for the pipe")
    if first and not any(file.is_ref for file in reads):
        raise QueryRefused(
            f"{program} is the first program and names no ref to read", f"for example: {program} … @cmd_a1b2c3"
        )


def _too_many(program: str, most: int) -> str:
    if most == 0:
        return f"{program} reads its pipe, not a file"
    second = " (it would write the second)" if program in ("uniq", "xxd") else ""
    return f"{program} is given more than {most} file{'s' if most > 1 else ''}{second}"


def _is_assignment(file: Argument) -> bool:
    return not file.is_ref and bool(re.match(r"[A-Za-z_][A-Za-z0-9_]*=", file.text))


def _is_too_wide(text: str) -> bool:
    number = re.match(r"\s*\+?([0-9]+|0[xX][0-9a-fA-F]+)(.?)", text)
    return number is not None and (bool(number[2]) or int(number[1], 0 if number[1].startswith("0x") else 10) > WIDEST)


def _check_texts(program: str, call: ProgramArguments) -> None:
    grammar = GRAMMARS[program]
    values = [value for option in call.options if option.name not in grammar.file_options for value in option.values]
    for text in (*call.texts, *values):
        if text.is_ref:
            hint = f"the pattern or script comes before the refs; as plain text it is '{text.text}' in single quotes"
            raise QueryRefused(f"{program} takes text here, not the ref {text.text}", hint)
        if program == "strings" and text.text.startswith("@"):
            raise QueryRefused(f"strings would read arguments from a file: {text.text}", "name the refs themselves")
    for option in call.options:
        if option.name in NUMERIC.get(_family(program), ()) and not option.values[0].text.isdecimal():
            raise QueryRefused(f"{program} {option.name} needs a number, not {option.values[0].text!r}")
        if option.name in WIDTHS.get(program, ()) and option.values and _is_too_wide(option.values[0].text):
            raise QueryRefused(
                f"{program} {option.name} may be {WIDEST:,} at most", "no reply shows a line as wide as that"
            )
    if program == "sed":
        scripts.check_sed("\n".join(call.values("-e", "--expression") or [call.texts[0].text]))
    elif program == "awk":
        scripts.check_awk(call.texts[0].text)
    elif program == "jq":
        scripts.check_jq(call.texts[0].text)
