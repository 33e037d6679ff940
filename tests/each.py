"""One check of many cases as one test: a test for each takes more time than most of these checks do."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Check = Callable[..., None]


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Check], Check]:
    """Have a test check every case, as `pytest.mark.parametrize` names them; all that fail are told together.

    Cases share the fixtures of the test: what a case leaves there must not matter to the next.
    """
    held = [dict(zip(names, case, strict=True)) if isinstance(names, tuple) else {names: case} for case in cases]
    assert held, "no case is checked"

    def decorate(check: Check) -> Check:
        @functools.wraps(check)
        def check_all(**fixtures: Any) -> None:
            failed = []
            for case in held:
                try:
                    check(**fixtures, **case)
                except Exception as error:
                    error.add_note("where " + ", ".join(f"{name} is {value!r:.400}" for name, value in case.items()))
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(held)} cases", failed)

        signature = inspect.signature(check)
        left = [one for name, one in signature.parameters.items() if name not in held[0]]
        check_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return check_all

    return decorate
