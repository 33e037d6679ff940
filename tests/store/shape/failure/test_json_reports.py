"""What failed in a JSON report is found by the report's shape, on many lines or on one."""

import json
import re
from typing import Any

from sightline.base.profile import DEFAULT
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.judgement import judgement_for
from sightline.shape.failure.regions import regions_of
from sightline.shape.failure.report import write_report
from sightline.shape.json.path import find, parse_path
from sightline.shape.markers import MARKER
from sightline.shape.memory_stream import BytesSource
from sightline.shape.segments import join_segments
from sightline.shape.summary import summary
from sightline.verbs.structured_view import shape_output
from tests.each import each

_NONE = BytesSource(b"")


def _playwright(number: int) -> Any:
    bad = number % 4 == 0
    error = [{"message": f"Error: expect(locator).toBeVisible() failed in case {number}"}] if bad else []
    result = {"status": "failed" if bad else "passed", "errors": error}
    test = {"status": "unexpected" if bad else "expected", "results": [result]}
    spec = {"title": f"case {number}", "ok": not bad, "tests": [test]}
    return {"title": f"s{number}.spec.ts", "file": f"s{number}.spec.ts", "specs": [spec]}


PLAYWRIGHT = {"config": {"rootDir": "/w"}, "suites": [_playwright(number) for number in range(120)], "errors": []}
UNDEFINED = {"ruleId": "no-undef", "severity": 2, "message": "'x' is not defined.", "line": 3}
ESLINT = [
    {
        "filePath": f"/w/src/a{number}.js",
        "messages": [
            {"ruleId": "semi", "severity": 1, "message": "Missing semicolon.", "line": 4},
            *(
                [{"ruleId": "no-undef", "severity": 2, "message": "'x' is not defined.", "line": 3}]
                if number == 7
                else []
            ),
        ],
    }
    for number in range(40)
]
JEST = {
    "success": False,
    "testResults": [
        {
            "name": "/w/cart.test.js",
            "status": "failed",
            "message": "  ● cart adds",
            "assertionResults": [
                *({"status": "passed", "fullName": f"logs an error {at}", "failureMessages": []} for at in range(60)),
                {
                    "status": "failed",
                    "fullName": "cart adds",
                    "failureMessages": ["Error: NaN is no price\n  at x:3"],
                },
            ],
        }
    ],
}
PYTEST = {
    "tests": [
        *({"nodeid": f"t.py::ok{at}", "outcome": "passed", "call": {"outcome": "passed"}} for at in range(60)),
        {
            "nodeid": "t.py::test_sum",
            "outcome": "failed",
            "call": {"outcome": "failed", "crash": {"path": "/w/t.py", "lineno": 5, "message": "assert 15 == 16"}},
        },
    ]
}
SARIF = {
    "runs": [
        {
            "results": [
                *({"ruleId": f"R{at}", "level": "note", "message": {"text": f"error {at}"}} for at in range(60)),
                {"ruleId": "R7", "level": "error", "message": {"text": "user data reaches a query"}},
            ]
        }
    ]
}
MOCHA = {
    "tests": [{"title": f"b{at}", "fullTitle": f"cart b{at}", "err": {}} for at in range(60)],
    "failures": [{"title": "b", "fullTitle": "cart b", "err": {"message": "the basket is gone"}}],
}
RUFF = [
    {"code": "F401", "message": f"`os{at}` imported but unused", "filename": f"/w/{at}.py", "location": {"row": 1}}
    for at in range(40)
]
TRIVY = {
    "Results": [
        {
            "Target": "image",
            "Vulnerabilities": [
                *({"VulnerabilityID": f"C-{at}", "Severity": "LOW", "Title": f"error {at}"} for at in range(60)),
                {"VulnerabilityID": "C-99", "Severity": "CRITICAL", "Title": "heap overflow in the parser"},
            ],
        }
    ]
}
GO = [
    *(
        event
        for at in range(30)
        for event in (
            {
                "Action": "output",
                "Package": "till",
                "Test": f"Test{at}",
                "Output": "    t_test.go:5: error\n",
            },
            {"Action": "pass", "Package": "till", "Test": f"Test{at}"},
        )
    ),
    {"Action": "output", "Package": "till", "Test": "TestSum", "Output": "=== RUN   TestSum\n"},
    {"Action": "output", "Package": "till", "Test": "TestSum", "Output": "    till_test.go:9: got 15, want 16\n"},
    {"Action": "fail", "Package": "till", "Test": "TestSum"},
]
CARGO = [
    *({"reason": "compiler-artifact", "package_id": f"error-chain {at}", "fresh": True} for at in range(60)),
    {
        "reason": "compiler-message",
        "message": {
            "rendered": "error[E0308]: mismatched types\n --> src/a.rs:3",
            "level": "error",
            "message": "m",
            "spans": [{"file_name": "src/a.rs", "line_start": 3}],
        },
    },
    {"reason": "build-finished", "success": False},
]
MYPY = [
    {"file": "a.py", "line": at, "message": f"error {at} note", "code": "x", "severity": "note"} for at in range(60)
] + [{"file": "a.py", "line": 70, "message": "Incompatible return value", "code": "x", "severity": "error"}]

