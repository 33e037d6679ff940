"""Reads the exact text of a view, as it was sent: literal text from the log, and lines that it quotes from buffers."""

from sightline.base.errors import ExpiredRef, OfNewerVersion, SightlineError, UnknownRef
from sightline.base.records import IndexedView, View, read_seals
from sightline.base.refs import host_of, parse_ref
from sightline.base.sha256 import sha256_hex
from sightline.light.typing_names import Any, Iterable
from sightline.log import log
from sightline.log.log import is_newer
from sightline.log.log_index import list_views
from sightline.shape.segments import render_lines
from sightline.shape.variants import cleaned, cleaning_of
from sightline.store import Reading


class TextGone(SightlineError):
    """The text of a view is no longer there: a person blanked it, or its buffer has expired."""


def view_text(store: Reading, indexed: IndexedView) -> str:
    """Return the exact text of a view, as it was sent.

    Raises:
        TextGone: the text was blanked, or a buffer that it quotes has expired and left nothing.
        OfNewerVersion: it was logged in a form, or by a rule, that this version does not know.
    """
    if not indexed.view.number:
        raise TextGone("nothing has been shown of it", "it is still running, or ended without an answer")
    pieces = _pieces(store, indexed) if indexed.view.text_sha256 else None
    if pieces is None:
        raise TextGone(
            f"the text of view {indexed.view.id} was blanked", "its hash is kept, so that the log still verifies"
        )
    text = "".join(piece if isinstance(piece, str) else _render(store, indexed.view, piece) for piece in pieces)
    if sha256_hex(text.encode(errors="surrogateescape")) != indexed.view.text_sha256:
        if altered := [ref for ref in _quoted(pieces) if _is_altered(store, ref)]:
            raise TextGone(
                f"the text of view {indexed.view.id} quoted {', '.join(altered)}, which was changed since",
                "only what was literal in it is known",
            )
        raise log.BrokenChain(
            f"view {indexed.view.id} no longer renders to what was sent", "`sightline doctor` says more about it"
        )
    return text


def _pieces(store: Reading, indexed: IndexedView) -> list[Any] | None:
    """Return the pieces of a view's text in the log; None if blanked. Raises OfNewerVersion for another form."""
    entry = _entry(store, indexed)
    if is_newer(entry):
        raise OfNewerVersion(f"view {indexed.view.id}")
    return entry.get("text")


def _entry(store: Reading, indexed: IndexedView) -> dict[str, Any]:
    """Return the view's line in the log, wherever blanking may have moved it."""
    try:
        with store.open_log(indexed.view.session) as file:
            return log.read_entry(file, indexed.view.number, indexed.offset, indexed.length)
    except FileNotFoundError:
        raise TextGone(f"the log of session {indexed.view.session} is gone", "it was removed from outside") from None


def _render(store: Reading, view: View, piece: list[Any]) -> str:
    ref, first, last, version = piece
    if (host := host_of(view.session)) and "/" not in ref:
        ref = f"{host}/{ref}"  # a shipped log names its host's outputs as at home
    try:
        with store.open_text(store.resolve(ref)) as source:
            return render_lines(cleaned(source, cleaning_of(version)), first, last)
    except (ExpiredRef, UnknownRef):
        quotes = (store.tombstone(parse_ref(ref).name) or {}).get("quotes", {})
        key = _quote_key(*piece)
        if key in quotes:
            return str(quotes[key])
        raise TextGone(
            f"the text of view {view.id} quoted {ref}, which is gone", "only what was literal in it is left"
        ) from None


def _quoted(pieces: list[Any]) -> Iterable[str]:
    """Return the refs that a text quotes."""
    return dict.fromkeys(piece[0] for piece in pieces if not isinstance(piece, str))


def _is_altered(store: Reading, ref: str) -> bool:
    """Return whether a buffer is altered, or was so when it was removed."""
    name = parse_ref(ref).name
    buffer = store.index.buffer(name)
    if buffer is not None and buffer.state != "evicted":
        return bool(store.checked(buffer).altered)
    return any(seal.altered for seal in read_seals(str((store.tombstone(name) or {}).get("seals", ""))))


def quotes_of(store: Reading, name: str) -> dict[str, str]:
    """Render what the log's views quote of a buffer by range, for the buffer's tombstone."""
    quotes: dict[str, str] = {}
    for indexed in list_views(store, buffer=name):
        try:
            for piece in _pieces(store, indexed) or []:
                if not isinstance(piece, str) and parse_ref(piece[0]).name == name:
                    key = _quote_key(*piece)
                    if key not in quotes:
                        quotes[key] = _render(store, indexed.view, piece)
        except (SightlineError, OSError):
            continue  # a damaged log, or lost bytes, must not keep a buffer from being removed
    return quotes


def _quote_key(ref: str, first: int, last: int, version: int | str) -> str:
    """Return the key of a range's text in a tombstone; each cleaning rule but the terminal's has its own."""
    return f"{ref}:{first}-{last}" + (f" {version}" if isinstance(version, str) else "")
