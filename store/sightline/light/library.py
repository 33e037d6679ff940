"""What our modules use most of `contextlib`, `functools`, `collections` and `operator`, without loading these.

They load each other and take a quarter of what `python -c pass` does. Type checkers see Python's own.

Left out is what none of us needs: `suppress` does not look into an `ExceptionGroup`, what `contextmanager` makes is no
decorator, and `cache_info` returns a tuple without names.
"""

from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import deque as deque
    from contextlib import AbstractContextManager as AbstractContextManager
    from contextlib import closing as closing
    from contextlib import contextmanager as contextmanager
    from contextlib import nullcontext as nullcontext
    from contextlib import suppress as suppress
    from functools import cache as cache
    from functools import cached_property as cached_property
    from functools import lru_cache as lru_cache
    from functools import partial as partial
    from operator import itemgetter as itemgetter
    from types import MappingProxyType as MappingProxyType
else:
    try:  # where these modules have them from
        from _collections import deque
        from _functools import _lru_cache_wrapper, partial
        from _operator import itemgetter
    except ImportError:  # not every Python has to have these
        from collections import deque
        from functools import lru_cache, partial
        from operator import itemgetter
    else:

        def lru_cache(maxsize):
            return lambda function: _named_like(function, _lru_cache_wrapper(function, maxsize, False, _told))

    MappingProxyType = type(type.__dict__)

    def _told(*numbers):
        return numbers

    def _named_like(function, made):
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(made, name, getattr(function, name, None))
        made.__wrapped__ = function
        return made

    def cache(function):
        return lru_cache(None)(function)

    class cached_property:  # noqa: N801
        def __init__(self, function):
            self._function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = vars(instance)[self._name] = self._function(instance)
            return value

    class AbstractContextManager:
        def __class_getitem__(cls, _parameters):
            return cls

    class suppress:  # noqa: N801
        def __init__(self, *kinds):
            self._kinds = kinds

        def __enter__(self):
            pass

        def __exit__(self, kind, error, trace):
            return kind is not None and issubclass(kind, self._kinds)

    class closing:  # noqa: N801
        def __init__(self, thing):
            self._thing = thing

        def __enter__(self):
            return self._thing

        def __exit__(self, *error):
            self._thing.close()

    class nullcontext:  # noqa: N801
        def __init__(self, value=None):
            self._value = value

        def __enter__(self):
            return self._value

        def __exit__(self, *error):
            pass

    class _Generated:
        """Enters and leaves what a generator does before and after it yields."""

        def __init__(self, steps):
            self._steps = steps

        def __enter__(self):
            for value in self._steps:
                return value
            raise RuntimeError("generator didn't yield")

        def __exit__(self, kind, error, trace):
            if kind is None:
                for _ in self._steps:
                    raise RuntimeError("generator didn't stop")
                return False
            try:
                self._steps.throw(error)
            except StopIteration as stopped:
                return stopped is not error
            except BaseException as raised:
                # What it was left by goes on as it is; a generator turns a StopIteration into a RuntimeError.
                if raised is error or (isinstance(error, StopIteration) and raised.__cause__ is error):
                    error.__traceback__ = trace
                    return False
                raise
            raise RuntimeError("generator didn't stop after throw()")

    def contextmanager(function):
        return _named_like(function, lambda *given, **named: _Generated(function(*given, **named)))


__all__ = [
    "AbstractContextManager",
    "MappingProxyType",
    "cache",
    "cached_property",
    "closing",
    "contextmanager",
    "deque",
    "itemgetter",
    "lru_cache",
    "nullcontext",
    "partial",
    "suppress",
]
