"""Who calls a verb, and how that one would call the next: what every verb gets from its door."""

from typing import Any, NamedTuple, Protocol

from sightline.store.audit.sessions import is_person
from sightline.store.records import Session
from sightline.store.store import Store, Target


class Calls(Protocol):
    """The asking door's own syntax, for the ready-made next call of a reply."""

    def __call__(self, verb: str, **arguments: Any) -> str:
        """A call of a verb as text, such as ``sightline show @cmd_a1b2c3 --lines 42-80``."""


class Asking(NamedTuple):
    """One caller of verbs.

    Attributes:
        store: the store.
        session: who asks.
        calls: how a next call is written.
    """

    store: Store
    session: Session
    calls: Calls

    @property
    def person(self) -> bool:
        """Whether a person asks: prefixes will do, and ``@last`` is the newest command of the store."""
        return is_person(self.session)

    def resolve(self, ref: str) -> Target:
        """What a ref names for this caller; raises as `Store.resolve`."""
        return self.store.resolve(
            ref.strip().strip("`'\""),
            session=None if self.person else self.session.name,
            prefixes=self.person,
        )