RESULT = {"ruleId": "R7", "message": {"text": "user data reaches a query"}}
BY_DEFAULT = {
    "runs": [
        {
            "tool": {
                "driver": {"rules": [{"id": f"N{at}", "defaultConfiguration": {"level": "note"}} for at in range(9)]}
            },
            "results": [
                *({"ruleId": f"N{at % 9}", "message": {"text": f"error {at}"}} for at in range(60)),
                *(
                    RESULT
                    | {
                        "locations": [
                            {"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": at}}}
                        ]
                    }
                    for at in (4, 9)
                ),
            ],
        }
    ]
}
MISCONFIGURED = {
    "Results": [
        {
            "Target": f"{at}.tf",
            "Misconfigurations": [
                {
                    "ID": "AWS-1",
                    "Title": "error",
                    "Message": f"bucket {at} is public",
                    "Severity": "HIGH",
                    "Status": "FAIL" if at % 20 == 7 else "PASS",
                }
            ],
        }
        for at in range(40)
    ]
}
MODERATE = {
    "vulnerabilities": {
        f"p{at}": {"name": f"p{at}", "severity": "moderate", "via": [{"title": f"hole {at}", "severity": "moderate"}]}
        for at in range(30)
    }
}
VALIDATED = {
    "valid": False,
    "diagnostics": [
        {
            "severity": "error" if at % 10 == 3 else "warning",
            "summary": "Unknown thing",
            "detail": f"The error is in thing {at}.",
            "range": {"filename": "main.tf", "start": {"line": at + 1}},
        }
        for at in range(40)
    ],
}
REPORTS: list[tuple[str, Any, str, str]] = [
    ("npx playwright test --reporter=json", PLAYWRIGHT, "toBeVisible() failed in case 0", "30 failed"),
    ("npx eslint -f json src", ESLINT, "'x' is not defined.", "1 problem"),
    ("npx jest --json", JEST, "Error: NaN is no price", "1 failed"),
    ("pytest --json-report", PYTEST, "assert 15 == 16", "1 failed"),
    ("scan --format sarif", SARIF, "user data reaches a query", "1 problem"),
    ("scan --format sarif", BY_DEFAULT, "user data reaches a query", "2 problems"),
    ("npx mocha --reporter json", MOCHA, "the basket is gone", "1 failed"),
    ("ruff check --output-format json", RUFF, "`os0` imported but unused", "40 problems"),
    ("trivy image -f json x", TRIVY, "heap overflow in the parser", "1 problem"),
    ("trivy config -f json .", MISCONFIGURED, "bucket 27 is public", "2 problems"),
    ("npm audit --json", MODERATE, "hole 0", "30 problems"),
    ("terraform validate -json", VALIDATED, "The error is in thing 13.", "4 problems"),
]
APPLIED = [
    *({"@level": "info", "@message": f"error{at}: Creation complete", "type": "apply_complete"} for at in range(60)),
    {"@level": "error", "@message": "store.x: Creation errored after 0s", "type": "apply_errored"},
    {
        "@level": "error",
        "@message": "Error: no disk",
        "type": "diagnostic",
        "diagnostic": {"severity": "error", "summary": "no disk", "detail": "disk 7 is full", "address": "store.x"},
    },
]
LIBTEST = [
    *({"type": "test", "event": "ok", "name": f"error_{at}"} for at in range(60)),
    {
        "type": "test",
        "event": "failed",
        "name": "sums",
        "stdout": "thread 'sums' panicked at src/a.rs:3:9:\n15 is not 16",
    },
    {"type": "suite", "event": "failed", "passed": 60, "failed": 1},
]
STREAMED = [
    *(["pass", {"title": f"error {at}", "fullTitle": f"cart error {at}"}] for at in range(60)),
    ["fail", {"title": "sums", "fullTitle": "cart sums", "err": "15 is not 16"}],
    ["end", {"tests": 61, "failures": 1}],
]
BUILT = [
    *({"Action": "pass", "Package": f"ok/error{at}"} for at in range(60)),
    {"Action": "build-output", "ImportPath": "till [till.test]", "Output": "# till [till.test]\n"},
    {"Action": "build-output", "ImportPath": "till [till.test]", "Output": "./till_test.go:9:4: undefined: Sum\n"},
    {"Action": "build-fail", "ImportPath": "till [till.test]"},
    {"Action": "fail", "Package": "till", "FailedBuild": "till [till.test]"},
]
STREAMS: list[tuple[str, list[Any], str, str]] = [
    ("go test -json ./...", GO, "till_test.go:9: got 15, want 16", "1 failed"),
    ("go test -json ./...", BUILT, "undefined: Sum", "1 failed"),
    ("cargo build --message-format json", CARGO, "error[E0308]: mismatched types", "1 problem"),
    ("cargo test -- -Z unstable-options --format json", LIBTEST, "15 is not 16", "1 failed"),
    ("npx mocha --reporter json-stream", STREAMED, "15 is not 16", "1 failed"),
    ("mypy -O json a.py", MYPY, "Incompatible return value", "1 problem"),
    ("terraform apply -json", APPLIED, "disk 7 is full", "1 problem"),
]
RULES = {"rules": [{"id": f"R{at}", "defaultConfiguration": {"level": "error"}} for at in range(60)]}
CODEQL = {"runs": [{"tool": {"driver": {"name": "CodeQL", **RULES}}, "results": SARIF["runs"][0]["results"]}]}
CHECKOV = {
    "results": {
        "passed_checks": [
            {"check_id": f"CKV_{at}", "check_name": f"errors {at}", "check_result": {"result": "PASSED"}}
            for at in range(60)
        ],
        "failed_checks": [
            {"check_id": "CKV_9", "check_name": "the bucket is public", "check_result": {"result": "FAILED"}}
        ],
    }
}
BANDIT = {
    "errors": [],
    "metrics": {f"a{at}.py": {"SEVERITY.HIGH": 0, "loc": at} for at in range(60)},
    "results": [{"filename": "a.py", "issue_severity": "HIGH", "issue_text": "eval of input", "line_number": 4}],
}
GOLANGCI = {
    "Issues": [{"FromLinter": "errcheck", "Text": "an error is ignored", "Pos": {"Filename": "a.go", "Line": 9}}],
    "Report": {"Linters": [{"Name": f"error{at}", "Enabled": True} for at in range(60)]},
}
TFLINT = {
    "issues": [
        {
            "rule": {"name": "unused", "severity": "warning"},
            "message": "variable x is not used",
            "range": {"filename": "v.tf", "start": {"line": 1}},
        }
    ]
}
RSPEC = {
    "examples": [
        *({"full_description": f"logs error {at}", "status": "passed", "file_path": "a.rb"} for at in range(60)),
        {
            "full_description": "Cart totals",
            "status": "failed",
            "file_path": "a.rb",
            "line_number": 9,
            "exception": {"class": "ExpectationNotMetError", "message": "expected 16, got 15"},
        },
    ]
}


