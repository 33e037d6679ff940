"""Lays out what a call changed in files, as a diff, and what is known of a file at a call. Pure functions."""

from collections.abc import Iterator, Sequence

from sightline.audit.file_states import DiffLine
from sightline.audit.file_trail import KnownFile, changes_of, lines_changed, stated_diff
from sightline.audit.timeline import Call
from sightline.harnesses.file_changes import FileChange
from sightline_tui.common.phrases import counted
from sightline_tui.common.strips import StripPart
from sightline_tui.common.visible_text import TAB_STOP, title, visible

STYLES = {"+": "added", "-": "removed", "@": "dim", " ": ""}
_NUMBER_CELLS = 6

Rows = Iterator[Sequence[StripPart]]


def counts_of(call: Call) -> str:
    """Count the lines that a call added to files and took from them, such as ``+3 -1``; empty if it changed none."""
    return "+{:,} -{:,}".format(*lines_changed(call)) if changes_of(call) else ""


def edit_rows(call: Call) -> Rows:
    """Yield the diff that a call states by itself, file by file, without numbers of lines."""
    for one in changes_of(call):
        yield (StripPart(title(one.path), "strong"), StripPart(f"  {told(one)}", "dim"))
        yield from diff_rows(stated_diff(one))


def told(change: FileChange) -> str:
    """Say how a file was changed, as far as the call states it."""
    words = {"written": "written whole", "edited": "edited", "deleted": "deleted"}[change.what]
    words = f"moved to {title(change.moved)}" if change.moved else words
    return f"{words}; the log does not have the end of its text" if change.cut else words


def diff_rows(diff: Sequence[DiffLine]) -> Rows:
    """Yield the lines of a diff; numbers stand before them if any is known."""
    numbered = any(one.number for one in diff)
    for line in diff[1:] if diff and diff[0].sign == "@" else diff:
        number = f"{line.number or '':>{_NUMBER_CELLS}} " if numbered else ""
        text = "⋯" if line.sign == "@" else f"{line.sign} {_plain(line.text)}"
        yield (StripPart("" if line.sign == "@" else number, "dim"), StripPart(text, STYLES[line.sign]))


def changed_rows(files: Sequence[KnownFile], call: Call) -> Rows:
    """Yield what a call changed in files, each with what is known of it."""
    for at, file in enumerate(files):
        if at:
            yield ()
        how = told(file.change) if file.change else "changed by a command; how is not recorded"
        yield (StripPart(f" {title(file.name)}", "strong"), StripPart(f"  {how}", "dim"))
        if file.is_by_command:
            yield (StripPart(f"   {title(call.asked)}"),)
        yield from diff_rows(file.diff)


def known_words(file: KnownFile) -> str:
    """Say how much of a file is known, and since which call."""
    state = file.state
    if state.is_gone:
        words = "deleted"
    elif state.why_not:
        return f"not known: {state.why_not}"
    elif state.is_whole:
        words = f"known whole, {counted(state.total or 0, 'line')}"
    elif state.total is None:
        words = f"{counted(state.known, 'line')} known, of how many is not known"
    else:
        words = f"{state.known:,} of {counted(state.total, 'line')} known"
    return f"{words}, as of step {file.place + 1:,}"


def doubt_words(file: KnownFile) -> str:
    """Say how many commands may have changed a file since; empty for none."""
    return f"{counted(file.doubts, 'command')} since then may have changed it" if file.doubts else ""


def text_rows(file: KnownFile) -> Rows:
    """Yield the known lines of a file with their numbers, and where lines are not known a row that says so."""
    expected = 1
    for first, lines in file.state.runs:
        if first > expected:
            yield _gap(expected, first - 1)
        for number, line in enumerate(lines, first):
            yield (StripPart(f"{number:>{_NUMBER_CELLS}} ", "dim"), StripPart(_plain(line)))
        expected = first + len(lines)
    if file.state.runs and (file.state.total is None or file.state.total >= expected):
        yield _gap(expected, file.state.total)


def _gap(first: int, last: int | None) -> Sequence[StripPart]:
    lines = f"lines {first:,}-{last:,} are" if last else f"lines from {first:,} on are"
    where = f"line {first:,} is" if first == last else lines
    return (StripPart(f"{'':>{_NUMBER_CELLS}} ⋯ {where} not known ⋯", "dim"),)


def _plain(text: str) -> str:
    return visible(text.expandtabs(TAB_STOP))
