"""Knows which views people had, in the inspector or on a terminal, of an agent's captures: no agent saw these lines.

What a person both captures and reads on a terminal counts as seen, because nobody else was meant to see it.
"""

from sightline.log.sessions import is_onlooker
from sightline.store import Reading


class Onlookers:
    """Knows which sessions are people's; each is looked up once."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self._known: dict[str, bool] = {}

    def looks_on(self, reader: str, captor: str) -> bool:
        """Return whether a session only looks on at the capture of another.

        Args:
            reader: name of the session that was shown something.
            captor: name of the session that captured it.
        """
        return self.is_person(reader) and not self.is_person(captor)

    def is_person(self, name: str) -> bool:
        """Return whether a session is a person's who looks at the store, as far as that can be told."""
        if name not in self._known:
            session = self._store.index.session(name)
            if session is None:
                return False  # its record may come later
            self._known[name] = is_onlooker(session)
        return self._known[name]
