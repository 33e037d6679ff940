"""The verb query: asks by ordinary Unix filters over refs, provably read-only, and never makes a new ref."""

from sightline.base.errors import BadRef, QueryRefused
from sightline.base.profile import DEFAULT
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any, Callable
from sightline.log.views import Shows
from sightline.pipeline.parse import ParsedQuery, QueryStage, parse, refuse_overlong
from sightline.pipeline.run import QueryLimits, QueryResult, run
from sightline.search.errors import ProgramMissing, SandboxFailed
from sightline.shape.clean import clean_text
from sightline.shape.segments import Segment
from sightline.store import Target
from sightline.verbs.asker import Asker, is_pasteable
from sightline.verbs.file_facts import telling_changes
from sightline.verbs.line_origins import lines_of, tracer
from sightline.verbs.reply import Reply, in_order
from sightline.verbs.requests import QueryRequest

with late_modules(globals()):
    from sightline.shape import (
        variants,  # 2 ms, not for views of the default profile
        whole_body,  # 1 ms: no output, no body
    )
    from sightline.verbs import (
        byte_wise,  # `re`: few queries are of JSON results
        pasted_marker,  # 4 ms, for markers and the log: most refs are typed
        typed_ref,  # 4 ms: most refs are right
    )

VERB = "query"
_APPENDED = "next goes at the end of the same pipeline"
_IN_ITS_PLACE = "next goes in place of the last stage of the same pipeline"
_SEARCHERS = ("grep", "egrep", "fgrep", "rg")


def query(asking: Asker, request: QueryRequest) -> Reply:
    """Ask a question of captured outputs.

    Raises:
        QueryRefused: the query is not a read-only pipeline over refs.
        BadRef, UnknownRef, ExpiredRef, AmbiguousRef: a ref in it names nothing.
        ProgramMissing, SandboxFailed: the query cannot run on this machine.
    """
    return _answered(asking, understood(asking, request.pipeline), VERB, request.logged(), request.sink)


def query_instead(asking: Asker, command: str, *, verb: str, logged: dict[str, Any]) -> Reply | None:
    """Answer a command that only asks about outputs, without a buffer of it; None if the shell must run it.

    Args:
        asking: who asks.
        command: a command line.
        verb: the verb of the call.
        logged: its arguments.

    Raises:
        BadRef, UnknownRef, ExpiredRef, AmbiguousRef: a ref in it names nothing.
    """
    try:
        question = _parsed(asking, command)
    except QueryRefused:
        return None
    if not question.targets or question.reads_bytes:
        return None
    try:
        return _answered(asking, question, verb, {**logged, "answered_by": VERB}, None)
    except (ProgramMissing, SandboxFailed):
        return None


class Question(NamedTuple):
    """A pipeline, and the outputs that it asks about.

    Attributes:
        pipeline: what runs.
        targets: what its refs name.
        reads_bytes: whether a program counts or copies the bytes of a JSON result, which it then gets as it was sent.
    """

    pipeline: ParsedQuery
    targets: dict[str, Target]
    reads_bytes: bool = False


def understood(asking: Asker, text: str) -> Question:
    """Return what a text asks or, if it is refused, what it plainly means. Raises what `query` raises."""
    refuse_overlong(text)
    if "…" in text:
        text = pasted_marker.without_marker(
            text, lambda marker: pasted_marker.ref_of(asking.local, asking.session, marker)
        )
    try:
        return _parsed(asking, text)
    except (QueryRefused, BadRef) as refusal:
        meant = typed_ref.retyped(text)
        if meant == text:
            raise
        try:
            return _parsed(asking, meant)
        except (QueryRefused, BadRef):
            raise refusal from None


def _parsed(asking: Asker, text: str) -> Question:
    targets: dict[str, Target] = {}

    def resolve(ref: str) -> str:
        targets[ref] = asking.resolve(ref)
        return asking.store.local_copy(targets[ref])

    pipeline = parse(text, resolve)
    question = Question(pipeline, {ref: targets[ref] for ref in pipeline.refs})
    if all(asking.store.pretty_facts(target) is None for target in question.targets.values()):
        return question
    as_bytes = byte_wise.reads_bytes([(stage.program, stage.words[1:]) for stage in pipeline.stages])
    stages = [
        _with_raw(asking, stage, question.targets) if is_raw else stage
        for stage, is_raw in zip(pipeline.stages, as_bytes, strict=True)
    ]
    return question._replace(pipeline=pipeline._replace(stages=tuple(stages)), reads_bytes=any(as_bytes))


