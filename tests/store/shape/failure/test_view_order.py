"""In what order a small view shows what was said: messages before stacks, one copy of each, other kinds before more."""

from benchmarks.failure_recall import Case, view

_FRAMES = [f"\tat shop.tills.Drawer{at}.open(Drawer{at}.java:{at})" for at in range(40)]


def _view(lines: list[str], command: str, verbosity: str = "concise") -> str:
    data = ("\n".join(lines) + "\n").encode()
    return view(Case({"exit_code": 1, "command": command, "kind": "fail", "id": "made"}, data, b""), verbosity).reply


def test_messages_come_before_the_frames_of_stacks() -> None:
    blocks = []
    for at in range(6):
        blocks += [f"opens{at}(shop.DrawerTest)  Time elapsed: 0.{at} sec  <<< FAILURE!", "java.lang.AssertionError:"]
        blocks += ["Drawer says:", f" <drawer {at} of the till is stuck>", f" <coin {at} is in the way>", *_FRAMES, ""]
    shown = _view(["[INFO] Scanning for projects...", *blocks, "Tests run: 9, Failures: 6, Errors: 0"], "mvn test")
    assert all(f"coin {at} is in the way" in shown for at in range(6))


def test_causes_of_causes_come_before_the_frames_of_the_first() -> None:
    chain = []
    for at in range(8):
        chain += [f"{'Caused by: ' if at else ''}shop.StockException: shelf {at} cannot be reached", *_FRAMES]
    shown = _view([*chain, "done"], "./stock")
    assert all(f"shelf {at} cannot" in shown for at in range(8))


def test_message_that_a_tool_prints_again_with_a_level_takes_no_room_of_another() -> None:
    parcels = "abcdefghijklmnopqrst"
    said = [f"error: parcel {word} does not fit into the van, because of its height" for word in parcels]
    noise = [f"loaded crate {at}" for at in range(500)]
    again = [line.replace("error: ", "[ERROR] ") for line in said]
    shown = _view([*said, *noise, *again, *noise, "error: the van is not insured for crates", *noise], "./load")
    assert "error: the van is not insured for crates" in shown
    assert all(f"error: parcel {word} does" in shown for word in parcels)


def test_failure_of_another_kind_comes_before_the_names_of_many_of_one_kind() -> None:
    lines = ["= FAILURES ="]
    for at in range(30):
        odd = at == 21
        lines += [f"_______ test_the_sum_of_basket_number_{at}_is_what_the_ledger_says _______", ""]
        lines += [f"    def test_{at}():", "        basket = load()", ">       check(basket)"]
        lines += ["E       KeyError: 'price'" if odd else f"E       assert {at} == {at + 1}", ""]
    shown = _view([*lines, "======= 30 failed in 0.30s ======="], "pytest")
    assert "KeyError: 'price'" in shown.partition("\n")[2]


def test_more_indented_block_below_a_failure_is_shown_with_it() -> None:
    noise = [f"  weighs parcel {at}: well" for at in range(300)]
    said = [
        "  weighs crate seven: FAIL",
        "    the scale shows",
        "",
        "      12 kg",
        "",
        "    and the ledger of May has",
        "",
    ]
    said += ["      21 kg", "", "    while the sum of the boxes in that crate is", "", "      19 kg", ""]
    shown = _view(["Depot", *noise[:150], *said, *noise[150:]], "./check")
    assert all(weight in shown for weight in ("12 kg", "21 kg", "19 kg"))


def test_warnings_count_as_failures_where_the_output_says_that_they_made_it_fail() -> None:
    noise = [f"rendered page {at}" for at in range(300)]
    warned = [f"docs/page{at}.md:12: WARNING: label 'tills' has no target" for at in range(12)]
    lines = [*noise, *warned, *noise]
    told = _view([*lines, "Failing due to 12 warnings"], "./docs").partition("\n")[2]
    assert all(f"docs/page{at}.md:12" in told for at in range(12))
    assert "docs/page5.md" not in _view([*lines, "disk is full"], "./docs").partition("\n")[2]


def test_warnings_that_a_rule_calls_minor_count_where_they_made_it_fail() -> None:
    noise = [f"cc -Wall -c m{at}.c" for at in range(300)]
    warned = [f"m{at}.c:12:3: warning: crate {at} is never weighed" for at in range(3)]
    told = _view([*noise, *warned, *noise, "cc1: all warnings being treated as errors"], "make").partition("\n")[2]
    assert all(line in told for line in warned)


def test_second_failed_step_is_shown_beside_one_that_was_tolerated() -> None:
    lint = [
        "##[group]Run make lint",
        *(f"src/till.c:3: error: coin {a}{b} is worn" for a in "abcdefgh" for b in "klmnopqr"),
    ]
    lint += ["##[error]Process completed with exit code 2."]
    tests = ["##[group]Run make check", *(f"weighed crate {at}" for at in range(200))]
    tests += ["cannot open the drawer of till 7", "##[error]Process completed with exit code 1."]
    after = ["##[group]Post Run checkout", *(f"cleaned folder {at}" for at in range(100))]
    assert "cannot open the drawer of till 7" in _view([*lint, *tests, *after], "gh run view --log")


