"""``sightline rules``: lists the known tools, shows how an output is read, and starts a rule for another tool."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from sightline.base.errors import UsageError
from sightline.base.private_files import make_folder, write_atomically
from sightline.base.regular_files import read_regular
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import Door, print_json, red, write_out
from sightline.light.typing_names import Any
from sightline.settings.plugins import own_rules, rule_files
from sightline.shape.clean import clean_line
from sightline.shape.failure.catalogue import RuleFile, with_added
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.failure_scan import FailureHit
from sightline.shape.failure.rule_check import check_rules
from sightline.shape.failure.rule_draft import Draft, count_in, odd_lines, shortened
from sightline.shape.memory_stream import BytesSource
from sightline.shape.source import Source
from sightline.shape.summary import summary
from sightline.shell_words.answers import Wrote, answer_of
from sightline.shell_words.exit_codes import MAY_ANSWER
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import programs_of
from sightline.store import Target
from sightline.verbs.printable_text import printable

_SHOWN_LINES = 200
_SHOWN_CHARACTERS = 100
_DRAFT_BYTES = 1 << 20  # bytes of an output that a rule is started from
_FEW_LINES = 10  # of standard error: a failed command that writes no more most often says there what went wrong
_NAME = re.compile(r"[\w-]+", re.ASCII)
_GENERAL = ("cause", "name", "exception", "located", "failed", "echo", "exit", "word", "minor")
"""Names for lines that no rule knows, by weight."""


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    if name == "rules try":
        made = command_parser(
            name,
            "Show how an output is read: which tools wrote it, which lines are failures and which rule says so, "
            "what is counted, and which summary follows from that.",
            "sightline rules try @last",
            "sightline rules try build.log --command 'frob --all' --exit 1 --rules frob.toml",
        )
        made.add_argument("output", metavar="OUTPUT", help="the ref of a kept output, or a file that holds one")
        made.add_argument("--command", default="", metavar="C", help="read it as the output of this command line")
        made.add_argument("--exit", type=int, metavar="N", help="read it as that of a command that ended with N")
        made.add_argument("--rules", default="", metavar="RULES", help="use this file of rules, too")
        return made
    if name == "rules new":
        made = command_parser(
            name,
            "Start a rule for a tool of yours from one of its outputs. It writes a file below the store's folder, "
            "which you then correct by hand. The rule applies from the next view on. Lines with the usual words "
            "(error, failed) are taken for failures; where a tool writes others, --failed says which lines.",
            "sightline rules new frob --from @last",
            "sightline rules new frob --from @last --failed 4,9-10",
        )
        made.add_argument("tool", metavar="NAME", help="the tool, as summaries are to call it")
        made.add_argument(
            "--from", dest="ref", required=True, metavar="REF", help="the output of that tool to start from"
        )
        made.add_argument(
            "--failed",
            default="",
            metavar="LINES",
            help=("the lines of that output that say what failed, such as 4,9-10"),
        )
        return made
    return command_parser(
        name,
        "List the tools whose output Sightline can read, and the files that hold their rules. Rules of your own and "
        "of packages come first. `sightline rules try OUTPUT` shows how an output is read, `sightline rules new "
        "NAME --from REF` starts a rule, and `sightline doctor` tries the rules that did not come with Sightline.",
        "sightline rules",
    )


def main(given: Namespace) -> int:
    """List the tools, and return the exit code."""
    with Door() as door:
        catalogue = with_added(rule_files(door.local.root))
        known = sorted(catalogue.known, key=lambda one: one.name not in catalogue.added)
        if given.json:
            print_json(
                [
                    {"tool": one.name, "added": one.name in catalogue.added, "file": one.file, "programs": one.programs}
                    for one in known
                ]
            )
            return 0
        width = max(len(one.name) for one in known)
        for one in known:
            place = one.file if one.name in catalogue.added else "ours"
            write_out(printable(f"{one.name:{width}}  {place}  {', '.join(one.programs)}".rstrip()) + "\n")
        return 0


def try_output(given: Namespace) -> int:
    """Show how an output is read, and return the exit code."""
    with Door() as door:
        files = rule_files(door.local.root)
        if given.rules:
            files = (*files, _checked(given.rules))
        with _opened(door, given) as (out, err, command, exit_code):
            examination = Examination(out, err, command, added=files)
            read = _read(examination, out, err, command, exit_code)
        if given.json:
            print_json(read)
        else:
            write_out("".join(f"{row}\n" for row in _rows(read)))
        return 0


def _checked(path: str) -> RuleFile:
    """Read a file of rules that is not installed yet. Raises UsageError if it is not one."""
    try:
        text = read_regular(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "--rules takes a file of rules") from error
    file = RuleFile(os.path.abspath(path), len(text), os.stat(path).st_mtime_ns)
    for check in check_rules(text, file):
        for problem in check.problems:
            write_out(red(printable(f"✗ {check.tool or path}: {problem}")) + "\n")
    return file


@contextmanager
def _opened(door: Door, given: Namespace) -> Iterator[tuple[Source, Source, str, int | None]]:
    """Open both streams of a buffer or a file, with the command and its exit code."""
    if given.output.startswith("@"):
        target = door.asking.resolve_whole(given.output)
        buffer = target.buffer
        exit_code = buffer.exit_code if given.exit is None else given.exit
        first, second = ("out", "err") if buffer.kind == "cmd" else (target.stream, "")
        with door.local.open(target._replace(stream=first)) as out:
            if not second:
                yield out, BytesSource(b""), given.command or buffer.command, exit_code
                return
            with door.local.open(target._replace(stream=second)) as err:
                yield out, err, given.command or buffer.command, exit_code
        return
    try:
        data = read_regular(given.output)
    except OSError as error:
        raise UsageError(
            f"{given.output} cannot be read: {error.strerror}", "give the ref of an output, such as @last, or a file"
        ) from error
    yield BytesSource(data), BytesSource(b""), given.command, given.exit


def _read(examination: Examination, out: Source, err: Source, command: str, exit_code: int | None) -> dict[str, Any]:
    """Encode how an output is read."""
    answer = answer_of(command, Wrote(bool(out.byte_count), bool(err.byte_count))) if exit_code in MAY_ANSWER else ""
    lines: list[dict[str, Any]] = []
    for stream, source in (("out", out), ("err", err)):
        hits = examination.failures(source).hits
        lines += [_line(examination, stream, source, hit) for hit in hits[: _SHOWN_LINES - len(lines)]]
    return {
        "tools": [rule.name for rule in examination.judge.rules],
        "given_up": examination.given_up,
        "summary": summary(out, err, exit_code=exit_code, answer=answer, examination=examination),
        "counts": {
            one.rule.name: {noun: number for noun, number in one.numbers.items() if number}
            for one in examination.tallies
            if one.numbers
        },
        "failures": lines,
        "named": [one.text for one in examination.failed],
    }


def _line(examination: Examination, stream: str, source: Source, hit: FailureHit) -> dict[str, Any]:
    verdict = examination.titled(hit, source, deep=True).verdict
    data = next(iter(source.lines(hit.line, hit.line))).data
    return {
        "stream": stream,
        "line": hit.line,
        "role": verdict.sort.role if verdict.sort else _GENERAL[verdict.rank],
        "rule": verdict.rule.name if verdict.rule else None,
        "name": verdict.name or None,
        "place": verdict.place or None,
        "text": examination.judge.telling_text(data)[:_SHOWN_CHARACTERS],
    }


def _rows(read: dict[str, Any]) -> Iterator[str]:
    yield f"tools    {printable(', '.join(read['tools'])) or 'none that is known'}"
    yield f"summary  {printable(read['summary'])}"
    for tool, numbers in read["counts"].items():
        yield f"counts   {tool}: {', '.join(f'{number} {noun}' for noun, number in numbers.items())}"
    if read["named"]:
        yield f"failed   {printable(', '.join(read['named']))}"
    for tool in read["given_up"]:
        yield red(f"given up {tool}: its patterns take too long on this output")
    for line in read["failures"]:
        by = line["rule"] or "(no rule)"
        stream = "" if line["stream"] == "out" else "err:"
        yield f"{stream + str(line['line']):>8}  {line['role']:9}  {by:16}  {printable(line['text'])}"
    if not read["failures"]:
        yield "no line of it looks like a failure"


def new(given: Namespace) -> int:
    """Start a rule from an output, and return the exit code."""
    if not _NAME.fullmatch(given.tool):
        raise UsageError(f"{given.tool!r} cannot be the name of a tool", "use letters, digits, - and _")
    with Door() as door:
        folder = own_rules(door.local.root)
        path = os.path.join(folder, f"{given.tool}.toml")
        if os.path.lexists(path):
            raise UsageError(f"{path} exists already", "correct that file, or move it away")
        draft = _draft_of(door, given, door.asking.resolve_whole(given.ref))
        if not draft.hits and (draft.exit_code or not count_in(draft.lines)):  # a success is known by its count alone
            raise UsageError(
                f"no line of {given.ref} looks like a failure, so no rule is started",
                f"`sightline query 'cat -n {given.ref}'` numbers the lines; name those that say what failed: "
                f"sightline rules new {given.tool} --from {given.ref} --failed 4,9-10",
            )
        text, found = _filled(draft)
        make_folder(folder)
        write_atomically(path, text.encode())
        if given.json:
            print_json({"file": path, "failures": found})
        else:
            write_out(f"{path}\n" + ("It takes these lines for failures:\n" if found else ""))
            for line in found or ["No line of the output looks like a failure; --failed LINES says which lines are."]:
                write_out(f"  {printable(line)}\n")
            write_out(f"Correct the file, and look with `sightline rules try {given.ref}` at how the output is read\n")
        return 0


def _draft_of(door: Door, given: Namespace, target: Target) -> Draft:
    """Draft a rule from the stream that a target names, or from standard error if only that tells of a failure."""
    buffer = target.buffer
    drafts = list[Draft]()
    for stream in ("out", "err") if buffer.kind == "cmd" and target.stream == "out" else (target.stream,):
        if buffer.stream(stream).bytes:
            with door.local.open(target._replace(stream=stream)) as source:
                drafts.append(_draft(given, buffer.command, buffer.exit_code, source, is_err=stream == "err"))
            if drafts[-1].hits:
                return drafts[-1]
    if not drafts:
        raise UsageError(f"{given.ref} is empty", "start the rule from an output that has lines")
    return drafts[0]


def _draft(given: Namespace, command: str, exit_code: int | None, source: Source, *, is_err: bool) -> Draft:
    """Gather what one output of a tool tells about it."""
    data = source.read(0, _DRAFT_BYTES)
    every = [clean_line(line) for line in data.split(b"\n") if line or data]
    while every and not every[-1]:
        every = every[:-1]
    hits = _failing(given.failed, every, BytesSource(data), exit_code)
    if not hits and is_err and exit_code and len(every) <= _FEW_LINES:
        hits = [number for number, line in enumerate(every, start=1) if line.strip()]
    lines, kept = shortened(every, hits)
    try:
        programs = [one.words[0] for one in programs_of(command)]
    except Unclear:
        programs = []
    program = given.tool if given.tool in command or not programs else programs[-1]
    return Draft(given.tool, program, command, exit_code, lines, kept)


def _failing(pointed_at: str, lines: list[str], examined: BytesSource, exit_code: int | None) -> list[int]:
    """Return the lines that say what failed: those a person named, else those with the usual words or another mark."""
    if pointed_at:
        named = sorted({number for part in pointed_at.split(",") for number in _numbers(part.strip(), len(lines))})
        return [number for number in named if lines[number - 1].strip()]
    hits = Examination(examined, BytesSource(b"")).failures(examined).hits
    usual = sorted({hit.line for hit in hits if not hit.verdict.rule and hit.line <= len(lines)})
    return usual or (odd_lines(lines) if exit_code else [])


def _numbers(text: str, last: int) -> range:
    found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    if not found or not 1 <= int(found[1]) <= int(found[2] or found[1]) <= last:
        raise UsageError(
            f"--failed: {text!r} names no lines of this output", f"name lines from 1 to {last}, such as 4,9-10"
        )
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def _filled(draft: Draft) -> tuple[str, list[str]]:
    """Return the draft's file, whose example promises what its rule finds in it, and the lines that the rule finds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "draft.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(draft.text())
        out = BytesSource("\n".join(draft.lines).encode())
        examination = Examination(out, BytesSource(b""), draft.command, added=(RuleFile(path),))
        own = [
            hit.line
            for hit in examination.failures(out).hits
            if hit.verdict.rule and hit.verdict.rule.name == draft.tool
        ]
        named = [one.text for one in examination.failed if one.rule.name == draft.tool]
        counts = next((one.numbers for one in examination.tallies if one.rule.name == draft.tool), {})
    counted = {noun: number for noun, number in counts.items() if number}
    return draft.text(own, named, counted), [draft.lines[number - 1] for number in own]
