"""What views of failed commands hold: the share that shows every line a reader must see to know why it failed.

    python -m benchmarks.failure_recall [--cases DIR | --made SET] [--misses N] [--only REGEX]

A folder of cases holds ``manifest.jsonl``, one JSON object a line (another manifest may be given instead of the
folder); the files it names lie beside it, plain or gzipped:

    id          its name
    kind        ``fail``, or ``ok`` for the output of a command that went well
    family      the tool that failed; the rows of the table
    command     what ran, as one shell line
    exit_code   how it ended
    files       ``{"combined": PATH}``, and ``stdout`` and ``stderr`` where the streams were kept apart
    labels      what must be seen: ``{"text": T}``, ``{"re": R}`` or ``{"any": [label, …]}``
    label_bytes bytes of the lines they stand on; a budget that 90 % of cannot hold them is not asked to (optional)
    farthest_label_from_end   bytes from the farthest label to the end (optional)
    counts      what the run counted, as ``{"failed": 2, "passed": 47}``; a list where several numbers are true, as in
                a log of several runs (optional)

Escape sequences are taken out of view and label, and runs of white space count as one blank. What agents and their
harnesses cut an output to stands beside ours at the same budget: its head, its tail, both in equal halves, and the
first lines of ``grep -iE 'error|fail'``, alone and with three lines around each (``-C3``). Rows that something is
aimed at have the aim beside our share. Below the table: what harnesses leave of such outputs, at sizes of their own;
numbers that a summary states and the run did not have; and replies that are larger than their budget. Where there are
any of the last two, it exits with 1.
"""

import argparse
import gzip
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from benchmarks.measure import Row

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT = os.path.join(HERE, "failures")
BUDGETS = (2048, 8192)
SUCCESS = 1024
FEASIBLE = 0.9
AIMS = {("ALL", "8 KiB"): 97, ("ALL", "2 KiB"): 85, ("ALL deep", "8 KiB"): 94, ("ALL deep", "2 KiB"): 78}
"""By row and heading: percent of outputs, of complete logs that no rule was written for, whose view has all labels."""
DEEP_BYTES = 8192
"""From where on a label counts as deep in the log: farther from the end than the larger budget."""

_ESCAPES = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78cDEHMNOPVWXZ]|[\x1b\x08]"
)
_ELIDED = b"\n[...]\n"


class Case(NamedTuple):
    """One output, as the manifest has it; ``out`` holds both streams where they were not kept apart."""

    entry: dict[str, Any]
    out: bytes
    err: bytes

    @property
    def failed(self) -> bool:
        return bool(self.entry["kind"] == "fail")

    @property
    def size(self) -> int:
        return len(self.out) + len(self.err)


class Told(NamedTuple):
    """What an agent gets: the reply as the command line prints it, its summary, and whether anything was left out."""

    reply: str
    summary: str
    truncated: bool


class Score(NamedTuple):
    """One view of one case: whether it holds all labels, whether any, and its size in bytes."""

    whole: bool
    some: bool
    size: int


def view(case: Case, verbosity: str) -> Told:
    """Our view of a case; the one place that knows how views are made."""
    from sightline.base.profile import DEFAULT as PROFILE
    from sightline.shape.failure.examination import Examination
    from sightline.shape.memory_stream import BytesSource
    from sightline.shape.segments import join_segments
    from sightline.shape.summary import summary
    from sightline.verbs.command_view import Ending, cut_view
    from sightline.verbs.head_line import head_line
    from sightline.verbs.next_call import cli_call
    from sightline.verbs.short_output import short_body

    exit_code = case.entry["exit_code"]
    out, err = BytesSource(case.out, "@cmd_a1b2c3"), BytesSource(case.err, "@cmd_a1b2c3.err")
    examination = Examination(out, err, case.entry["command"])
    told = summary(out, err, exit_code=exit_code, examination=examination)
    if verbosity == "auto" and (short := short_body(PROFILE, {"exit_code": exit_code}, out, err, None)):
        return Told(join_segments(short.segments), told, False)
    fields = {"output_id": out.ref, "exit_code": exit_code}
    shaped, fields = cut_view(
        cli_call,
        PROFILE,
        (out, err),
        Ending(exit_code),
        fields,
        verbosity=verbosity,
        examination=lambda: examination,
    )
    head = head_line(fields) if shaped.truncated else ""
    return Told(head + join_segments(shaped.segments), told, shaped.truncated)


