"""CI logs of tools that end with much that says nothing of the reason: advice, long stacks, reports and clean-up."""

from collections.abc import Callable

from benchmarks.failures.made.kit import Made, Words, made

_Told = tuple[list[str], list[str]]
"""What a tool writes from the failure on, and what of it must stand in the view."""


def cases() -> list[Made]:
    """Six tools, two services, two outputs of each."""
    return [_case(tool, service, number) for tool in _TOOLS for service in _SERVICES for number in range(2)]


def _case(tool: str, service: str, number: int) -> Made:
    words = Words(f"closing {tool} {service} {number}")
    told, labels = _TOOLS[tool](words)
    lines = [*words.said(120), *words.scary(6), *words.said(60), *told]
    return made(f"closing-{tool}-{service}-{number}", tool, _SERVICES[service](lines), labels, command="cat job.log")


def _actions(lines: list[str]) -> list[str]:
    lines = [
        *lines,
        "##[error]Process completed with exit code 1.",
        "Post job cleanup.",
        "Cleaning up orphan processes",
    ]
    return [
        f"2024-03-05T10:{n // 600 % 60:02}:{n // 10 % 60:02}.{n % 10}000000Z {line}" for n, line in enumerate(lines)
    ]


def _travis(lines: list[str]) -> list[str]:
    return [
        "Worker information",
        *lines,
        'The command "./test.sh" exited with 1.',
        "",
        "Done. Your build exited with 1.",
    ]


def _java_frames(words: Words, count: int) -> list[str]:
    return [
        f"        at org.{words.noun()}.{words.noun().title()}.run({words.noun().title()}.java:{words.number()})"
        for _ in range(count)
    ]


def _gradle(words: Words) -> _Told:
    name = f"org.{words.noun()}.{words.noun().title()}Test.{words.name()}"
    message = f"java.lang.IllegalStateException: no {words.noun()} for {words.name()}"
    return [
        f"{name} FAILED",
        f"    {message}",
        *_java_frames(words, 12),
        *words.said(90),
        "> Task :test FAILED",
        "",
        "FAILURE: Build failed with an exception.",
        "",
        "* What went wrong:",
        "Execution failed for task ':test'.",
        "> There were failing tests. See the report at: file:///srv/job/build/reports/tests/test/index.html",
        "",
        "* Try:",
        "> Run with --stacktrace option to get the stack trace.",
        "> Run with --info or --debug option to get more log output.",
        "> Run with --scan to get full insights.",
        "",
        "* Get more help at https://help.gradle.org",
        "",
        "BUILD FAILED in 16s",
        "",
        "Deprecated Gradle features were used in this build, making it incompatible with Gradle 8.0.",
        "",
        "You can use '--warning-mode all' to show the individual deprecation warnings and determine if they come from "
        "your own scripts or plugins.",
        "",
        "See https://docs.gradle.org/7.5.1/userguide/command_line_interface.html#sec:command_line_warnings",
        "5 actionable tasks: 4 executed, 1 up-to-date",
    ], [name, message]


def _maven(words: Words) -> _Told:
    test, kind = words.name(), words.noun().title()
    message = f"org.opentest4j.AssertionFailedError: expected: <{words.number()}> but was: <{words.number()}>"
    return [
        f"[ERROR] org.shop.{kind}Test.{test}  Time elapsed: 0.03 s  <<< FAILURE!",
        message,
        *_java_frames(words, 10),
        *(f"[INFO] {line}" for line in words.said(60)),
        "[INFO] BUILD FAILURE",
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.0.0:test (default-test) on "
        "project shop: There are test failures.",
        "[ERROR] ",
        "[ERROR] Please refer to /srv/job/target/surefire-reports for the individual test results.",
        "[ERROR] -> [Help 1]",
        "[ERROR] ",
        "[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.",
        "[ERROR] Re-run Maven using the -X switch to enable full debug logging.",
        "[ERROR] ",
        "[ERROR] For more information about the errors and possible solutions, please read the following articles:",
        "[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/MojoFailureException",
    ], [f"{kind}Test.{test}", message]


def _nose(words: Words) -> _Told:
    names = [f"test.{words.name()}.test_{words.name()}" for _ in range(4)]
    told: list[str] = []
    for name in names:
        told += ["=" * 70, f"FAIL: {name}", "-" * 70, *words.said(14), "", "Traceback (most recent call last):"]
        for _ in range(6):
            file = words.name()
            told += [
                f'  File "/srv/job/src/{words.noun()}/{file}.py", line {words.number()}, in {file}',
                f"    {words.name()}()",
            ]
        told += [f"AssertionError: {words.noun()} {words.number()} is there twice", ""]
    return [*told, "-" * 70, "Ran 17 tests in 4.218s", "", "FAILED (SKIP=1, failures=4)"], names


def _script(words: Words) -> _Told:
    """A script of npm's whose message has several lines, before a long stack."""
    said = [
        f"There is a space in '{words.noun()} {words.noun()}', please use '-'",
        f"/srv/job/guide/{words.name()}/{words.name()}",
    ]
    frames = [f"    at {words.name()} (/srv/job/tools/{words.noun()}.js:{words.number()}:9)" for _ in range(12)]
    return [
        "Error: ",
        *said,
        *frames,
        "npm ERR! code ELIFECYCLE",
        "npm ERR! errno 1",
        "npm ERR! shop@0.0.1 test:names: `node ./tools/names.js`",
        "npm ERR! Exit status 1",
        "npm ERR! ",
        "npm ERR! Failed at the shop@0.0.1 test:names script.",
        "npm ERR! This is probably not a problem with npm. There is likely additional logging output above.",
        "",
        "npm ERR! A complete log of this run can be found in:",
        "npm ERR!     /srv/job/.npm/_logs/2019-07-29T03_31_54_814Z-debug.log",
    ], said


def _dotnet(words: Words) -> _Told:
    message = f"System.InvalidOperationException: the {words.noun()} has no {words.name()}"
    frames = [
        f"   at Shop.{words.noun().title()}.Run() in /srv/job/{words.name()}.cs:line {words.number()}"
        for _ in range(14)
    ]
    heading = f"Step {words.name()} was given up"
    return [heading, f"  Unhandled exception. {message}", *frames, *words.said(2)], [heading, message]


def _jest(words: Words) -> _Told:
    names = [f"{words.noun()} › {words.name()} › {words.name()}" for _ in range(7)]
    told = ["FAIL src/shop.test.js"]
    for name in names:
        told += [f"  ● {name}", "", "    expect(received).toBe(expected) // Object.is equality", ""]
        told += [f"    Expected: {words.number()}", f"    Received: {words.number()}", ""]
        told += [f"      {words.number()} |   const {words.noun()} = {words.name()}();" for _ in range(6)]
        told += ["", *(f"      at {words.name()} (src/{words.noun()}.js:{words.number()}:7)" for _ in range(9)), ""]
    return [
        *told,
        "Test Suites: 1 failed, 3 passed, 4 total",
        "Tests:       7 failed, 41 passed, 48 total",
        "Time:        3.1 s",
    ], names


_TOOLS: dict[str, Callable[[Words], _Told]] = {
    "gradle": _gradle,
    "maven": _maven,
    "nose": _nose,
    "npm": _script,
    "dotnet": _dotnet,
    "jest": _jest,
}
_SERVICES: dict[str, Callable[[list[str]], list[str]]] = {"actions": _actions, "travis": _travis}
