"""Failures in the forms of several tools, a set for each mechanism of a view: stacks, levels, blocks, passing words,
warnings, kinds and reports."""

import json
from collections.abc import Callable

from benchmarks.failures.made.kit import Made, Words, made

_OUTPUTS = 4

STACKS: dict[str, Callable[[str, int], list[str]]] = {
    "python": lambda said, n: [
        "Traceback (most recent call last):",
        *(line for at in range(n) for line in (f'  File "/srv/app/m{at}.py", line {at}, in step', f"    step{at}()")),
        f"DepotError: {said}",
    ],
    "node": lambda said, n: [
        f"Error: {said}",
        *(f"    at step{at} (/srv/app/src/m{at}.js:{at}:9)" for at in range(n)),
    ],
    "java": lambda said, n: [
        f"depot.StuckException: {said}",
        *(f"\tat depot.step{at}.run(Step{at}.java:{at + 1})" for at in range(n)),
    ],
    "ruby": lambda said, n: [
        f"app.rb:3:in `step': {said} (Depot::Stuck)",
        *(f"\tfrom app/m{at}.rb:{at + 1}:in `step{at}'" for at in range(n)),
    ],
    "lua": lambda said, n: [
        f"lua: app.lua:3: error: {said}",
        "stack traceback:",
        *(f"\tm{at}.lua:{at + 1}: in function 'step{at}'" for at in range(n)),
    ],
    "php": lambda said, n: [
        f"PHP Fatal error:  Uncaught Depot\\Stuck: {said}",
        *(f"#{at} /srv/app/m{at}.php({at + 1}): step{at}()" for at in range(n)),
    ],
}
"""Stacks of some runtimes, given what is said and how many frames they have."""


def stacks() -> list[Made]:
    """Six failures, each with a long stack, whose messages all must stand in the view."""

    def case(tool: str, number: int) -> Made:
        words = Words(f"stacks {tool} {number}")
        said = [f"{words.noun()} {words.name()} cannot be weighed" for _ in range(6)]
        lines = [line for one in said for line in (*words.said(20), *STACKS[tool](one, 25))]
        return made(f"stacks-{tool}-{number}", tool, [*lines, *words.said(20)], said)

    return [case(tool, number) for tool in STACKS for number in range(_OUTPUTS)]


_ENTRIES = {
    "logging": "2026-11-28 09:{:02}:00,123 {} shop.till: {}",
    "log4j": "09:{:02}:00.123 [main] {}  shop.Till - {}",
    "spring": "2026-11-28 09:{:02}:00.123  {} 42 --- [main] shop.Till : {}",
    "zap": "2026-11-28T09:{:02}:00.123Z\t{}\ttill/pay.go:31\t{}",
    "mozharness": "[task 2026-11-28T09:{:02}:00.123Z] 09:00:00     {} - {}",
    "compose": "till-1  | 09:{:02}:00 {}: {}",
}
"""An entry of a log, given a minute, a level and what is said."""