def head_tail(data: bytes, budget: int) -> bytes:
    """The first and the last half of the budget."""
    half = (budget - len(_ELIDED)) // 2
    return data if len(data) <= budget else data[:half] + _ELIDED + data[-half:]


def head(data: bytes, budget: int) -> bytes:
    """The first bytes."""
    return data[:budget]


def tail(data: bytes, budget: int) -> bytes:
    """The last bytes."""
    return data[-budget:]


def grep(data: bytes, budget: int, around: int = 0) -> bytes:
    """What ``grep -iE 'error|fail'`` prints, as far as the budget goes; all of it where all of it fits.

    Args:
        data: the output.
        budget: bytes that are shown of what it prints.
        around: lines that it prints before and after each match, with ``--`` where some are left out.
    """
    if len(data) <= budget:
        return data
    lines = data.split(b"\n")
    printed = bytearray()
    following = 0
    for place in (place for place, line in enumerate(lines) if re.search(rb"(?i)error|fail", line)):
        first = max(following, place - around)
        gap = b"--\n" if around and following and first > following else b""
        following = max(following, place + around + 1)
        printed += gap + b"".join(line + b"\n" for line in lines[first:following])
        if len(printed) > budget:
            break
    return bytes(printed[:budget])


def grep_around(data: bytes, budget: int) -> bytes:
    """What ``grep -C3 -iE 'error|fail'`` prints, likewise."""
    return grep(data, budget, around=3)


NAIVE: dict[str, Callable[[bytes, int], bytes]] = {
    "head": head,
    "tail": tail,
    "head+tail": head_tail,
    "grep": grep,
    "grep -C3": grep_around,
}


def claude_code(data: bytes) -> bytes:
    """What Claude Code leaves of a failed command: of the first 30,000 bytes, 5,000 at either end."""
    first = data[:30_000]
    return first if len(first) <= 10_000 else first[:5_000] + _ELIDED + first[-5_000:]


def gemini_cli(data: bytes) -> bytes:
    """What Gemini CLI leaves of more than 40,000 bytes: the first 8,000 and the last 32,000."""
    return data if len(data) <= 40_000 else data[:8_000] + _ELIDED + data[-32_000:]


def opencode(data: bytes) -> bytes:
    """What opencode leaves: the last 2,000 lines, 50,000 bytes at most."""
    return b"".join(data.splitlines(keepends=True)[-2_000:])[-50_000:]


HARNESSES: dict[str, Callable[[bytes], bytes]] = {
    "Claude Code, 5,000 + 5,000 B of the first 30,000": claude_code,
    "Codex, 10,000 B from both ends": lambda data: head_tail(data, 10_000),
    "Gemini CLI, 8,000 + 32,000 B": gemini_cli,
    "opencode, the last 50,000 B": opencode,
}
"""What harnesses leave of a failed command's output before a model reads it, as tried in 2026-11."""

OURS = {"auto": ("auto", BUDGETS[1]), "2 KiB": ("concise", BUDGETS[0]), "8 KiB": ("normal", BUDGETS[1])}
"""Our views by heading: the verbosity, and the budget of a failure under it."""


def normalised(text: str) -> str:
    """The text without escape sequences, each run of white space one blank."""
    return re.sub(r"\s+", " ", _ESCAPES.sub("", text)).strip()


def holds(text: str, label: dict[str, Any]) -> bool:
    """Whether a normalised text shows a label."""
    if "any" in label:
        return any(holds(text, one) for one in label["any"])
    if "re" in label:
        return re.search(label["re"], text) is not None
    return normalised(label["text"]) in text


def score(case: Case, body: bytes) -> Score:
    """What a body shows of a case's labels."""
    text = normalised(body.decode("utf-8", "replace"))
    seen = [holds(text, label) for label in case.entry["labels"]]
    return Score(all(seen), any(seen), len(body))


