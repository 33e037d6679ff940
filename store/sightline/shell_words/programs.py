"""Finds the programs that write what a command line prints, by its words: behind wrappers, in loops, before filters."""

from collections.abc import Iterable, Iterator

from sightline.light.late_pattern import late_pattern
from sightline.light.library import lru_cache
from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.commands import behind_options, behind_runners, runs_of_find
from sightline.shell_words.lexer import Unclear, tokens_of
from sightline.shell_words.pipelines import Pipeline, Pipelines, Stage, plain_words, without_assignments
from sightline.shell_words.quoting import unquoted

_PASSING = """awk cat column cut egrep fgrep fmt fold gawk grep head jq less mawk more nl paste rev rg sed sort tac tail
    tee tr uniq wc xxd yq"""
FILTERS = frozenset(_PASSING.split())
"""Programs that pass on what they read, or some of it."""

_TAKES = {"git": ("-C", "-c"), "gh": ("-R", "--repo"), "kubectl": ("-n", "--namespace"), "docker": ("-H", "--context")}
"""Options before a program's subcommand that take a value."""

_KEPT_CHARACTERS = 1_000  # of a command of which what was found is kept: many are asked about again and again

_DEEPEST = 6
"""Commands within commands, such as ``ssh host "bash -c '…'"``, are followed this deep."""


class WritingProgram(NamedTuple):
    """A program that writes some of what a command line prints.

    Attributes:
        words: at least one word without quotes: its name without a path, and its arguments.
        ends: whether the command's exit code is its own, because no filter and no other command follows it.
        filters: names of the filters behind it.
        part: number of the pipeline, in the command's own list, that it belongs to; 0 for the first.
    """

    words: tuple[str, ...]
    ends: bool
    filters: tuple[str, ...] = ()
    part: int = 0

    @property
    def name(self) -> str:
        """Name of the program."""
        return self.words[0]

    @property
    def plain(self) -> tuple[str, ...]:
        """Its words that are not options, behind its name and the options there."""
        begin = behind_options(self.words, 1, _TAKES.get(self.name, ()))
        return tuple(word for word in self.words[begin:] if not word.startswith("-"))


def programs_of(command: str) -> tuple[WritingProgram, ...]:
    """Return the programs whose output a command line prints: of a pipeline, the last that is no filter.

    Raises:
        Unclear: the command cannot be understood for certain.
    """
    return _kept(command) if len(command) <= _KEPT_CHARACTERS else _found(command)


_TO_FILE = late_pattern(r"1?>>?\|?(?!&)|&>|>&(?!\d)")
_ERRORS_TOO = late_pattern(r"2>|&>|>&(?!\d)")
_SILENT = frozenset(("cd", "export", "set", "true", ":", "sleep", "mkdir", "rm"))
_NO_ERRORS = frozenset(("echo", "printf", "date"))


def writes_elsewhere(command: str) -> bool:
    """Return whether a command line is certain to print nothing, because all that it runs writes to files."""
    try:
        pipelines = Pipelines(tokens_of(command).tokens).all_pipelines()
        return all(_to_files(one.stages[-1]) for one in pipelines)
    except Unclear:
        return False


def _to_files(stage: Stage) -> bool:
    name = (_called(stage.words) or ("",))[0]
    errors = name in _NO_ERRORS or any(_ERRORS_TOO.match(one) for one in stage.redirections)
    return name in _SILENT or (errors and any(_TO_FILE.match(one) for one in stage.redirections))


def _found(command: str) -> tuple[WritingProgram, ...]:
    return tuple(_of_text(command, ends=True, depth=0))


_kept = lru_cache(maxsize=1024)(_found)  # more than most sessions run: each is asked about in several passes


def _of_text(command: str, *, ends: bool, depth: int) -> Iterator[WritingProgram]:
    if depth > _DEEPEST:
        raise Unclear
    if words := plain_words(command):
        if called := _called(words):
            yield from _behind(called, ends=ends, depth=depth)
        return
    yield from _of_list(Pipelines(tokens_of(command).tokens).all_pipelines(), ends=ends, depth=depth)


def _of_list(pipelines: Iterable[Pipeline], *, ends: bool, depth: int) -> Iterator[WritingProgram]:
    """Yield what a list prints. In ``a && b``, both have ended as the command did, if it succeeded.

    That says nothing of what goes on in the background, and of ``! a`` the opposite.
    """
    found = tuple(pipelines)
    ends = ends and bool(found) and found[-1].behind != "&"
    first = max(
        (at for at, one in enumerate(found) if one.joined != "&&"), default=0
    )  # of those that end with the list
    for at, pipeline in enumerate(found):
        for program in _of_pipeline(pipeline, ends=ends and at >= first and not pipeline.is_inverted, depth=depth):
            yield program._replace(part=at)


def _of_pipeline(pipeline: Pipeline, *, ends: bool, depth: int) -> Iterator[WritingProgram]:
    stages, filters = list(pipeline.stages), list[str]()
    while len(stages) > 1 and (words := _called(stages[-1].words)) and words[0] in FILTERS:
        filters.append(words[0])
        stages.pop()
    for program in _of_stage(stages[-1], ends=ends and not filters, depth=depth):
        yield program._replace(filters=(*program.filters, *reversed(filters)))


def _of_stage(stage: Stage, *, ends: bool, depth: int) -> Iterator[WritingProgram]:
    if stage.is_compound:
        yield from _of_list(stage.inner, ends=False, depth=depth)
    elif words := _called(stage.words):
        yield from _behind(words, ends=ends, depth=depth)


def _called(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a simple command from the program's name on, without quotes; none if it only assigns."""
    rest = without_assignments(words)
    return _named(tuple(unquoted(word) for word in rest)) if rest else ()


def _named(words: tuple[str, ...]) -> tuple[str, ...]:
    return (words[0].rpartition("/")[2], *words[1:])


def _behind(words: tuple[str, ...], *, ends: bool, depth: int) -> Iterator[WritingProgram]:
    """Yield what a simple command runs, behind ``sudo``, ``ssh``, ``docker exec``, ``bash -c`` and the like."""
    if depth > _DEEPEST:
        raise Unclear
    reached = behind_runners(words)
    if reached.script and reached.script.text:
        for program in _of_text(reached.script.text, ends=ends, depth=depth + 1):
            yield program._replace(part=0)
    elif reached.at < len(words):
        ran = _named(words[reached.at :])
        inner = [tuple(run) for run in runs_of_find(ran)]
        for run in inner:
            yield from _behind(run, ends=False, depth=depth + 1)
        if not inner:
            yield WritingProgram(ran, ends and "xargs" not in words[: reached.at])
