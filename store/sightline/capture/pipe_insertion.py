"""Puts a program that keeps the output into a shell command that another program will run.

One pipe is added, and nothing else of the command is changed, so that a harness that judges commands by their text
finds the person's own command in it. This module takes a single pipeline of plain commands, and `list_insertion` takes
lists. Everything else is left alone: what could change the shell, what could notice the pipe, and all that is not
understood for certain.
"""

from sightline.capture.filters import FILTERS
from sightline.light.late_pattern import late_pattern
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable, Collection, Sequence
from sightline.shell_words.lexer import Unclear, tokens_of
from sightline.shell_words.pipelines import Pipelines, Stage, may_fail, program_of, without_assignments

PIPEFAIL = "set -o pipefail -o pipefail"
"""Stands before a command with the pipe at its end, so that the exit code is the command's.

The option is named twice because nobody writes it so. A harness that applies its rules to the rewritten command needs
one that allows these words, and that rule then allows no command that a person or an agent would write.
"""

HARMLESS_BUILTINS = frozenset(("echo", "printf", "pwd", "true", "false", "type", ":"))
"""Builtins that change nothing in the shell."""

CHANGING = frozenset(
    (
        *("cd", "chdir", "pushd", "popd", "dirs", "exit", "logout", "return", "exec", "eval", "source", "."),
        *("export", "declare", "typeset", "local", "readonly", "unset", "set", "shopt", "setopt", "unsetopt", "let"),
        *("read", "mapfile", "readarray", "getopts", "shift", "break", "continue", "trap", "umask", "ulimit", "hash"),
        *(
            "alias",
            "unalias",
            "enable",
            "builtin",
            "bind",
            "history",
            "fc",
            "emulate",
            "autoload",
            "zmodload",
            "rehash",
        ),
        *("wait", "jobs", "bg", "fg", "disown", "kill", "suspend", "times", "caller", "complete", "compopt"),
        *("test", "[", "noglob", "nocorrect", "sightline"),
    )
)
"""Words that change or query the shell, whose exit code means something else, or that keep their output themselves."""

INTERACTIVE = frozenset(
    (
        "vi",
        "vim",
        "nvim",
        "nano",
        "emacs",
        "less",
        "more",
        "most",
        "man",
        "top",
        "htop",
        "tmux",
        "screen",
        "watch",
        "fzf",
    )
)
"""Programs that need a terminal."""

_SEES_THE_PIPE = late_pattern(
    r"\$\{?(?:[_?!-](?![A-Za-z0-9])|BASHPID|BASH_SUBSHELL|PIPESTATUS|pipestatus|SHELLOPTS|ZSH_SUBSHELL|sysparams)"
    r"|/dev/(?:tty|std|fd)|/proc/(?:self|\$)"
)
ERRORS_ELSEWHERE = late_pattern(r"2>>?[^&].*")
"""A redirection of standard error into a file."""

_READS = late_pattern(r"0?<<?-?<?[^&(>].*")
_KNOWN_REDIRECTION = ("2>&1",)


class Inserted(NamedTuple):
    """A command with the program in it.

    Attributes:
        command: the command to run.
        kept: the command, or the part of it, whose output the program gets.
        merged: whether that has both streams.
        filtered: whether the program stands before filters, whose output is smaller.
    """

    command: str
    kept: str
    merged: bool
    filtered: bool


class InsertionRules(NamedTuple):
    """Further commands to leave alone.

    Attributes:
        found: returns whether there is a program of this name; a word that is none, and no builtin, may be a function.
        judged: first words of commands whose exit code the harness reads specially, so that they must come last.
        bash: whether bash runs the command; else it may be zsh.
        joins: whether standard error may go into the pipe, too; some harnesses apply their rules to redirections.
        pipefail: what passes the exit code on; empty if the shell may not know that.
    """

    found: Callable[[str], bool]
    judged: Collection[str] = ()
    bash: bool = True
    joins: bool = True
    pipefail: str = PIPEFAIL


