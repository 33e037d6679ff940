"""Sums up an output in one honest sentence: what its tools count and name, how it ended, and how much text it has.

A number that the output does not give is not stated, and the sentence says so if the exit code contradicts the output.
"""

from sightline.light.late_pattern import re
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING
from sightline.shape.source import Source
from sightline.shell_words.exit_codes import meaning_of

if TYPE_CHECKING:
    from collections.abc import Container

    from sightline.shape.failure.examination import Examination
    from sightline.shape.failure.failure_scan import NamedFailure
    from sightline.shape.failure.tallies import ToolTally

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")


def summary(
    out: Source,
    err: Source,
    *,
    exit_code: int | None,
    seconds: float | None = None,
    signal: int = 0,
    timed_out: bool = False,
    running: bool = False,
    told_elsewhere: bool = False,
    answer: str = "",
    examination: "Examination | None" = None,
    quiet: "Examination | None" = None,
    at_most: int | None = None,
) -> str:
    """Sum up, as in ``47 passed, 2 failed — FAILED: test_a, test_b (exit 1 after 3.2 s; 2,004 lines, 64.0 KiB)``.

    A number that no line states is marked, ``173 passed (counted)``: it was counted, or added up, from the lines.
    Where no failure has a name, the line that explains most is quoted behind that. Without any count it is ``failed
    with exit 1 after 3.2 s: 2,004 lines, 64.0 KiB — row 17: expected 4 fields``, which quotes the line that explains
    most. A success is ``ok in 3.2 s: 2,004 lines, 64.0 KiB``; if some of its lines report a failure, these are
    counted and the worst is quoted.

    Args:
        out: standard output.
        err: standard error; the counts of lines and bytes include both.
        exit_code: the exit code; None if it is not known, or there is none.
        seconds: how long it ran, or has been running; None if that is not known.
        signal: number of the signal that ended it; 0 for none.
        timed_out: whether the time limit ended it.
        running: whether it still runs, so that nothing is said about its end.
        told_elsewhere: whether the caller shows an exit code that is not known here.
        answer: what the exit code answers, such as ``no match``, if that is no failure; else empty.
        examination: what is known of the output; None if it was not examined.
        quiet: what is known of a success with lines that report a failure; None if it has none.
        at_most: bytes of the sentence; None for as many as it takes. A shorter one names fewer failures.
    """
    ending = _ending(exit_code, seconds, signal, timed_out, running, told_elsewhere, answer)
    amount = _amount(out, err)
    if examination is None or running:
        return _within(at_most, [f"{ending}: {amount}"])
    failed = timed_out or bool(signal) or (bool(exit_code) and not answer)
    told = [tally for tally in examination.tallies if any(tally.numbers.values())]
    if examination.report and not failed:
        told = []  # a success may write of others' failures in JSON
    bad = any(tally.bad for tally in told)
    names = examination.failed if failed or bad else []
    quoted = None if any(one.name for one in names) and bad else _quoted(examination, quiet, failed=failed or bad)
    if quoted and all(one.text in quoted.text for one in names):
        names = []
    if told:
        against = ""
        if failed and not bad:
            against = "failed, though what is counted says nothing of it: "
        elif bad and exit_code == 0:
            against = "exit 0, though failures are counted: "

        def sentence(naming: _Naming, size: str) -> str:
            parts = [_told(one, names if failed or one.bad else [], len(told) > 1, naming) for one in told]
            return f"{against}{'; '.join(parts)} ({ending}{'; ' if size else ''}{size}){_quote(quoted, naming)}"

    else:
        unread = _unread(examination.tallies, examination.run)
        if quoted:  # which says where it was
            names = [one for one in names if one.name and one.name not in quoted.text]

        def sentence(naming: _Naming, size: str) -> str:
            named = _listed(names, naming) if failed else ""
            sized = f"{': ' if size else ''}{size}{unread if size else ''}"
            return f"{ending}{sized}{_quote(quoted, naming)}{named}"

    if at_most is None:
        return sentence(_NAMINGS[0], amount)
    ways = [(naming, amount) for naming in _NAMINGS if naming.names <= max(1, len(names))]
    ways += [(_NAMINGS[-1], ""), (_NO_NAMES, amount), (_NO_NAMES, "")]
    return _within(at_most, [sentence(*way) for way in ways])


class _Quoted(NamedTuple):
    """A line of the output, and the words before it."""

    before: str
    text: str


def _quoted(examination: "Examination", quiet: "Examination | None", *, failed: bool) -> _Quoted | None:
    """Return the line that explains most, if something failed or a success says so."""
    if failed:
        reason = examination.reason
        return _Quoted("" if reason.is_failure else "last line: ", reason.text) if reason else None
    if quiet is None or not (reason := quiet.reason):
        return None
    count = quiet.total
    what = "of level error" if quiet.is_log else f"report{'s' if count == 1 else ''} a failure"
    return _Quoted(f"{counted(count, 'line')} {what}: ", reason.text)


def _quote(quoted: _Quoted | None, naming: "_Naming") -> str:
    return f" — {quoted.before}{one_line(quoted.text, naming.quoted)}" if quoted and naming.quoted else ""


class _Naming(NamedTuple):
    """How many names a sentence has, how long each may be, and how long the quoted line."""

    names: int
    characters: int
    quoted: int = 200


_NAMINGS = tuple(
    _Naming(*one)
    for one in (
        (6, 100), (5, 80), (4, 80), (3, 80), (2, 80), (3, 48), (2, 48), (1, 100), (1, 100, 140), (1, 60, 100),
        (1, 32, 80),
    )
)  # fmt: skip
"""From the most and longest names to the fewest; the view has the others."""

