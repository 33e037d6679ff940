"""Tells what people were shown, in the inspector or on a terminal, of outputs that agents captured: no agent saw that.

What a person captures and reads on a terminal counts as seen, as what an agent does: there nobody else was to see it.
"""

from sightline.log.sessions import is_onlooker
from sightline.store import Reading


class Onlookers:
    """Knows of sessions whether they are a person's; each is looked up once."""

    def __init__(self, store: Reading) -> None:
        self._store = store
        self._known: dict[str, bool] = {}

    def looks_on(self, reader: str, captor: str) -> bool:
        """Whether a session only looks on at what another one captured.

        Args:
            reader: name of the session that was shown something.
            captor: name of the one that captured it.
        """
        return self.is_person(reader) and not self.is_person(captor)

    def is_person(self, name: str) -> bool:
        """Whether a session is that of a person who looks at what there is, as far as one can tell."""
        if name not in self._known:
            session = self._store.index.session(name)
            if session is None:
                return False  # its record may come
            self._known[name] = is_onlooker(session)
        return self._known[name]
