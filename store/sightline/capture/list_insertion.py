"""Puts a program that keeps the output into a list of commands, such as ``cd x && make && make test``.

Each part that runs a program gets its own pipe in the current shell, so that parts which change the shell stay in
it. A list is left alone, with the reason, if it could notice the pipes, or the option that passes the exit codes.
"""

import os
import re
from collections.abc import Sequence

from sightline.capture.pipe_insertion import (
    CHANGING,
    ERRORS_ELSEWHERE,
    HARMLESS_BUILTINS,
    INTERACTIVE,
    PIPEFAIL,
    InsertionRules,
    before_filters,
    is_judged,
    lets_output_pass,
    sees_the_pipe,
    substitutes,
)
from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.lexer import OPERATOR, Tokens, Unclear, tokens_of
from sightline.shell_words.pipelines import (
    Pipeline,
    Pipelines,
    Stage,
    assigns,
    may_fail,
    program_of,
    without_assignments,
)
from sightline.shell_words.quoting import SINGLE, pieces_of

_MOST_PARTS = 40

_STAY = frozenset(
    (
        *("cd", "chdir", "pushd", "popd", "dirs", "exit", "export", "unset", "declare", "typeset", "readonly", "umask"),
        *("ulimit", "hash", "alias", "unalias", "test", "[", "true", "false", ":", "source", ".", "kill", "noglob"),
    )
)
"""Builtins that have to stay in the shell, because they change it."""

_CHANGE_FOLDER = frozenset(("cd", "chdir", "pushd", "popd"))

_LIKE_FUNCTIONS = frozenset(
    (
        *("source", ".", "conda", "mamba", "micromamba", "nvm", "fnm", "pyenv", "rbenv", "nodenv", "goenv", "jenv"),
        *("rvm", "gvm", "asdf", "mise", "rtx", "sdk", "direnv", "module", "ml", "spack", "workon", "activate"),
        *("deactivate", "chruby", "z", "j", "autojump", "zoxide", "thefuck", "fuck", "opam", "ghcup", "vf"),
    )
)
"""Words that run a script in the shell itself, and programs that are shell functions once they are set up."""

_PASSED_ON = {
    **dict.fromkeys(("mise", "rtx"), frozenset(("run", "r", "exec", "x"))),
    **dict.fromkeys(("asdf", "pyenv", "rbenv", "nodenv", "jenv", "direnv", "opam", "fnm"), frozenset(("exec",))),
    **dict.fromkeys(("conda", "mamba", "micromamba"), frozenset(("run",))),
}
"""Subcommands with which these functions only call the program, which then runs another and leaves the shell alone, by
the scripts that define them."""

_SILENT = frozenset(("cd", "chdir", "unset", "test", "[", "true", "false", ":", "exit"))
"""Those of them that write nothing if they succeed."""

_ASSIGNS = re.compile(r"([A-Za-z_]\w*)(?:\+?=|$)")
_USES = re.compile(r"\$\{?([A-Za-z_]\w*)")
_EXIT = re.compile(r"exit(?: \d{1,9})?")
_QUIET_EXPORT = re.compile(r"[A-Za-z_]\w*(?:=.*)?", re.DOTALL)
_FILE_FOR_ALL = re.compile(r"&>>?.+|1?>>?[^&].*", re.DOTALL)


class LeftAlone(Exception):
    """A list gets no pipe; the text says why."""


class ListPart(NamedTuple):
    """A part of a list: a command or a pipeline.

    Attributes:
        text: text of the part.
        joined: the operator before it; empty for the first.
        number: number of its pipe, from 1; 0 for a part without one.
        silent: whether a part without a pipe writes nothing if it succeeds.
    """

    text: str
    joined: str
    number: int
    silent: bool


class InsertedList(NamedTuple):
    """A list with the program in it.

    Attributes:
        command: the command to run.
        parts: parts of the list, in order.
        merged: whether the pipes get both streams.
        kept: if there is one pipe, before filters, the part whose output it gets; else empty.
    """

    command: str
    parts: tuple[ListPart, ...]
    merged: bool
    kept: str = ""

    @property
    def is_one(self) -> bool:
        """Whether its one pipe gets all that the list writes, and its last part ends as the list does."""
        *others, last = self.parts
        return last.number == 1 and all(one.silent and not one.number for one in others) and self._surely_silent

    @property
    def _surely_silent(self) -> bool:
        """Whether nothing follows a part that may have reported its failure."""
        before = self.parts[:-1]
        return all(
            behind.joined == "&&" or not may_complain(part.text)
            for part, behind in zip(before, self.parts[1:], strict=True)
        )


