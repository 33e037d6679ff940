"""Which calls of a timeline are wanted: what is typed, and what keys switch on. Pure functions."""

from sightline.audit.timeline import Wanted
from sightline.records import Note
from sightline.refs import format_ref, parse_ref

HINT = "text that was asked or shown; @ref  verb:query  is:failed"

_VERB, _FAILED = "verb:", "is:failed"


def parsed(text: str) -> Wanted:
    """What a typed filter means: ``@cmd_a1b2c3 verb:query is:failed some text``."""
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
    return Wanted(verb, buffer, failed, " ".join(words))


def both(a: Wanted, b: Wanted) -> Wanted:
    """What both filters want; where each names another verb or buffer, the second's."""
    return Wanted(b.verb or a.verb, b.buffer or a.buffer, a.failed or b.failed, b.text or a.text)


def told(wanted: Wanted) -> str:
    """A filter as a person reads it; empty for none."""
    parts = [
        f"“{wanted.text}”" if wanted.text else "",
        wanted.verb,
        format_ref(wanted.buffer) if wanted.buffer else "",
        "failed" if wanted.failed else "",
    ]
    return "  ".join(filter(None, parts))


def note_is_wanted(note: Note, wanted: Wanted) -> bool:
    """Whether a filter of calls lets a note through: it has no verb, and nothing of it failed."""
    if (
        wanted.verb not in ("", "note")
        or wanted.failed
        or (wanted.buffer and wanted.buffer != parse_ref(note.ref).name)
    ):
        return False
    return wanted.text.lower() in (note.text or "").lower()