def load(place: str, only: str = "") -> Iterator[Case]:
    """The cases of a folder or of a manifest whose id matches."""
    manifest = place if place.endswith(".jsonl") else os.path.join(place, "manifest.jsonl")
    folder = os.path.dirname(os.path.abspath(manifest))
    with open(manifest, encoding="utf-8") as lines:
        for line in filter(str.strip, lines):
            entry = json.loads(line)
            if not re.search(only, entry["id"]):
                continue
            files = {name: os.path.join(folder, path) for name, path in entry["files"].items()}
            if "stdout" in files:
                yield Case(entry, _read(files["stdout"]), _read(files["stderr"]))
            else:
                yield Case(entry, _read(files["combined"]), b"")


def made(name: str, only: str = "") -> Iterator[Case]:
    """The made cases of a set, or of ``all``, whose id matches."""
    from benchmarks.failures.made import CASES

    for one in CASES if name == "all" else (name,):
        yield from (Case(case.entry, case.data, b"") for case in CASES[one]() if re.search(only, case.entry["id"]))


def _read(path: str) -> bytes:
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        return bytes(file.read())


_STATED = re.compile(r"(\d[\d,]*) (?:tests? )?(passed|failed|failures?|errors?|skipped)\b(?! [a-z])")
"""A number of tests; in “1 failed package” it is one of something else."""

_SINGULAR = {"failure": "failed", "failures": "failed", "error": "errors"}


def untrue_counts(told: str, counts: dict[str, int | list[int]]) -> Iterator[str]:
    """What a summary states against a case's counts; a number that the case does not know of is not judged."""
    for match in _STATED.finditer(told):
        word = _SINGULAR.get(match[2], match[2])
        if word not in counts:
            continue
        allowed = counts[word] if isinstance(counts[word], list) else [counts[word]]
        if int(match[1].replace(",", "")) not in allowed:  # type: ignore[operator]
            yield f"says “{match[0]}”, the run had {' or '.join(map(str, allowed))}"  # type: ignore[arg-type]


class Result(NamedTuple):
    """One case: scores of each view by heading and way (``ours`` or a naive one), and what is wrong with it.

    A heading whose budget could not hold the labels' lines is missing from ``scores``. ``harnesses`` has what each of
    these leaves.
    """

    case: Case
    scores: dict[str, dict[str, Score]]
    wrong: list[str]
    missing: dict[str, list[dict[str, Any]]]
    harnesses: dict[str, Score]


def measure(case: Case, headings: Collection[str] = OURS, beside: Collection[str] = NAIVE) -> Result:
    """The views of a case under some headings of `OURS`, or under all; beside them the naive ways that are named."""
    entry = case.entry
    wrong: list[str] = []
    scores: dict[str, dict[str, Score]] = {}
    missing: dict[str, list[dict[str, Any]]] = {}
    for heading, (verbosity, budget) in OURS.items():
        if heading not in headings or (not case.failed and verbosity != "auto"):
            continue
        budget = budget if case.failed else SUCCESS
        told = view(case, verbosity)
        body = told.reply.encode()
        if verbosity == "auto":
            wrong += untrue_counts(told.summary, entry.get("counts", {}))
        if told.truncated and len(body) > budget:
            wrong.append(f"the reply at {heading} has {len(body):,} B")
        if not entry.get("labels") or entry.get("label_bytes", 0) > FEASIBLE * budget:
            continue
        data = case.out + case.err
        scores[heading] = {"ours": score(case, body)}
        scores[heading] |= {name: score(case, NAIVE[name](data, budget)) for name in beside}
        text = normalised(told.reply)
        missing[heading] = [label for label in entry["labels"] if not holds(text, label)]
    cut = {name: score(case, way(case.out + case.err)) for name, way in HARNESSES.items() if beside}
    return Result(case, scores, wrong, missing, cut)


