"""What our modules use most of `contextlib`, `functools`, `collections` and `operator`, without loading these.

They load each other and take a quarter of what `python -c pass` does. Type checkers see Python's own.

What a start has no use for, such as `cache_info` or a context manager as a decorator, is done by Python's own, which is
loaded for that. So whatever type checkers let pass also runs.
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

        def lru_cache(maxsize=128, typed=False):
            if callable(maxsize):
                return lru_cache()(maxsize)

            def cached(function):
                made = _named_like(function, _lru_cache_wrapper(function, maxsize, typed, _cache_info))
                made.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
                return made

            return cached

    MappingProxyType = type(type.__dict__)

    def _cache_info(*numbers):
        import functools

        return type(functools.lru_cache()(_cache_info).cache_info())(*numbers)

    def _named_like(function, made):
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(made, name, getattr(function, name, None))
        made.__wrapped__ = function
        return made

    def cache(function):
        return lru_cache(None)(function)

    class cached_property:  # noqa: N801
        def __init__(self, function):
            self.func = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner, name):
            self.attrname = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value

    class AbstractContextManager:
        def __class_getitem__(cls, _parameters):
            return cls

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

    class suppress:  # noqa: N801
        def __init__(self, *kinds):
            self._kinds = kinds

        def __enter__(self):
            pass

        def __exit__(self, kind, error, trace):
            if kind is None or issubclass(kind, self._kinds) or not issubclass(kind, BaseExceptionGroup):
                return kind is not None and issubclass(kind, self._kinds)
            import contextlib

            return contextlib.suppress(*self._kinds).__exit__(kind, error, trace)

    class closing:  # noqa: N801
        def __init__(self, thing):
            self.thing = thing

        def __enter__(self):
            return self.thing

        def __exit__(self, *error):
            self.thing.close()

    class nullcontext:  # noqa: N801
        def __init__(self, value=None):
            self.enter_result = value

        def __enter__(self):
            return self.enter_result

        def __exit__(self, *error):
            pass

        async def __aenter__(self):
            return self.enter_result

        async def __aexit__(self, *error):
            pass

    class _Generated:
        """Enters and leaves what a generator does before and after it yields."""

        def __init__(self, function, given, named):
            self._made_of = function, given, named
            self._steps = function(*given, **named)

        def __call__(self, decorated):
            import contextlib

            function, given, named = self._made_of
            return contextlib.contextmanager(function)(*given, **named)(decorated)

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
        return _named_like(function, lambda *given, **named: _Generated(function, given, named))


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