def sees_the_pipe(command: str) -> bool:
    """Return whether a command has words that ask about the shell's last command, or about where output goes."""
    return ("$" in command or "/dev/" in command or "/proc/" in command) and bool(_SEES_THE_PIPE.search(command))


def substitutes(text: str) -> bool:
    """Return whether a text has substitutions, which run a command for its output."""
    return "$(" in text or "`" in text or "<(" in text or ">(" in text


def insert(command: str, program: str, rules: InsertionRules) -> Inserted | None:
    """Put a program into a command: at its end, or before its trailing filters.

    Args:
        command: the command line.
        program: the program that gets the output.
        rules: further commands to leave alone.

    Returns:
        The result; None if the command must be left alone.
    """
    if may_fail(command) or sees_the_pipe(command) or "\0" in command:
        return None
    try:
        tokens = tokens_of(command)
        pipelines = Pipelines(tokens.tokens)
        stages = pipelines.sole_pipeline()
    except Unclear:
        return None
    if not (rules.bash or (tokens.posix and pipelines.posix)) or (tokens.documents and not rules.joins):
        return None
    if any(stage.joined == "|&" or not _is_plain(stage, rules.found) for stage in stages):
        return None
    return _at_end(command, stages[0], program, rules) if len(stages) == 1 else before_filters(command, stages, program)


def _is_plain(stage: Stage, found: Callable[[str], bool]) -> bool:
    """Return whether a stage runs a program, or a builtin, that neither changes the shell nor needs a terminal."""
    if stage.is_compound or not stage.words:
        return False
    name = program_of(stage.words)
    if not name or name in CHANGING or name in INTERACTIVE:
        return False
    if name == "printf" and any(word.startswith("-v") for word in stage.words):
        return False  # it sets a variable
    word = next(word for word in without_assignments(stage.words) if word != "command")
    return name in HARMLESS_BUILTINS or "/" in word or found(name)


def _at_end(command: str, stage: Stage, program: str, rules: InsertionRules) -> Inserted | None:
    if any(substitutes(word) for word in (*stage.words, *stage.redirections)) and "|" in command:
        return None  # pipefail would hold in substitutions, too
    if not rules.pipefail or is_judged(stage, rules.judged) or not lets_output_pass(stage):
        return None
    is_joined = "2>&1" in stage.redirections
    merged = is_joined or (rules.joins and not any(ERRORS_ELSEWHERE.fullmatch(one) for one in stage.redirections))
    join = " 2>&1" if merged and not is_joined else ""
    made = f"{rules.pipefail}; {command[: stage.end]}{join} | {program}{command[stage.end :]}"
    return Inserted(made, command[stage.start : stage.end], merged, filtered=False)


def before_filters(command: str, stages: Sequence[Stage], program: str) -> Inserted | None:
    """Put a program before trailing filters, which stay as they are, with the exit code of the last."""
    first = len(stages)
    while first > 1 and program_of(stages[first - 1].words) in FILTERS:
        first -= 1
    if first == len(stages) or stages[first].reads_elsewhere or not lets_output_pass(left := stages[first - 1]):
        return None
    made = f"{command[: left.end]} | {program}{command[left.end :]}"
    return Inserted(made, command[stages[0].start : left.end], "2>&1" in left.redirections, filtered=True)


def is_judged(stage: Stage, judged: Collection[str]) -> bool:
    """Return whether a stage runs a command whose exit code the harness reads specially."""
    name, words = program_of(stage.words), stage.words
    return name in judged or any(f"{name} {word}" in judged for word in words)


def lets_output_pass(stage: Stage) -> bool:
    """Return whether a stage's standard output goes into the pipe, and no other stream of interest elsewhere."""
    return all(
        one in _KNOWN_REDIRECTION or ERRORS_ELSEWHERE.fullmatch(one) or _READS.fullmatch(one)
        for one in stage.redirections
    )