def may_complain(text: str) -> bool:
    """Return whether a part that is silent on success may write something on failure."""
    is_silent = assigns(text) or text.startswith("export ") or text in ("true", "false", ":")
    return not (is_silent or _EXIT.fullmatch(text))


def insert_list(command: str, program: str, rules: InsertionRules) -> InsertedList:
    """Put a program into a list.

    Args:
        command: the command line.
        program: the program that gets the output, with its arguments; ``.N`` is added for pipe number N.
        rules: further commands to leave alone.

    Raises:
        LeftAlone: the list stays as it is.
    """
    if sees_the_pipe(command):
        raise LeftAlone("it asks about the last command, or where output goes")
    if may_fail(command) or "\0" in command:
        raise LeftAlone("an expansion in it may fail")
    try:
        tokens = tokens_of(command)
        parser = Pipelines(tokens.tokens)
        pipelines = parser.all_pipelines()
    except Unclear:
        raise LeftAlone("its syntax is not understood for certain") from None
    if not (rules.bash or (tokens.posix and parser.posix)):
        raise LeftAlone("the shell may not be bash")
    if not rules.pipefail and all(len(one.stages) == 1 for one in pipelines):
        raise LeftAlone("its shell may not pass an exit code on through a pipe")
    _check(tokens, pipelines)
    if any(len(one.stages) > 1 for one in pipelines):
        return _before_the_last_filters(command, pipelines, program)
    return _at_each_end(command, pipelines, program, rules)


def _check(tokens: Tokens, pipelines: Sequence[Pipeline]) -> None:
    """Raise LeftAlone for lists that are left alone, whatever their parts are."""
    if len(pipelines) > _MOST_PARTS:
        raise LeftAlone("it has too many parts")
    stages = [stage for pipeline in pipelines for stage in pipeline.stages]
    if any(stage.is_compound for stage in stages):
        raise LeftAlone("it has loops, conditions or groups")
    if tokens.documents:
        raise LeftAlone("it has a here-document")
    operators = {token.text for token in tokens.tokens if token.kind == OPERATOR}
    if operators & {"&", "|&", "<<<"}:
        raise LeftAlone("something in it goes on in the background" if "&" in operators else "it needs bash")
    covered = [(stage.start, stage.end) for stage in stages]
    for token in tokens.tokens:
        if token.text in ("!", "time") and not any(start <= token.start < end for start, end in covered):
            raise LeftAlone("it turns a code round, or measures time")
    names = [program_of(stage.words) for stage in stages]
    if sum(name in _CHANGE_FOLDER for name in names) > 1:
        raise LeftAlone("it changes the folder twice")
    for stage, name in zip(stages, names, strict=True):
        if name in INTERACTIVE or (name in CHANGING and name not in _STAY):
            raise LeftAlone(f"{name} is in it")
        if not name and without_assignments(stage.words):
            raise LeftAlone("a program in it is named by a variable")
        if name == "printf" and any(word.startswith("-v") for word in stage.words):
            raise LeftAlone("printf -v is in it")
    if len(pipelines) < 2:
        raise LeftAlone("its one command stays in the shell, writes elsewhere, or ends in a code of its own kind")
    _check_variables(stages)


def _check_variables(stages: Sequence[Stage]) -> None:
    """Raise LeftAlone for a variable that one part sets and another uses.

    A harness that judges commands by their text asks about it, and was seen to overlook it in a pipe.
    """
    own = set[str]()
    for stage in stages:
        words = (*stage.words, *stage.redirections)
        pieces = [piece for word in words for piece in pieces_of(word) if piece.kind != SINGLE]
        if any(match[1] in own for piece in pieces for match in _USES.finditer(piece.text)):
            raise LeftAlone("a variable that it sets is used in it")
        own |= {match[1] for word in stage.words if (match := _ASSIGNS.match(word))}


def _before_the_last_filters(command: str, pipelines: Sequence[Pipeline], program: str) -> InsertedList:
    """Put the program into the last pipeline with filters, as if that stood alone; no exit code has to be passed."""
    for at in range(len(pipelines) - 1, -1, -1):
        stages = pipelines[at].stages
        if len(stages) > 1 and (made := before_filters(command, stages, program)):
            return InsertedList(made.command, (), made.merged, made.kept)
    raise LeftAlone("a pipeline in it does not end in filters")