def _scenario(number: int) -> Any:
    failed = {"status": "failed", "error_message": "expected 16, got 15"}
    steps = [{"name": "the total is 16", "line": number, "result": failed if number == 40 else {"status": "passed"}}]
    return {"keyword": "Scenario", "name": f"error {number}", "line": number, "steps": steps}


CUCUMBER = [{"name": "Cart", "uri": "cart.feature", "elements": [_scenario(at) for at in range(60)]}]
UNEQUAL = {"name": "AssertionError", "message": "status is 500"}
NEWMAN = {
    "executions": [
        {
            "item": {"name": f"error {at}"},
            "assertions": [{"assertion": "is found", "error": UNEQUAL if at == 9 else None}],
        }
        for at in range(60)
    ],
    "failures": [{"error": UNEQUAL}],
}
OTHERS: list[tuple[str, Any, str, str]] = [
    ("codeql database analyze db --format sarif-latest", CODEQL, "user data reaches a query", "R7"),
    ("checkov -o json", CHECKOV, "the bucket is public", "CKV_9"),
    ("bandit -f json -r .", BANDIT, "eval of input", "a.py:4"),
    ("golangci-lint run --out-format json", GOLANGCI, "an error is ignored", "a.go:9 › errcheck"),
    ("tflint --format json", TFLINT, "variable x is not used", "v.tf:1 › unused"),
    ("rspec --format json", RSPEC, "expected 16, got 15", "a.rb:9 › Cart totals"),
    ("cucumber --format json", CUCUMBER, "expected 16, got 15", "cart.feature › Cart › error 40 › the total is 16"),
    ("newman run till.json -r json", NEWMAN, "status is 500", "is found"),
]
TEXTS = [
    *((command, json.dumps(value, indent=indent), *rest) for command, value, *rest in REPORTS for indent in (2, None)),
    *((command, "\n".join(map(json.dumps, values)), *rest) for command, values, *rest in STREAMS),
]


def _body(out: BytesSource, examination: Examination, budget: int = 2048) -> str:
    shaped = shape_output(DEFAULT, out, _NONE, budget=budget, failed=True, examination=examination).shaped
    return join_segments(shaped.segments)


