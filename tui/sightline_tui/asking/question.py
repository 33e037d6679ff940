"""A question typed in the query bar: its meaning, the history, and completions."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sightline.base.errors import SightlineError, UsageError
from sightline.base.private_files import read_file, write_atomically
from sightline.base.project import working_directory
from sightline.base.refs import looks_like_a_ref
from sightline.light.named_tuple import NamedTuple
from sightline.pipeline.options import GRAMMARS
from sightline.pipeline.query_words import QueryWord, split
from sightline.shell_words.lexer import WORD, Token, lexed
from sightline.store import Reading
from sightline.verbs.arguments import FLAG, TEXT, WHOLE, Declared, arguments_of
from sightline.verbs.requests import ReadRequest
from sightline_tui.common.places import is_place

FORMS = (
    ("42 · 42,80 · 50% · $", "Go there in the output that is shown"),
    ("/panic|fatal", "Its lines that match, with their numbers"),
    ("$.items[0].name", "The JSON value at a path"),
    ("show @cmd_a1b2c3 42-80", "Any part of any output, with the options of `sightline show`"),
    ("grep FAILED | sort", "A query, over the output that is shown where no ref is named"),
)
"""What can be typed, and what that does."""

SHOW = "show"
"""The word that begins a call of read_output."""

_LINES = re.compile(r"([0-9]{1,15})(?:([,-])([0-9]{1,15})?)?")
_SHOW_FORMS = "show [REF] [LINES] [/PATTERN] [$.PATH] [--context N] [--stream err] [--schema] …"


class PlaceQuestion(NamedTuple):
    """A place in the output that is shown: ``42``, ``42,80``, ``50%``, ``$``."""

    text: str


class PartQuestion(NamedTuple):
    """A call of read_output."""

    request: ReadRequest


class QueryQuestion(NamedTuple):
    """A call of query; its text names every ref that it reads."""

    text: str


Question = PlaceQuestion | PartQuestion | QueryQuestion


def parse_question(text: str, ref: str) -> Question | None:
    """The question that a text asks; None for an empty text.

    Args:
        text: as it was typed.
        ref: of the shown output, read where the text names none; empty where no output is shown.

    Raises:
        UsageError: a call of ``show`` that cannot be read, or no ref is named and nothing is shown.
        QueryRefused: a pipeline that cannot be read.
    """
    text = text.strip()
    if not text:
        return None
    if is_place(text):
        return PlaceQuestion(text)
    if text.startswith(("/", "$.", "$[")):
        text = f"{SHOW} {text}" if text.startswith("$") else f"{SHOW} {shlex.quote(text)}"
    if text == SHOW or text.startswith(SHOW + " "):
        return PartQuestion(_request(text, ref))
    return QueryQuestion(over(text, ref))


def over(pipeline: str, ref: str) -> str:
    """Return the pipeline; if it names no ref, make it read this one.

    Raises:
        QueryRefused: it is not a pipeline of plain words. UsageError: there is no ref to read.
    """
    stages = split(pipeline)
    if any(_is_ref(word) for words in stages for word in words):
        return pipeline
    if not ref:
        raise UsageError("no output is shown that this could read", "name a ref: grep FAILED @last")
    grammar = GRAMMARS.get(stages[0][0].text)
    if grammar is not None and grammar.files == 0:
        return f"cat {ref} | {pipeline.strip()}"
    first, rest = _first_stage(pipeline, stages[0])
    return f"{first.strip()} {ref}" + (f" {rest}" if rest else "")


def _is_ref(word: QueryWord) -> bool:
    return not word.literal and looks_like_a_ref(word.text)


def _first_stage(pipeline: str, words: list[QueryWord]) -> tuple[str, str]:
    """Return the text of the first program, and the rest from its ``|`` on."""
    for bar in re.finditer(r"\|", pipeline):
        try:
            before = split(pipeline[: bar.start()])
        except SightlineError:
            continue  # within quotes
        if before == [words]:
            return pipeline[: bar.start()], pipeline[bar.start() :]
    return pipeline, ""


def _request(text: str, ref: str) -> ReadRequest:
    given: dict[str, Any] = {}
    words = iter(_words(text)[1:])
    for word in words:
        given.update(_option(word, words) if word.startswith("--") else _operand(word))
    leads_into = "path" in given or "schema" in given  # a JSON value stands in one stream, never in both together
    given.setdefault("ref", ref.removesuffix(".all") if leads_into else ref)
    if not given["ref"]:
        raise UsageError("no output is shown that this could read", f"name a ref: {SHOW} @last 1-40")
    return ReadRequest(**given)


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""  # a backslash belongs to a pattern
    try:
        return list(lexer)
    except ValueError:
        raise UsageError("a quote is not closed", _SHOW_FORMS) from None


def _operand(word: str) -> dict[str, Any]:
    if looks_like_a_ref(word):
        return {"ref": word}
    if word.startswith("/") and len(word) > 1:
        return {"search": word[1:]}
    if word.startswith("$"):
        return {"path": word}
    if match := _LINES.fullmatch(word):
        return {"lines": f"{match[1]}-{match[3] or ''}" if match[2] else match[1]}
    raise UsageError(f"{SHOW} does not know what {word!r} is", _SHOW_FORMS)


def _option(word: str, words: Iterator[str]) -> dict[str, Any]:
    option, equals, value = word.partition("=")
    one = show_options().get(option)
    if one is None or (one.kind == FLAG and equals):
        raise UsageError(f"{SHOW} has no option {option}", _SHOW_FORMS)
    if one.kind == FLAG:
        return {one.name: option == one.option}
    value = value if equals else next(words, "")
    if not value:
        raise UsageError(f"{option} needs a value", _SHOW_FORMS)
    if one.kind == TEXT:
        return {one.name: value}
    pattern = _WHOLE if one.kind == WHOLE else _SECONDS
    if not pattern.fullmatch(value):
        raise UsageError(f"{option} is a number, not {value!r}", _SHOW_FORMS)
    return {one.name: int(value) if one.kind == WHOLE else float(value)}


def show_options() -> dict[str, Declared]:
    """Return the arguments of read_output that are options, by each name of theirs."""
    arguments = [one for one in arguments_of(ReadRequest) if one.option]
    others = {one.said.other[0]: one for one in arguments if one.said.other}
    return {**{one.option: one for one in arguments}, **others}


_WHOLE = re.compile("[0-9]+")
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?")


KEPT = 500
"""Texts that are kept; the oldest go first."""

_LONGEST_CHARACTERS = 2_000  # 500 of these are 1 MB, or 4 of the widest characters


class History:
    """Texts in the order in which they were last asked."""

    def __init__(self, store: Reading) -> None:
        self._layout = store.local.layout
        self._local = store.local
        self._path = os.path.join(store.local.root, "queries")

    def texts(self) -> list[str]:
        """The texts, the newest last. Raises OSError or UnsafeStore if they cannot be read."""
        try:
            data = read_file(self._path)
        except FileNotFoundError:
            return []
        return [text for text in data.decode(errors="replace").split("\n") if text]

    def add(self, text: str) -> None:
        """Add a text as the newest; other inspectors may add theirs. A store that is only read keeps none.

        Raises:
            OSError: the file cannot be read or written.
            UnsafeStore: it is not the user's own.
        """
        if self._local.index.unwritable:
            return
        text = " ".join(text.split("\n")).strip()
        if not text or not self._local.settings.captures(working_directory()) or len(text) > _LONGEST_CHARACTERS:
            return
        with self._layout.locked():
            kept = with_newest(self.texts(), text)
            write_atomically(self._path, "".join(f"{one}\n" for one in kept).encode(errors="replace"))


def with_newest(texts: Sequence[str], text: str) -> list[str]:
    """Return the texts with this one as the newest, each once, and no more than are kept."""
    return [*(one for one in texts if one != text), text][-KEPT:]


def earlier(texts: Sequence[str], beginning: str, at: int) -> int | None:
    """Return the place of the previous text that begins in a given way; None if there is none.

    Args:
        texts: the newest last.
        beginning: what it begins with.
        at: place from which to go back, ``len(texts)`` at first.
    """
    return next((place for place in range(at - 1, -1, -1) if texts[place].startswith(beginning)), None)


def later(texts: Sequence[str], beginning: str, at: int) -> int | None:
    """Return the place of the next such text, as `earlier` does backwards."""
    return next((place for place in range(at + 1, len(texts)) if texts[place].startswith(beginning)), None)


_MOST = 30


class Completions(NamedTuple):
    """Words that can stand in place of an unfinished one.

    Attributes:
        start: where the unfinished word begins in the text.
        words: the possible words, the likeliest first.
    """

    start: int
    words: tuple[str, ...]


def completions(text: str, refs: Iterable[str]) -> Completions:
    """Return what can follow a text that ends at the cursor.

    Args:
        text: what stands before the cursor.
        refs: of buffers, the most recently used first.
    """
    *before, last = lexed(text).tokens or (Token(WORD, "", len(text), len(text)),)
    if last.kind != WORD or last.end < len(text):
        before, last = [*before, last], Token(WORD, "", len(text), len(text))
    word = last.text.removeprefix('"')
    start = len(text) - len(word)
    is_first = not before or before[-1].text == "|"
    if not word and text:
        return Completions(start, ())
    if word.startswith("@"):
        known: Iterable[str] = ["@last", *refs]
    elif word.startswith("--") and before and before[0].text == SHOW:
        known = show_options()
    elif is_first:
        known = [*sorted(GRAMMARS), *([] if before else [SHOW])]
    else:
        known = ()
    found = [one for one in known if one.startswith(word) and one != word]
    return Completions(start, tuple(found[:_MOST]))
