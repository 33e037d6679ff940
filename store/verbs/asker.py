"""Who calls a verb, and how that one would call the next: what every verb gets from its door."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.errors import BadRef, UnknownRef
from sightline.log.sessions import is_person
from sightline.named_tuple import NamedTuple
from sightline.profile import DEFAULT, Profile
from sightline.records import Session
from sightline.refs import parse_ref
from sightline.shape.budgets import ROOMY, Room
from sightline.store import Reading, Store, Target
from sightline.verbs import late

if TYPE_CHECKING:  # only what runs long, and can be cancelled, needs it
    from sightline.search.processes import Cancel
else:
    Cancel = object  # as its name in quotes it would be compiled at every start, which takes 1.5 ms

Calls = Callable[..., str]
"""The asking door's own syntax, for the ready-made next call of a reply: takes a verb and its arguments by name, and
gives text such as ``sightline show @cmd_a1b2c3 --lines 42-80``."""


class Asker(NamedTuple):
    """One caller of verbs.

    Attributes:
        local: this machine's store: what is captured goes there, and each reply is logged there.
        session: who asks.
        calls: how a next call is written.
        profile: what goes inline.
        cancel: ends a query, a search or a wait from another thread; None where the caller stays for the answer.
        room: how large a reply may be.
        shared: what is read instead of this machine's store; None where it is that.
    """

    local: Store
    session: Session
    calls: Calls
    profile: Profile = DEFAULT
    cancel: Cancel | None = None
    room: Room = ROOMY
    shared: Reading | None = None

    @property
    def store(self) -> Reading:
        """What refs name, and what is read."""
        return self.local if self.shared is None else self.shared

    @property
    def person(self) -> bool:
        """Whether a person asks: ``@last`` is then the newest output of the store."""
        return is_person(self.session)

    def ref_of(self, text: str) -> str:
        """The ref that a text means, as it is written in full. Raises AmbiguousRef for a pasted marker."""
        text = text.strip().strip("`'\"")
        if "…" in text:
            return late.ref_of(self.local, self.session, text)
        try:
            parse_ref(text)
        except BadRef:
            return late.typed_ref(self.store, text)
        return text

    def resolve(self, ref: str) -> Target:
        """What a ref, or what plainly means one, names for this caller; raises as `Reading.resolve`."""
        text = self.ref_of(ref)
        try:
            return self.store.resolve(text, session=None if self.person else self.session.name, prefixes=True)
        except (BadRef, UnknownRef) as error:
            raise late.with_nearest(self.store, text, error) from None

    def resolve_whole(self, ref: str) -> Target:
        """The same where lines make no sense: a whole stream. Raises BadRef for a range, too."""
        target = self.resolve(ref)
        if target.first:
            raise BadRef(f"{ref}: only a whole stream can be used here", f"without the lines: {target.ref}")
        return target
