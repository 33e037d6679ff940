"""Who calls a verb, and how that caller would write the next call; every verb gets this from its door."""

from sightline.base.errors import BadRef, UnknownRef
from sightline.base.profile import DEFAULT, Profile
from sightline.base.records import Session
from sightline.base.refs import parse_ref
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Callable
from sightline.log.log import LogWriter
from sightline.log.sessions import is_person
from sightline.shape.budgets import ROOMY, Room
from sightline.store import Reading, Store, Target
from sightline.verbs.arguments import LONGEST_REF

if TYPE_CHECKING:  # only long calls, which can be cancelled, need it
    from sightline.search.processes import Cancel
else:
    Cancel = object  # written as a name in quotes, it would take 1.5 ms at every start

with late_modules(globals()):
    from sightline.verbs import (
        pasted_marker,  # 4 ms, for markers and the log: most refs are typed
        typed_ref,  # 4 ms: most refs are right
    )

Calls = Callable[..., str]
"""Writes a ready-made next call in the door's own syntax, from a verb and its arguments by name, such as
``sightline show @cmd_a1b2c3 --lines 42-80``; without a verb, the arguments alone, to add to the call that was made.
"""


def is_pasteable(text: str) -> bool:
    """Return whether a text can stand in a next call as it is, because no door has to escape anything in it."""
    return text.isprintable() and not set(text) & set("'\"\\")


class Asker(NamedTuple):
    """One caller of verbs.

    Attributes:
        local: this machine's store, which keeps captures and logs every reply.
        session: the session that asks.
        calls: writes a next call.
        profile: decides what goes inline.
        cancel: cancels a query, a search or a wait from another thread; None if the caller always waits.
        room: the size that a reply may have.
        shared: the store that is read instead; None for this machine's.
        log: the session's audit file, from a door that keeps it open; None to open it for each reply.
    """

    local: Store
    session: Session
    calls: Calls
    profile: Profile = DEFAULT
    cancel: Cancel | None = None
    room: Room = ROOMY
    shared: Reading | None = None
    log: LogWriter | None = None

    @property
    def store(self) -> Reading:
        """The store that is read, and in which refs are looked up."""
        return self.local if self.shared is None else self.shared

    @property
    def person(self) -> bool:
        """Whether a person asks, for whom ``@last`` is the newest output of the store."""
        return is_person(self.session)

    def ref_of(self, text: str) -> str:
        """Return the full form of the ref that a text means. Raises AmbiguousRef for a pasted marker."""
        if len(text) > LONGEST_REF:
            return text
        text = text.strip().strip("`'\"")
        if "…" in text:
            return pasted_marker.ref_of(self.local, self.session, text)
        try:
            parse_ref(text)
        except BadRef:
            return typed_ref.typed_ref(self.store, text)
        return text

    def resolve(self, ref: str) -> Target:
        """Return what a ref, or a text that plainly means one, names for this caller; raises as `Reading.resolve`."""
        text = self.ref_of(ref)
        try:
            return self.store.resolve(text, session=None if self.person else self.session.name, prefixes=True)
        except (BadRef, UnknownRef) as error:
            raise typed_ref.with_nearest(self.store, text, error) from None

    def resolve_whole(self, ref: str) -> Target:
        """Return the whole stream that a ref names, where lines make no sense. Raises BadRef for a range, too."""
        target = self.resolve(ref)
        if target.first:
            raise BadRef(f"{ref}: only a whole stream can be used here", f"without the lines: {target.ref}")
        return target