def _with_raw(asking: Asker, stage: QueryStage, targets: dict[str, Target]) -> QueryStage:
    """Return a stage whose refs are the streams as they were captured, in place of the lines of JSON."""
    raw = {
        path: asking.store.local_copy(targets[ref], raw=True) for ref, path in zip(stage.refs, stage.paths, strict=True)
    }
    return stage._replace(
        argv=tuple(raw.get(word, word) for word in stage.argv), paths=tuple(raw[path] for path in stage.paths)
    )


def _answered(
    asking: Asker, question: Question, verb: str, logged: dict[str, Any], sink: Callable[[bytes], None] | None
) -> Reply:
    pipeline, targets, _ = question
    limits = QueryLimits(**asking.profile.query._asdict())
    result = run(pipeline, limits=limits, sink=sink, cancel=asking.cancel)
    fields = _fields(asking, result)
    names = {
        path: targets[ref].ref for stage in pipeline.stages for ref, path in zip(stage.refs, stage.paths, strict=True)
    }
    body = _body(result, names, asking.profile.cleaning.answers)
    missing = result.truncated or bool(result.next_page) or result.timed_out or result.exit_code is None
    shows = Shows(
        verb=verb,
        request=logged,
        refs=tuple(dict.fromkeys(target.buffer.name for target in targets.values())),
        lines_total=sum(lines_of(target) for target in targets.values()),
        bytes_total=sum(target.buffer.bytes for target in targets.values()),
        exit_code=result.exit_code,
        truncated=result.truncated,
    )
    find = tracer(asking.store, pipeline, result, targets, everything=sink is not None)
    reply = Reply(fields, body, shows, missing=missing, exit_code=_process_code(result), find_shown=find)
    if files := {target.buffer.name: target.buffer for target in targets.values() if target.buffer.kind == "file"}:
        reply = telling_changes(asking.store, reply, files.values())
    return reply if pipeline.stages[0].program in _SEARCHERS else reply.with_shown()


def _process_code(result: QueryResult) -> int:
    return 124 if result.timed_out else (130 if result.exit_code is None else result.exit_code)


def _fields(asking: Asker, result: QueryResult) -> dict[str, Any]:
    fields: dict[str, Any] = {"exit_code": result.exit_code, "timed_out": result.timed_out or None}
    if result.timed_out:
        fields["hint"] = "the query reached its time limit; narrow it, with grep first"
    if result.broken_off:
        fields["hint"] = "the query was ended, since it wrote far more than it read; the totals are those so far"
    if result.truncated:
        fields |= {
            "truncated": True,
            "stdout_shown": result.stdout_shown,
            "stdout_total": result.stdout_total,
            "total_bytes": result.stdout_bytes,
        }
        if result.stderr_total:
            fields |= {"stderr_shown": result.stderr_shown, "stderr_total": result.stderr_total}
        if result.clipped_bytes:
            fields["note"] = f"one line is larger than a reply: {result.clipped_bytes:,} bytes of it are not shown"
    if page := result.next_page:  # after a full page, there may be another
        if is_pasteable(page.pipeline):
            fields["next"] = asking.calls(VERB, pipeline=page.pipeline)
        else:
            fields["next"] = f"| {page.stage}"
            fields.setdefault("hint", _IN_ITS_PLACE if page.replaces else _APPENDED)
    return in_order(fields)


def _body(result: QueryResult, names: dict[str, str], cleaning: str) -> tuple[Segment, ...]:
    """Return the answer, with refs in place of the paths by which programs such as ``wc`` name their files."""

    def text(data: bytes) -> str:
        cleaned = clean_text(data) if cleaning == DEFAULT.cleaning.views else variants.text_of(data, cleaning)
        for path, ref in names.items():
            cleaned = cleaned.replace(path, ref)
        return cleaned

    segments = [Segment(text(result.stdout))] if result.stdout else []
    if result.stderr:
        if segments and not segments[-1].text.endswith("\n"):
            segments.append(Segment("\n"))
        segments += [whole_body.SEPARATOR, Segment(text(result.stderr))]
    return tuple(segments)