def _at_each_end(command: str, pipelines: Sequence[Pipeline], program: str, rules: InsertionRules) -> InsertedList:
    stages = [one.stages[0] for one in pipelines]
    if "|" in command and any(substitutes(word) for stage in stages for word in (*stage.words, *stage.redirections)):
        raise LeftAlone("pipefail would hold for what is substituted, too")
    last = len(stages) - 1
    piped = [_gets_a_pipe(stage, rules, is_last=at == last) for at, stage in enumerate(stages)]
    if not any(piped):
        raise LeftAlone("none of its parts runs a program whose output can be piped")
    like_functions = [_is_like_a_function(stage, rules) for stage in stages]
    joined = [one.joined for one in pipelines]
    places = _places_of_pipefail(joined, piped, like_functions)
    made, parts, end, number, merged = "", list[ListPart](), 0, 0, True
    for at, stage in enumerate(stages):
        made += command[end : stage.start]
        if at in places:
            made += f"{PIPEFAIL} && " if joined[at] == "&&" else f"{PIPEFAIL}; "
        text, end = command[stage.start : stage.end], stage.end
        made += text
        if piped[at]:
            number += 1
            is_joined = "2>&1" in stage.redirections
            joins = rules.joins and not any(ERRORS_ELSEWHERE.fullmatch(one) for one in stage.redirections)
            merged &= joins or is_joined
            made += f"{' 2>&1' if joins and not is_joined else ''} | {program}.{number}"
        silent = not piped[at] and _is_silent(stage, like_functions[at])
        parts.append(ListPart(text, joined[at], number if piped[at] else 0, silent))
    return InsertedList(made + command[end:], tuple(parts), merged)


def _places_of_pipefail(joined: Sequence[str], piped: Sequence[bool], like_functions: Sequence[bool]) -> set[int]:
    """Return before which parts to set the option; parts that could notice it must come before. Raises LeftAlone."""
    if not any(like_functions):
        return {0}
    if piped.index(True) < len(like_functions) - 1 - like_functions[::-1].index(True):
        raise LeftAlone("pipefail would hold for a script or function in it, too")
    if "||" in joined:
        raise LeftAlone("a script or function in it may have failed where pipefail is needed")
    places, is_set = set(), False
    for at, operator in enumerate(joined):
        is_set = is_set and operator == "&&"  # a part that was skipped has set nothing
        if piped[at] and not is_set:
            places.add(at)
            is_set = True
    return places


def _gets_a_pipe(stage: Stage, rules: InsertionRules, *, is_last: bool) -> bool:
    """Return whether a part runs a program, or a builtin that only writes, and its output goes to the common place."""
    name = program_of(stage.words)
    if not name or name in _STAY or _is_set_up(stage) or not lets_output_pass(stage):
        return False
    if is_last and is_judged(stage, rules.judged):
        return False
    word = next(word for word in without_assignments(stage.words) if word != "command")
    return name in HARMLESS_BUILTINS or "/" in word or rules.found(name)


def _is_set_up(stage: Stage) -> bool:
    """Return whether a part's program is by its name a shell function, unless its words say that it runs a program."""
    name, words = program_of(stage.words), without_assignments(stage.words)
    behind = words[2:3] if words[:1] == ("command",) else words[1:2]
    return name in _LIKE_FUNCTIONS and not _PASSED_ON.get(name, frozenset()).intersection(behind)


def _is_like_a_function(stage: Stage, rules: InsertionRules) -> bool:
    """Return whether a part may run a script, or a function, in the shell itself."""
    name = program_of(stage.words)
    if not name or name in HARMLESS_BUILTINS:
        return False
    if _is_set_up(stage):
        return True
    words = without_assignments(stage.words)
    return not (name in _STAY or any("/" in word for word in words[:2] if word != "command") or rules.found(name))


def _is_silent(stage: Stage, is_like_a_function: bool) -> bool:
    """Return whether a part without a pipe writes nothing if it succeeds."""
    words = without_assignments(stage.words)
    if is_like_a_function or substitutes(" ".join(stage.words)):
        return False
    if not words:
        return True
    name = program_of(stage.words)
    if name in ("cd", "chdir"):
        return len(words) == 2 and words[1] != "-" and "CDPATH" not in os.environ
    if name == "export":
        return len(words) > 1 and all(_QUIET_EXPORT.fullmatch(word) for word in words[1:])
    if name in _SILENT:
        return True
    return _writes_elsewhere(stage)


def _writes_elsewhere(stage: Stage) -> bool:
    """Return whether both streams of a part go into files."""
    told = stage.redirections
    everything = any(one.startswith("&>") for one in told)
    out = [at for at, one in enumerate(told) if _FILE_FOR_ALL.fullmatch(one)]
    behind = bool(out) and "2>&1" in told[out[0] :]
    return everything or behind or (bool(out) and any(ERRORS_ELSEWHERE.fullmatch(one) for one in told))
