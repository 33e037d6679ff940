"""Finds where a command filters its own output, so that the input of these filters can be kept, too.

The command is not rebuilt: two redirections are added to it, and only if it is certain that they change nothing. Which
processes there are, how they are joined and how they end is still up to the shell.
"""

import os
from itertools import pairwise

from sightline.base.refs import looks_like_a_ref
from sightline.light.late_pattern import late_pattern
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Iterator
from sightline.shell_words import LONGEST_COMMAND
from sightline.shell_words.lexer import OPERATOR, Token, Unclear, lexed, tokens_of
from sightline.shell_words.pipelines import (
    Pipeline,
    Pipelines,
    Stage,
    assigns,
    may_fail,
    program_of,
    without_assignments,
)

FILTERS = frozenset(("grep", "egrep", "fgrep", "rg", "head", "tail", "sed", "awk", "cut", "wc", "sort", "uniq", "tr"))

_READERS = FILTERS | {"cat"}
_SETTINGS = ("BASH_ENV", "SHELLOPTS", "BASHOPTS")  # variables that may change a shell's settings
_SET = r"\bset\s(?:(?!\bset\s)[^;&|\n])*"  # up to the next one, so that many of them take no square of their number
_LOOKED_AT = late_pattern(r"BASH_COMMAND|BASH_EXECUTION_STRING|\bDEBUG\b|\balias|" + _SET + r"(?:-\w*v|verbose)")
"""Words with which a command can see its own text, or change what its words do."""

_HARDENING = late_pattern(
    _SET + r"-\w*u|nounset|failglob|\b(?:readonly|declare|typeset|source|eval)\b|(?:^|[;&|(){}\n])[^\S\n]*\.\s"
)
"""Words that can make a shell give up a command before it redirects anything, for a variable that it cannot expand."""


class FilterSplit(NamedTuple):
    """Where the trailing filters of a pipeline begin. Positions are offsets in the command's text.

    Attributes:
        left: text of the left side: the stages of the pipeline before its trailing filters.
        words: words of the left side if it is one simple command; else empty.
        write_at: where a redirection of the left side's output can stand.
        read_at: where a redirection of the first filter's input can stand, after ``write_at``.
        sure: whether the command is plain enough to be free of errors; else the shell checks its syntax first.
    """

    left: str
    words: tuple[str, ...]
    write_at: int
    read_at: int
    sure: bool

    def redirected(self, command: str, write_to: str, read_from: str) -> str:
        """Return the command with its left side writing to one file and its first filter reading another.

        Args:
            command: the text that was split.
            write_to: path for the left side, as a word of the shell; read_from for the filter.
        """
        before, between, after = (
            command[: self.write_at],
            command[self.write_at : self.read_at],
            command[self.read_at :],
        )
        return f"{before} >{write_to} {between} <{read_from} {after}"


def find_split(command: str, *, bash: bool = True, hardened: bool = False) -> FilterSplit | None:
    """Return where the trailing filters of a command begin; None if there are none, or it is not certain.

    In a list, only the last pipeline with filters counts: ``make | tail -5; echo $?`` runs it once, as if it stood
    alone. One in the background, in a loop or in a substitution does not count. The first stage reads no pipe, so it
    is no filter: in ``grep -r x | sort | head`` the left side is ``grep -r x``.

    Args:
        command: the command line.
        bash: whether bash runs it, and not another shell.
        hardened: whether the shell may get settings from elsewhere, such as an exported ``SHELLOPTS``.
    """
    if "|" not in command or _LOOKED_AT.search(command):
        return None
    try:
        tokens = tokens_of(command)
        parser = Pipelines(tokens.tokens)
        pipelines = parser.waited_for()
    except Unclear:
        return None
    if not (bash or (tokens.posix and parser.posix)):
        return None
    splits = ((one.stages, _first_filter(one.stages)) for one in reversed(pipelines))
    stages, first = next(((stages, first) for stages, first in splits if first), ((), 0))
    if not first or stages[first].reads_elsewhere:
        return None
    left = stages[first - 1]
    hardened = hardened or not bash or bool(_HARDENING.search(command))
    if not (_redirects_surely(left, hardened) and _redirects_surely(stages[first], hardened)):
        return None
    return FilterSplit(
        left=command[stages[0].start : left.end],
        words=left.words if first == 1 else (),
        write_at=left.redirect_at,
        read_at=stages[first].redirect_at,
        sure=tokens.simple and parser.simple,
    )


