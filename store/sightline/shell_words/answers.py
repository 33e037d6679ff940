"""Knows the commands whose exit code 1 is an answer, such as `grep` without a match, and no failure."""

import re
from functools import lru_cache

from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.commands import behind_runners
from sightline.shell_words.lexer import Unclear, tokens_of
from sightline.shell_words.pipelines import Pipeline, Pipelines, Stage, without_assignments
from sightline.shell_words.quoting import unquoted

DIFFERENT = "different"
_PHRASES = {
    "no match": "grep, egrep, fgrep, zgrep, bzgrep, xzgrep, rg, ag, ack, ugrep, git grep, pgrep, pidof, pkill, lsof,"
    " fuser",
    DIFFERENT: "diff, cmp, colordiff, zdiff, sdiff, git diff, git diff-index, git diff-files, git diff-tree",
    "false": "test, [, expr, kill -0, jq -e, jq --exit-status, mountpoint, git merge-base --is-ancestor,"
    " git check-ignore",
    "not found": "which, type, hash, whereis, command -v, command -V, git config, git show-ref, git rev-parse --quiet,"
    " git rev-parse -q, git cat-file -e",
}
_ANSWERS = tuple((words, tuple(one.split())) for words, phrases in _PHRASES.items() for one in phrases.split(", "))
"""The programs whose exit code 1 is an answer, with the words that make it one, by that answer.

Each manual says so: 1 is the answer, 2 and more are troubles.
"""

_COMPOUND = {"[[": "false", "((": "false"}
_IN_ORDER = ("(", "{", "for ")
_ASIDE = frozenset(("cd", "pushd", "popd", "export", "set", "source", ".", "sleep", "true", ":"))
_PRINTING = frozenset(("echo", "printf"))
_SILENT_DOWNLOADS = {
    "curl": r"-[a-zA-Z]*s[a-zA-Z]*|--silent|--no-progress-meter",
    "wget": r"-[A-Za-z]*q\S*|-nv|--quiet",
}
_FILTERS = frozenset(("head", "tail", "cat", "sort", "uniq", "wc", "cut", "tr"))
_READERS = frozenset(("sed", "cat", "nl", "bat", "ls")) | _FILTERS
_LOOKING = re.compile(
    r"(?:get|test|resolve|select|where|sort|format|measure|out|foreach|group|convertto)-\w+|gcm|gci|gi|gc"
)
"""Commands of PowerShell that only look something up, or show what others found; in small letters."""

_POWERSHELL = re.compile(r"(?:pwsh|powershell)(?:\.exe)?")
_SILENCED = re.compile(r"-e(?:a|rroraction)(?:[: ])(?:silentlycontinue|ignore|0)(?!\S)")
_DEEPEST = 6  # commands within commands
_COMMAND_CHARACTERS = 20_000  # a longer one is a text that a command only writes


class Wrote(NamedTuple):
    """Whether a command wrote anything to its output, and to its error output, and whether a program complained."""

    out: bool = False
    err: bool = False
    complaint: bool = False


_COMPLAINS = re.compile(
    rb"(?m)^(?:\x1b\[[\d;]{0,20}m){0,3}(?:fatal|error|curl: \(\d{1,3}\)|ssh|rg|[ef]?grep|ag|ls|cat|git|gh|jq"
    rb"|[A-Z]\w{1,20}-[A-Z]\w{1,30}): \S|^error connecting to \S"
    rb"|^[\w./-]{1,60}:? (?:received |got )?unexpected arguments?\b"
    rb"|^(?:[\w./-]{1,60}: )?(?:unknown|unrecognized|invalid) (?:flag|option|command|argument|subcommand)\b"
)
"""How a program says that it could not do what it was told."""

EXAMINED_BYTES = 4096


def complains(head: bytes) -> bool:
    """Return whether what a command wrote first, as far as EXAMINED_BYTES, has a program's complaint."""
    return bool(_COMPLAINS.search(head))


@lru_cache(maxsize=512)
def answer_of(command: str, wrote: Wrote) -> str:
    """Return what exit code 1 of a command says, such as ``no match``; empty if the command failed.

    It is an answer if the program that ended the command gives one, and nothing before it may have failed instead:
    not behind ``set -e`` or ``make &&``, and not if ``cd`` before it has complained.
    """
    if len(command) > _COMMAND_CHARACTERS:
        return ""
    try:
        return _of_text(command, wrote, 0)
    except Unclear:
        return ""


def _of_text(command: str, wrote: Wrote, depth: int) -> str:
    if depth > _DEEPEST:
        raise Unclear
    pipelines = Pipelines(tokens_of(command).tokens).all_pipelines()
    return _of_list(command, pipelines, wrote, depth) if pipelines else ""