def calm() -> list[Made]:
    """Two failures among forty exceptions that the log itself calls INFO."""

    def case(tool: str, number: int) -> Made:
        words = Words(f"calm {tool} {number}")
        said = [f"the {words.noun()} of {words.name()} failed: it holds {words.number()} kg" for _ in range(2)]
        lines: list[str] = []
        for at in range(42):
            calm = (
                f"{words.noun().title()}Error: {words.name()} was asked for {words.noun()}, and did not answer in time"
            )
            level, text = ("ERROR", said[at // 20]) if at in (17, 31) else ("INFO", calm)
            lines += [*(_ENTRIES[tool].format(at, "INFO", one) for one in words.said(12))]
            lines.append(_ENTRIES[tool].format(at, level, text))
        return made(f"calm-{tool}-{number}", tool, lines, said)

    return [case(tool, number) for tool in _ENTRIES for number in range(_OUTPUTS)]


_NAMES = {
    "tasty": ("  {name}: FAIL", "    "),
    "hspec": ("  {name} FAILED [1]", "    "),
    "ct": ("  case {name} FAILED", "      "),
    "go": ("    --- FAIL: {name} (0.00s)", "        "),
    "exunit": ("  1) test {name} failed (DepotTest)", "     "),
    "busted": ("  ✗ {name}", "    "),
}
"""The line that names a failed test, and the margin of what stands below it."""


def below() -> list[Made]:
    """Two tests whose reason stands in a paragraph of its own below the name, without a word for failure."""

    def case(tool: str, number: int) -> Made:
        words = Words(f"below {tool} {number}")
        form, margin = _NAMES[tool]
        lines: list[str] = []
        labels: list[str] = []
        for _ in range(2):
            said = f"the scale shows {words.number()} kg for {words.name()}"
            below = ["of the crates that were weighed in May,", "", said, "", f"by the ledger of {words.noun()}"]
            lines += [*words.said(60), form.format(name=words.name()), *(margin + line for line in below), ""]
            labels.append(said)
        return made(f"below-{tool}-{number}", tool, [*lines, *words.said(60)], labels)

    return [case(tool, number) for tool in _NAMES for number in range(_OUTPUTS)]


_PASSED = {
    "quickcheck": "prop_error_{n}: +++ OK, passed 100 tests of failing input",
    "spark": "check {n}: assertion of error state, OK, proved property",
    "robot": "Error Handling Fails Well {n}                       | PASS |",
    "pytest": "tests/test_errors.py::test_failed_login_{n} PASSED",
    "tcltest": "++++ error-{n}.failed PASSED",
    "ctest": "  Test #{n}: fatal_error_is_reported .......... ok",
}
"""Lines of what passed, with words of failure in them."""


def passing() -> list[Made]:
    """A reason in plain words among hundreds of lines that passed and speak of errors."""

    def case(tool: str, number: int) -> Made:
        words = Words(f"passing {tool} {number}")
        lines = [_PASSED[tool].format(n=at) for at in range(400)]
        said = f"the {words.noun()} could not be opened by {words.name()}"
        lines.insert(150 + 40 * number, said)
        return made(f"passing-{tool}-{number}", tool, lines, [said])

    return [case(tool, number) for tool in _PASSED for number in range(_OUTPUTS)]


_WARNED = {
    "sphinx": ("docs/{n}.rst:{i}: WARNING: {said}", "build finished with problems, warnings treated as errors."),
    "mkdocs": ("WARNING -  {said} (docs/{n}.md)", "Aborted with 3 warnings in strict mode!\nFailing due to warnings"),
    "gcc": ("src/{n}.c:{i}: warning: {said}", "cc1: all warnings being treated as errors"),
    "eslint": ("  {i}:3  warning  {said}  {n}", "ESLint found too many warnings (maximum: 0)."),
    "gradle": ("w: src/{n}.kt: ({i}, 3): {said}; warning", "e: warnings found and -Werror specified"),
    "docs": ("[warn] {n}:{i} {said}", "Failing due to 3 warnings"),
}
"""A warning, and the line that says that warnings made the run fail."""


def warned() -> list[Made]:
    """Three warnings that made it fail."""

    def case(tool: str, number: int) -> Made:
        words = Words(f"warned {tool} {number}")
        form, end = _WARNED[tool]
        said = [f"label {words.name()} has no target" for _ in range(3)]
        lines = [
            line for one in said for line in (*words.said(120), form.format(n=words.noun(), i=words.number(), said=one))
        ]
        return made(f"warned-{tool}-{number}", tool, [*lines, *words.said(120), *end.split("\n")], said)

    return [case(tool, number) for tool in _WARNED for number in range(_OUTPUTS)]


def _entry(tool: str, name: str, said: str) -> object:
    """A report's entry on what failed, or, where nothing is said, on what passed."""
    forms: dict[str, object] = {
        "jest": {
            "fullName": name,
            "status": "failed" if said else "passed",
            "failureMessages": [f"Error: {said}\n    at f (a.js:1:2)"] if said else [],
        },
        "pytest": {
            "nodeid": f"t.py::{name}",
            "outcome": "failed" if said else "passed",
            "call": {"outcome": "failed", "crash": {"message": said}} if said else {"outcome": "passed"},
        },
        "eslint": {
            "filePath": f"/w/{name}.js",
            "messages": [{"ruleId": "error", "severity": 2 if said else 1, "message": said or "an error of taste"}],
        },
        "sarif": {"ruleId": name, "level": "error" if said else "note", "message": {"text": said or "error-prone"}},
        "audit": {
            "name": name,
            "severity": "critical" if said else "low",
            "via": [{"title": said or "a minor error", "severity": "critical" if said else "low"}],
        },
        "terraform": {
            "severity": "error" if said else "warning",
            "summary": "Unknown thing",
            "detail": said or f"error in 5.0 of {name}",
            "range": {"filename": f"{name}.tf", "start": {"line": 3}},
        },
    }
    return forms[tool]


def reports() -> list[Made]:
    """Three that failed in a JSON report of 200, in lines or in one."""

    def case(tool: str, number: int) -> Made:
        words = Words(f"reports {tool} {number}")
        said = {40 * at + number: f"{words.name()} lost its stamp" for at in (1, 2, 4)}
        entries = [_entry(tool, f"logs_an_error_{at}", said.get(at, "")) for at in range(200)]
        text = json.dumps({"results": entries}, indent=None if number % 2 else 2)
        return made(f"reports-{tool}-{number}", tool, text.split("\n"), [*said.values()])

    tools = ("jest", "pytest", "eslint", "sarif", "audit", "terraform")
    return [case(tool, number) for tool in tools for number in range(_OUTPUTS)]
