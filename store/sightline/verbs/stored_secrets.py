"""Finds secrets of known formats in what is stored already: outputs, their commands, and the log."""

from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Callable, Iterable, Iterator
from sightline.log.log import lines_of
from sightline.redact import keys
from sightline.redact.rules import SecretRules, load_rules, spans_of
from sightline.store import Reading, Target

_WINDOW_BYTES = 1 << 20
_OVERLAP_BYTES = 1 << 14  # a secret that takes no more than this with its name is found wherever it lies


class StoredSecret(NamedTuple):
    """Where a secret is stored; its value is never given.

    Attributes:
        kind: name of its format.
        ref: the output, with its stream; or the session whose log has it.
        line: number of its line, from 1 on; 0 for the output's command or label.
        buffer: name of the output; empty for the log.
        session: name of the session, for the log.
        is_gone: whether the output was removed, and the secret stands in what is left of it.
    """

    kind: str
    ref: str
    line: int
    buffer: str = ""
    session: str = ""
    is_gone: bool = False

    @property
    def where(self) -> str:
        """Its place as people read it."""
        if self.session:
            return f"log of session {self.session}, entry {self.line}"
        if self.is_gone:
            return f"{self.ref}, what is left of it"
        return f"{self.ref}:{self.line}" if self.line else f"{self.ref}, its command or label"


def stored_secrets(
    store: Reading,
    buffers: Iterable[Buffer],
    gone: Iterable[str],
    sessions: Iterable[str],
    looked: Callable[[int], None],
) -> Iterator[StoredSecret]:
    """Yield the secrets in outputs and in the logs of sessions; what is hidden already is none.

    Args:
        store: the store.
        buffers: the outputs.
        gone: names of outputs of which only a tombstone is left.
        sessions: names of the sessions.
        looked: is called with the bytes that were looked through since the last call.
    """
    rules = load_rules(True, ())
    for buffer in buffers:
        for kind in _kinds(rules, f"{buffer.command}\n{buffer.label}".encode(errors="replace")):
            yield StoredSecret(kind, buffer.ref, 0, buffer.name)
        for stream in buffer.streams:
            try:
                yield from _in_stream(store, buffer, stream, rules, looked)
            except SightlineError:
                looked(0)  # altered or gone meanwhile: `doctor` reports it
    for name in gone:
        left = store.tombstone(name) or {}
        texts = [str(left.get(field, "")) for field in ("command", "label")]
        texts += left.get("quotes", {}).values()
        for kind in _kinds(rules, "\n".join(texts).encode(errors="replace")):
            yield StoredSecret(kind, format_ref(name), 0, name, is_gone=True)
    for session in sessions:
        try:
            with store.open_log(session) as file:
                for number, (_, entry) in enumerate(lines_of(file), 1):
                    looked(len(entry))
                    for kind in _kinds(rules, entry):
                        yield StoredSecret(kind, "", number, session=session)
        except (OSError, SightlineError):
            looked(0)


def _in_stream(
    store: Reading, buffer: Buffer, stream: str, rules: SecretRules, looked: Callable[[int], None]
) -> Iterator[StoredSecret]:
    ref = format_ref(buffer.name, stream)
    with store.open(Target(buffer, stream)) as source:
        for at in range(0, source.byte_count, _WINDOW_BYTES):
            begin = max(at - _OVERLAP_BYTES, 0)
            window = source.read(begin, at - begin + _WINDOW_BYTES + _OVERLAP_BYTES)
            looked(min(_WINDOW_BYTES, source.byte_count - at))
            for start, kind in _places(rules, window):
                if at <= begin + start < at + _WINDOW_BYTES:
                    yield StoredSecret(kind, ref, source.line_at(begin + start), buffer.name)


def _places(rules: SecretRules, text: bytes) -> list[tuple[int, str]]:
    found = {start: name.decode() for start, _, name in spans_of(rules.matches(text), text)}
    for begun in keys.all_begun(text):
        found.setdefault(begun, keys.NAME.decode())
    return sorted(found.items())


def _kinds(rules: SecretRules, text: bytes) -> list[str]:
    return sorted({kind for _, kind in _places(rules, text)})
