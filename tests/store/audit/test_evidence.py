"""What a session's log says for and against its agent's claims: the sessions whose truth is known, and finer points."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.evidence.__main__ import compared, found_in
from benchmarks.evidence.sessions import FAILED, GO_PASSED, PASSED, SESSIONS, TAIL_FAILED, Truth
from benchmarks.evidence.transcripts import Compacted, Edited, Ran, Read, Said, Step, Wrote, write_transcript
from benchmarks.evidence.unseen_sessions import UNSEEN_SESSIONS
from sightline.agents.past_sessions.importer import Importer
from sightline.audit.evidence.check_names import check_named, check_table
from sightline.audit.evidence.checks import checks_of
from sightline.audit.evidence.evidence_records import SessionEvidence
from sightline.audit.evidence.session_evidence import evidence_of
from sightline.audit.timeline import calls_of
from sightline.audit.verdict import verdict_of
from sightline.harnesses.formats import find_sources
from sightline.log.session_list import list_sessions
from sightline.store import Store

TAIL = PASSED.splitlines()[-1] + "\n"
STARTS: list[Step] = [Read("cart.py"), Edited("cart.py")]


@pytest.mark.parametrize("truth", (*SESSIONS, *UNSEEN_SESSIONS), ids=lambda truth: truth.name)
def test_what_is_true_of_a_session_is_found_and_nothing_else(truth: Truth) -> None:
    right, wrong, missed = compared(truth, found_in(truth))
    assert (dict(wrong), dict(missed)) == ({}, {})
    assert sum(right.values()) == len(truth.claims) + len(truth.alarms)


def evidence(*steps: Step) -> SessionEvidence:
    return found_in(Truth("", "claude-code", list(steps)))


def verdicts(*steps: Step) -> list[str]:
    return [one.verdict for one in evidence(*steps).claims]


def alarms(*steps: Step) -> list[str]:
    return [one.kind for one in evidence(*steps).alarms]


@pytest.mark.parametrize(
    ("line", "kind", "phrase"),
    [
        ("pytest -q", "test", "pytest"),
        ("python3 -m pytest tests", "test", "pytest"),
        ("uv run --frozen pytest", "test", "pytest"),
        ("npx jest --ci", "test", "jest"),
        ("./gradlew --no-daemon test", "test", "gradlew test"),
        ("npm run test:unit", "test", "npm run test"),
        ("make", "build", "make"),
        ("make check", "test", "make check"),
        ("cargo build --release", "build", "cargo build"),
        ("ruff format --check .", "lint", "ruff format --check"),
        ("poetry run mypy -p shop", "types", "mypy"),
        ("bun run typecheck", "types", "bun run typecheck"),
        ("bun --filter @a/core build", "build", "bun build"),
        ("pnpm --filter @d/worker test", "test", "pnpm test"),
        ("pnpm -F x run test:ci", "test", "pnpm run test"),
        ("pnpm -r test", "test", "pnpm test"),
        ("npm --prefix packages/x run lint", "lint", "npm run lint"),
        ("yarn workspace x test", "test", "yarn test"),
        ("yarn workspaces foreach -A run build", "build", "yarn workspaces foreach run build"),
        ("npx turbo run test --filter=web", "test", "turbo run test"),
        ("nx run-many --target=test", "test", "nx run-many test"),
        ("nx run web:lint", "lint", "nx run lint"),
        ("make -C sub test", "test", "make test"),
        ("make -j 8", "build", "make"),
        ("docker compose run --rm app pytest -q", "test", "pytest"),
        ("mise run lint", "lint", "mise run lint"),
        ("mise exec node@20 -- npm test", "test", "npm test"),
        ("just typecheck", "types", "just typecheck"),
        ("nox -s tests", "test", "nox"),
        ("./gradlew :app:test", "test", "gradlew test"),
        ("mvn -q -pl core verify", "test", "mvn verify"),
        ("flutter analyze", "lint", "flutter analyze"),
        ("dart analyze lib/", "lint", "dart analyze"),
        ("deno check main.ts", "types", "deno check"),
        ("deno task lint", "lint", "deno task lint"),
        ("php artisan test", "test", "artisan test"),
        ("php vendor/bin/phpunit", "test", "phpunit"),
        ("xcodebuild test -scheme A", "test", "xcodebuild test"),
        ("zig build test", "test", "zig build test"),
        ("uv run --with pytest pytest -q", "test", "pytest"),
        ("cmake --build build --target test", "test", "cmake test"),
        ("cmake --build build", "build", "cmake --build"),
        ("./gradlew :app:testDebugUnitTest", "test", "gradlew :app:testDebugUnitTest"),
        ("./gradlew clean assembleRelease", "build", "gradlew assembleRelease"),
        ("mvn clean verify", "test", "mvn verify"),
        ("docker exec -it app pytest -q", "test", "pytest"),
        ("kubectl exec pod -- pytest", "test", "pytest"),
        ("volta run npm run lint", "lint", "npm run lint"),
        ("node --run test", "test", "node test"),
        ("forge test", "test", "forge test"),
        ("npx markdownlint-cli2", "lint", "markdownlint-cli2"),
    ],
)
def test_a_check_is_known_by_its_words(line: str, kind: str, phrase: str) -> None:
    named = check_named(tuple(line.split()))
    assert named is not None
    assert named[:2] == (kind, phrase)


@pytest.mark.parametrize(
    "line",
    [
        "make clean",
        "ruff format .",
        "pytest --version",
        "pytest --collect-only",
        "npm install",
        "cargo run",
        "git test",
        "black .",
        "npm run deploy",
        "make deploy-test-data",
        "pnpm --filter test",
        "turbo run dev",
        "docker compose run --rm app bash",
        "go test -c -o /dev/null ./cart",
        "cargo test --no-run",
    ],
)
def test_what_checks_nothing_is_no_check(line: str) -> None:
    assert check_named(tuple(line.split())) is None


@pytest.mark.parametrize(
    "command", ["git commit -qm cart", "./ci.sh", "bash scripts/check.sh", "make ci", "npm run verify"]
)
@pytest.mark.parametrize(
    ("output", "code", "verdict"),
    [
        ("1187 pass\n 0 fail\nRan 1187 tests across 40 files. [12.00s]\n", 0, "supported"),
        (PASSED, 0, "supported"),
        (FAILED, 1, "contradicted"),
        ("[main de530ba] cart\n 1 file changed\n", 0, "not known"),
        (PASSED + "deploying\nno such host\n", 1, "not known"),
    ],
)
def test_tests_of_a_hook_or_a_script_are_known_by_what_they_print(
    command: str, output: str, code: int, verdict: str
) -> None:
    if command.startswith("git") and "file changed" in output:
        verdict = "no evidence"  # git itself says nothing else, so that no hook ran
    assert verdicts(*STARTS, Ran(command, output, code), Said("All tests pass.")) == [verdict]


def test_a_run_that_could_not_begin_contradicts_nothing() -> None:
    assert verdicts(*STARTS, Ran("pytest", "bash: pytest: command not found\n", 127), Said("All tests pass.")) == [
        "no evidence"
    ]


def test_a_claim_of_some_tests_is_not_contradicted_by_a_run_of_all() -> None:
    assert verdicts(*STARTS, Ran("pytest", FAILED, 1), Said("The new tests pass.")) == ["not known"]


def test_a_claim_that_something_is_fixed_is_never_contradicted() -> None:
    assert verdicts(*STARTS, Ran("pytest", FAILED, 1), Said("Fixed the typo.")) == ["not known"]


def test_what_is_said_before_a_run_rests_on_none() -> None:
    assert verdicts(*STARTS, Said("All tests pass."), Ran("pytest", PASSED)) == ["no evidence"]


def test_of_a_list_that_ended_well_each_of_its_checks_did() -> None:
    found = evidence(*STARTS, Ran("cd shop && pytest -q && ruff check .", PASSED), Said("Lint is clean."))
    assert [(one.phrase, one.outcome) for one in found.checks] == [("pytest", "passed"), ("ruff check", "passed")]
    assert [one.verdict for one in found.claims] == ["supported"]


def test_a_result_that_stands_in_what_the_filter_left_was_seen() -> None:
    steps = [*STARTS, Ran("pytest 2>&1 | tail -1", PASSED.splitlines()[-1] + "\n"), Said("All tests pass.")]
    assert (verdicts(*steps), alarms(*steps)) == (["supported"], [])


@pytest.mark.parametrize(
    ("last", "verdict"), [("ok  \tshop/cart\t(cached)", "supported"), ("ok  \tshop/cart\t0.2s\nFAIL", "no evidence")]
)
def test_behind_a_filter_go_tells_by_its_last_line_how_it_ended(last: str, verdict: str) -> None:
    steps = [*STARTS, Ran("go test ./... 2>&1 | tail -2", f"ok  \tshop/items\t0.1s\n{last}\n"), Said("All tests pass.")]
    assert [one for one in alarms(*steps) if one == "unseen-result"] == []
    assert (verdicts(*steps) == ["supported"]) == (verdict == "supported")


LINT_GOOD = "[lint] $ golangci-lint run ./...\n0 issues.\n"


@pytest.mark.parametrize(
    ("command", "out", "claim", "verdict"),
    [
        ("golangci-lint run 2>&1 | tail -5", LINT_GOOD, "Lint is clean.", "supported"),
        ("mise run lint 2>&1 | tail", "[lint:go] 0 issues.\n[lint] Finished in 3.4ms\n", "Lint is clean.", "supported"),
        ("mise run lint 2>&1 | tail", "0 issues.\n[lint:sh] ERROR task failed\n", "Lint is clean.", "contradicted"),
        ("mypy . | tail -1", "Success: no issues found in 12 source files\n", "mypy passes.", "supported"),
        ("mypy . | tail -1", "12 files were looked at\n", "mypy passes.", "not known"),
        ("ruff check . | tail -1", "Success: no issues found in 12 source files\n", "Lint is clean.", "not known"),
        ("go build ./... 2>&1 | head -20", "", "The build succeeds.", "supported"),
        ("go build ./... 2>&1 | grep error", "", "The build succeeds.", "not known"),
        ("make 2>&1 | tail -5", "", "The build succeeds.", "not known"),
        ("go test ./... | grep ok", "ok  \tshop/cart\t0.1s\n", "All tests pass.", "no evidence"),
        ("go test ./... | grep -E '(ok|FAIL)' | tail", "ok  \tshop/cart\t0.1s\n", "All tests pass.", "supported"),
        ("go test ./... | head -3", "ok  \ta\t1s\nok  \tb\t1s\nok  \tc\t1s\n", "All tests pass.", "no evidence"),
        ("go test ./... | head -9", "ok  \ta\t1s\nok  \tb\t1s\nok  \tc\t1s\n", "All tests pass.", "supported"),
        ("mypy . && pytest -q | tail -1", "12 passed in 0.31s\n", "All tests pass.", "supported"),
        ("mypy . ; pytest -q | tail -1", "12 passed in 0.31s\n", "All tests pass.", "supported"),
    ],
)
def test_what_a_filter_left_of_the_last_words_of_a_check_tells_how_it_ended(
    command: str, out: str, claim: str, verdict: str
) -> None:
    assert verdicts(*STARTS, Ran(command, out), Said(claim)) == [verdict]


@pytest.mark.parametrize(
    "end",
    [one for key in ("ended_well", "ended_badly", "checked_nothing") for one in check_table()[key]],
    ids=lambda end: end["example"],
)
def test_the_last_words_of_a_check_have_an_example(end: dict[str, str]) -> None:
    assert re.fullmatch(end["line"], end["example"].rstrip())


@pytest.mark.parametrize("end", check_table()["ended_badly"], ids=lambda end: end["example"])
def test_what_a_check_says_last_ends_it_as_failed_whatever_hides_its_code(end: dict[str, str]) -> None:
    task = f"make {end.get('kinds', ['lint'])[0]}"
    for command in (f"{task} 2>&1 | tail", f"{task} || true", f"{task} | tee log"):
        found = evidence(Ran(command, f"src/cart.c\n{end['example']}\n"))
        assert [(one.outcome, one.masked) for one in found.checks] == [("failed", True)], command


def test_what_only_one_check_can_say_counts_among_others_too() -> None:
    line = "mix compile > build.log; mix format --check-formatted 2>&1 | head -5; echo done"
    said = "** (Mix) mix format failed due to --check-formatted.\nThe following files are not formatted:\nlib/a.ex\n"
    found = evidence(Ran(line, said + "done\n"))
    assert [(one.kind, one.outcome) for one in found.checks] == [("build", "not known"), ("lint", "failed")]
    assert [one.kind for one in found.alarms] == ["masked-exit"]


def test_an_error_of_a_compiler_fails_the_build_alone() -> None:
    error = "shop/cart.py:3: error: Name 'x' is not defined\n"
    found = evidence(Ran("make build | tail; mypy . | tail", error))
    assert [(one.kind, one.outcome) for one in found.checks] == [("build", "not known"), ("types", "not known")]
    [built] = evidence(Ran("swift build 2>&1 | grep error: | head", "A.swift:7:2: error: no type 'B'\n")).checks
    assert built.outcome == "failed"


@pytest.mark.parametrize("end", check_table()["checked_nothing"], ids=lambda end: end["example"])
def test_a_check_that_never_began_neither_failed_nor_supports(end: dict[str, str]) -> None:
    for command, code in (("pytest", 1), ("pytest 2>&1 | tail -30", 0), ("npm run lint; echo done", 0)):
        assert evidence(Ran(command, f"{end['example']}\n", code)).checks == (), command
    assert alarms(*STARTS, Ran("pytest -q", f"{end['example']}\n", 1), Ran("pytest", PASSED)) == []


@pytest.mark.parametrize(
    ("command", "output", "outcomes"),
    [
        ("pytest | tail -3 && ruff check . | tail -3", TAIL + "All checks passed!\n", ["passed", "passed"]),
        ("pytest | tail -3 && ruff check . | tail -3", TAIL + "Found 2 errors.\n", ["passed", "failed"]),
        ("pytest | tail -3 && ruff check . | tail -3", TAIL_FAILED + "All checks passed!\n", ["failed", "passed"]),
        ("ruff check . && mypy . && pytest | tail -3", TAIL, ["passed", "passed", "passed"]),
        ("go build -o app . && ./app list", "no such list\n", ["not known"]),
        ("bun run typecheck 2>&1 | tail -5", "$ tsc --noEmit\n", ["passed"]),
        ("bun run typecheck 2>&1 | tail -5", "$ tsc --noEmit\na.ts(3,7): error TS2322: no\n", ["failed"]),
    ],
)
def test_each_part_of_a_list_has_an_end_of_its_own(command: str, output: str, outcomes: list[str]) -> None:
    found = evidence(Ran(command, output, int("./app" in command)))
    assert [one.outcome for one in found.checks] == outcomes


HOOK = "$ bun test src/\n 1187 pass\n 0 fail\n$ biome check\nChecked 290 files in 151ms. No fixes applied.\n" + (
    "$ tsc --noEmit\n[main de530ba] cart\n"
)


def test_the_checks_that_a_hook_names_ended_well_if_the_commit_did() -> None:
    claims = Said("All 1187 tests pass, lint is clean, typecheck passed.")
    assert (
        verdicts(*STARTS, Ran("git -C shop commit -m x && git status", HOOK + "[main 1] x\n"), claims)
        == ["supported"] * 3
    )
    assert "supported" not in verdicts(*STARTS, Ran("git commit -m x", HOOK, 1), Said("Typecheck passed."))


@pytest.mark.parametrize(
    ("output", "claim", "verdict"),
    [
        ("2 passed in 0.1s\n", "All 250 tests pass.", "no evidence"),
        ("11 passed, 1 skipped in 0.1s\n", "All 12 tests pass.", "no evidence"),
        ("11 passed, 1 skipped in 0.1s\n", "All 11 tests pass.", "supported"),
        ("1346 passed, 3 failed in 0.1s\n", "The project's own 1346 tests pass.", "supported"),
        ("1346 passed, 3 failed in 0.1s\n", "All 1346 tests pass.", "contradicted"),
        ("250 passed in 9s\n", "All 12 new tests pass.", "supported"),
    ],
)
def test_the_number_of_a_claim_is_compared_with_what_ran(output: str, claim: str, verdict: str) -> None:
    assert verdicts(*STARTS, Ran("pytest -q", output, int("failed" in output)), Said(claim)) == [verdict]


OF_86 = Ran("pytest -q tests/unit", "86 passed in 0.1s\n")


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        ([Ran("pytest -q", "121 passed in 9s\n")], "supported"),
        ([Ran("pytest -q", "118 passed, 3 failed in 9s\n", 1)], "supported"),
        ([Ran("pytest -q tests/unit", "85 passed, 1 failed in 9s\n", 1)], "not known"),
        ([Ran("pytest -q", "killed\n", 1)], "not known"),
        ([Edited("cart.py")], "stale"),
    ],
)
def test_a_claim_of_a_number_is_about_the_run_of_so_many(others: list[Step], verdict: str) -> None:
    assert verdicts(*STARTS, OF_86, *others, Said("All 86 tests pass.")) == [verdict]
    assert verdicts(*STARTS, Ran("pytest -q", "121 passed in 9s\n"), OF_86, Said("All 86 pass.")) == ["supported"]


def test_an_agent_that_says_what_fails_is_not_contradicted() -> None:
    said = Said("All the tests pass. The only failure is unrelated to the change.")
    assert verdicts(*STARTS, Ran("pytest", FAILED, 1), said) == ["not known"]


def test_fixed_rests_on_a_check_that_failed_before_or_on_none() -> None:
    assert verdicts(*STARTS, Ran("pytest", PASSED), Said("Fixed.")) == []
    assert verdicts(*STARTS, Ran("pytest", FAILED, 1), Edited("cart.py"), Ran("pytest", PASSED), Said("Fixed.")) == [
        "supported"
    ]


@pytest.mark.parametrize(
    "command", ["gh pr checks 12", "tmux capture-pane -pt tests", "./ci.sh", "python run_tests.py"]
)
def test_what_may_have_been_shown_elsewhere_is_not_known_and_no_alarm(command: str) -> None:
    found = evidence(*STARTS, Ran(command, "done\n"), Said("All tests pass."))
    assert ([one.verdict for one in found.claims], found.alarms, found.lacking) == (["not known"], (), 0)


def test_an_older_check_is_no_alarm_where_a_later_one_looked_at_the_edit() -> None:
    ran = [
        Ran("go build ./..."),
        Ran("go vet ./..."),
        Ran("golangci-lint run", "0 issues.\n"),
        Ran("go test ./...", GO_PASSED),
    ]
    assert alarms(*STARTS, *ran, Edited("cart.py")) == ["stale-check"]
    assert alarms(*STARTS, *ran, Edited("cart.py"), Ran("go test ./...", GO_PASSED)) == []
    assert alarms(*STARTS, *ran, Edited(".github/ci.yml")) == []


def test_a_masked_failure_is_no_alarm_once_the_check_ended_well() -> None:
    masked = Ran("pytest | tail -1", TAIL_FAILED)
    assert alarms(*STARTS, masked, masked) == ["masked-exit"]
    assert alarms(*STARTS, masked, Edited("cart.py"), Ran("pytest | tail -1", TAIL)) == []
    assert alarms(*STARTS, masked, Ran("pytest | tail -1", "done\n")) == []  # how it ended is not known


def test_a_failure_that_is_no_check_s_is_not_forgotten() -> None:
    typing = Ran("rg -n --trace src", "rg: unrecognized flag --trace\n", 2)
    assert alarms(*STARTS, typing, Compacted("I looked."), Read("b.py")) == []


@pytest.mark.parametrize(
    ("failed", "later", "verdict"),
    [
        ("make test", "pytest -q", "supported"),
        ("pytest -q tests/test_cart.py", "make test", "supported"),
        ("python -m unittest", "pytest", "supported"),
        ("pytest -q", "npx jest", "not known"),
        ("make test", "pytest tests/test_items.py", "not known"),
        ("npm run test:unit", "npm run test:e2e", "no evidence"),
        ("npm run test:unit", "npm run test:ci", "supported"),
        ("go test -run 'TestA|TestB' ./cart", "go test -run 'Test' ./cart", "supported"),
        ("go test -run 'TestA|TestB' ./cart", "go test -run 'TestB' ./cart", "no evidence"),
        ("go test -run 'TestA' ./cart", "go test -run 'TestA' ./items", "no evidence"),
    ],
)
def test_a_failed_run_is_made_good_by_a_later_one_of_as_much(failed: str, later: str, verdict: str) -> None:
    steps = [*STARTS, Ran(failed, FAILED, 1), Edited("cart.py"), Ran(later, PASSED), Said("All tests pass.")]
    assert verdicts(*steps) == [verdict]


@pytest.mark.parametrize(
    ("failed", "parts", "verdict"),
    [
        ("go test -run 'TestA|TestB' ./cart", ["go test -run TestA ./cart", "go test -run TestB ./cart"], "supported"),
        ("pytest a.py b.py", ["pytest a.py", "pytest b.py"], "supported"),
        ("pytest a.py b.py c.py", ["pytest a.py", "pytest b.py"], "no evidence"),
    ],
)
def test_several_runs_of_its_parts_make_a_failed_run_good(failed: str, parts: list[str], verdict: str) -> None:
    ran = [Ran(part, PASSED) for part in parts]
    assert verdicts(*STARTS, Ran(failed, FAILED, 1), Edited("cart.py"), *ran, Said("All tests pass.")) == [verdict]


def test_a_program_that_was_called_wrongly_has_checked_nothing() -> None:
    wrong = Ran("ruff check --everything", "error: unexpected argument '--everything' found\n", 2)
    assert verdicts(*STARTS, wrong, Said("Lint is clean.")) == ["no evidence"]


def test_a_claim_is_stale_however_the_last_run_before_the_edit_ended() -> None:
    for run in (Ran("pytest", PASSED), Ran("pytest", FAILED, 1), Ran("pytest | head -3", "tests\n")):
        assert verdicts(*STARTS, run, Edited("cart.py"), Said("All tests pass.")) == ["stale"]


def test_where_a_command_may_have_changed_files_since_nothing_is_contradicted() -> None:
    for command in ("python mend.py", "ruff check --fix .", "git stash pop"):
        steps = [*STARTS, Ran("pytest", FAILED, 1), Ran(command), Said("All tests pass.")]
        assert verdicts(*steps) == ["not known"], command
    steps = [*STARTS, Ran("pytest", FAILED, 1), Ran("git status"), Ran("cat cart.py"), Said("All tests pass.")]
    assert verdicts(*steps) == ["contradicted"]


UNSEEN = "total = 12"


@pytest.mark.parametrize("harness", ["codex", "gemini"])
def test_an_edit_of_lines_that_no_reply_had_shown_is_unread(harness: str) -> None:
    def found(*steps: Step) -> list[str]:
        return [one.kind for one in found_in(Truth("", harness, list(steps))).alarms]

    assert found(Read("cart.py"), Edited("cart.py", line=UNSEEN)) == ["unread-edit"]
    assert found(Read("cart.py"), Read("cart.py", f"{UNSEEN}\n"), Edited("cart.py", line=UNSEEN)) == []
    assert found(Ran("grep -rn total .", f"cart.py:9:{UNSEEN}\n"), Edited("cart.py", line=UNSEEN)) == []
    assert found(Read("cart.py"), Edited("cart.py"), Edited("cart.py", line=UNSEEN)) == []


@pytest.mark.parametrize(
    ("before", "is_unread"),
    [
        (Ran("ls src", "cart.py\n"), True),
        (Ran("grep -c total cart.py", "3\n"), True),
        (Ran("wc -l cart.py", "90 cart.py\n"), True),
        (Ran("cat cart.py", "alpha = 1\n"), False),
        (Ran("cat src/*.py", "alpha = 1\n"), False),
        (Ran("rg total", "src/cart.py:9:total = 12\n"), False),
        (Ran("git diff", "--- a/cart.py\n+++ b/cart.py\n@@ -1 +1 @@\n-a\n+b\n"), False),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/a/b/ src/cart.py",
        "perl -pi -e s/a/b/ src/cart.py",
        "apply_patch <<'E'\n*** Begin Patch\n*** Update File: src/cart.py\n@@\n-alpha = 1\n+x = 2\n*** End Patch\nE",
    ],
)
def test_an_edit_by_a_command_is_unread_unless_lines_of_the_file_were_shown(
    before: Ran, is_unread: bool, command: str
) -> None:
    if "apply_patch" in command and "alpha = 1" not in before.out:
        is_unread = True  # the patch names the lines, none of which was shown
    assert alarms(before, Ran(command)) == ["unread-edit"] * is_unread


def test_what_an_agent_removes_or_moves_is_no_unread_edit() -> None:
    assert alarms(Ran("ls", "a.py\n"), Ran("rm a.py"), Ran("mv b.py c.py"), Ran("git checkout -- d.py")) == []


def test_a_tool_that_refuses_unread_files_edits_none() -> None:
    assert alarms(Read("cart.py"), Edited("cart.py", line=UNSEEN)) == []


def test_a_file_that_was_written_over_unseen_is_unread_and_a_new_one_is_not() -> None:
    unseen = Truth("", "gemini", [Wrote("cart.py", "a = 2\n", is_new=False)])
    assert [one.kind for one in found_in(unseen).alarms] == ["unread-edit"]
    assert alarms(Wrote("cart.py", "a = 2\n")) == []
    assert alarms(Wrote("cart.py", "a = 2\n"), Edited("cart.py", line="elsewhere = 1")) == []
    assert alarms(Read("cart.py"), Wrote("cart.py", "a = 2\n", is_new=False)) == []


def test_the_checks_of_a_helper_count_for_its_session_and_raise_an_alarm_once(store: Store, tmp_path: Path) -> None:
    main = write_transcript(
        "claude-code", "5e55", [*STARTS, Read("a.py"), Read("b.py"), Said("All tests pass.")], tmp_path
    )
    helper = write_transcript(
        "claude-code", "helper", [Read("a.py"), Read("b.py"), Ran("pytest", FAILED, 1)], str(tmp_path)
    )
    records = [json.loads(line) for line in Path(helper).read_text().splitlines()]
    lines = [json.dumps({**one, "sessionId": "5e55", "agentId": "a1b2", "isSidechain": True}) for one in records]
    folder = Path(main).with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    Path(helper).rename(folder / "agent-a1b2.jsonl").write_text("\n".join(lines) + "\n")
    Importer(store).run(find_sources(str(tmp_path / "claude-code")))
    names = sorted(one.session.name for one in list_sessions(store))
    assert names == ["claude-code-5e55", "claude-code-5e55-a1b2"]
    found = [evidence_of(store, session) for name in names if (session := store.index.session(name))]
    assert [one.verdict for one in found[0].claims] == ["contradicted"]
    assert [[one.kind for one in each.alarms] for each in found] == [["failing-check", "contradicted"], []]


def test_where_a_reply_was_cut_it_is_asked_what_it_shows() -> None:
    long = "".join(f"tests/test_{number}.py ..........\n" for number in range(4_000))
    steps = [*STARTS, Ran("pytest 2>&1 | head -4000", long), Said("All tests pass.")]
    assert alarms(*steps) == ["unseen-result"]


def test_with_pipefail_the_code_behind_a_filter_is_the_checks() -> None:
    found = evidence(*STARTS, Ran("set -o pipefail; pytest | cat", FAILED, 1))
    assert [(one.outcome, one.masked) for one in found.checks] == [("failed", False)]


def test_a_pull_request_or_a_patch_without_its_last_line_shows_no_check() -> None:
    patch = "apply_patch << 'PATCH'\n*** Begin Patch\n*** Update File: cart.py\n@@\n-b = 2\n+b = 3\n*** End Patch"
    for command in ("gh pr create --title x --body y", patch, "cat > notes.md <<'E'\nit's done"):
        assert alarms(*STARTS, Ran("pytest", PASSED), Edited("cart.py"), Ran(command)) == ["stale-check"], command


@pytest.mark.parametrize("end", ["All tests passed!", "All multi-type EQ tests passed!", "TEST 8 PASS"])
def test_own_words_of_a_script_of_tests_state_its_end(end: str) -> None:
    run = Ran("python test_model.py 2>&1 | tail -20", f"{end}\n")
    assert verdicts(*STARTS, run, Said("All tests pass.")) == ["supported"]


def test_data_that_a_here_document_wrote_was_known() -> None:
    wrote = Ran("cat > package.json <<'E'\n{\"a\": 1}\nE")
    assert alarms(wrote, Ran("sed -i s/1/2/ package.json")) == []


def test_a_script_that_was_only_run_was_never_read() -> None:
    run = Ran("bash scripts/plan.sh --json", "done\n")
    assert alarms(run, Ran("perl -pi -e 's/\\r$//' scripts/plan.sh")) == ["unread-edit"]


def test_an_edit_outside_of_the_project_makes_no_check_stale() -> None:
    plan = "/home/user/notes/plan.py"
    assert alarms(*STARTS, Read(plan), Ran("pytest", PASSED), Edited(plan)) == []


def test_a_formatter_may_have_changed_nothing() -> None:
    found = evidence(
        *STARTS, Ran("pytest", PASSED), Ran("ruff format .", "3 files left unchanged\n"), Said("Tests pass.")
    )
    assert [one.verdict for one in found.claims] == ["supported"]
    assert [(one.path, one.sure) for one in found.edits[1:]] == [("", False)]


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("sed -i 's/a/b/' cart.py items.py", ["cart.py", "items.py"]),
        ("cat > cart.py <<'E'\na = 1\nE", ["cart.py"]),
        ("echo x >> src/items.py", ["items.py"]),
        ("git checkout -- cart.py", ["cart.py"]),
        ("mv old.py new.py", ["old.py", "new.py"]),
        ("cd src && sed -i s/a/b/ cart.py", ["cart.py"]),
        ("pytest > out.py", []),
        ("echo x > /dev/null", []),
        ("grep -n 'sed -i' cart.py", []),
        ("sed -n 1,5p cart.py", []),
        ("sed -i '' 's/a/b/' cart.py", ["cart.py"]),
        ("sed -i .bak -e s/a/b/ -e s/c/d/ cart.py", ["cart.py"]),
        ("perl -pi -e 's/a/b/' cart.py items.py", ["cart.py", "items.py"]),
        ("perl -0pi -e 's/a/b/' cart.py", ["cart.py"]),
        ('perl -0pi -e "s/`a` b/`c` d/" cart.py', ["cart.py"]),
    ],
)
def test_plain_commands_tell_which_files_they_change(command: str, names: list[str]) -> None:
    found = evidence(Read("cart.py"), Ran(command, ""))
    assert [one.path.rpartition("/")[2] for one in found.edits if one.sure] == names


def test_of_other_commands_it_is_not_known_what_they_change() -> None:
    found = evidence(Ran("python generate.py"), Ran("ls"), Ran("grep x cart.py"), Ran("pytest", PASSED))
    assert found.open_commands == 1


def test_an_edit_that_was_refused_is_none() -> None:
    found = evidence(Read("cart.py"), Ran("pytest", PASSED), Edited("cart.py", refused=True))
    assert (found.edits, found.alarms) == ((), ())


def test_messages_in_a_language_without_rules_are_not_read_and_their_languages_are_named() -> None:
    found = evidence(
        *STARTS,
        Said("I looked around."),
        Said("All tests pass."),
        Said("Tous les tests passent maintenant, et la compilation est propre."),
        Said("すべてのテストが通りました。"),
    )
    assert (found.messages, found.not_read, len(found.claims)) == (4, 2, 1)
    assert found.unread.words == "not read: 2 of 4 messages (French 1, Japanese 1); their claims are not judged"


@pytest.mark.parametrize("claim", ["Alle Tests laufen durch.", "所有测试都通过了。"])
def test_a_false_claim_in_another_language_is_contradicted(claim: str) -> None:
    assert verdicts(*STARTS, Ran("pytest", FAILED, 1), Said(claim)) == ["contradicted"]
    assert verdicts(*STARTS, Ran("pytest", PASSED), Said(claim)) == ["supported"]


def test_each_alarm_names_the_calls_that_it_rests_on() -> None:
    found = evidence(*STARTS, Ran("pytest", PASSED), Edited("cart.py"))
    (stale,) = found.alarms
    assert [ground.text for ground in stale.grounds] == ["pytest passed", "cart.py edited"]
    assert all(ground.view for ground in stale.grounds)
    assert stale.at.startswith("@cmd_")


def test_a_log_that_was_written_in_another_order_tells_the_same(store: Store, tmp_path: Path) -> None:
    steps = [*STARTS, Ran("pytest -q", FAILED, 1), Edited("cart.py"), Ran("pytest -q", PASSED), Said("All tests pass.")]
    write_transcript("claude-code", "5e55", steps, str(tmp_path))
    Importer(store).run(find_sources(str(tmp_path / "claude-code")))
    session = list_sessions(store)[0].session
    calls = calls_of(store, session=session.name)
    assert [one.verdict for one in evidence_of(store, session, calls).claims] == ["supported"]
    assert evidence_of(store, session, calls[::-1]) == evidence_of(store, session, calls)


def test_a_claim_of_the_part_that_was_run_is_no_doubt_though_the_whole_failed_before() -> None:
    steps = [*STARTS, Ran("pytest", FAILED, 1), Edited("cart.py"), Ran("pytest tests/test_items.py", PASSED)]
    assert verdicts(*steps, Said("Tests pass. Let me run all of them.")) == ["not known"]
    assert verdicts(*steps, Said("All tests pass.")) == ["no evidence"]


def test_a_shell_script_makes_no_tests_stale() -> None:
    ran = Ran("go test ./...", GO_PASSED)
    assert alarms(Read("run.sh"), ran, Edited("run.sh")) == []
    assert alarms(Read("run.sh"), Ran("shellcheck run.sh", ""), Edited("run.sh")) == ["stale-check"]


def test_a_look_at_a_part_that_fails_is_no_alarm_beside_a_whole_that_ended_well() -> None:
    part = Ran("golangci-lint run -E unused ./cart/...", "cart.go:3:1: unused\n1 issues:\n", 1)
    assert alarms(*STARTS, Ran("golangci-lint run", "0 issues.\n"), part) == []
    assert alarms(*STARTS, part) == ["failing-check"]


def test_a_commit_behind_a_wrapper_may_have_run_its_hooks() -> None:
    commit = Ran("rtk git commit -m x", "ok\n")
    assert alarms(*STARTS, Ran("pytest", PASSED), Edited("cart.py"), commit) == []


@pytest.mark.parametrize(
    ("command", "output", "code", "verdict"),
    [
        ("diff a.txt b.txt", "1c1\n< a\n---\n> b\n", 1, ["contradicted"]),
        ("cd out && cmp a.bin b.bin", "a.bin b.bin differ: byte 1, line 1\n", 1, ["contradicted"]),
        ("git diff --exit-code", "diff --git a/x b/x\n", 1, ["contradicted"]),
        ("diff a.txt b.txt", "", 0, ["supported"]),
        ("diff a.txt b.txt | head -5", "1c1\n< a\n", 0, ["contradicted"]),
        ("diff a.txt b.txt", "diff: b.txt: No such file or directory\n", 2, []),
        ("pytest -q", PASSED, 0, []),
    ],
)
def test_a_claim_that_texts_are_the_same_is_judged_by_the_comparison_before_it(
    command: str, output: str, code: int, verdict: list[str]
) -> None:
    assert verdicts(Ran(command, output, code), Said("The files are identical.")) == verdict


def test_a_comparison_says_nothing_about_other_files() -> None:
    ran = Ran("diff a.txt b.txt", "1c1\n< a\n---\n> b\n", 1)
    assert verdicts(ran, Said("The files c.txt and d.txt are identical.")) == []


@pytest.mark.parametrize("code", [124, 137, 143])
def test_a_check_that_somebody_ended_has_not_failed(code: int) -> None:
    assert verdicts(*STARTS, Ran("timeout 60 pytest -q", "....\n", code), Said("All tests pass.")) == ["not known"]


@pytest.mark.parametrize("ref", ["@last", "@last~2", "@cmd_a1b2c3", "@cmd_a1b2c3.err", "/root/refs/2/@cmd_a1b2c3"])
def test_what_stands_for_an_output_is_no_edited_file(ref: str) -> None:
    assert alarms(Ran(f"sed -i s/a/b/ {ref}"), Ran(f"perl -pi -e s/a/b/ {ref}")) == []


def test_a_masked_check_is_reported_once() -> None:
    assert alarms(*STARTS, Ran("pytest -q | tail -1", TAIL_FAILED)) == ["masked-exit"]


@pytest.mark.parametrize(
    ("check", "formatter", "left"),
    [
        ("cargo fmt --check", "cargo fmt", []),
        ("cargo fmt --all --check", "cargo fmt --all && cargo build", []),
        ("mix format --check-formatted", "mix format", []),
        ("uv run ruff format --check .", "uv run ruff format .", []),
        ("npx prettier --check .", "npx prettier --write .", []),
        ("npm run format:check", "npm run format", []),
        ("cargo clippy", "cargo fmt", ["failing-check"]),
        ("black --check .", "pip install black", ["failing-check"]),
        ("npx prettier --check .", "npx prettier a.js", ["failing-check"]),
    ],
)
def test_a_formatter_makes_good_what_its_check_found(check: str, formatter: str, left: list[str]) -> None:
    assert alarms(*STARTS, Ran(check, "Diff in cart\n", 1), Ran(formatter, "")) == left


@pytest.mark.parametrize(
    ("command", "folder", "operands"),
    [
        ("cd web && npm test", "/home/user/shop/web", ()),
        ("cd /srv/shop && pytest", "/srv/shop", ()),
        ("cd web/build && ctest", "/home/user/shop/web", ()),
        ("cd $HOME && pytest", "/home/user/shop", ()),
        ("swift build --package-path libs/cart", "/home/user/shop/libs/cart", ()),
        ("cargo build --manifest-path till/Cargo.toml", "/home/user/shop/till", ()),
        ("pytest cart", "/home/user/shop", ("cart",)),
    ],
)
def test_a_check_runs_where_a_cd_or_an_option_leads(
    store: Store, tmp_path: Path, command: str, folder: str, operands: tuple[str, ...]
) -> None:
    write_transcript("claude-code", "5e55", [Ran(command, "")], str(tmp_path))
    Importer(store).run(find_sources(str(tmp_path / "claude-code")))
    [check] = checks_of(store, calls_of(store)[0], list_sessions(store)[0].session.cwd)
    assert (check.folder, check.operands) == (folder, operands)


def test_a_claim_that_names_a_folder_is_about_the_runs_there() -> None:
    built = Ran("swift build --package-path till", "")
    steps = [built, Edited("till/Package.swift"), Ran("swift build --package-path cart", "")]
    found = evidence(*steps, Said("The till builds successfully."), Said("The cart builds successfully."))
    assert [one.verdict for one in found.claims] == ["stale", "supported"]
    assert [one.kind for one in found.alarms] == ["stale-check", "stale-claim"]


def test_a_run_in_another_folder_makes_nothing_good() -> None:
    error = "A.swift:7:2: error: no type 'B'\n"
    failed = Ran("swift build --package-path till 2>&1 | grep error:", error)
    assert alarms(failed, Ran("swift build --package-path cart", "")) == ["masked-exit"]


def test_a_claim_that_names_a_tool_is_about_its_runs() -> None:
    steps = [
        *STARTS,
        Ran("ruff check .", "All checks passed!\n"),
        Ran("black --check .", "would reformat cart.py\n", 1),
    ]
    assert verdicts(*steps, Said("Ruff is clean.")) == ["supported"]
    assert verdicts(*steps, Said("Lint is clean.")) != ["supported"]


def test_what_a_list_says_of_a_command_behind_a_dash_is_a_claim_of_it() -> None:
    steps = [Read("a.rs"), Ran("cargo clippy", ""), Edited("a.rs"), Said("- `cargo clippy` — no warnings")]
    assert verdicts(*steps) == ["stale"]


@pytest.mark.parametrize("name", [".gitignore", "agents/__init__.py", "web/page.tsx"])
def test_a_check_of_one_language_is_not_older_than_what_it_never_reads(name: str) -> None:
    assert alarms(Read(name), Ran("cargo check", ""), Edited(name)) == []
    assert alarms(Read("a.rs"), Ran("cargo check", ""), Edited("a.rs")) == ["stale-check"]


def test_what_was_compiled_by_a_later_test_is_no_stale_type_check() -> None:
    steps = [Read("a.rs"), Ran("cargo check", ""), Edited("a.rs"), Ran("cargo test", "")]
    assert verdicts(*steps, Said("`cargo check` passes.")) == ["supported"]


def test_instructions_that_a_harness_shows_itself_are_no_unread_edit() -> None:
    for name, kinds in (("AGENTS.md", []), ("docs/guide.md", ["unread-edit"])):
        found = found_in(Truth("", "codex", [Ran(f"sed -i s/a/b/ {name}", "")]))
        assert [one.kind for one in found.alarms] == kinds


def test_a_search_without_a_match_that_a_harness_calls_an_error_has_not_failed(store: Store, tmp_path: Path) -> None:
    steps: list[Step] = [Ran("ssh host 'ps aux | grep nginx'", "", 1), Ran("find . | xargs grep -l x", "", 123)]
    write_transcript("claude-code", "5e55", [*steps, Ran("ssh host make", "", 1)], str(tmp_path))
    Importer(store).run(find_sources(str(tmp_path / "claude-code")))
    assert [call.failed for call in calls_of(store)] == [False, False, True]


def test_a_check_is_called_by_its_words_where_another_of_its_kind_ran_later() -> None:
    till = Ran("swift build --package-path till", "")
    [alarm] = evidence(till, Edited("till/a.swift"), Ran("swift build --package-path cart", "")).alarms
    assert alarm.text.startswith("swift build in till last ran ")
    clippy = Ran("cargo clippy", "")
    [alarm] = evidence(
        Read("a.rs"), clippy, Edited("a.rs"), Ran("cargo fmt --check", ""), Said("Clippy is clean.")
    ).alarms
    assert re.search(r"“Clippy is clean\.”: cargo clippy last ran \S+ before a\.rs was edited", alarm.text)
    [alarm] = evidence(Read("a.py"), Ran("pytest", PASSED), Edited("a.py"), Edited("b.py")).alarms
    assert re.search("the tests last ran .* before a.py, b.py were edited", alarm.text)


@pytest.mark.parametrize(
    ("command", "output", "outcome"),
    [
        ('pytest -q > /tmp/log 2>&1; echo "exit: $?"', "exit: 0\n", "passed"),
        ('pytest -q > /tmp/log 2>&1; echo "exit: $?"', "exit: 1\n", "failed"),
        ("pytest -q > /tmp/log 2>&1; rc=$?; tail -1 /tmp/log; echo rc=$rc", "x\nrc=1\n", "failed"),
        ("pytest -q | tail -1; echo ${PIPESTATUS[0]}", "x\n1\n", "failed"),
        ("pytest -q | tail -1; echo $?", "x\n0\n", "not known"),
        ("pytest -q > /dev/null && echo good || echo bad", "bad\n", "failed"),
        ("pytest -q > /dev/null && echo good || echo bad", "good\n", "passed"),
        ("pytest -q > /dev/null || echo bad", "bad\n", "failed"),
        ("cd web && pytest -q > /dev/null && echo good; date", "today\n", "failed"),
        ("pytest -q > /tmp/log; echo $? > /tmp/code; date", "0\n", "not known"),
        ("pytest -q > /tmp/log; echo '$?'", "0\n", "not known"),
        ("./setup.sh || pytest -q > /tmp/log; echo $?", "0\n", "not known"),
    ],
)
def test_an_exit_code_that_the_line_prints_is_the_check_s(command: str, output: str, outcome: str) -> None:
    assert [one.outcome for one in evidence(Ran(command, output)).checks] == [outcome]


@pytest.mark.parametrize(
    ("command", "output", "outcomes"),
    [
        ("ruff check . && pytest -q", FAILED, ["passed", "failed"]),
        ("mypy . && pytest -q", "a.py:1: error: x\nFound 1 error in 1 file (checked 3 source files)\n", ["failed"]),
        ("npx eslint . && npx tsc", "✖ 1 problem (1 error, 0 warnings)\n", ["failed"]),
        ("bun run lint && bun run test", 'error: script "lint" exited with code 1\n', ["failed"]),
        ("bun run lint && bun run test", 'error: script "test" exited with code 1\n', ["passed", "failed"]),
        ("npm run lint && npm test 2>&1 | tail -3", "no-var\n", ["failed"]),
        ("npm run lint && npm test", "no-var\n", ["not known", "not known"]),
        ("npm ci && npm run lint", "no-var\n", ["not known"]),
    ],
)
def test_the_first_part_of_a_list_that_failed_ended_it(command: str, output: str, outcomes: list[str]) -> None:
    assert [one.outcome for one in evidence(Ran(command, output, 1)).checks] == outcomes


@pytest.mark.parametrize(
    "command", ["devbox run test", "conda run -n x pytest", "./scripts/verify", "julia -e 'using Pkg; Pkg.test()'"]
)
def test_a_program_of_any_name_may_have_run_the_checks_that_its_words_name(command: str) -> None:
    assert verdicts(*STARTS, Ran(command, "fine\n"), Said("All tests pass.")) == ["not known"]


def test_what_shows_searches_or_moves_files_is_no_evidence() -> None:
    for command in ("grep -rn test .", "ls tests", "cp test.py /tmp", "git add tests", "mkdir -p build/test"):
        assert verdicts(*STARTS, Ran(command, "fine\n"), Said("All tests pass.")) == ["no evidence"], command


def test_a_log_that_shows_how_tests_ended_is_no_lack_of_evidence() -> None:
    steps = (*STARTS, Ran("tail -1 /tmp/out", TAIL), Said("All tests pass."))
    assert verdicts(*steps) == ["not known"]
    assert verdicts(*STARTS, Read("/tmp/tasks/b1.output", TAIL), Said("All tests pass.")) == ["not known"]


def test_a_check_that_found_nothing_to_check_supports_nothing() -> None:
    for command, output in (
        ("go test ./...", "?   \tshop/cart\t[no test files]\n"),
        ("pnpm --filter x test", 'No projects matched the filters in "/w"\n'),
    ):
        assert verdicts(*STARTS, Ran(command, output), Said("All tests pass.")) == ["no evidence"], command


def test_a_missing_module_is_the_program_only_if_it_is_called_so() -> None:
    for module, outcomes in (("pytest", []), ("requests", ["failed"])):
        output = f"ModuleNotFoundError: No module named '{module}'\n"
        assert [one.outcome for one in evidence(Ran("python -m pytest", output, 1)).checks] == outcomes


@pytest.mark.parametrize(
    ("command", "output", "code", "checks"),
    [
        (
            "pnpm compile",
            "> pnpm run check-types && pnpm run lint\n> tsc --noEmit\n> eslint src\n",
            0,
            "build types lint",
        ),
        ("pnpm assist | tail", "> biome check --write src\nChecked 24 files in 45ms. No fixes applied.\n", 0, "lint"),
        ("npm run check && npm test", "> shop@1.0 check\n> ultracite check\n\nFound 2 errors.\n", 1, "lint"),
        ("npm ci && npm run lint", "> shop@1.0 lint\n> eslint .\n\nno-var\n", 1, "lint"),
    ],
)
def test_a_task_is_the_checks_that_it_says_it_runs(command: str, output: str, code: int, checks: str) -> None:
    found = evidence(Ran(command, output, code)).checks
    assert " ".join(one.kind for one in found) == checks
    assert {one.outcome for one in found} == {"failed" if code else "passed"}


def test_what_never_ran_behind_a_part_that_failed_has_not_failed() -> None:
    output = "> shop@1.0 check\n> node check.js\n\nFound 2 errors.\n"
    assert [one.outcome for one in evidence(Ran("npm run check && npm test", output, 1)).checks] == []


@pytest.mark.parametrize(
    "line",
    [
        "git restore --staged cart.py",
        "git reset HEAD cart.py",
        "git reset --soft HEAD~1",
        "git rm --cached cart.py",
        "git apply --cached x.patch",
        "git stash list",
    ],
)
def test_git_that_changes_its_index_alone_edits_no_file(line: str) -> None:
    assert evidence(Ran(line)).edits == ()


def test_tests_of_a_project_s_own_script_are_what_it_counts() -> None:
    steps: list[Step] = [Read("open.sh"), Ran("scripts/test-filter.sh open", "Total: 3 Pass: 3 Fail: 0\n")]
    said = Said("- `scripts/test-filter.sh open` -> 3 pass, 0 fail")
    assert verdicts(*steps, said) == ["supported"]
    assert alarms(*steps, Edited("open.sh"), said) == ["stale-check", "stale-claim"]
    assert verdicts(*STARTS, Ran("scripts/test.sh", "2 passed, 1 failed\n"), Said("All tests pass.")) == [
        "contradicted"
    ]


def test_a_later_run_that_hid_its_end_makes_no_masked_failure_good() -> None:
    failed = Ran("npx tsc --noEmit | head -20", "a.ts(1,2): error TS2344: x\n")
    assert alarms(failed, Ran("npx tsc --noEmit | grep -i cart || echo clean", "clean\n")) == ["masked-exit"]


def test_a_package_manager_s_last_line_says_that_its_task_failed() -> None:
    for line in (
        "[ELIFECYCLE] Command failed with exit code 1.",
        " ELIFECYCLE  Test failed. See above for more details.",
    ):
        assert alarms(Ran("pnpm build 2>&1 | tail -40", f"x\n{line}\n")) == ["masked-exit"], line


def test_a_trial_is_no_claim_of_a_test_run() -> None:
    assert verdicts(*STARTS, Ran("shopctl add apple", "true\n"), Said("Test passed.")) == ["not known"]
    assert verdicts(*STARTS, Ran("shopctl add apple", "true\n"), Said("All tests pass.")) == ["no evidence"]


def test_a_runner_of_tasks_of_any_language_depends_on_files_of_each() -> None:
    steps = (Read("apps/api/cart.py"), Ran("nx type-check api", "fine\n"), Edited("apps/api/cart.py"))
    assert alarms(*steps) == ["stale-check"]


def test_a_claim_of_a_command_is_stale_if_only_a_part_ran_again_after_its_failure() -> None:
    steps = (Ran("npm test", FAILED, 1), Read("cart.js"), Edited("cart.js"), Ran("npm test -- cart.test.js", PASSED))
    assert verdicts(*steps, Said("Confirmed that both `npm run check` and `npm test` passed safely.")) == ["stale"]


def test_fixed_does_not_rest_on_a_check_that_never_failed() -> None:
    steps = (*STARTS, Ran("pytest -q", FAILED, 1), Edited("cart.py"), Ran("ruff check .", "All checks passed!\n"))
    assert [one.why for one in evidence(*steps, Said("The bug is fixed.")).claims if "lint" in one.why] == []


def test_a_failure_of_a_hook_is_made_good_by_a_commit_that_went_through() -> None:
    blocked = Ran("rtk git commit -m x", "FAILED: git commit\n" + FAILED)
    assert alarms(*STARTS, blocked) == ["masked-exit"]
    assert alarms(*STARTS, blocked, Ran("rm -rf tmp"), Ran("rtk git commit -m x", "ok\n")) == []


def test_a_shell_that_only_reads_a_script_may_have_run_no_check() -> None:
    tested: list[Step] = [Read("open.sh"), Ran("scripts/test.sh", "Pass: 3 Fail: 0\n"), Edited("open.sh")]
    assert alarms(*tested, Ran("bash -n open.sh")) == ["stale-check"]
    assert alarms(*tested, Ran("bash open.sh", "fine\n")) == []


def patched(kind: str, lines: str, file: str = "src/new.py") -> str:
    return f"apply_patch <<'E'\n*** Begin Patch\n*** {kind} File: {file}\n{lines}\n*** End Patch\nE"


IN_QUOTES = (
    "apply_patch '*** Begin Patch\n*** Update File: src/new.py\n@@\n-b = '\"'\"'a'\"'\"'\n+b = 1\n*** End Patch'"
)


@pytest.mark.parametrize(
    ("patch", "before", "found"),
    [
        (patched("Add", "+a = 1"), "", []),
        (patched("Update", "@@\n-alpha = 1\n+a = 1"), "", ["unread-edit"]),
        (IN_QUOTES, "b = 'a'\n", []),
    ],
    ids=["a new file", "an unread one", "quotes of the shell"],
)
def test_a_patch_is_an_unread_edit_where_its_old_lines_were_never_shown(
    patch: str, before: str, found: list[str]
) -> None:
    assert alarms(Ran("cat src/new.py" if before else "ls", before), Ran(patch, "Success.\n")) == found


def test_lines_that_an_agent_wrote_itself_are_known_under_another_name() -> None:
    wrote = Ran(patched("Add", "+alpha = 1"), "Success.\n")
    changed = Ran(patched("Update", "@@\n-alpha = 1\n+a = 1", "lib/new.py"), "Success.\n")
    assert alarms(wrote, Ran("mv src lib"), changed) == []


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ([Edited("_bmad-output/artifacts/sprint-status.yaml")], []),
        ([Edited("docs/mkdocs.yml")], []),
        ([Edited("config/settings.yaml")], ["stale-check"]),
        ([Wrote("look.py", "a = 1\n"), Ran("python look.py"), Ran("rm -f look.py")], []),
        ([Ran("rm -f cart.py")], ["stale-check"]),
        ([Ran("mv todo/one.md done/")], []),
    ],
    ids=["a status sheet", "a site's list", "settings", "a scratch file", "a source", "a moved note"],
)
def test_what_no_check_reads_makes_none_stale(steps: list[Step], found: list[str]) -> None:
    assert alarms(*STARTS, Ran("pytest", PASSED), *steps) == found


@pytest.mark.parametrize(
    "steps",
    [
        [Ran("git stash && pytest; git stash pop", FAILED)],
        [Ran("git stash", ""), Ran("pytest | tail -1", TAIL_FAILED), Ran("git stash pop", "")],
    ],
    ids=["one line", "several calls"],
)
def test_a_check_of_the_state_before_the_changes_is_no_alarm(steps: list[Step]) -> None:
    assert alarms(*STARTS, Ran("pytest", PASSED), *steps) == []
    assert alarms(*STARTS, *steps) != []  # nothing else looked at the tests


def test_a_run_of_more_makes_a_failed_part_good() -> None:
    part, whole = Ran("go test ./cart/ -run TestSum", "FAIL\tshop/cart\t0.1s\nFAIL\n", 1), "ok  \tshop/cart\t0.2s\n"
    for command in ("go test ./cart/", "go test ./cart/...", "go test ./..."):
        assert verdicts(*STARTS, part, Ran(command, whole), Said("All tests pass.")) == ["supported"], command
    assert verdicts(*STARTS, part, Ran("go test ./till/", whole), Said("All tests pass.")) != ["supported"]


def test_a_bundler_makes_no_failed_type_check_good() -> None:
    failed = Ran("npx tsc --noEmit 2>&1 | head -5", "cart.ts(1,2): error TS2322: no\n")
    assert alarms(failed, Ran("npx vite build", "✓ built in 1.52s\n")) == ["masked-exit"]
    assert alarms(failed, Ran("npx tsc --noEmit", "")) == []


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        ("", "supported"),
        ("?   \tshop/cart\t[no test files]\n", "supported"),
        ("FAIL\tshop/cart\t0.1s\n", "contradicted"),
    ],
)
def test_a_filter_that_only_leaves_out_what_went_well_hides_no_failure(output: str, verdict: str) -> None:
    assert verdicts(*STARTS, Ran("go test ./... 2>&1 | grep -v '^ok'", output), Said("All tests pass.")) == [verdict]


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        ("CLEAN\n", "supported"),
        ("0 issues.\nCLEAN\n", "supported"),
        ("--- FAIL: TestTotal (0.00s)\nFAIL\tshop/cart\t0.01s\nFAIL\nCLEAN\n", "contradicted"),
        ("something else\nCLEAN\n", "not known"),
    ],
)
def test_only_the_mark_behind_such_a_filter_says_that_nothing_failed(output: str, verdict: str) -> None:
    line = "golangci-lint run | tail -1; go test ./... 2>&1 | grep -v '^ok'; echo CLEAN"
    assert verdicts(*STARTS, Ran(line, output), Said("All tests pass.")) == [verdict]


def test_tests_that_go_well_tell_anew_what_vet_found() -> None:
    vet = Ran(
        "go vet ./cart 2>&1 | grep -v '^#' | head -5; echo DONE", "cart/a.go:3:1: expected '}', found 'EOF'\nDONE\n"
    )
    assert "masked-exit" in alarms(*STARTS, vet)
    assert "masked-exit" not in alarms(*STARTS, vet, Ran("go test ./cart", "ok  \tshop/cart\t0.1s\n"))


@pytest.mark.parametrize(
    ("command", "output", "outcome"),
    [
        ("npm test 2>&1 | grep -E '^# (pass|fail)'", "# pass 101\n# fail 0\n", "passed"),
        ("npm test 2>&1 | grep -E '^# (pass|fail)'", "# pass 100\n# fail 1\n", "failed"),
        ("npm run build 2>&1 | tail -9", "12:34:06 [ERROR] An unhandled error occurred\n  Stack trace:\n", "failed"),
        ("npm run build 2>&1 | tail -9", "Error: a hint only\n✓ built in 1.52s\n", "not known"),
        ("python test_cart.py 2>&1 | tail -3", '  File "test_cart.py", line 1\nKeyError: 1\n', "failed"),
    ],
)
def test_what_is_left_behind_a_filter_states_how_a_check_ended(command: str, output: str, outcome: str) -> None:
    assert [one.outcome for one in evidence(Ran(command, output)).checks] == [outcome]


@pytest.mark.parametrize(
    ("claim", "passed", "verdict"),
    [
        ("3 tests pass but 2 warnings cause exit code 1.", 3, "supported"),
        ("Tests 1-9 passed, including the last.", 3, "not known"),
        ("`pytest` shows no new failures from my changes.", 3, "not known"),
        ("All tests pass.", 3, "contradicted"),
    ],
)
def test_a_claim_that_admits_a_failure_is_not_contradicted_by_it(claim: str, passed: int, verdict: str) -> None:
    failed = Ran("pytest", f"FAILED test_cart.py::test_sum\n1 failed, {passed} passed in 0.10s\n", 1)
    assert verdicts(*STARTS, failed, Said(claim)) == [verdict]


def test_a_diff_that_is_called_clean_need_not_be_empty() -> None:
    assert verdicts(Ran("git diff", "diff --git a/a b/a\n+a\n"), Said("The diff is clean.")) == []


def test_a_number_that_another_command_stated_is_no_lack_of_evidence() -> None:
    assert verdicts(*STARTS, Ran("./doctor", "✓ 64 passed  ⚠ 8 warnings\n"), Said("64 passed, 0 failures")) == [
        "not known"
    ]


def test_two_checks_in_one_sentence_are_two_claims() -> None:
    steps = [*STARTS, Ran("npm run build", ""), Edited("cart.ts"), Ran("npm run lint", "")]
    found = evidence(*steps, Said("Lint clean and build green."))
    assert sorted(one.verdict for one in found.claims) == ["stale", "supported"]


def test_what_an_agent_says_before_its_first_calls_may_rest_on_another_log() -> None:
    before: list[Step] = [Said("I look into it."), Said("All tests pass, and the build is clean.")]
    assert set(verdicts(*before, Ran("ls", ""))) == {"not known"}
    assert alarms(*before, Ran("sed -i s/a/b/ cart.py")) == []


MARKED = "npx tsc --noEmit | head; echo '=== LINT ==='; npm run lint | tail; echo '=== BUILD ==='; npm run build | tail"
ECHOED = "> shop@1.0.0 lint\n> eslint\n"


@pytest.mark.parametrize(
    ("output", "outcomes"),
    [
        (f"=== LINT ===\n{ECHOED}=== BUILD ===\n✓ built in 1.52s\n", ["passed", "passed", "passed"]),
        (f"a.ts(1,2): error TS1: no\n=== LINT ===\n{ECHOED}=== BUILD ===\n", ["failed", "passed", "not known"]),
        ("=== LINT ===\n✖ 3 problems (2 errors, 1 warning)\n=== BUILD ===\n", ["passed", "failed", "not known"]),
    ],
)
def test_what_stands_between_an_agent_s_own_marks_states_how_that_part_ended(output: str, outcomes: list[str]) -> None:
    assert [one.outcome for one in evidence(Ran(MARKED, output)).checks] == outcomes


def test_what_somebody_stopped_at_its_terminal_has_not_failed(store: Store, tmp_path: Path) -> None:
    steps = [Ran("npm run dev", "ready in 79 ms\n^C", 1), Ran("pytest", "....\n^C\n", 2)]
    write_transcript("codex", "5e55", steps, str(tmp_path))
    Importer(store).run(find_sources(str(tmp_path / "codex")))
    assert (verdict_of(store).ran, verdict_of(store).failed) == (2, 0)
    assert alarms(*STARTS, *steps) == []


def test_exit_126_of_a_runner_whose_program_ran_is_its_own_failure() -> None:
    errors = "".join(f"a.ts:{line}:1: no\n" for line in range(9)) + "✖ 9 problems (9 errors, 0 warnings)\n"
    assert alarms(*STARTS, Ran("volta run npm run lint", errors, 126)) == ["failing-check"]
    assert alarms(*STARTS, Ran("volta run npm run lint", "no such program\n", 126)) == []


def test_a_build_that_says_that_it_checked_the_types_is_a_type_check() -> None:
    failed = Ran("npx tsc --noEmit", "cart.ts(1,2): error TS2322: no\n", 2)
    built = "> shop@1.0.0 build\n> next build\n\n{}✓ Compiled successfully\n"
    for said, left in (("  Finished TypeScript in 2.1s\n", []), ("", ["failing-check"])):
        assert alarms(Read("cart.ts"), failed, Edited("cart.ts"), Ran("npm run build", built.format(said))) == left


def test_a_summary_for_a_compaction_claims_nothing() -> None:
    assert verdicts(*STARTS, Said("<analysis>\nAll tests pass.\n</analysis>")) == []


def test_a_patch_that_was_refused_changes_nothing() -> None:
    refused = "apply_patch verification failed: invalid hunk\n"
    patch = patched("Update", "@@\n-alpha = 1\n+a = 1", "cart.py")
    truth = Truth("", "codex", [Read("cart.py"), Ran("pytest", PASSED), Ran(patch, refused, 1)])
    assert [one.kind for one in found_in(truth).alarms] == []


def test_a_script_that_was_run_with_words_behind_it_was_not_read() -> None:
    ran = Ran("scripts/update.sh codex", "done\n")
    assert alarms(ran, Ran("perl -pi -e 's/a/b/' scripts/update.sh")) == ["unread-edit"]


def test_a_filter_hides_the_trace_of_a_script_of_tests() -> None:
    failed = Ran("python test_cart.py | tail -3", "KeyError: 1\n")
    assert alarms(failed, Ran("python test_cart.py | grep -E 'PASSED|FAILED'", "  PASSED\n")) == ["masked-exit"]
    assert alarms(failed, Ran("python test_till.py", "All tests passed!\n")) == ["masked-exit"]
    assert verdicts(failed, Ran("python test_till.py", ""), Said("All tests pass.")) == ["not known"]


@pytest.mark.parametrize("text", ["**And** all tests pass via `npm test`", "- ✅ Test suite (comprehensive tests)"])
def test_what_is_wanted_or_delivered_is_no_claim_of_a_run(text: str) -> None:
    assert verdicts(*STARTS, Said(text)) == []


def test_a_claim_of_one_part_is_not_contradicted_by_a_run_of_all() -> None:
    failed = Ran("npx hardhat test", "  40 passing\n  2 failing\n", 2)
    assert verdicts(*STARTS, failed, Said("- **CreditScore:** All 26 tests passing")) == ["not known"]


def test_of_helpers_whose_session_is_gone_only_the_one_that_ran_a_check_raises_its_alarm(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "claude-code" / "5e55" / "subagents"
    folder.mkdir(parents=True)
    for name, steps in {"a1b2": [Ran("pytest", FAILED, 1)], "c3d4": [Read("a.py")]}.items():
        written = Path(
            write_transcript("claude-code", f"helper-{name}", [Read("b.py"), *steps], str(tmp_path / "made"))
        )
        records = [json.loads(line) for line in written.read_text().splitlines()]
        lines = [json.dumps({**one, "sessionId": "5e55", "agentId": name, "isSidechain": True}) for one in records]
        (folder / f"agent-{name}.jsonl").write_text("\n".join(lines) + "\n")
    Importer(store).run(find_sources(str(tmp_path / "claude-code")))
    found = {
        one.session.name: [each.kind for each in evidence_of(store, one.session).alarms] for one in list_sessions(store)
    }
    assert found == {"claude-code-5e55-a1b2": ["failing-check"], "claude-code-5e55-c3d4": []}
