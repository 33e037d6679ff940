"""Finds the ref that is plainly meant by one typed from memory: without its ``@``, in capitals, nearly right."""

import re

from sightline.base.errors import BadRef, SightlineError, UnknownRef
from sightline.base.refs import KINDS, format_ref
from sightline.store import Reading

_BODY = r"(?:(?:cmd|file|tool)[_-][0-9a-f]{4,64}|last(?:~[0-9]{1,6})?)"
_STREAM = r"(?:\.(?:out|err|all|stdout|stderr|both|[0-9]{1,6}))?"
_LINES = r"(?:[:#]L?[0-9]{1,15}(?:[-,:]L?(?:[0-9]{1,15})?)?)?"
_REF = rf"@?({_BODY})({_STREAM})({_LINES})"
_BARE = r"@?([0-9a-f]{6,64})"
_STREAMS = {".stdout": ".out", ".stderr": ".err", ".both": ".all"}
_AROUND = "<>()[]{}\"'`,;. \t\n"
_NEAREST_OF = 1_000  # most recently used outputs to compare with, 20 ms: refs that are typed wrong are mostly of these
_NEAR = 0.8  # two digits may be wrong; with three, some ref of 1,000 is always as near
_BEGINNING = r"(?:cmd|file|tool)_[0-9a-f]{4}"
_SURE_DIGITS = 4  # with which one or two of 100,000 outputs begin, whenever they were used
_MOST_ALIKE = 20


def typed_ref(store: Reading, text: str) -> str:
    """Return the full form of the ref that a text means; the text itself if it means none.

    Args:
        store: has the names, for a name without its kind.
        text: what was typed.
    """
    if "/" in text or "\\" in text:
        return text
    found = re.search(rf"@{_REF.removeprefix('@?')}(?![\w~])", text, re.IGNORECASE)  # such as output_id=@cmd_a1b2c3
    bare = found[0] if found else text.strip(_AROUND)
    if match := re.fullmatch(_REF, bare, re.IGNORECASE):
        body, stream, lines = (part.lower() for part in match.groups(default=""))
        numbers = "-".join(filter(None, re.split(r"[:#,-]l?", lines)))
        dash = "-" if lines.endswith(("-", ",")) else ""
        suffix = f":{numbers}{dash}" if numbers else ""
        return f"@{body.replace('-', '_')}{_STREAMS.get(stream, stream)}{suffix}"
    if match := re.fullmatch(_BARE, bare, re.IGNORECASE):
        for kind in KINDS:
            name = f"{kind}_{match[1].lower()}"
            if store.index.buffer(name):
                return format_ref(name)
    return text


def with_nearest(store: Reading, text: str, error: SightlineError) -> SightlineError:
    """Return the error for a ref that names nothing, with the nearest name that was found.

    It is looked for among the most recently used outputs, and those that begin with the same digits.
    """
    names = [item.buffer.name for item in store.listed(_NEAREST_OF) if item.buffer.state != "evicted"]
    typed = text.strip(_AROUND).lstrip("@").lower().partition(".")[0].partition(":")[0]
    if re.match(_BEGINNING, typed):
        begin_alike = store.index.with_prefix(typed[: typed.index("_") + 1 + _SURE_DIGITS], _MOST_ALIKE)
        names += [one.name for one in begin_alike if one.state != "evicted"]
    from difflib import get_close_matches  # only a ref that names nothing needs it

    near = [] if typed in names else get_close_matches(typed, names, n=1, cutoff=_NEAR)
    hint = f"did you mean @{near[0]}? {error.hint}".strip() if near else error.hint
    if not near and isinstance(error, BadRef) and "/" in text:
        hint = f"a file is read with read_file; {error.hint}"
    return type(error)(error.message, hint) if isinstance(error, UnknownRef | BadRef) else error


_PROMPT = r"\s*\$\s+"
_FOLDER = r"\s*cd\s+\S+\s*(?:&&|;)\s*"
_OWN_NAME = r"\s*sightline\s+query\s+"
_NAME_ALONE = rf"(?<![\w@/.'\"-])((?:cmd|file|tool)_[0-9a-f]{{4,64}}{_STREAM})(?![\w/])"
_QUOTED_REF = rf"'(@{_BODY}{_STREAM})'"


def retyped(pipeline: str) -> str:
    """Return a refused pipeline as it was plainly meant.

    What stands before it (a prompt, ``cd``, our own name) is dropped, as are quotes around all of it or around a ref; a
    ref gets its ``@``, and its redirection becomes an operand.
    """
    text = re.sub(f"^(?:{_PROMPT})?(?:{_FOLDER})?(?:{_OWN_NAME})?", "", pipeline)
    text = _without_semicolon(text.strip())
    if len(text) > 1 and text[0] in "'\"" and text.find(text[0], 1) == len(text) - 1:
        text = _without_semicolon(text[1:-1])
    text = re.sub(r"<\s*(?=@)", "", text)
    text = re.sub(_QUOTED_REF, r"\1", text)
    text = re.sub(rf"(@{_BODY})({'|'.join(map(re.escape, _STREAMS))})\b", lambda m: m[1] + _STREAMS[m[2]], text)
    return re.sub(_NAME_ALONE, r"@\1", text)


def _without_semicolon(text: str) -> str:
    text = text.rstrip()
    return text[:-1].rstrip() if text.endswith(";") else text
