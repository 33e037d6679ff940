"""Tools that print what went wrong before they say what failed."""

from collections.abc import Callable, Iterator

from benchmarks.failures.made.kit import Made, Words, made


def cases() -> list[Made]:
    """Six tools, four outputs each: with few and with many lines between the reason and its verdict."""
    return [_case(tool, number) for tool in _TOOLS for number in range(4)]


def _case(tool: str, number: int) -> Made:
    words = Words(f"above {tool} {number}")
    lines: list[str] = []
    labels: list[str] = []
    failing = {words.number(20, 60), words.number(61, 150)} if number % 2 else {words.number(10, 150)}
    for at in range(1, 171):
        name = words.name()
        reason = []
        if at in failing:
            noun = words.noun()
            reason = [
                f"{noun} {name}: wanted {words.number()} {noun}s, there are {words.number()}",
                f"at {noun}_check.x line {words.number()}",
            ]
            labels += [name, reason[0]]
            reason += words.said((0, 1, 3, 5)[number])
        lines += _TOOLS[tool](at, name, reason)
    command, ending = _ENDINGS[tool]
    return made(
        f"above-{tool}-{number}", f"above-{tool}", [*lines, *ending(170, len(failing))], labels, command=command
    )


def _go(at: int, name: str, reason: list[str]) -> Iterator[str]:
    yield f"=== RUN   Test_{name}"
    yield from reason
    if not reason:
        yield f"opened depot {at}"
    yield f"--- {'FAIL' if reason else 'PASS'}: Test_{name} (0.00s)"


def _zig(at: int, name: str, reason: list[str]) -> Iterator[str]:
    if not reason:
        yield f"{at}/170 main.test.{name}...OK"
        return
    yield f"{at}/170 main.test.{name}...{reason[0]}"
    yield from reason[1:]
    yield "FAIL (TestUnexpectedResult)"


def _tap(at: int, name: str, reason: list[str]) -> Iterator[str]:
    yield f"# Starting Test: {name}"
    yield from reason
    yield f"{'not ok' if reason else 'ok'} {at} {name}"


def _bats(at: int, name: str, reason: list[str]) -> Iterator[str]:
    yield f"Test Case: {name}"
    yield from (f"    {line}" for line in reason)
    yield f"{'FAILED' if reason else 'passed'}: {name} after {at} ms"


def _gtest(at: int, name: str, reason: list[str]) -> Iterator[str]:
    yield f"[ RUN      ] Depot.{name}"
    yield from reason
    yield f"[{'  FAILED  ' if reason else '       OK '}] Depot.{name} ({at} ms)"


def _swift(at: int, name: str, reason: list[str]) -> Iterator[str]:
    yield f"Test Case '-[Depot {name}]' started."
    yield from reason
    yield f"Test Case '-[Depot {name}]' {'failed' if reason else 'passed'} (0.00{at} seconds)."


def _dune(at: int, name: str, reason: list[str]) -> Iterator[str]:
    yield f"running {name} ({at} of 170)"
    yield from reason
    yield f"  {name} ... {'FAIL' if reason else 'ok'}"


_TOOLS: dict[str, Callable[[int, str, list[str]], Iterator[str]]] = {
    "go": _go,
    "zig": _zig,
    "tap": _tap,
    "cases": _bats,
    "gtest": _gtest,
    "xctest": _swift,
    "dots": _dune,
}

_ENDINGS: dict[str, tuple[str, Callable[[int, int], list[str]]]] = {
    "go": ("go test -v ./...", lambda _all, _bad: ["FAIL", "FAIL\texample.org/depot\t0.412s", "FAIL"]),
    "zig": ("zig test main.zig", lambda all_, bad: [f"{all_ - bad} passed; 0 skipped; {bad} failed."]),
    "tap": ("./tests.sh", lambda all_, bad: [f"1..{all_}", f"#{bad} failed test"]),
    "cases": ("./conform", lambda all_, bad: [f"{all_} cases, {bad} of them bad"]),
    "gtest": (
        "./depot_test",
        lambda all_, bad: [f"[==========] {all_} tests ran. (3 ms total)", f" {bad} FAILED TESTS"],
    ),
    "xctest": (
        "swift test",
        lambda all_, bad: [f"\t Executed {all_} tests, with {bad} failures (0 unexpected) in 0.1 seconds"],
    ),
    "dots": ("dune test", lambda all_, bad: [f"{bad} of {all_}"]),
}
