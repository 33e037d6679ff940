"""Entries of an audit file as JSON, and the hashes that tie each to the one before it.

A hash covers everything but a view's text, whose own hash it covers instead: so a text can be blanked and the chain
still holds.
"""

from typing import Any, NamedTuple

from sightline.disk.json_encoder import encoder
from sightline.sha256 import sha256_hex

FORMAT = 1
"""Grows with a change that older versions would take for something else; a field or a kind that is added is none."""

TIES = ("v", "n", "prev", "hash")
"""What a line has beside its entry: the format, and its place in the chain."""

_PIECES = "pieces_sha256"


class Encoded(NamedTuple):
    """An entry as JSON, each part of it written once: the hash covers some, and the line has all in its order.

    Attributes:
        before: the members whose names sort before ``text``.
        text: what ``text`` is, None where there is none.
        between: the members between ``text`` and ``v``.
        after: those after ``v``.
    """

    before: str
    text: str | None
    between: str
    after: str

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Encoded":
        """A new entry: the hash of its text is added."""
        if "text" not in entry:
            return cls.kept(entry)
        text = _dumps(entry["text"])
        return cls.kept({**entry, _PIECES: sha256_hex(_bytes(text))}, text)

    @classmethod
    def kept(cls, entry: dict[str, Any], text: str | None = None) -> "Encoded":
        """An entry that has all but its ties, its text written already or in it."""
        parts: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = ({}, {}, {})
        for name, value in entry.items():
            if name != "text":
                parts[(name > "text") + (name > "v")][name] = value
            elif text is None:
                text = _dumps(value)
        before, between, after = (_dumps(part)[1:-1] if part else "" for part in parts)
        return cls(before, text, between, after)

    def line(self, number: int, previous: str) -> tuple[bytes, str]:
        """The line of a number in the chain, after the line of a hash; and its own hash."""
        digest = self.hash(number, previous)
        return self.tied(number, previous, digest), digest

    def hash(self, number: int, previous: str) -> str:
        """The hash that ties an entry to the one before it; it does not cover ``text``."""
        covered = ",".join(filter(None, (self.before, self.between, self.after)))
        return sha256_hex(_bytes(f"{FORMAT}\n{number}\n{previous}\n{{{covered}}}"))

    def tied(self, number: int, previous: str, digest: str, version: int = FORMAT) -> bytes:
        """The line with the hash that it was given; of a newer version where it is one."""
        text = "" if self.text is None else f'"text":{self.text}'
        members = ",".join(filter(None, (self.before, text, self.between, f'"v":{version}', self.after)))
        return _bytes(f'{{{members},"prev":"{previous}","n":{number},"hash":"{digest}"}}\n')


def is_newer(entry: dict[str, Any]) -> bool:
    """Whether an entry, with its ties, is of a form that only a newer version knows."""
    version = entry.get("v")
    return isinstance(version, int) and version > FORMAT


def text_holds(entry: dict[str, Any]) -> bool:
    """Whether the text of an entry, where it has not been blanked, is the one that the chain covers."""
    text = entry.get("text")
    return text is None or entry.get(_PIECES) == sha256_hex(_bytes(_dumps(text)))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


_dumps = encoder(ensure_ascii=False, compact=True, sort_keys=True)
