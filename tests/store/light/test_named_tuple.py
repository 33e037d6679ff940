"""A named tuple of ours is, to whoever uses it, one of `typing`'s."""

import copy
import pickle
import typing
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.light import named_tuple

NAMES = st.lists(st.sampled_from(["a", "b", "line", "match", "count", "index"]), min_size=1, unique=True)


class Point(named_tuple.NamedTuple):
    """A place."""

    x: int
    y: int = 2

    @property
    def both(self) -> int:
        return self.x + self.y


class Marked(Point):
    """A class of its own, made of one."""

    def __repr__(self) -> str:
        return f"marked {self.x}"


def _made(base: Any, fields: list[str], defaults: int) -> Any:
    """A class of so many fields, the last of which have defaults."""

    rows = [
        f"    {field}: int" + f" = {place}" * (place >= len(fields) - defaults) for place, field in enumerate(fields)
    ]
    names = {"Base": base, "__name__": __name__}
    exec("\n".join(["class Made(Base):", *rows]), names)
    return names["Made"]


def _outcome(kind: Any, values: list[int], named: dict[str, int]) -> object:
    """What comes of a call: the values and how they are told, or that it is refused."""
    try:
        made = kind(*values, **named)
    except TypeError:
        return TypeError
    return tuple(made), made._asdict(), repr(made), [getattr(made, field) for field in kind._fields]


@given(data=st.data(), fields=NAMES)
def test_every_call_has_the_outcome_that_typing_has(data: st.DataObject, fields: list[str]) -> None:
    defaults = data.draw(st.integers(0, len(fields)))
    values = data.draw(st.lists(st.integers(), max_size=len(fields) + 1))
    named = data.draw(st.dictionaries(st.sampled_from([*fields, "other"]), st.integers()))
    theirs, ours = _made(typing.NamedTuple, fields, defaults), _made(named_tuple.NamedTuple, fields, defaults)
    assert ours._fields == theirs._fields
    assert ours._field_defaults == theirs._field_defaults
    assert ours.__match_args__ == theirs.__match_args__
    for _ in range(32):  # some call among them compiles the constructor
        assert _outcome(ours, values, named) == _outcome(theirs, values, named)


def test_it_is_a_tuple_with_methods_and_properties() -> None:
    point = Point(1)
    assert (point, point.both, Point.__doc__) == ((1, 2), 3, "A place.")
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_a_replaced_field_leaves_the_rest() -> None:
    assert Point(1)._replace(y=5) == Point(1, 5)
    with pytest.raises(TypeError, match="z"):
        Point(1)._replace(z=5)  # type: ignore[call-arg]


def test_values_of_another_number_make_none() -> None:
    assert Point._make([3, 4]) == Point(3, 4)
    with pytest.raises(TypeError, match="expected 2 values, got 3"):
        Point._make([1, 2, 3])


def test_nothing_can_be_set_on_it() -> None:
    with pytest.raises(AttributeError):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Point(1).z = 2  # type: ignore[attr-defined]


def test_copies_and_pickles_are_equal_and_of_its_kind() -> None:
    for made in (copy.copy(Point(1)), copy.deepcopy(Point(1)), pickle.loads(pickle.dumps(Point(1)))):
        assert (type(made), made) == (Point, Point(1))


def test_a_class_made_of_one_keeps_its_fields_and_adds_to_it() -> None:
    assert (repr(Marked(7)), Marked(7).both, Marked._fields) == ("marked 7", 9, ("x", "y"))
    assert type(Point(1)) is Point  # whichever was made first


Item = TypeVar("Item")


class Pair(named_tuple.NamedTuple, Generic[Item]):
    first: Item
    second: Item


def test_a_class_with_a_type_parameter_is_a_tuple_too() -> None:
    made = Pair[int](1, 2)
    assert (made, made.second, repr(made)) == ((1, 2), 2, "Pair(first=1, second=2)")


Made = named_tuple.NamedTuple("Made", [("size", int), ("name", str)])


def test_a_class_can_be_made_of_a_list_of_fields() -> None:
    assert Made(3, name="x")._asdict() == {"size": 3, "name": "x"}
    assert Made.__module__ == __name__
