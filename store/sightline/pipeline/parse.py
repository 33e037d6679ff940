"""Parses a query into a pipeline of known read-only programs over real files, or refuses it by name.

It starts and reads nothing; the resolver says what a ref stands for.
"""

from sightline.base.errors import QueryRefused
from sightline.base.refs import format_ref, looks_like_a_ref, parse_ref
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable
from sightline.pipeline.argument_check import PIPE, Argument, check
from sightline.pipeline.query_words import QueryWord, split

MAX_CHARACTERS = 1 << 16
MAX_STAGES = 16  # each is a process with a memory limit of its own; real questions have fewer than six


class QueryStage(NamedTuple):
    """One program of a pipeline.

    Attributes:
        program: its name, as written.
        argv: the program and its arguments, with paths in place of refs.
        refs: the refs that it reads, each once, in order.
        paths: the path of each of ``refs``.
        words: the words as written, without their quotes.
    """

    program: str
    argv: tuple[str, ...]
    refs: tuple[str, ...]
    paths: tuple[str, ...]
    words: tuple[str, ...]


class ParsedQuery(NamedTuple):
    """A query that may run.

    Attributes:
        stages: its programs, in order.
        refs: every ref that it reads, each once, in order.
        text: the query as written.
    """

    stages: tuple[QueryStage, ...]
    refs: tuple[str, ...]
    text: str


def refuse_overlong(text: str) -> None:
    """Raise QueryRefused if a query is longer than any real one."""
    if len(text) > MAX_CHARACTERS:
        raise QueryRefused(
            f"the query has {len(text):,} characters", f"it may have {MAX_CHARACTERS:,} at most: ask in steps"
        )


def parse(text: str, resolve: Callable[[str], str]) -> ParsedQuery:
    """Parse a query.

    Args:
        text: the query, such as ``grep FAILED @cmd_a1b2c3 | sort | uniq -c``.
        resolve: returns the absolute path of a ref's stream, ``os.devnull`` for an empty one; its errors pass
            through.

    Raises:
        QueryRefused: it is not a read-only pipeline over refs; the message names the part that is not.
        BadRef: a word begins like a ref and is none.
    """
    refuse_overlong(text)
    stages = split(text)
    if len(stages) > MAX_STAGES:
        raise QueryRefused(
            f"a query joins at most {MAX_STAGES} programs, and this one joins {len(stages)}", "ask in steps"
        )
    # All of it is checked before the first look-up, so that a refusal never depends on the store's content.
    judged: list[list[Argument]] = []
    for words in stages:
        arguments = [Argument(word.text, _is_ref(word)) for word in words[1:]]
        call = check(words[0].text, arguments, first=not judged)
        if words[0].text == "rg" and not call.files:
            arguments.append(Argument(PIPE, False))  # otherwise ripgrep guesses whether to read its pipe or the folder
        judged.append(arguments)
    paths: dict[str, str] = {}
    made = tuple(_stage(words, arguments, paths, resolve) for words, arguments in zip(stages, judged, strict=True))
    return ParsedQuery(made, tuple(paths), text)


def _is_ref(word: QueryWord) -> bool:
    """Return whether the word is a ref. Raises BadRef, and QueryRefused for a ref with a range of lines."""
    if word.literal or not looks_like_a_ref(word.text):
        return False
    ref = parse_ref(word.text)
    if ref.first:
        whole = word.text.rpartition(":")[0] or format_ref(ref.name, ref.stream)
        lines = f"{ref.first},{ref.last or '$'}p"
        raise QueryRefused(f"a query reads whole streams, not a range: {word.text}", f"sed -n '{lines}' {whole}")
    return True


def _stage(
    words: list[QueryWord], arguments: list[Argument], paths: dict[str, str], resolve: Callable[[str], str]
) -> QueryStage:
    refs: dict[str, str] = {}
    argv = [words[0].text]
    for argument in arguments:
        if argument.is_ref:
            if argument.text not in paths:
                paths[argument.text] = resolve(argument.text)
            refs[argument.text] = paths[argument.text]
        argv.append(paths[argument.text] if argument.is_ref else argument.text)
    return QueryStage(words[0].text, tuple(argv), tuple(refs), tuple(refs.values()), tuple(word.text for word in words))