@each(("command", "text", "reason", "failed"), TEXTS)
def test_reason_in_a_report_is_shown_and_failures_are_counted(
    command: str, text: str, reason: str, failed: str
) -> None:
    out = BytesSource(text.encode(), "@cmd_a1b2c3")
    examination = Examination(out, _NONE, command)
    body = _body(out, examination)
    assert reason in body
    assert len(body.encode()) <= 2048
    assert summary(out, _NONE, exit_code=1, examination=examination).startswith(f"{failed} (counted)")
    assert examination.failures(out).total <= int(failed.split()[0])


@each(("command", "text", "reason", "failed"), TEXTS)
def test_failure_in_a_report_has_a_name_and_a_region(command: str, text: str, reason: str, failed: str) -> None:
    out = BytesSource(text.encode(), "@cmd_a1b2c3")
    examination = Examination(out, _NONE, command)
    assert len(regions_of(examination, out)) == examination.failures(out).total
    assert 1 <= len(examination.failed) <= int(failed.split()[0])


@each(("command", "value", "reason", "name"), OTHERS)
def test_only_what_failed_in_a_report_is_named_and_counted(command: str, value: Any, reason: str, name: str) -> None:
    for indent in (2, None):
        out = BytesSource(json.dumps(value, indent=indent).encode(), "@cmd_a1b2c3")
        examination = Examination(out, _NONE, command)
        assert re.match(r"1 (?:problem|failed) \(counted\)", summary(out, _NONE, exit_code=1, examination=examination))
        assert [one.name for one in examination.failed] == [name]
        assert reason in _body(out, examination)


def test_other_kinds_of_failure_come_before_more_of_a_kind() -> None:
    cases = [{"name": f"row {at}", "status": "failed", "message": f"row {at} has no price"} for at in range(200)]
    cases.insert(150, {"name": "depot", "status": "failed", "message": "the depot burnt down"})
    out = BytesSource(json.dumps(cases).encode(), "@cmd_a1b2c3")
    body = _body(out, Examination(out, _NONE, "./check --json"), 1024)
    assert "depot: the depot burnt down" in body
    assert "more failures elided: @cmd_a1b2c3 $ …]" in body


@each(("command", "value", "reason", "failed"), REPORTS)
def test_path_in_the_marker_of_a_report_on_one_line_opens_the_messages_it_hides(
    command: str, value: Any, reason: str, failed: str
) -> None:
    out = BytesSource(json.dumps(value).encode(), "@cmd_a1b2c3")
    report = Examination(out, _NONE, command).report
    assert report
    for entry in report.entries:
        found = find(out, parse_path(entry.path))
        assert found.start <= entry.start < found.end, entry
    text = join_segments(write_report(report, out, 300)[0].segments)
    path = text[text.rindex(" $") + 1 : text.rindex(" …]")] if " $" in text else "$"
    opened = find(out, parse_path(path))
    hidden = [entry for entry in report.entries if entry.message not in text]
    assert all(opened.start <= entry.start < opened.end for entry in hidden)
    assert not hidden or re.fullmatch(MARKER, text.splitlines()[-1])


@each("command", ["cat report.json", "curl -s http://127.0.0.1/report", "gh run list --json status"])
def test_report_that_is_only_shown_is_nobodys_failure(command: str) -> None:
    out = BytesSource(json.dumps(PLAYWRIGHT).encode(), "@cmd_a1b2c3")
    scope = judgement_for(command, failed=False, exit_code=0)
    assert Examination(out, _NONE, command, scope).report is None


@each(
    "text",
    ['{"error": {"message": "no"}}', "[1, 2]", '[{"id": 1}, {"id": 2}]', "[", "{} {}", '{"a": [{"b": "error"}]}'],
)
def test_other_json_is_no_report(text: str) -> None:
    assert Examination(BytesSource(text.encode()), _NONE, "./check").report is None


def test_success_with_json_of_failures_is_told_as_a_success() -> None:
    out = BytesSource(json.dumps(PLAYWRIGHT).encode(), "@cmd_a1b2c3")
    told = summary(out, _NONE, exit_code=0, examination=Examination(out, _NONE, "./jobs --json"))
    assert told.startswith("ok: 1 line")


def test_entry_of_a_log_in_json_is_shown_with_all_its_fields() -> None:
    entries = [{"time": at, "level": "info", "msg": f"weighed crate {at}"} for at in range(300)]
    entries[120] = {"time": 120, "level": "error", "msg": "cannot weigh", "scale": "the scale of dock 7"}
    out = BytesSource("\n".join(map(json.dumps, entries)).encode(), "@cmd_a1b2c3")
    assert "the scale of dock 7" in _body(out, Examination(out, _NONE, "./weigh --json"), 1024)
