"""The names of `typing` that our modules use, without `typing`, which is for type checkers and takes 4 ms to load.

Type checkers see `typing`'s own. While a program runs, these only stand in annotations and among base classes.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any as Any
    from typing import BinaryIO as BinaryIO
    from typing import Generic as Generic
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import TypeAlias as TypeAlias
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import overload as overload
else:

    class Any:
        pass

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
