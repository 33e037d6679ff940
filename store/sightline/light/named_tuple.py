"""`typing`'s ``NamedTuple``, made in a fifth of the time.

`typing` checks each field's name and compiles a constructor for every class, used or not: 0.11 ms each (Python
3.11; in 3.14 it is 0.47 ms). A command makes 50 to 65 of them, which took 4 to 6 of its 40 ms. Here a constructor is
compiled once it has been called as often as that is worth. Type checkers see `typing`'s own.
"""

import sys

from sightline.light.library import itemgetter
from sightline.light.typing_names import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: TID251
else:
    try:  # as `collections` does; a property takes half as long again, a twentieth of a page of lines
        from _collections import _tuplegetter as _field
    except ImportError:

        def _field(place: int, about: str) -> property:
            return property(itemgetter(place), doc=about)

    _tuple = tuple.__new__
    _CALLS = 30  # 2 µs more each take as long as compiling the constructor
    _calls: dict[type, int] = {}

    def _compiled(cls: Any, /, *values: Any, **named: Any) -> Any:
        """Compile the constructor, and use it for this call and all later ones."""
        names = ", ".join(cls._fields)
        made = eval(f"lambda _cls, {names}: _tuple(_cls, ({names},))", {"_tuple": _tuple})  # noqa: S307 - our own fields
        made.__defaults__ = tuple(cls._field_defaults.values())
        made.__qualname__ = f"{cls.__qualname__}.__new__"
        cls.__new__ = made
        return made(cls, *values, **named)

    class _Named(tuple):
        """The common methods of all of them."""

        __slots__ = ()

        def __new__(cls, /, *values: Any, **named: Any) -> Any:
            """Make a tuple at the first calls of a class; most classes of a command are called a few times."""
            calls = _calls[cls] = _calls.get(cls, 0) + 1
            if calls > _CALLS:
                return _compiled(cls, *values, **named)
            fields = cls._fields
            placed = dict(zip(fields, values, strict=False))
            given = {**cls._field_defaults, **placed, **named}
            if len(placed) < len(values) or given.keys() != {*fields} or not named.keys().isdisjoint(placed):
                return _compiled(cls, *values, **named)  # this reports what is wrong
            return _tuple(cls, map(given.get, fields))

        @classmethod
        def _make(cls, values: Any) -> Any:
            made = _tuple(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"expected {len(cls._fields)} values, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Any:
            made = _tuple(type(self), map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"no such fields: {', '.join(changes)}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({fields})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    class _Making(type):
        """Makes a plain class from one that names `NamedTuple` as its base."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            made = type(name, (_Named, *bases[1:]), {**body, "__slots__": ()})
            fields = made._fields = made.__match_args__ = tuple(made.__annotations__)
            made._field_defaults = {field: body[field] for field in fields if field in body}
            for place, field in enumerate(fields):
                setattr(made, field, _field(place, ""))
            return made

        def __call__(cls, name: str, fields: Any = ()) -> type:
            """Make a class from a list of fields and types; `typing` takes the name of the caller's module for it."""
            fields = {str(field): kind for field, kind in fields}
            return _Making(
                name, (cls,), {"__annotations__": fields, "__module__": sys._getframe(1).f_globals["__name__"]}
            )

    class NamedTuple(metaclass=_Making):
        """See `typing.NamedTuple`."""