def _of_list(command: str, pipelines: tuple[Pipeline, ...], wrote: Wrote, depth: int) -> str:
    """Return the answer of a list: that of its last part, if no part joined to it by ``&&`` may have failed.

    What only prints behind ``&&`` has not run, as in ``grep -q x file && echo found``, nor what ends in a filter that
    never fails so, as in ``grep -q x file && grep y other | head``.
    """
    at = len(pipelines) - 1
    if not (wrote.out or wrote.err):  # so that what shows something behind ``&&`` has not run
        while at and pipelines[at].joined == "&&" and _program(pipelines[at]) in _READERS:
            at -= 1
    while at and pipelines[at].joined == "&&" and _ends_with_0(pipelines[at], command):
        at -= 1
    answer = _of_pipeline(command, pipelines[at], wrote, depth)
    strict = _is_strict(pipelines)
    before = list[Pipeline]()
    while answer and at and (strict or pipelines[at].joined == "&&"):
        at -= 1
        before.append(pipelines[at])
    others = [one for one in before if not _of_pipeline(command, one, wrote, depth)]
    if not all(_program(one) in _ASIDE | _PRINTING for one in others):
        return ""
    moved = any(_program(one) in _ASIDE for one in others)
    silent = answer != DIFFERENT and not at and not any(_program(one) in _PRINTING for one in others)
    if silent and wrote.complaint:
        return ""
    complained = wrote.err or (silent and wrote.out)
    return "" if (moved or _is_silent_download(pipelines[-1])) and complained else answer


def _is_silent_download(pipeline: Pipeline) -> bool:
    """Return whether a pipeline reads from a download that prints nothing but complaints, so that one has failed."""
    words = _words(pipeline.stages[0]) if len(pipeline.stages) > 1 else ()
    options = _SILENT_DOWNLOADS.get(words[0]) if words else None
    return bool(options) and any(map(re.compile(options or "").fullmatch, words))


def _is_strict(pipelines: tuple[Pipeline, ...]) -> bool:
    """Return whether a list ends at the first part that fails, as a script does behind ``set -e``."""
    return any(
        words[:1] == ("set",) and any(word[:1] == "-" and "e" in word for word in words[1:2])
        for one in pipelines
        for words in [one.stages[0].words]
    )


def _ends_with_0(pipeline: Pipeline, command: str) -> bool:
    """Return whether what ends a pipeline hardly ever has exit code 1."""
    last = _words(pipeline.stages[-1])
    is_filtered = len(pipeline.stages) > 1 and "pipefail" not in command and bool(last) and last[0] in _FILTERS
    return is_filtered or _program(pipeline) in _PRINTING


def _program(pipeline: Pipeline) -> str:
    words = _words(pipeline.stages[0]) if len(pipeline.stages) == 1 else ()
    return words[0] if words else ""


def _words(stage: Stage) -> tuple[str, ...]:
    words = tuple(unquoted(word) for word in without_assignments(stage.words))
    return (words[0].rpartition("/")[2] or words[0], *words[1:]) if words else ()


def _of_pipeline(command: str, pipeline: Pipeline, wrote: Wrote, depth: int) -> str:
    """Return the answer of the last stage of a pipeline, which ends it."""
    stage = pipeline.stages[-1]
    if pipeline.is_inverted:
        return "false" if _of_pipeline(command, pipeline._replace(is_inverted=False), wrote, depth) else ""
    if stage.is_compound:
        begins = next((words for sign, words in _COMPOUND.items() if command.startswith(sign, stage.start)), "")
        in_order = command.startswith(_IN_ORDER, stage.start) and stage.inner
        return begins or (_of_list(command, stage.inner, wrote, depth) if in_order else "")
    if len(pipeline.stages) > 1 and "pipefail" in command:
        return ""  # any stage may have failed
    if all(map(_looks_up, pipeline.stages)) and any(map(_says_nothing, pipeline.stages)):
        return "not found"
    words = _words(stage)
    if words[:1] == ("command",) and words[1:2] and words[1] in ("-v", "-V"):
        return _of_words(words)
    if words and _POWERSHELL.fullmatch(words[0].lower()):
        given = next((at for at, word in enumerate(words) if word.lower() in ("-c", "-command")), len(words))
        return _of_text(" ".join(words[given + 1 :]), wrote, depth + 1)
    reached = behind_runners(words)
    if reached.script:
        return _of_text(reached.script.text, wrote, depth + 1) if reached.script.text else ""
    if {"xargs", "parallel"} & {*words[: reached.at]} and (wrote.out or wrote.err):
        return ""  # whose exit code is their own, and may be about one of many
    inner = words[reached.at :]
    return _of_words((inner[0].rpartition("/")[2] or inner[0], *inner[1:])) if inner else ""


def _looks_up(stage: Stage) -> bool:
    words = _words(stage)
    return bool(words) and bool(_LOOKING.fullmatch(words[0].lower()))


def _says_nothing(stage: Stage) -> bool:
    """Return whether a command of PowerShell looks for a program, or does not complain of what is not there."""
    words = " ".join(_words(stage)).lower()
    return words.startswith(("get-command ", "gcm ")) or bool(_SILENCED.search(words))


def _of_words(words: tuple[str, ...]) -> str:
    for answer, (program, *more) in _ANSWERS:
        if words[0] == program and {*more} <= {*words[1:]}:
            return answer
    return ""
