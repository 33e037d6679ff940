"""Failures in long outputs: many names, errors far apart, and messages whose telling part stands beside them."""

from collections.abc import Callable

from benchmarks.failures.made.kit import Made, Words, made

_Test = tuple[str, int, int]
"""What failed; what it got; what it wanted."""


def names() -> list[Made]:
    """Runs of which four to fourteen tests fail: all their names."""
    return [_named(tool, count) for tool in _RUNNERS for count in (4, 7, 10, 14)]


def _named(tool: str, count: int) -> Made:
    words = Words(f"names {tool} {count}")
    tests = [(words.name(), words.number(), words.number(901, 1900)) for _ in range(count)]
    command, write, _ = _RUNNERS[tool]
    return made(f"names-{tool}-{count}", tool, write(words, tests), [name for name, _, _ in tests], command=command)


def _pytest(words: Words, tests: list[_Test]) -> list[str]:
    lines = ["=" * 30 + " test session starts " + "=" * 30, "collected 412 items", ""]
    lines += [f"tests/test_{words.noun()}.py {'.' * 40} [ {at}%]" for at in range(3, 99, 2)]
    lines.append("=" * 36 + " FAILURES " + "=" * 36)
    for name, got, wanted in tests:
        lines += [f"{'_' * 30} test_{name} {'_' * 30}", "", f"    def test_{name}():"]
        lines += [f"        loaded = {words.noun()}.load()", f"        {words.noun()} = loaded.{words.noun()}()"]
        lines += [f">       assert loaded.total() == {wanted}", f"E       assert {got} == {wanted}"]
        lines += [f"E        +  where {got} = total()", "", f"tests/test_depot.py:{got}: AssertionError"]
        lines += ["-" * 28 + " Captured stdout call " + "-" * 28, *words.said(14)]
    lines.append("=" * 30 + " short test summary info " + "=" * 30)
    lines += [f"FAILED tests/test_depot.py::test_{name} - assert {got} == {wanted}" for name, got, wanted in tests]
    return [*lines, f"=== {len(tests)} failed, {412 - len(tests)} passed in 3.21s ==="]


def _jest(words: Words, tests: list[_Test]) -> list[str]:
    lines = [f"PASS test/{words.noun()}{at}.test.js" for at in range(60)] + ["FAIL test/depot.test.js"]
    for name, got, wanted in tests:
        lines += [f"  ● depot › {name}", "", "    expect(received).toBe(expected) // Object.is equality", ""]
        lines += [f"    Expected: {wanted}", f"    Received: {got}", "", f"      {got} |   const a = load();"]
        lines += [f"    > {got + 1} |   expect(a).toBe({wanted});", "         |             ^"]
        lines += ["", f"      at Object.<anonymous> (test/depot.test.js:{got + 1}:13)"]
        lines += [f"      at {words.noun()} (node_modules/jest-circus/build/run.js:{at}:9)" for at in range(8)] + [""]
    counts = f"Tests:       {len(tests)} failed, 300 passed, {300 + len(tests)} total"
    return [*lines, "Test Suites: 1 failed, 60 passed, 61 total", counts, "Time:        4.2 s", "Ran all test suites."]


def _go(words: Words, tests: list[_Test]) -> list[str]:
    lines = [f"ok  \texample.org/depot/{words.noun()}{at}\t0.01s" for at in range(60)]
    for name, got, wanted in tests:
        lines += [f"--- FAIL: Test_{name} (0.00s)", f"    depot_test.go:{got}: got {got}, want {wanted}"]
        lines += [f"        {line}" for line in words.said(12)]
    return [
        *lines,
        "FAIL",
        "FAIL\texample.org/depot\t0.1s",
        *(f"ok  \texample.org/x{at}\t0.01s" for at in range(20)),
        "FAIL",
    ]


def _cargo(words: Words, tests: list[_Test]) -> list[str]:
    lines = ["running 300 tests", *(f"test depot::{words.name()} ... ok" for _ in range(120))]
    lines += [f"test depot::{name} ... FAILED" for name, _, _ in tests] + ["", "failures:", ""]
    for name, got, wanted in tests:
        lines += [f"---- depot::{name} stdout ----", *words.said(10)]
        lines += [f"thread 'depot::{name}' panicked at src/depot.rs:{got}:5:", "assertion `left == right` failed"]
        lines += [f"  left: {got}", f" right: {wanted}", ""]
    lines += ["", "failures:", *(f"    depot::{name}" for name, _, _ in tests), ""]
    return [*lines, f"test result: FAILED. {300 - len(tests)} passed; {len(tests)} failed; 0 ignored; finished in 0.2s"]


