"""Something failed behind exit 0: the view says how many lines report it, and quotes and shows the worst."""

from typing import Any

import pytest

from sightline.base.profile import DEFAULT
from sightline.shape.failure.examination import Examination
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import join_segments
from sightline.verbs.command_view import Ending, cut_view
from sightline.verbs.head_line import head_line
from sightline.verbs.next_call import cli_call


def view(command: str, out: str, err: str = "") -> tuple[dict[str, Any], str]:
    """The fields and the body of a success' view."""
    sources = BytesSource(out.encode(), "@cmd_a1b2c3"), BytesSource(err.encode(), "@cmd_a1b2c3.err")
    examination = Examination(*sources, command)
    shaped, fields = cut_view(
        cli_call,
        DEFAULT,
        sources,
        Ending(0, 1.0),
        {"output_id": "@cmd_a1b2c3", "exit_code": 0},
        verbosity="auto",
        examination=lambda: examination,
    )
    body = join_segments(shaped.segments)
    assert len((head_line(fields) + body).encode()) <= 1024
    return fields, body


def log(entry: str, *errors: str) -> str:
    """A log of 50,000 entries, some of which are errors."""
    lines = [entry.format(n=n, second=n % 60, level="DEBUG" if n % 7 else "INFO") for n in range(50_000)]
    for number, error in enumerate(errors, 1):
        lines[20_000 * number] = error
    return "\n".join(lines) + "\n"


PYTHON = "2026-01-01 12:00:{second:02},123 {level} [worker] app: request {n}"
KLOG = "I0101 12:00:{second:02}.000000 1 controller.go:20] synced object {n}"
LOGFMT = "time=2026-01-01T12:00:{second:02}Z level=info msg=request n={n}"
NGINX = "2026/01/01 12:00:{second:02} [info] 1#1: client {n} closed connection"


LOGS = {
    "python": (PYTHON, "2026-01-01 12:00:01,001 ERROR [worker] app: database refused the connection"),
    "klog": (KLOG, "E0101 12:00:01.000000 1 controller.go:31] error syncing: database refused the connection"),
    "logfmt": (LOGFMT, 'time=2026-01-01T12:00:01Z level=error msg="database refused the connection"'),
    "nginx": (NGINX, "2026/01/01 12:00:01 [error] 1#1: database refused the connection"),
}


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("command", ["cat app.log", "tail -n 50000 app.log", "docker logs app"])
def test_a_log_with_two_errors_says_so_and_shows_one(command: str, name: str) -> None:
    entry, error = LOGS[name]
    fields, body = view(command, log(entry, error, error))
    assert "2 lines of level error: " in fields["summary"]
    assert "database refused" in fields["summary"]
    assert "refused the connection" in body


SOURCE = "def f():\n    # the ERROR is logged\n    logger.error('failed: %s')\n    raise ERROR('bad')\n" * 900
LIST = "".join(f"2026-01-{n % 28 + 1:02} Fix the ERROR that a user reported, number {n}\n" for n in range(2000))


WORDS = {
    "source": ("cat src.py", SOURCE),
    "list": ("cat CHANGELOG", LIST),
    "history": ("git log --date=iso", log(PYTHON, "2026-01-01 12:00:01,001 ERROR level is right now")),
    "search": ("grep -rn ERROR src", "src/a.py:3: ERROR = 1\n" * 2000),
    "good log": ("cat app.log", log(PYTHON)),
    "mention": ("cat app.log", log(PYTHON, "2026-01-01 12:00:01,001 INFO [worker] app: 0 requests ended with ERROR")),
    "searched log": ("grep ERROR app.log", log(PYTHON.replace("{level}", "ERROR"))),
    "log of errors": ("cat errors.log", log(PYTHON.replace("{level}", "ERROR"))),
    "build": ("make", "compiling error.c, no errors\n" * 2000),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_of_failure_alone_raise_no_alarm(name: str) -> None:
    fields, _ = view(*WORDS[name])
    assert "error" not in fields["summary"].lower()
    assert "failure" not in fields["summary"]


STEPS = "".join(f"step {n} of many went well\n" for n in range(900))
CONFLICTS = (
    "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This "
    "behaviour is the source of the following dependency conflicts.\n"
    "botocore 1.29.0 requires urllib3<1.27, but you have urllib3 2.0.7 which is incompatible.\n"
)
REJECTED = (
    "(node:42) UnhandledPromiseRejectionWarning: Error: connect ECONNREFUSED 127.0.0.1:5432\n"
    "    at TCPConnectWrap.afterConnect [as oncomplete] (net.js:1141:16)\n"
)
UNCAUGHT = "Uncaught (in promise) TypeError: Cannot read properties of undefined (reading 'id')\n    at load (a.js:1)\n"
NPM = "Error: no such table: users\nnpm error Lifecycle script `a` failed with error:\nnpm error code 1\n"
MAKE = "bad.c:3:5: error: 'x' undeclared\nmake: *** [Makefile:8: bad.o] Error 1\n"


QUIET = {
    "pip": ("pip install -r r.txt", STEPS, CONFLICTS, "1 line reports a failure: ERROR: pip's", "incompatible"),
    "rejection": ("node app.js", STEPS, REJECTED, "1 line reports a failure: (node:42) Unhandled", "ECONNREFUSED"),
    "uncaught": ("node app.js", STEPS, UNCAUGHT, "1 line reports a failure: Uncaught", "reading 'id'"),
    "npm": ("npm run a; npm run b", STEPS, NPM, "3 lines report a failure: Error: no such table", "npm error code 1"),
    "make": (
        "make -k; echo finished",
        STEPS + MAKE + STEPS,
        "",
        "2 lines report a failure: bad.c:3:5: error: 'x'",
        "undeclared",
    ),
    "test": (
        "tclsh till.tcl",
        STEPS + "==== till-211 FAILED\n" + STEPS,
        "",
        "1 line reports a failure: ==== till-211 FAILED",
        "till-211 FAILED",
    ),
    "tail": (
        "make -k | tail -2000",
        STEPS + MAKE + STEPS,
        "",
        "2 lines report a failure: bad.c:3:5: error: 'x'",
        "undeclared",
    ),
}


@pytest.mark.parametrize("name", QUIET)
def test_a_failure_behind_a_good_exit_code_is_counted_and_quoted(name: str) -> None:
    command, out, err, told, shown = QUIET[name]
    fields, body = view(command, out, err)
    assert told in fields["summary"]
    assert shown in body