def test_text_that_a_line_of_a_failed_test_opens_is_shown_with_it() -> None:
    noise = [
        line for at in range(90) for line in (f"# Subtest: weighs {at}", f"ok {at + 1} - weighs {at}", "  ---", "  ...")
    ]
    said = ["not ok 91 - sums", "  ---", "  duration_ms: 1.2", "  failureType: 'testCodeFailure'", "  error: |-"]
    said += ["    Expected values to be strictly equal:", "    ", "    15 !== 16", "    ", "  code: 'ERR_ASSERTION'"]
    said += ["  stack: |-", *(f"    TestContext.f{at} (file:///w/a.test.js:{at}:1)" for at in range(40)), "  ..."]
    others = [f"not ok {at} - opens {at}" for at in range(92, 140)]
    shown = _view(["TAP version 13", *noise, *said, *noise, *others], "node --test --test-reporter=tap")
    assert "    15 !== 16" in shown


def _traceback(name: str, said: str) -> list[str]:
    frames = []
    for at in range(7):
        frames += [f'  File "/srv/harness/{name}/stage_{at}.py", line {at + 10}, in stage_{at}']
        frames += [f"    return run_stage_{at + 1}(harness, participants, settings, timeout={at})"]
    return ["Traceback (most recent call last):", *frames, said]


def test_service_that_failed_is_shown_beside_the_stacks_of_the_harness_that_ran_it() -> None:
    harness = [
        *_traceback("compose", "subprocess.CalledProcessError: Command 'compose up' returned non-zero exit status 1."),
        *("", "During handling of the above exception, another exception occurred:", ""),
        *_traceback("report", "harness.RunFailed: the run of a system test failed"),
        "##[error]Process completed with exit code 1.",
    ]
    services = [f"service-{at} | pulled layer {at}" for at in range(300)]
    reasons = [f"Service 'solver-{at}' failed to build: {'x' * 120} {at}" for at in range(3)]
    shown = _view(["$ python harness.py --all", *services, *reasons, *harness], "(CI job)")
    assert all(f"Service 'solver-{at}' failed" in shown for at in range(3))
    assert "CalledProcessError: Command" in shown
    assert "harness.RunFailed" in shown


def test_details_of_a_failure_of_one_service_are_shown_in_a_log_that_has_other_lines() -> None:
    lines = [f"step {at} of the plan is done, and took {at} ms" for at in range(900)]
    for at in range(5):
        lines[at * 100 : at * 100] = [
            f"adapter-{at}          | ASSERTION FAILED",
            f"adapter-{at}          |   Location: bool get(const string&) const",
            f"adapter-{at}          |   Rank:     {at}",
            f"adapter-{at}          |   Expression: drawer_{at} != till.end()",
        ]
    shown = _view(lines, "./plan")
    assert all(f"Expression: drawer_{at} != till.end()" in shown for at in range(5))


def test_what_another_line_says_comes_before_more_that_begins_with_the_same_words() -> None:
    things = [f"{a}{b}" for a in ("door", "lamp", "sign", "lock") for b in "abcdefgh"]
    lines = [f"weighed crate {at}" for at in range(3000)]
    for at, thing in enumerate(things):
        said = f"JavaScript error: {thing.title()}Error: the {thing} has no {thing} of its own, so it waits"
        lines[60 * at + 40] = said
    lines[2100] = "FATAL: the depot is on fire, so no crate that was weighed this week leaves it before June is over"
    assert "the depot is on fire" in _view(lines, "./weigh")


def test_command_below_an_error_is_clipped() -> None:
    noise = [f"weighed crate {at}" for at in range(300)]
    shown = _view([*noise, "ERROR: load a failed:", f" # /usr/bin/load {'--crate 7 ' * 200}", *noise], "./load")
    assert max(map(len, shown.splitlines()[1:])) <= 512


def test_last_of_many_weak_hints_come_first() -> None:
    things = [f"{a}{b}" for a in ("door", "lamp", "sign", "lock", "bell") for b in "abcdefghij"]
    lines = [
        line for one in things for line in (*(f"reads {one}" for _ in "123"), f"{one} is missing, so another is built")
    ]
    shown = _view([*lines, "shop is missing, so nothing is sold", *(f"ends {one}" for one in things)], "./build")
    assert "shop is missing, so nothing is sold" in shown


def test_what_stands_above_a_traced_exit_is_the_reason() -> None:
    lines = ["+ make", *(f"reads error {at}.txt" for at in range(300)), "+ test -d till", "+ echo 'the till is gone'"]
    lines += ["the till is gone", "+ exit 1", *(f"removes {at}" for at in range(200))]
    shown = _view(["+ set -x", *lines], "./ci.sh")
    assert "the till is gone\n+ exit 1" in shown
    assert "— + exit 1" not in shown.partition("\n")[0]


def test_annotation_of_an_exit_code_is_no_reason() -> None:
    lines = ["2026-11-28T09:00:00.1Z ##[group]Run ./test", "2026-11-28T09:00:01.1Z RuntimeError: the till is gone"]
    lines += [f"2026-11-28T09:00:02.1Z uploads {at}" for at in range(200)]
    lines += ["2026-11-28T09:00:03.1Z ##[error][Runner] Step script exited with code 1. See the step above."]
    head = _view(lines, "./ci.sh").partition("\n")[0]
    assert "the till is gone" in head
    assert "exited with code" not in head