def _unittest(words: Words, tests: list[_Test]) -> list[str]:
    lines = [f"{words.name()} (tests.test_depot.TestDepot) ... ok" for _ in range(90)]
    for name, got, wanted in tests:
        lines += ["=" * 70, f"FAIL: test_{name} (tests.test_depot.TestDepot.test_{name})", "-" * 70]
        lines += [
            "Traceback (most recent call last):",
            f'  File "/srv/tests/test_depot.py", line {got}, in test_{name}',
        ]
        lines += [f"    self.assertEqual(total(), {wanted})", f"AssertionError: {got} != {wanted}", ""]
    return [*lines, "-" * 70, "Ran 300 tests in 0.301s", "", f"FAILED (failures={len(tests)})"]


def _conform(words: Words, tests: list[_Test]) -> list[str]:
    lines = []
    for name, got, wanted in tests:
        lines += [f"✓ {words.name()}" for _ in range(40)] + [f"✗ {name}", f"  total is {got} and should be {wanted}"]
    return [*lines, *(f"✓ {words.name()}" for _ in range(40)), f"{len(tests)} clauses do not hold"]


_RUNNERS: dict[str, tuple[str, Callable[[Words, list[_Test]], list[str]], str]] = {
    "pytest": ("pytest", _pytest, ""),
    "jest": ("npx jest", _jest, ""),
    "go-test": ("go test ./...", _go, ""),
    "cargo-test": ("cargo test", _cargo, ""),
    "unittest": ("python -m unittest", _unittest, ""),
    "unknown-tests": ("./conform", _conform, ""),
}


def scattered() -> list[Made]:
    """Errors far apart, each on a line of its own, as many as a small view has room for."""
    return [_scattered(tool, count) for tool in _COMPILERS for count in (6, 8, 10, 12)]


def _scattered(tool: str, count: int) -> Made:
    words = Words(f"scattered {tool} {count}")
    command, error, noise, ending = _COMPILERS[tool]
    lines: list[str] = []
    labels: list[str] = []
    for _ in range(count):
        lines += noise(words)
        place = f"src/{words.name()}.x"
        labels.append(f"{place}:{words.number()}")
        lines += [one.replace("PLACE", labels[-1]).replace("NOUN", words.noun()) for one in error]
    lines += [*noise(words), ending]
    return made(f"scattered-{tool}-{count}", tool, lines, labels, command=command)


def _plain(words: Words) -> list[str]:
    return words.said(25)


def _warnings(words: Words) -> list[str]:
    return words.warned(10)


def _calls(words: Words) -> list[str]:
    return words.compiled(20)


_COMPILERS: dict[str, tuple[str, list[str], Callable[[Words], list[str]], str]] = {
    "gcc": (
        "make -k all",
        ["PLACE:5: error: 'NOUN' undeclared (first use in this function)"],
        _warnings,
        "make: *** [all] Error 1",
    ),
    "tsc": ("npx tsc", ["PLACE - error TS2304: Cannot find name 'NOUN'."], _plain, "Found errors."),
    "mypy": ("mypy src", ['PLACE: error: Name "NOUN" is not defined  [name-defined]'], _plain, "checked all"),
    "unknown-lint": ("./check-all", ["PLACE: NOUN is missing"], _plain, "some places are to be looked at"),
    "script": ("./run-all.sh", ["PLACE: line 4: NOUN: command not found"], _calls, "done"),
    "ruff": ("ruff check", ["PLACE:1: F821 Undefined name `NOUN`"], _plain, "No fixes available."),
}


def context() -> list[Made]:
    """Messages whose telling part stands up to six lines after, or before, the line that looks like an error."""
    return [_beside(form, place) for form in _FORMS for place in (2, 3, 4, 6)]


def _beside(form: str, place: int) -> Made:
    words = Words(f"beside {form} {place}")
    noun, number = words.noun(), words.number()
    telling = f"the {noun} of {words.name()} comes before its {words.noun()} {number}"
    between = [f"   while {words.noun()} {words.number()} was open" for _ in range(place - 1)]
    command, head, tail, above = _FORMS[form]
    message = (
        [telling, *between, head.replace("NOUN", noun)] if above else [head.replace("NOUN", noun), *between, telling]
    )
    lines = [*words.said(90), *words.compiled(30), *message, *tail, *words.said(120)]
    return made(f"context-{form}-{place}", form, lines, [telling], command=command)


_FORMS: dict[str, tuple[str, str, list[str], bool]] = {
    "unknown-after": ("./assemble", "ERROR: could not assemble NOUN", [""], False),
    "unknown-before": ("./assemble", "NOUN: failed", [""], True),
    "boxed": ("infra apply", "│ Error: Invalid NOUN", ["╵"], False),
    "server": ("./serve --once", "FATAL NOUN: stopped", [""], False),
    "exception": ("java -jar depot.jar", "org.example.DepotException: NOUN", [""], False),
    "exit": ("./pack", "NOUN exited with status 3", [""], True),
}
