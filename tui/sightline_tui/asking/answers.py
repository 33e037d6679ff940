"""Answers to what was asked in the query bar: by the very verbs that agents call, logged as a person's.

Reading an output here does not count as a use of it, so the order of the list stays as it is.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

from sightline.base.errors import SightlineError, StoreFailed
from sightline.base.profile import load_profile
from sightline.base.refs import parse_ref
from sightline.light.named_tuple import NamedTuple
from sightline.log.views import record_view
from sightline.pipeline.argument_check import Argument, check
from sightline.pipeline.parse import ParsedQuery, QueryStage, parse
from sightline.pipeline.ranges import exact_ranges
from sightline.pipeline.run import QueryLimits
from sightline.search.processes import Cancel
from sightline.shape.segments import Segment
from sightline.store import Reading, Target
from sightline.verbs import query as query_verb
from sightline.verbs import read_output as read_verb
from sightline.verbs import requests
from sightline.verbs.arguments import written_options
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.reply import Reply, error_reply
from sightline_tui.asking.question import SHOW, PartQuestion, QueryQuestion
from sightline_tui.common.answer_text import AnswerSpool, AnswerText, ReadableLines
from sightline_tui.common.places import FoundPlace
from sightline_tui.common.sessions import person_session

_NUMBERED = re.compile(r"(?:(@[^\s:]+):)?([0-9]{1,15})[:-]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SEARCHERS = ("grep", "egrep", "fgrep", "rg")
_KEEP_LINES = ("head", "tail", "sort", "uniq", "tac", *_SEARCHERS)  # these pass lines on as they are …
_NUMBERING = {"-n", "--line-number"}
_COUNTING = {"-c", "--count"}
_REWRITE = {  # … but with these options
    "uniq": _COUNTING,
    **{program: {*_NUMBERING, *_COUNTING, "-o", "--only-matching"} for program in _SEARCHERS},
}

FindHit = Callable[[int, str], FoundPlace | None]
"""Finds the line of an output that a line of an answer shows, by number and text; raises what the store raises."""


class Answer(NamedTuple):
    """What was answered.

    Attributes:
        asked: the question, with every ref that it reads.
        fields: name to value, as an agent would get them.
        text: the body.
        find_hit: finds the line of an output that a line of the body shows.
        is_whole: whether the body is all of a query's answer, rather than what a reply has room for.
    """

    asked: PartQuestion | QueryQuestion
    fields: dict[str, Any]
    text: ReadableLines
    find_hit: FindHit
    is_whole: bool = False

    @property
    def is_error(self) -> bool:
        """Whether the question was refused; the fields say why."""
        return "error" in self.fields


def person(store: Reading) -> Asker:
    """Return the asker for the inspector, with verbs as the query bar writes them."""
    shared = None if store is store.local else store
    return Asker(store.local, person_session(), bar_call, load_profile(store.settings.profile), shared=shared)


def bar_call(verb: str, **arguments: Any) -> str:
    """Write a call of a verb as the query bar takes it."""
    if verb == query_verb.VERB:
        return str(arguments["pipeline"])
    if verb == read_verb.VERB:
        options = written_options(requests.ReadRequest, arguments)
        return " ".join([SHOW, arguments["ref"], *(_option_text(*one) for one in options)])
    return " ".join([verb, *map(str, arguments.values())])


def _option_text(option: str, value: Any) -> str:
    return option if value is None else f"{option} {shlex.quote(str(value))}"


def text_of(asked: PartQuestion | QueryQuestion) -> str:
    """Write the question so that it can be typed again."""
    if isinstance(asked, QueryQuestion):
        return asked.text
    return bar_call(read_verb.VERB, **asked.request.logged())


def fields_text(fields: dict[str, Any]) -> str:
    """Write the fields on one line: ``[exit_code=0 next="…"]``."""
    return "[" + " ".join(f"{name}={value_text(value)}" for name, value in fields.items()) + "]\n" if fields else ""


def value_text(value: Any) -> str:
    """Write the value of a field as JSON, a plain word without quotes."""
    written = json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) and re.fullmatch(r"[\w@.:~+/,-]+", value) else written


def whole_of(asked: PartQuestion | QueryQuestion) -> QueryQuestion | None:
    """Return the query whose whole answer a key shows; None for a page, since the viewer shows the whole output."""
    if isinstance(asked, QueryQuestion):
        return asked
    request = asked.request
    if not request.search:
        return None
    flags = "" if request.ignore_case is False else "i"
    stream = f"{request.ref.partition('.')[0]}.{request.stream}" if request.stream else request.ref
    return QueryQuestion(f"rg -n{flags} -e {shlex.quote(request.search)} {stream}")


def answer(asking: Asker, asked: PartQuestion | QueryQuestion, cancel: Cancel, show: Callable[[Answer], None]) -> None:
    """Answer a question, log the reply, then show it. A refusal is logged and shown in the same way."""
    verb, logged = _call(asked)
    asking = asking._replace(cancel=cancel)
    try:
        asking.local.obey_settings()
        reply = (
            query_verb.query(asking, requests.QueryRequest(asked.text))
            if isinstance(asked, QueryQuestion)
            else read_verb.read_output(asking, asked.request)
        )
    except SightlineError as error:
        reply = error_reply(error, verb, logged)
    if cancel.cancelled:  # nobody waits for it any more, so it is not logged as seen
        return

    def send(_: str) -> None:
        show(Answer(asked, reply.fields, AnswerText(reply.text), _finder(asking, asked, reply)))

    deliver(asking, reply, _render, send, is_use=False)


def whole_answer(asking: Asker, asked: QueryQuestion, cancel: Cancel) -> Answer:
    """Spool all of a query's answer to a file; log it with its size and hash.

    Raises:
        SightlineError: as the query, or the settings are wrong now; OSError: the disk takes no more.
    """
    store, asking = asking.local, asking._replace(cancel=cancel)
    store.obey_settings()
    names = {path.encode(): ref.encode() for ref, path in _paths(asking, asked.text).items()}
    spool = AnswerSpool(store.root, names, cancel)
    try:
        reply = query_verb.query(asking, requests.QueryRequest(asked.text, sink=spool.feed))
        if spool.full:
            reply.fields["note"] = f"the answer is larger than {spool.bytes:,} bytes: this is its beginning"
        reading = spool.ended(reply.text.encode(errors="surrogateescape"))
    except BaseException:
        spool.close()
        raise
    shows = reply.with_shown().shows
    streamed = {"streamed": True, "answer_bytes": spool.bytes, "answer_sha256": spool.sha256}
    fields = {**reply.fields, "stdout_total": reading.line_count, "total_bytes": spool.bytes}
    if not cancel.cancelled or spool.full:  # else it is not logged as seen
        try:
            request = {**shows.request, **streamed}
            record_view(store, asking.session, shows._replace(request=request), _render(reply._replace(fields=fields)))
        except StoreFailed as error:
            fields["warning"] = error.message
    return Answer(asked, fields, reading, _finder(asking, asked, reply), is_whole=True)


def _render(reply: Reply) -> tuple[Segment, ...]:
    return (Segment(fields_text(reply.fields)), *reply.body)


def _call(asked: PartQuestion | QueryQuestion) -> tuple[str, dict[str, Any]]:
    if isinstance(asked, QueryQuestion):
        return query_verb.VERB, requests.QueryRequest(asked.text).logged()
    return read_verb.VERB, asked.request.logged()


def _finder(asking: Asker, asked: PartQuestion | QueryQuestion, reply: Reply) -> FindHit:
    if isinstance(asked, QueryQuestion):
        return lambda number, text: _hit_of_query(asking, asked.text, number, text)
    places = list(_places(reply.body))
    return lambda number, _: places[number - 1] if number <= len(places) else None


def _places(body: tuple[Segment, ...]) -> Iterator[FoundPlace | None]:
    """Yield the line behind each line of a body whose segments name their lines."""
    line_is_open = False
    for segment in body:
        ref = parse_ref(segment.ref) if segment.ref else None
        for place, line in enumerate(_LINE.findall(segment.text)):
            if not line_is_open:
                number = min(segment.first + place, segment.last)
                yield FoundPlace(ref.name, ref.stream or "out", number) if ref else None
            line_is_open = not line.endswith("\n")


def _hit_of_query(asking: Asker, text: str, number: int, line: str) -> FoundPlace | None:
    parsed = parse(text, lambda ref: _resolved(asking, ref)[1])
    targets = {ref: _resolved(asking, ref)[0] for ref in parsed.refs}
    if _numbers_lines(parsed) and (match := _NUMBERED.match(line)):
        refs = [match[1]] if match[1] else parsed.refs
        target = next((one for ref, one in targets.items() if ref in refs or one.ref in refs), None)
        if target is not None and (match[1] or len(targets) == 1):
            return FoundPlace(target.buffer.name, target.stream, int(match[2]))
    limits = QueryLimits(**asking.profile.query._asdict())
    ranges = exact_ranges(parsed, number, lines_of=lambda ref: _lines_of(targets[ref]), limits=limits)
    for ref, found in (ranges or {}).items():
        if found:  # the lines ascend, so the last one of that many is behind the chosen line
            return FoundPlace(targets[ref].buffer.name, targets[ref].stream, found[-1][1])
    return None


def _numbers_lines(parsed: ParsedQuery) -> bool:
    """Return whether each line of the answer begins with its line number."""
    first, *rest = parsed.stages
    if first.program not in _SEARCHERS or any(stage.program not in _KEEP_LINES for stage in rest):
        return False
    if not _NUMBERING & _options(first, first=True):
        return False
    return not any(_REWRITE.get(stage.program, set()) & _options(stage, first=False) for stage in rest)


def _options(stage: QueryStage, *, first: bool) -> set[str]:
    pairs = zip(stage.words[1:], stage.argv[1:], strict=False)
    call = check(stage.program, [Argument(word, word != given) for word, given in pairs], first=first)
    return {option.name for option in call.options}


def _paths(asking: Asker, text: str) -> dict[str, str]:
    """Return the path that the query reads for each ref that the answer names."""
    found: dict[str, str] = {}

    def resolve(ref: str) -> str:
        target, path = _resolved(asking, ref)
        found[target.ref] = path
        return path

    parse(text, resolve)
    return found


def _resolved(asking: Asker, ref: str) -> tuple[Target, str]:
    target = asking.resolve(ref)
    return target, asking.store.local_copy(target)


def _lines_of(target: Target) -> int:
    return target.buffer.lines if target.stream == "all" else target.buffer.stream(target.stream).lines
