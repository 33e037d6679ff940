"""A small result on its way through where a person has turned redaction on: without its secrets, and saying so."""

from sightline.doors.proxy.results import read_result, told
from sightline.doors.proxy.spans import RESULT, NotPlain, Span, object_of, parse
from sightline.store import Store

_result = object_of(**RESULT)


def without_secrets(store: Store, raw: str) -> tuple[str, str] | None:
    """A result without its secrets, and what the log has of it; None where it has none.

    Secrets are looked for in the JSON as the server wrote it, where nothing that is hidden can break it; what only
    shows once the texts are read (a letter of it being written as an escape) is hidden in the log.

    Args:
        store: says what is a secret.
        raw: the result's JSON.
    """
    redaction = store.redaction()
    if redaction is None or ((clean := redaction.text(raw)) == raw and "\\" not in raw):
        return None
    in_json = redaction.count
    said = redaction.text(_told(clean))
    if not redaction.count:
        return None
    note = f"redacted: {redaction.count:,}"
    return (_with_block(clean, note) if in_json else clean), f"{said}\n{note}\n"


def _told(raw: str) -> str:
    result = read_result(raw, _read(raw))
    return told(result) if result else raw


def _read(raw: str) -> Span:
    try:
        return Span(0, 0, len(raw), parse(raw, _result))
    except NotPlain:
        return Span(0, 0, len(raw), None)


def _with_block(raw: str, note: str) -> str:
    """The result with one more text block, where it has any."""
    result = read_result(raw, _read(raw))
    if result is None or "content" not in result.members:
        return raw
    content = result.members["content"]
    block = f'{"," if result.items else ""}{{"type":"text","text":"{note}"}}'
    return f"{raw[: content.end - 1]}{block}{raw[content.end - 1 :]}"
