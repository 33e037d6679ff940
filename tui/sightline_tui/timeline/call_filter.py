"""Selects calls of a timeline, by a typed filter and by filters that keys switch on. Pure functions."""

from sightline.audit.timeline import CallFilter
from sightline.base.records import Note
from sightline.base.refs import format_ref, parse_ref

HINT = "text that was asked or shown; @ref  verb:query  is:failed"

_VERB, _FAILED = "verb:", "is:failed"


def parsed(text: str) -> CallFilter:
    """Read a typed filter: ``@cmd_a1b2c3 verb:query is:failed some text``."""
    verb, buffer, failed, words = "", "", False, list[str]()
    for word in text.split():
        if word.startswith(_VERB) and len(word) > len(_VERB):
            verb = word.removeprefix(_VERB)
        elif word == _FAILED:
            failed = True
        elif word.startswith("@") and len(word) > 1:
            buffer = word[1:].partition(":")[0].partition(".")[0]
        else:
            words.append(word)
    return CallFilter(verb, buffer, failed, " ".join(words))


def both(a: CallFilter, b: CallFilter) -> CallFilter:
    """Combine two filters; if both name a verb or a buffer, the second one's counts."""
    return CallFilter(b.verb or a.verb, b.buffer or a.buffer, a.failed or b.failed, b.text or a.text)


def told(wanted: CallFilter) -> str:
    """Write a filter as a person reads it; empty for none."""
    parts = [
        f"“{wanted.text}”" if wanted.text else "",
        wanted.verb,
        format_ref(wanted.buffer) if wanted.buffer else "",
        "failed" if wanted.failed else "",
    ]
    return "  ".join(filter(None, parts))


def note_is_wanted(note: Note, wanted: CallFilter) -> bool:
    """Return whether a filter of calls accepts a note."""
    if wanted.buffer == parse_ref(note.ref).name:
        wanted = wanted._replace(buffer="")
    return words_are_wanted("note", note.text or "", wanted)


def words_are_wanted(what: str, text: str, wanted: CallFilter) -> bool:
    """Return whether a filter of calls accepts words between them, which cannot have failed, and are about no buffer.

    Args:
        what: what stands in the place of a verb, such as ``note``.
        text: the words.
        wanted: the filter.
    """
    is_of_calls = wanted.failed or wanted.buffer or wanted.verb not in ("", what)
    return not is_of_calls and wanted.text.lower() in text.lower()
