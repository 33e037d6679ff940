"""A page of lines: the same text and the same lines, whichever way it was made."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.base.profile import DEFAULT
from sightline.store import Store, Target
from sightline.verbs.line_pieces import PageLines, open_lines, page_of

LINE = st.one_of(
    st.just(b""),
    st.text("abc é\t", max_size=30).map(str.encode),
    st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")),
    st.integers(60, 400).map(lambda size: b"x" * size),
)


class _ByLines:
    """Lines that give nothing but single ones."""

    def __init__(self, lines: PageLines) -> None:
        self.line_count, self.byte_count, self.unended = lines.line_count, lines.byte_count, lines.unended
        self.numbered = lines.numbered

    def plain(self, _first: int, _last: int, _room: int, /) -> None:
        return None


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(LINE, min_size=1, max_size=30),
    ended=st.booleans(),
    first=st.integers(1, 30),
    more=st.integers(0, 30),
    room=st.one_of(st.integers(1, 300), st.just(20_000)),
)
def test_lines_with_nothing_to_clean_make_the_page_that_they_make_one_by_one(
    store: Store, lines: list[bytes], ended: bool, first: int, more: int, room: int
) -> None:
    recording = store.begin("cmd", "make", "/", "s")
    if data := b"\n".join(lines) + b"\n" * ended:
        recording.append("out", data)
    buffer = recording.seal(exit_code=0)
    with open_lines(store, Target(buffer, "out"), DEFAULT) as read:
        made = page_of(read, first, first + more, room)
        by_lines = page_of(_ByLines(read), first, first + more, room)
    assert made == by_lines
