"""The names of `typing` that our modules use, without `typing`, which is for type checkers and takes 4 ms to load.

Type checkers see `typing`'s own. While a program runs, these only stand in annotations and among base classes.
Those of `collections.abc` are its own; by that name they load `collections`, too, which takes a millisecond.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable as Callable
    from collections.abc import Collection as Collection
    from collections.abc import Container as Container
    from collections.abc import Iterable as Iterable
    from collections.abc import Iterator as Iterator
    from collections.abc import Mapping as Mapping
    from collections.abc import Sequence as Sequence
    from typing import Annotated as Annotated
    from typing import Any as Any
    from typing import BinaryIO as BinaryIO
    from typing import Generic as Generic
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import Self as Self
    from typing import TypeAlias as TypeAlias
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import overload as overload
else:
    from _collections_abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence  # noqa: F401

    class Any:
        pass

    class Annotated:
        def __class_getitem__(cls, given):
            return given  # the type, and what is said of it

    class Protocol:
        __slots__ = ()

    class Generic:
        __slots__ = ()

        def __class_getitem__(cls, _parameters):
            return cls

    BinaryIO = NoReturn = TypeAlias = Any

    def TypeVar(_name, **_bounds):  # noqa: N802
        return Any

    def cast(_type, value):
        return value

    def overload(function):
        return function