def _first_filter(stages: tuple[Stage, ...]) -> int:
    """Return the index of the first trailing filter of a pipeline; 0 if there is none."""
    first = len(stages)
    while first > 1 and _is_filter(stages[first - 1]) and stages[first - 1].joined == "|":
        first -= 1
    return first if first < len(stages) else 0


def left_side(command: str, argv: list[str]) -> FilterSplit | None:
    """Return where the trailing filters of a command begin.

    It returns None if there are none, if that is not certain, and if the left side only reads buffers, which are
    kept already.

    Args:
        command: as the caller gave it.
        argv: the shell, ``-c`` and the command with paths in place of its refs.
    """
    bash = os.path.basename(argv[0]) == "bash"
    hardened = any(name in os.environ for name in _SETTINGS)
    given = find_split(command, bash=bash, hardened=hardened)
    if given is None:
        return None
    if program_of(given.words) in _READERS and any(looks_like_a_ref(word.strip('"')) for word in given.words):
        return None
    split = find_split(argv[-1], bash=bash, hardened=hardened)
    return split and split._replace(left=given.left)


def inner_filter(command: str, *, split: bool = False) -> str:
    """Return a filter whose input is not kept, as in ``for t in a b; do make $t | tail -5; done``; empty if none.

    What a pipeline only reads, or writes into a file, is there in any case.

    Args:
        command: the command line.
        split: whether the input of the filters that `find_split` finds is kept.
    """
    kept = find_split(command) if split else None
    return next(_inner_filters(command, kept.write_at if kept else -1), "")


def unseen_input(command: str) -> str:
    """Return a note on what a command filtered away, if only its own output was captured; empty if it did not."""
    program = inner_filter(command) if "|" in command else ""
    return program and f"what went into {program} was not seen"


def _inner_filters(command: str, kept: int) -> Iterator[str]:
    if len(command) > LONGEST_COMMAND:
        return  # nothing started it
    tokens = lexed(command)
    try:
        if not tokens.clear:
            raise Unclear
        substituted = (*tokens.substituted.groups, *tokens.in_documents.groups)
        for pipeline in Pipelines(tokens.tokens).all_pipelines():
            if kept not in (stage.redirect_at for stage in pipeline.stages):
                yield from _filters_in(pipeline)
        for group in substituted:
            for pipeline in Pipelines(group).all_pipelines():
                yield from _filters_in(pipeline)
        for inner in (*tokens.substituted.backticked, *tokens.in_documents.backticked):
            yield from _inner_filters(inner.text, -1)
    except Unclear:
        yield from _piped_into(tokens.tokens)


def _piped_into(tokens: tuple[Token, ...]) -> Iterator[str]:
    """Yield the filters behind pipes in a command whose structure is not clear."""
    for before, token in pairwise(tokens):
        if before.kind == OPERATOR and before.text in ("|", "|&") and (name := program_of((token.text,))) in FILTERS:
            yield name


def _filters_in(pipeline: Pipeline) -> Iterator[str]:
    first, *rest = pipeline.stages
    found = next((program_of(stage.words) for stage in rest if _is_filter(stage)), "")
    if found and program_of(first.words) not in _READERS | {"echo", "printf"}:
        yield found
    for stage in pipeline.stages:
        for one in stage.inner:
            yield from _filters_in(one)


def _is_filter(stage: Stage) -> bool:
    return program_of(stage.words) in FILTERS


def _redirects_surely(stage: Stage, hardened: bool) -> bool:
    """Return whether the shell is certain to carry out a stage's redirections.

    The shell redirects a simple command after it has expanded its words; if that fails, it does not redirect, and a
    process at the other end would wait for ever.
    """
    if stage.is_compound:
        return True
    text = " ".join(stage.words)
    if hardened and (set(text) & {"$", "`"} or assigns(text)):
        return False
    return bool(without_assignments(stage.words)) and not may_fail(text)
