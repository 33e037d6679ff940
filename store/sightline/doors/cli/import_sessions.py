"""``sightline import``: imports past sessions of harnesses from the transcripts that these leave."""

import gc
import os
import threading
from collections.abc import Iterable

from sightline.agents.past_sessions.follower import Follower
from sightline.agents.past_sessions.importer import ImportCounts, Importer
from sightline.agents.past_sessions.live_transcript import catch_up
from sightline.doors.cli.confirmation import can_ask, is_agreed
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import dim, print_json, write_err, write_out
from sightline.doors.terminal.progress_line import ProgressLine, bar
from sightline.harnesses.formats import TranscriptSource, find_sources, transcribing, usual_places
from sightline.harnesses.transcript import NotReadable
from sightline.shape.summary import human_bytes
from sightline.store import Store
from sightline.verbs.printable_text import printable

_TOLD = 10  # troubles that are listed; the count covers all of them
_GARBAGE_OBJECTS = 200_000


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        f"Import past sessions of {', '.join(one.title for one in transcribing())}: "
        "each call of a tool becomes an output and a reply, with the time of the call. What was imported before is "
        "not imported again. Where a transcript has only a part of an output, the output is marked as partial. "
        "Without a path, sessions are looked for where these harnesses keep them.",
        "sightline import --yes",
        "sightline import ~/.claude/projects --follow",
        "sightline import --otlp spans.json",
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="a transcript, or a folder that holds some")
    made.add_argument(
        "--otlp",
        default="",
        metavar="FILE",
        help="import spans of OpenTelemetry (OTLP/JSON), such as `sightline export --otlp` writes; an output that they "
        "only give the hash of is partial",
    )
    made.add_argument(
        "--yes", action="store_true", help="import what is found in the usual places without asking first"
    )
    made.add_argument("--follow", action="store_true", help="keep importing while sessions go on, until Ctrl-C")
    return made


def main(given: Namespace) -> int:
    """Run the command, and return its exit code."""
    if given.otlp:
        from sightline.harnesses.otlp import has_spans  # few imports are of spans

        if not has_spans(given.otlp):
            raise NotReadable(f"{given.otlp} has no spans of OpenTelemetry", "`sightline export --otlp` writes some")
        given.paths.append(given.otlp)
    paths = [os.path.abspath(path) for path in given.paths] or [place.path for place in usual_places()]
    sources = [source for path in paths for source in find_sources(path)]
    if not given.paths and not _is_wanted(sources, yes=given.yes):
        return 2 if sources else 0
    gc.set_threshold(_GARBAGE_OBJECTS)  # records form no cycles; to look for some takes a tenth of the time
    with Store() as store:
        catch_up(store)  # otherwise calls that still wait would be imported twice
        line, done, total = ProgressLine(), 0, sum(source.size for source in sources)

        def told(size: int) -> None:
            nonlocal done
            done += size
            line.show(f"{bar(done / max(total, 1))} of {human_bytes(total)}")

        importer = Importer(store, progress=told)
        try:
            importer.run(sources)
        finally:
            line.remove()
        _tell(importer, as_json=given.json)
        if given.follow:
            _follow(importer, paths, as_json=given.json)
    counts = importer.counts
    if given.paths and counts.foreign and not (counts.transcripts or counts.unchanged):
        write_err("none of it is a transcript of a known harness: `sightline import --help` names these\n")
        return 1
    return 0


def _is_wanted(sources: list[TranscriptSource], *, yes: bool) -> bool:
    """Return whether the sessions found in the usual places are to be imported."""
    if not sources:
        write_err("no past sessions were found in the usual places: name a transcript, or a folder with some\n")
        return False
    for place in usual_places():
        here = [source for source in sources if _is_below(source.path, place.path)]
        if here:
            size = human_bytes(sum(source.size for source in here))
            write_err(
                printable(f"{place.name}: {len(here):,} file{'' if len(here) == 1 else 's'}, {size}, {place.path}")
                + "\n"
            )
    if yes:
        return True
    if not can_ask():
        write_err("to import them: `sightline import --yes`, or name a path\n")
        return False
    return is_agreed("import them?")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _tell(importer: Importer, *, as_json: bool) -> None:
    counts = importer.counts
    if as_json:
        print_json({**counts._asdict(), "troubles": [one._asdict() for one in importer.troubles]})
        return
    for one in importer.troubles[:_TOLD]:
        place = f"{one.path}:{one.line}" if one.line else one.path
        write_err(dim(printable(f"{place}: {one.text}")) + "\n")
    if len(importer.troubles) > _TOLD:
        write_err(dim(f"{counts.damaged + counts.unknown - _TOLD:,} more such records; --json lists them") + "\n")
    write_out(summary(counts) + "\n")
    if counts.waiting:
        kept = "transcript is still being written" if counts.waiting == 1 else "transcripts are still being written"
        write_err(f"{counts.waiting:,} {kept}: calls in it that go on wait; a later import takes them, or --follow\n")
    if counts.left_out or counts.evicted:
        write_err(_limits(importer) + "\n")


def _limits(importer: Importer) -> str:
    """Say what did not fit into the store's limits."""
    counts, limits = importer.counts, importer.limits
    gone = f"{_counted(counts.evicted, 'older output')} gave way" if counts.evicted else ""
    left = f"{_counted(counts.left_out, 'older transcript')} not read" if counts.left_out else ""
    return (
        f"the store keeps {_counted(limits.max_buffers, 'output')} and {human_bytes(limits.max_bytes)}: "
        f"{', '.join(filter(None, (gone, left)))}; "
        "to have more, raise max_buffers and max_bytes in config.toml before importing"
    )


def summary(counts: ImportCounts) -> str:
    """Sum up an import in one line."""
    told = [f"{_counted(counts.calls, 'call')} of {_counted(counts.sessions, 'session')} imported"]
    for count, noun in (
        (counts.partial, "partial"),
        (counts.known, "known before"),
        (counts.own, "answered by Sightline itself"),
        (counts.off, "where capturing is off"),
    ):
        if count:
            told.append(f"{count:,} {noun}")
    told.append(f"{_counted(counts.transcripts, 'transcript')} read ({human_bytes(counts.bytes)})")
    if counts.unchanged:
        told.append(f"{counts.unchanged:,} unchanged")
    if counts.foreign:
        told.append(f"{_counted(counts.foreign, 'file')} of no known format")
    if counts.damaged:
        told.append(_counted(counts.damaged, "damaged record"))
    if counts.unknown:
        told.append(_counted(counts.unknown, "record") + " of unknown sorts")
    return ", ".join(told)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _follow(importer: Importer, paths: Iterable[str], *, as_json: bool) -> None:
    def told(came: int) -> None:
        if as_json:
            print_json({"calls": came})
        else:
            write_out(f"{_counted(came, 'call')} imported\n")

    def polls(reason: str) -> None:
        write_err(f"looking for changes instead of watching: {reason}\n")

    try:
        Follower(importer, paths).follow(threading.Event(), told, polls)
    except KeyboardInterrupt:
        _tell(importer, as_json=as_json)
