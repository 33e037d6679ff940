"""Checks files of rules by their own examples: each must find what it promises, within the time of one view."""

import tomllib
from collections.abc import Iterator

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any
from sightline.shape.failure.catalogue import RuleFile
from sightline.shape.failure.examination import Examination
from sightline.shape.failure.limited_pattern import VIEW_SECONDS, limit_rule
from sightline.shape.failure.tool_rules import known_in, parse_rules
from sightline.shape.memory_stream import BytesSource

_NOTHING = BytesSource(b"")


class Example(NamedTuple):
    """Real output of a tool, and what must be found in it.

    Attributes:
        command: the command that wrote it.
        output: the output.
        exit: its exit code.
        failures: numbers of the lines that say what failed.
        counts: what the tool counts, by name, except zeros.
        named: what failed, as the summary names it.
        also: other tools whose output it is, too, which may find some of its failures.
        summary: the summary; empty if it is not checked.
    """

    output: str
    command: str = ""
    exit: int = 1
    failures: tuple[int, ...] = ()
    counts: dict[str, int] = {}  # noqa: RUF012 - of a tuple, and never changed
    named: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    summary: str = ""

    def examine(
        self, *, command: str | None = None, added: tuple[RuleFile, ...] = ()
    ) -> tuple[Examination, BytesSource]:
        """Examine its output, perhaps as that of another command; return also the output."""
        out = BytesSource(self.output.encode(), "@cmd_a1b2c3")
        return Examination(out, _NOTHING, self.command if command is None else command, added=added), out


class RuleCheck(NamedTuple):
    """The result of checking the rule of one tool.

    Attributes:
        tool: name of the tool; empty if the file as a whole is faulty.
        examples: number of its examples.
        seconds: processor time that its patterns took on all of them.
        problems: what is wrong, in a sentence each.
    """

    tool: str
    examples: int = 0
    seconds: float = 0.0
    problems: tuple[str, ...] = ()


def examples_in(text: str) -> dict[str, tuple[Example, ...]]:
    """Return the examples of a file by tool. Raises ValueError, TypeError if it has tables that are no rules."""
    return {tool: tuple(map(_example, table.get("example", ()))) for tool, table in tomllib.loads(text).items()}


def _example(table: dict[str, Any]) -> Example:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Example(**fields)


def check_rules(text: str, file: RuleFile) -> list[RuleCheck]:
    """Check all rules of a file, given by its text; views read it from its path."""
    try:
        rules, examples = parse_rules(text), examples_in(text)
        heads = {one.name for one in known_in(text.encode(), file.path)}
    except (ValueError, TypeError, AttributeError) as error:
        return [RuleCheck("", problems=(f"it is no file of rules: {error}",))]
    if not rules:
        return [RuleCheck("", problems=("it has no rule",))]
    checks = []
    for tool, rule in rules.items():
        problems: list[str] = []
        seconds = 0.0
        if tool not in heads:
            problems.append("programs and marks must stand right below its name, each as a list of JSON on one line")
        try:
            _, limit = limit_rule(rule)
        except ValueError as error:
            problems.append(str(error))
        else:
            if limit.is_used_up:
                problems.append(f"making its patterns ready takes more than {_LIMIT_MS} ms")
        if not problems:
            for number, example in enumerate(examples[tool], start=1):
                spent, wrong = _check_example(tool, example, file)
                seconds += spent
                problems += [f"example {number}: {one}" for one in wrong]
            if seconds > VIEW_SECONDS:
                problems.append(
                    f"its patterns take {seconds * 1000:.0f} ms on its own examples, of {_LIMIT_MS} at most"
                )
        checks.append(RuleCheck(tool, len(examples[tool]), seconds, tuple(problems)))
    return checks


_LIMIT_MS = round(VIEW_SECONDS * 1000)


def _check_example(tool: str, example: Example, file: RuleFile) -> tuple[float, list[str]]:
    """Return the seconds that the patterns took on an example, and what is wrong with it."""
    examination, out = example.examine(added=(file,))
    wrong = list(_wrong(tool, example, examination, out))
    spent = examination.pattern_seconds(tool)
    if tool in examination.given_up:
        wrong = [f"its patterns are given up after {_LIMIT_MS} ms"]
    return spent, wrong


def _wrong(tool: str, example: Example, examination: Examination, out: BytesSource) -> Iterator[str]:
    if tool not in {rule.name for rule in examination.judge.rules}:
        yield "neither its command nor a mark says that it is of this tool"
        return
    hits = examination.failures(out).hits
    known = {hit.line for hit in hits if hit.verdict.rule}
    own = {hit.line for hit in hits if hit.verdict.rule and hit.verdict.rule.name == tool}
    promised = set(example.failures)
    if missing := promised - known:
        yield f"no failure is found in {_lines(missing)}"
    if more := own - promised:
        yield f"a failure is found in {_lines(more)}, which is not promised"
    tallies: list[dict[str, Any]] = [
        {noun: number for noun, number in tally.numbers.items() if number}
        for tally in examination.tallies
        if tally.rule.name == tool
    ]
    if example.counts not in (tallies or [{}]):
        yield f"it counts {_counted(tallies[0] if tallies else {})}, not {_counted(example.counts)}"
    named = [one.text for one in examination.failed if one.rule.name == tool]
    if named != list(example.named):
        yield f"it names {', '.join(named) or 'nothing'}, not {', '.join(example.named) or 'nothing'}"


def _lines(numbers: set[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, sorted(numbers)))}"


def _counted(numbers: dict[str, int]) -> str:
    return ", ".join(f"{number} {noun}" for noun, number in numbers.items()) or "nothing"