_NO_NAMES = _Naming(0, 0, 0)


def _within(at_most: int | None, sentences: list[str]) -> str:
    """Return the first of some sentences that fits; else the last, cut between two of its parts."""
    for sentence in sentences:
        if at_most is None or len(sentence.encode()) <= at_most:
            return sentence
    cut = sentences[-1].encode()[: max(0, (at_most or 0) - len("…".encode()))].decode(errors="ignore")
    end = max(cut.rfind(", "), cut.rfind("; "))
    return (cut[:end] if end > 0 else re.split(r"\d", cut, maxsplit=1)[0].rstrip(" (:,;")) + "…"


def _told(tally: "ToolTally", failed: list["NamedFailure"], several: bool, naming: _Naming) -> str:
    """Word what one tool counts, and what it names as failed."""
    numbers = ", ".join(
        _counted(number, noun) + (" (counted)" if noun in tally.counted else "")
        for noun, number in tally.numbers.items()
        if number
    )
    text = f"{tally.rule.name}: {numbers}" if several else numbers
    return text + _listed([one for one in failed if one.rule is tally.rule], naming)


def _listed(names: list["NamedFailure"], naming: _Naming) -> str:
    if not names or not naming.names:
        return ""
    word = "FAILED" if any(one.name for one in names) else "at"
    texts = [one.text for one in names[: naming.names]]
    prefix = _common_prefix(texts) if max(map(len, texts)) > naming.characters else ""
    listed = ", ".join(_last_part(text[len(prefix) :], naming.characters) for text in texts)
    more = ", …" if len(names) > naming.names else ""
    return (
        f" — {word}: {_last_part(prefix, naming.characters)}{{{listed}{more}}}"
        if prefix
        else f" — {word}: {listed}{more}"
    )


def _common_prefix(texts: list[str]) -> str:
    """Return the beginning that several names share, up to the end of a part of them, if saying it once is shorter."""
    if len(texts) < 2:
        return ""
    least = min(map(len, texts))
    shared = texts[0][: next((at for at in range(least) if len({text[at] for text in texts}) > 1), least)]
    end = max(shared.rfind(mark) + len(mark) for mark in ("/", "::", ".", " > ", " › "))
    return shared[:end] if end >= _LONG_PREFIX else ""


_LONG_PREFIX = 12  # characters


def _last_part(text: str, characters: int) -> str:
    """Return the end of a name, which says more than its beginning."""
    return text if len(text) <= characters else "…" + text[len(text) - characters + 1 :]


def _shortened(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def _counted(number: int, noun: str) -> str:
    words = noun.replace("_", " ")
    return f"{number:,} {words[:-1] if number == 1 and words.endswith('s') else words}"


def _unread(tallies: list["ToolTally"], run: "Container[str]") -> str:
    """Word which counts were not read; of a tool that the command does not run, the text may be another's."""
    own = [tally for tally in tallies if tally.rule.name in run]
    unclear = [tally.rule.name for tally in tallies if tally.unclear]
    # If single lines are counted, none is a number, too, because no count could be misread.
    unknown = [one.rule.name for one in own if not one.unclear and any(not count.each for count in one.rule.counts)]
    return (f"; what {' and '.join(unclear)} counts in several places was not added up" if unclear else "") + (
        f"; what {' and '.join(unknown)} counts was not recognised" if unknown else ""
    )


def one_line(text: str, characters: int) -> str:
    """Put a text on one line, with a mark if it is cut to fit these characters."""
    return _shortened(" ".join(text.split()), characters)


def counted(count: int, noun: str) -> str:
    """Write a count with its noun: ``1 line``, ``2,000 lines``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def human_bytes(count: int) -> str:
    """Write a size, such as ``512 B`` or ``64.0 KiB``; units are of 1024."""
    if count < 1024:
        return f"{count} B"
    size = count / 1024
    for unit in _UNITS:
        if size < 1023.95 or unit == _UNITS[-1]:  # above that, it would be written as 1024.0
            break
        size /= 1024
    return f"{size:.1f} {unit}"


def human_seconds(seconds: float) -> str:
    """Write a duration, such as ``0.4 s``, ``2 min 5 s``, ``3 h 0 min`` or ``2 d 5 h``; below 0.05 s ``12 ms``."""
    if seconds < 0.05:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    # It is rounded again, because seconds that are not shown should not be cut off either.
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days} d {hours} h"


def _ending(
    exit_code: int | None,
    seconds: float | None,
    signal: int,
    timed_out: bool,
    running: bool,
    told_elsewhere: bool,
    answer: str,
) -> str:
    took = "" if seconds is None else human_seconds(seconds)
    after = f" after {took}" if took else ""
    if running:
        return f"still running{after}"
    if timed_out:
        return f"timed out{after}"
    if signal:
        return f"ended by signal {signal}{after}"
    if exit_code is None:
        return f"ended{after}" if told_elsewhere else f"ended{after}, exit code unknown"
    if answer:
        return f"{answer} (exit {exit_code}){after}"
    if exit_code:
        meaning = meaning_of(exit_code)
        return f"failed with exit {exit_code}{f' ({meaning})' if meaning else ''}{after}"
    return f"ok in {took}" if took else "ok"


def _amount(out: Source, err: Source) -> str:
    if not out.byte_count and not err.byte_count:
        return "no output"
    amount = f"{_lines(out.line_count + err.line_count)}, {human_bytes(out.byte_count + err.byte_count)}"
    return f"{amount} (stderr {_lines(err.line_count)})" if err.byte_count else amount


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
