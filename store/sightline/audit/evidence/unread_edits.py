"""Finds edits of lines that the agent had never been shown."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from sightline.audit.evidence.call_facts import command_of, request_of
from sightline.audit.evidence.edits import Edit, replaced_lines_of
from sightline.audit.evidence.evidence_records import Alarm, ground_of_call
from sightline.audit.evidence.shown_files import AT_LARGE, NAMED, NOTHING, scripts_run, shows_lines
from sightline.audit.evidence.trail import Trail
from sightline.audit.finding_kinds import UNREAD_EDIT
from sightline.audit.timeline import Call
from sightline.base.errors import SightlineError
from sightline.base.records import Session
from sightline.light.json_text import dumps
from sightline.log.view_text import view_text
from sightline.store import Reading


def unread_edits(store: Reading, trail: Trail, session: Session, *, starts_here: bool) -> Iterator[Alarm]:
    """Yield alarms for edits of what had not been shown: the lines that they name or, without any, the file.

    Only edits by commands, and those of imported sessions, are judged: the file of an editing tool that a hook reports
    may have been shown to the model in a way that hooks do not report. What a session has written itself it knows.
    """
    if not starts_here:
        return
    known: set[str] = set()
    of_call: dict[str, list[Edit]] = {}
    for edit in trail.all_edits:
        of_call.setdefault(edit.call.view.id, []).append(edit)
    named: dict[str, list[Call]] = {}
    at_large = False  # whether an earlier call may have shown files that it did not name
    for place, call in enumerate(trail.calls):
        for edit in of_call.get(call.view.id, ()):
            is_new, before = edit.path not in known, trail.calls[:place]
            known.add(edit.path)
            if not (edit.path and edit.sure and is_new and edit.rewrites):
                continue
            by_itself = session.harness in _READ_FIRST and not command_of(call)
            if not by_itself and not at_large and _is_unread(store, edit, before, named):
                what = "written over" if edit.wrote else "changed"
                text = f"{edit.name} was {what}, and nothing of {'it' if edit.wrote else 'what changed'} had been shown"
                yield Alarm(UNREAD_EDIT, text, (ground_of_call(call),))
        shows = shows_lines(command_of(call)) if command_of(call) else NAMED
        at_large = at_large or shows == AT_LARGE
        names = set(_NAME.findall(call.view.request)) - scripts_run(command_of(call)) if shows != NOTHING else ()
        for name in names:
            named.setdefault(name, []).append(call)


_READ_FIRST = frozenset(("claude-code",))
"""Harnesses whose editing tools refuse a file that the model was not shown, in whatever way."""

_INSTRUCTION_FILES = "AGENTS.md CLAUDE.md GEMINI.md QWEN.md WARP.md .cursorrules .clinerules copilot-instructions.md"
_INSTRUCTIONS = frozenset(_INSTRUCTION_FILES.split())
"""Files that harnesses put into the context themselves."""

_NAME = re.compile(r"[\w.+@~-]+")
_WORD = re.compile(r"\w.*\w.*\w")
_WRITTEN_OVER = re.compile(r"(?i)\b(?:has been updated|overwrote|overwritten|successfully overwr)")


def _is_unread(store: Reading, edit: Edit, before: Sequence[Call], named: Mapping[str, Sequence[Call]]) -> bool:
    """Return whether nothing of what an edit changed stood in an earlier reply, as far as that is known."""
    request = request_of(edit.call.view)
    by_command = bool(command_of(edit.call))
    if edit.wrote:
        if by_command or "imported" not in request or not _stands_in(store, edit.call, _WRITTEN_OVER.search):
            return False  # it may have been new
    elif not by_command and "imported" not in request:
        return False
    name = edit.path.rpartition("/")[2]
    if name in _INSTRUCTIONS:
        return False
    lines = [line for line in replaced_lines_of(edit) if _WORD.search(line)]
    if not lines:
        can_tell = edit.wrote or by_command or request.get("tool") not in ("apply_patch", "patch")
        in_reply = re.compile(rf"(?m)(?:^|[/ ]){re.escape(name)}(?::\d+[:-]|\s*<==|$(?=\n(?:\d+[:-]|@@|---|\+\+\+)))")
        return can_tell and name not in named and not _any_stands_in(store, before, in_reply.search)
    wanted = {*lines, *(dumps(line, ensure_ascii=False)[1:-1] for line in lines)}
    if any(dumps(line)[1:-1] in one.view.request for one in before[-_SEARCHED_VIEWS:] for line in lines):
        return False  # the agent has written it itself
    return not (_was_shown(store, wanted, named.get(name, ())) or _was_shown(store, wanted, before))


def _any_stands_in(store: Reading, before: Sequence[Call], find: Callable[[str], object]) -> bool:
    return any(_stands_in(store, call, find) for call in reversed(before[-_SEARCHED_VIEWS:]))


def _was_shown(store: Reading, texts: Collection[str], before: Sequence[Call]) -> bool:
    """Return whether any earlier reply may have shown one of some texts."""
    return _any_stands_in(store, before, lambda shown: any(text in shown for text in texts))


def _stands_in(store: Reading, call: Call, find: Callable[[str], object]) -> bool:
    """Return whether something is found in the text of a reply; also if nobody can tell any more."""
    try:
        return bool(call.view.bytes_shown and find(view_text(store, call.indexed)))
    except SightlineError:
        return True


_SEARCHED_VIEWS = 400
