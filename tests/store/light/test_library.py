"""What stands in for parts of Python's library does what these do."""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sightline.light import library as light_library


@contextlib.contextmanager
def _told_by(make: Callable[..., Any], told: list[str], how: str) -> Iterator[None]:
    @make
    def held(name: str) -> Iterator[str]:
        """Held."""
        told.append(f"enters {name}")
        try:
            yield name if how != "yields nothing" else ""
        except KeyError:
            told.append("caught")
        except OSError as error:
            raise ValueError("another") from error
        finally:
            told.append("leaves")
        if how == "yields twice":
            yield name

    @make
    def empty() -> Iterator[str]:
        yield from ()

    assert (held.__name__, held.__doc__) == ("held", "Held.")
    with empty() if how == "yields nothing" else held("it") as value:
        told.append(value)
        yield


@pytest.mark.parametrize("how", ["", "yields twice", "yields nothing"])
@pytest.mark.parametrize(
    "raised", [None, KeyError("x"), OSError("x"), LookupError("x"), StopIteration("x"), SystemExit(3)]
)
def test_a_generator_is_entered_and_left_as_by_contextlib(how: str, raised: BaseException | None) -> None:
    told: dict[str, list[str]] = {"contextlib": [], "ours": []}
    ends = {}
    for name, make in (("contextlib", contextlib.contextmanager), ("ours", light_library.contextmanager)):
        try:
            with _told_by(make, told[name], how):
                if raised is not None:
                    raise raised
        except BaseException as error:
            ends[name] = (type(error), str(error), type(error.__cause__))
    assert told["ours"] == told["contextlib"]
    assert ends.get("ours") == ends.get("contextlib")


def test_what_is_suppressed_is_only_what_was_named() -> None:
    with light_library.suppress(OSError, KeyError):
        raise FileNotFoundError
    with pytest.raises(ValueError), light_library.suppress(OSError):
        raise ValueError
    with pytest.raises(ValueError), light_library.suppress():
        raise ValueError


def test_what_is_closing_is_closed_after_an_error_too() -> None:
    class Thing:
        closed = 0

        def close(self) -> None:
            self.closed += 1

    thing = Thing()
    with light_library.closing(thing) as same:
        assert same is thing
    with pytest.raises(ValueError), light_library.closing(thing):
        raise ValueError
    assert thing.closed == 2
    with light_library.nullcontext(7) as value:
        assert value == 7


def test_results_are_kept_as_by_functools() -> None:
    calls: dict[str, list[int]] = {}

    def kept(name: str, decorate: Callable[[Callable[[int], int]], Any]) -> Any:
        def doubled(number: int) -> int:
            """Double it."""
            calls.setdefault(name, []).append(number)
            return number * 2

        return decorate(doubled)

    pairs = [
        (functools.cache, light_library.cache),
        (functools.lru_cache(maxsize=2), light_library.lru_cache(maxsize=2)),
    ]
    for at, (theirs, ours) in enumerate(pairs):
        functions = kept(f"theirs {at}", theirs), kept(f"ours {at}", ours)
        for function in functions:
            assert [function(number) for number in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
            assert (function.__name__, function.__doc__) == ("doubled", "Double it.")
            function.cache_clear()
            function(1)
        assert calls[f"ours {at}"] == calls[f"theirs {at}"]


def test_a_cached_property_is_made_once_for_each_object() -> None:
    class Thing:
        made = 0

        @light_library.cached_property
        def value(self) -> int:
            """How often."""
            self.made += 1
            return self.made

    thing = Thing()
    assert (thing.value, thing.value, Thing().value) == (1, 1, 1)
    assert Thing.value.__doc__ == "How often."


def test_what_type_checkers_let_pass_also_runs() -> None:
    """It is seldom used, so Python's own does it where it needs much."""

    @light_library.lru_cache
    def doubled(number: int) -> int:
        return number * 2

    assert (doubled(1), doubled(1), doubled.cache_info().hits) == (2, 2, 1)
    assert light_library.lru_cache(maxsize=3, typed=True)(abs).cache_parameters() == {"maxsize": 3, "typed": True}

    seen: list[str] = []

    @light_library.contextmanager
    def noted(name: str) -> Iterator[None]:
        seen.append(name)
        yield

    @noted("called")
    def twice(number: int) -> int:
        return number * 2

    assert (twice(2), twice(3), seen) == (4, 6, ["called", "called"])

    class Plain(light_library.AbstractContextManager[Any]):
        def __exit__(self, *error: object) -> None:
            pass

    with Plain() as entered:
        assert isinstance(entered, Plain)
    assert light_library.nullcontext(3).enter_result == 3
    if sys.version_info >= (3, 12):
        with light_library.suppress(KeyError):
            raise ExceptionGroup("two", [KeyError(), KeyError()])
