"""Loops: what was done three times and more without any other end, and what is no loop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.agents.past_sessions.importer import Importer
from sightline.audit.evidence.evidence_records import Alarm
from sightline.audit.evidence.session_evidence import evidence_of
from sightline.audit.finding_kinds import LOOP
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from tests.store.audit.usage_kit import NAME, Requests
from tests.store.harnesses.past_kit import Claude, Rollout, write_lines

FAILED = "=== short test summary info ===\nFAILED tests/test_cart.py::test_total - assert {} == 3\n1 failed in 0.0{}s"
PASSED = "1 passed in 0.02s"
LONG = "".join(f"line {number}\n" for number in range(100))


class Session(Claude):
    """A session whose lines are collected."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []
        self.number = 0

    def tests(self, out: str, command: str = "pytest tests/test_cart.py") -> "Session":
        self.number += 1
        is_bad = "FAILED" in out
        told = None if is_bad else {"stdout": out, "stderr": "", "interrupted": False}
        text = f"Exit code 1\n{out}" if is_bad else out
        self.lines += [self.use(self.number, command), self.result(self.number, text, told, error=is_bad)]
        return self

    def edit(self, old: str, new: str, path: str = "/home/user/project/cart.py") -> "Session":
        self.number += 1
        given = {"file_path": path, "old_string": old, "new_string": new}
        self.lines += [
            self.use(self.number, name="Edit", input=given),
            self.result(self.number, "The file was updated"),
        ]
        return self

    def read(self, text: str = LONG, command: str = "cat cart.py") -> "Session":
        self.number += 1
        self.lines += self.ran(self.number, text, command)
        return self

    def asked(self, words: str) -> "Session":
        self.number += 1
        line = {**self.use("x"), "type": "user", "uuid": f"p{self.number}"}
        self.lines.append({**line, "message": {"role": "user", "content": words}})
        return self

    def compacted(self) -> "Session":
        line = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {}, "content": "compacted"}
        self.lines.append({**self.use("x"), "uuid": f"c{len(self.lines)}", **line})
        return self


def loops(store: Store, session: Session, folder: Path) -> list[Alarm]:
    Importer(store).run(find_sources(str(write_lines(folder / "5e551011.jsonl", *session.lines))))
    (found,) = store.index.sessions()
    return [one for one in evidence_of(store, found).alarms if one.kind == LOOP]


def failed(value: int = 1) -> str:
    return FAILED.format(value, value)


def test_the_same_failure_three_times_is_a_loop_with_its_runs_as_grounds(store: Store, tmp_path: Path) -> None:
    session = Session()
    for number in range(3):
        session.tests(failed()).edit(f"a{number}", f"b{number}")
    (one,) = loops(store, session, tmp_path)
    assert one.text == "pytest had the same failure 3 times in a row, with 2 edits between"
    assert [ground.text for ground in one.grounds] == ["pytest failed"] * 3
    assert one.command == "pytest tests/test_cart.py"


@pytest.mark.parametrize(
    "outputs",
    [
        [failed(), failed()],
        [failed(), failed(), PASSED, failed()],  # it was made good between
        [failed().replace("total", name) for name in ("total", "sum", "total")],  # another test failed between
        [failed().replace("assert", word) for word in ("assert", "raise", "import")],  # it fails for another reason
    ],
)
def test_a_run_that_ends_otherwise_ends_the_row(store: Store, tmp_path: Path, outputs: list[str]) -> None:
    session = Session()
    for out in outputs:
        session.tests(out)
    assert loops(store, session, tmp_path) == []


def test_a_wider_run_that_passes_ends_the_row(store: Store, tmp_path: Path) -> None:
    session = Session().tests(failed()).tests(failed()).tests(PASSED, "pytest").tests(failed())
    assert loops(store, session, tmp_path) == []


def test_runs_whose_failures_a_filter_may_have_hidden_are_not_compared(store: Store, tmp_path: Path) -> None:
    session = Session()
    for _ in range(3):
        session.tests(failed(), "pytest tests/test_cart.py | tail -3")
    assert loops(store, session, tmp_path) == []


def test_other_arguments_are_another_run(store: Store, tmp_path: Path) -> None:
    session = Session()
    for option in ("-x", "-v", "-q"):
        session.tests(failed(), f"pytest {option} tests/test_cart.py")
    assert loops(store, session, tmp_path) == []


def test_runs_that_say_anything_else_are_not_the_same(store: Store, tmp_path: Path) -> None:
    session = Session()
    for cause in ("malformed line", "hung up", "unknown channel"):
        out = f"    shop_test.go:62: run failed: {cause}\n--- FAIL: TestRun (0.30s)\nFAIL\nFAIL\tshop/cart\t0.6s"
        session.tests(out.replace("FAILED", "FAIL"), "go test ./cart -v")
    assert loops(store, session, tmp_path) == []