def table(results: Sequence[Result]) -> Iterator[str]:
    """The lines of the table: families, then all, those larger than the budget, and those with a label deep in them."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.case.entry["family"], []).append(result)
    rows = [(name, groups[name]) for name in sorted(groups)]
    rows.append(("ALL", list(results)))
    rows.append(("ALL over 8 KiB", [one for one in results if one.case.size > BUDGETS[1]]))
    rows.append(("ALL deep", [one for one in results if one.case.entry.get("farthest_label_from_end", 0) > DEEP_BYTES]))
    naive = "".join(f"{name:>10}" for name in NAIVE)
    above = f"{'':22}{'':16}"
    head = f"{'family':22}{'cases':>6}{'KiB in':>10}"
    for heading in OURS:
        aim, ways = ("", "") if heading == "auto" else (f"{'aim':>6}", naive)
        above += f" | {heading:<{20 + len(aim + ways)}}"
        head += f" | {'all':>5}{aim}{'any':>6}{'KiB out':>9}{ways}"
    yield above
    yield head
    for name, members in rows:
        if members:
            yield _row(name, members)


def _row(name: str, members: Sequence[Result]) -> str:
    line = f"{name[:21]:22}{len(members):>6}{sum(one.case.size for one in members) / 1024:>10,.1f}"
    for heading in OURS:
        scores = [one.scores[heading] for one in members if heading in one.scores]
        ours = [one["ours"] for one in scores]
        kib = sum(one.size for one in ours) / 1024
        line += f" | {_share(one.whole for one in ours):>5}"
        if heading != "auto":
            aim = AIMS.get((name, heading))
            line += f"{f'≥{aim}%' if aim else '':>6}"
        line += f"{_share(one.some for one in ours):>6}{kib:>9,.1f}"
        if heading != "auto":
            line += "".join(f"{_share(one[way].whole for one in scores):>10}" for way in NAIVE)
    return line


def _share(hits: Iterable[bool]) -> str:
    found = list(hits)
    return f"{100 * sum(found) / len(found):.0f}%" if found else "–"


def rows(_folder: str, scale: float) -> list["Row"]:
    """For the table of ``python -m benchmarks``: of the default set, the percentage that is not shown whole."""
    from benchmarks.measure import Row  # here, since run as a plain file this has no package around it

    cases = [case for case in load(DEFAULT) if case.failed]
    results = [measure(case) for case in cases[:: max(1, round(0.3 / scale))]]
    found = []
    for heading, aim in (("2 KiB", 15.0), ("8 KiB", 5.0)):
        scores = [one.scores[heading] for one in results if heading in one.scores]
        missed = {way: sum(not one[way].whole for one in scores) for way in ("ours", *NAIVE)}
        naive = ", ".join(f"{way} {missed[way]}" for way in NAIVE)
        share = 100 * missed["ours"] / len(scores)
        what = f"failures not shown whole at {heading}, %"
        found.append(Row(what, f"{missed['ours']} of {len(scores)}", naive, share, aim))
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where a summary is untrue or a view too large."""
    about, _, more = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.failure_recall",
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", default=DEFAULT, metavar="DIR", help="a folder of cases, or a manifest (.jsonl)")
    parser.add_argument(
        "--made", default="", metavar="SET", help="cases made by rule, of failures/made, or all of them"
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose id matches")
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="name N cases that miss a label, and which")
    given = parser.parse_args(words)
    cases = made(given.made, given.only) if given.made else load(given.cases, given.only)
    results = [measure(case) for case in cases]
    failing = [one for one in results if one.case.failed]
    labelled = [one for one in results if not one.case.failed and "auto" in one.scores]
    if labelled:
        shown = sum(one.scores["auto"]["ours"].whole for one in labelled)
        print(f"successes that say of something that it failed: {shown} of {len(labelled)} show the line")
    if failing:
        print("\n".join(table(failing)))
    for name in HARNESSES if failing else ():
        left = [one.harnesses[name] for one in failing]
        size = sum(one.size for one in left) / len(left) / 1024
        print(f"{name}: {_share(one.whole for one in left)} hold all labels, {size:.1f} KiB each")
    unfit = [sum(heading not in one.scores for one in failing) for heading in ("2 KiB", "8 KiB")]
    print(f"left out, lines of the labels over 90 % of the budget: {unfit[0]} at 2 KiB, {unfit[1]} at 8 KiB")
    for heading in ("8 KiB", "2 KiB"):
        missed = [one for one in failing if one.missing.get(heading)]
        for one in missed[: given.misses]:
            labels = json.dumps(one.missing[heading], ensure_ascii=False)
            print(f"  missed at {heading}: {one.case.entry['id']}: {labels[:200]}")
    counted = sum("counts" in one.case.entry for one in results)
    wrong = [f"{one.case.entry['id']}: {what}" for one in results for what in one.wrong]
    print(f"{counted} summaries compared, {len(results) - len(failing)} views of successes: {len(wrong)} violations")
    print("".join(f"  ! {what}\n" for what in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
