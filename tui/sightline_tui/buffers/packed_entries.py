"""Entries of very many buffers, stored column by column, in a sixth of the memory of one object for each."""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, overload

from sightline.base.refs import format_ref
from sightline.light.named_tuple import NamedTuple

if TYPE_CHECKING:
    Places = array[int]

_BLOCK = 256  # how many texts are joined into one


class ListEntry(NamedTuple):
    """What sorting and filtering need of a buffer.

    Attributes:
        name: the buffer's name.
        used: its place in the order of use; larger is more recent.
        title: its command, ref, label and session in small letters, each on a line of its own.
        session: the session that captured it.
        bytes: of all streams, when it was read.
        lines: of all streams, when it was read.
        seconds: how long it took; infinite while it runs.
        exit: its exit code, or one of the numbers in `sightline_tui.buffers.catalog`.
        project: folder of the project that it was made in; empty where there is none.
    """

    name: str
    used: int
    title: str
    session: str
    bytes: int
    lines: int
    seconds: float
    exit: int
    project: str = ""


def name_in(title: str) -> str:
    """The name of a buffer, which its title has as a ref: ``@cmd_a1b2c3``, or ``host7/@cmd_a1b2c3``."""
    return title.partition("\n")[2].partition("\n")[0].replace("@", "", 1)


class PackedTexts:
    """Texts by place, joined in blocks, since each text alone would cost 50 bytes more."""

    def __init__(self) -> None:
        self._blocks = list[str]()
        self._ends = array("I")  # where each text ends within its block
        self._last = list[str]()  # the texts that do not fill a block yet

    def append(self, text: str) -> None:
        """Append a text."""
        self._ends.append(len(text) + (self._ends[-1] if self._last else 0))
        self._last.append(text)
        if len(self._last) == _BLOCK:
            self._blocks.append("".join(self._last))
            self._last.clear()

    def __getitem__(self, place: int) -> str:
        block, at = divmod(place, _BLOCK)
        if block == len(self._blocks):
            return self._last[at]
        return self._blocks[block][self._ends[place - 1] if at else 0 : self._ends[place]]

    def at(self, places: Iterable[int]) -> Iterator[str]:
        """Several texts, in a third of the time that reading them one by one would take."""
        blocks, ends, whole = self._blocks, self._ends, len(self._blocks) * _BLOCK
        for place in places:
            if place >= whole:
                yield self._last[place - whole]
            else:
                yield blocks[place // _BLOCK][ends[place - 1] if place % _BLOCK else 0 : ends[place]]

    def holding(self, part: str) -> Iterator[int]:
        """The places of texts that contain a text, which is not empty; a place may come several times."""
        for block, joined in enumerate(self._blocks):
            found = joined.find(part)
            while found >= 0:
                place = bisect_right(self._ends, found, block * _BLOCK, (block + 1) * _BLOCK)
                if found + len(part) <= self._ends[place]:
                    yield place
                found = joined.find(part, found + 1)
        for at, text in enumerate(self._last):
            if part in text:
                yield len(self._blocks) * _BLOCK + at


class SharedTexts:
    """Texts by place, of which many are the same."""

    def __init__(self) -> None:
        self._numbers = array("I")
        self._known = dict[str, int]()
        self._texts = list[str]()

    def append(self, text: str) -> None:
        """Append a text."""
        number = self._known.setdefault(text, len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        self._numbers.append(number)

    def __getitem__(self, place: int) -> str:
        return self._texts[self._numbers[place]]


class Columns:
    """Entries by place. They are only ever added, so a reader of the older ones may go on.

    Attributes:
        titles: what filters look at.
        used: as in `ListEntry`, like the other columns.
    """

    def __init__(self) -> None:
        self.titles = PackedTexts()
        self.used, self.bytes, self.lines = array("q"), array("q"), array("q")
        self._hashes = array("q")  # hashes of names, to find a few among very many
        self.seconds, self.exit = array("d"), array("i")
        self._session, self._project = SharedTexts(), SharedTexts()

    def __len__(self) -> int:
        return len(self.used)

    def add(self, entries: Iterable[ListEntry]) -> "Places":
        """Append entries; return their places."""
        before = len(self)
        for name, used, title, session, size, lines, seconds, code, project in entries:
            self.titles.append(title)
            self._hashes.append(hash(name))
            self.used.append(used)
            self.bytes.append(size)
            self.lines.append(lines)
            self.seconds.append(seconds)
            self.exit.append(code)
            self._session.append(session)
            self._project.append(project)
        return array("I", range(before, len(self)))

    def name(self, place: int) -> str:
        """The name of the buffer, read from its title."""
        return name_in(self.titles[place])

    def named(self, name: str) -> Iterator[int]:
        """All places of a buffer, one for each time that it was read."""
        return (place for place in self.titles.holding(f"\n{format_ref(name)}\n") if self.name(place) == name)

    def rows_of(self, names: Collection[str], places: "Places") -> dict[str, int]:
        """For each buffer among some places its position there, by name; others are left out."""
        wanted = set(map(hash, names))
        among = map(wanted.__contains__, map(self._hashes.__getitem__, places))
        found = ((self.name(places[row]), row) for row in compress(range(len(places)), among))
        return {name: row for name, row in found if name in names}

    def session(self, place: int) -> str:
        """The session that captured the buffer."""
        return self._session[place]

    def project(self, place: int) -> str:
        """The folder of the project that the buffer was made in."""
        return self._project[place]

    def command(self, place: int) -> str:
        """The command in small letters, one line."""
        return self.titles[place].partition("\n")[0]

    def entry(self, place: int) -> ListEntry:
        """The entry of a buffer."""
        return ListEntry(
            self.name(place),
            self.used[place],
            self.titles[place],
            self.session(place),
            self.bytes[place],
            self.lines[place],
            self.seconds[place],
            self.exit[place],
            self.project(place),
        )


class Entries(Sequence[ListEntry]):
    """An immutable sequence of entries.

    Attributes:
        columns: where they are.
        places: their places in the columns.
    """

    __slots__ = ("columns", "places")

    def __init__(self, columns: Columns, places: "Places") -> None:
        self.columns = columns
        self.places = places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, at: int) -> ListEntry: ...
    @overload
    def __getitem__(self, at: slice) -> "Entries": ...
    def __getitem__(self, at: int | slice) -> "ListEntry | Entries":
        if isinstance(at, slice):
            return Entries(self.columns, self.places[at])
        return self.columns.entry(self.places[at])

    def __add__(self, more: "Entries") -> "Entries":
        """The same with others of the same columns appended."""
        return Entries(self.columns, self.places + more.places)

    def position(self, name: str) -> int:
        """The position of a buffer; -1 if it is not among them."""
        for place in self.columns.named(name):
            try:
                return self.places.index(place)
            except ValueError:
                continue  # an older state of it
        return -1

    def without(self, names: Iterable[str]) -> "Entries":
        """The same without some of them."""
        left = self.places[:]
        for name in names:
            for place in self.columns.named(name):
                if place in left:
                    left.remove(place)
        return Entries(self.columns, left)


def entries_of(entries: Iterable[ListEntry]) -> Entries:
    """Entries in columns of their own."""
    columns = Columns()
    return Entries(columns, columns.add(entries))