def there_and_back(session: Session, between: Callable[[Session], object] = bool) -> Session:
    for number in range(4):
        old, new = ("total = 1", "total = 2")[:: 1 if number % 2 else -1]
        session.edit(old, new)
        between(session)
    return session


def test_an_edit_that_is_taken_back_again_and_again_is_a_loop(store: Store, tmp_path: Path) -> None:
    (one,) = loops(store, there_and_back(Session()), tmp_path)
    assert one.text == "an edit of cart.py was made and taken back again and again: 4 edits"
    assert len(one.grounds) == 4


@pytest.mark.parametrize(
    "between",
    [
        lambda session: session.read(command="git commit -am split"),
        lambda session: session.asked("Take it back."),
    ],
)
def test_edits_for_several_commits_or_prompts_are_none(
    store: Store, tmp_path: Path, between: Callable[[Session], object]
) -> None:
    assert loops(store, there_and_back(Session(), between), tmp_path) == []


def test_so_is_a_patch_by_the_lines_of_its_place(store: Store, tmp_path: Path) -> None:
    rollout = Rollout("5e551011-0000-4000-8000-000000000001")
    for number, (old, new) in enumerate((("1", "2"), ("2", "1"), ("1", "2"), ("2", "1"))):
        patch = f"*** Begin Patch\n*** Update File: a.py\n@@\n x\n-{old}\n+{new}\n*** End Patch"
        rollout.ran(f"call_{number}", f"apply_patch <<'EOF'\n{patch}\nEOF")
    Importer(store).run(find_sources(str(write_lines(tmp_path / "rollout.jsonl", *rollout.lines))))
    (found,) = store.index.sessions()
    (one,) = [alarm for alarm in evidence_of(store, found).alarms if alarm.kind == LOOP]
    assert one.text == "an edit of a.py was made and taken back again and again: 4 edits"


@pytest.mark.parametrize(
    "edits",
    [
        [("a1", "b1"), ("b1", "a1"), ("a1", "b1")],  # does a test fail without it?
        [("a1", "b1"), ("a1", "b1"), ("a1", "b1")],  # the same at three places
        [("a1", "b1"), ("b1", "c1"), ("c1", "a1")],
    ],
)
def test_other_edits_are_none(store: Store, tmp_path: Path, edits: list[tuple[str, str]]) -> None:
    session = Session()
    for old, new in edits:
        session.edit(old, new)
    assert loops(store, session, tmp_path) == []


def test_the_same_edit_of_other_files_is_none(store: Store, tmp_path: Path) -> None:
    session = Session()
    for name, (old, new) in zip("abc", (("x1", "y1"), ("y1", "x1"), ("x1", "y1")), strict=True):
        session.edit(old, new, f"/home/user/project/{name}.py")
    assert loops(store, session, tmp_path) == []


def test_the_same_read_while_the_context_held_it_is_a_loop(store: Store, tmp_path: Path) -> None:
    session = Session().read().read().read()
    (one,) = loops(store, session, tmp_path)
    assert one.text == "the same was read 3 times, unchanged, while the context still held it"
    assert (len(one.grounds), one.command) == (3, "cat cart.py")


def test_reads_with_work_prompts_or_waiting_between_are_none(store: Store, tmp_path: Path) -> None:
    session = Session()
    for number in range(3):
        session.read().edit(f"a{number}", f"b{number}", "/home/user/project/plan.md")
    for _ in range(3):
        session.read(command="cat template.md").asked("Another, please.")
    for _ in range(3):
        session.read(command="cat queue.py").tests(PASSED)
    for _ in range(3):
        session.read(command="tail -n 100 build.log")
    assert loops(store, session, tmp_path) == []


def test_reads_after_a_compaction_of_changed_files_and_of_other_things_are_none(store: Store, tmp_path: Path) -> None:
    session = Session().read().compacted().read().read()
    for _ in range(3):
        session.read("short\n").read(LONG, "git status")
    for number in range(3):
        session.read(f"{LONG}{number}\n")
    assert loops(store, session, tmp_path) == []


def test_it_is_said_what_the_loop_cost_if_requests_are_known(store: Store, tmp_path: Path) -> None:
    session, context = Requests(), 10_000
    for _ in range(3):
        session.reply(LONG * 40, read=context - 10_000, written=10_000, command="cat cart.py")
        context += 10_000
    session.reply(read=context - 10_000, written=10_000)
    session.imported(store, tmp_path)
    (found,) = store.index.sessions()
    (one,) = [alarm for alarm in evidence_of(store, found).alarms if alarm.kind == LOOP]
    assert found.name == NAME
    assert one.text.endswith("; all replies but the first cost $0.13")  # 2 × 9,900 tokens, written once, read once
