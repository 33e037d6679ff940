"""What each mechanism of a view is worth alone: outputs shown whole with all of them, and with this one switched off.

    python -m benchmarks.mechanisms [--cases DIR_OR_MANIFEST …] [--only REGEX]

A mechanism is switched off here, in the benchmark; the product has no such switch. Each is measured on the made sets
that are meant for it, of at least five tools each (`failures/README.md`), on the default set, and on any further cases.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import PropertyMock, patch

from benchmarks.failure_recall import DEFAULT, SUCCESS, Case, load, made, measure

HEADINGS = ("8 KiB", "2 KiB")


class Mechanism(NamedTuple):
    """A mechanism.

    Attributes:
        name: what it does.
        sets: the made sets that are meant for it.
        off: what stands in for parts of the product while it is switched off: by dotted path, the stand-in.
    """

    name: str
    sets: tuple[str, ...]
    off: dict[str, Any]


class _Never:
    """Stands for a pattern that matches nothing."""

    def match(self, _text: str) -> None:
        """Match nothing."""

    def search(self, _text: str) -> None:
        """Find nothing."""

    def sub(self, _new: str, text: str) -> str:
        """Return the text as it is."""
        return text


_SHAPE = "sightline.shape.failure."

MECHANISMS = (
    Mechanism("lines of a rare shape", ("floods", "words"), {_SHAPE + "examination.Examination.rare": lambda *_: []}),
    Mechanism("a message once", ("again",), {_SHAPE + "picker.Picker._says_again": lambda *_: False}),
    Mechanism("frames of stacks last", ("stacks", "closing"), {_SHAPE + "layers.is_frame": lambda _: False}),
    Mechanism(
        "a kind before a further one of a kind",
        ("floods", "names"),
        {_SHAPE + "picker.Picker._first_of_kinds": lambda _: {*()}},
    ),
    Mechanism("the block below a name", ("below",), {_SHAPE + "layers._below": lambda *_: []}),
    Mechanism(
        "what passed is no error",
        ("passing",),
        {_SHAPE + "classes._PASSED": _Never(), _SHAPE + "classes._NONE_OF_THEM": _Never()},
    ),
    Mechanism("what a log calls INFO or DEBUG, later", ("calm",), {_SHAPE + "classes._CALM": _Never()}),
    Mechanism("messages that begin with the same words, later", ("calm", "floods"), {_SHAPE + "layers.LIKE_KIND": 0.0}),
    Mechanism("warnings that made it fail", ("warned",), {_SHAPE + "examination.warnings_fail": lambda _: False}),
    Mechanism(
        "failures behind a success", ("quiet",), {_SHAPE + "examination.Examination.of_success": lambda *_: None}
    ),
    Mechanism(
        "reports in JSON", ("reports",), {_SHAPE + "examination.Examination.report": PropertyMock(return_value=None)}
    ),
)


@contextmanager
def without(mechanism: Mechanism | None) -> Iterator[None]:
    """Switch a mechanism off for a while; None for none."""
    with ExitStack() as stack:
        for place, stand_in in mechanism.off.items() if mechanism else ():
            stack.enter_context(patch(place, stand_in))
        yield


def shown(cases: Sequence[Case], mechanism: Mechanism | None) -> str:
    """How many outputs are shown whole at either size, as ``77, 75``; of successes, in their only size."""
    with without(mechanism):
        results = [measure(case, HEADINGS if case.failed else ("auto",), beside=()) for case in cases]
    if not any(case.failed for case in cases):
        return str(sum(one.scores["auto"]["ours"].whole for one in results if "auto" in one.scores))
    return ", ".join(
        str(sum(one.scores[size]["ours"].whole for one in results if size in one.scores)) for size in HEADINGS
    )


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mechanisms", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", default=[], nargs="*", metavar="DIR", help="further folders of cases, or manifests")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases whose id matches")
    given = parser.parse_args(words)
    wholes: list[tuple[str, list[Case]]] = []
    for place in (DEFAULT, *given.cases):
        cases = [case for case in load(place, given.only) if case.failed]
        wholes.append((f"{len(cases)} of {'failures/' if place == DEFAULT else place}", cases))
    all_shown = [shown(cases, None) for _, cases in wholes]
    print(f"Shown whole at {' and '.join(HEADINGS)} (of successes, at {SUCCESS} B): without the mechanism → with it")
    print("| mechanism | made for it | " + " | ".join(name for name, _ in wholes) + " |")
    print("|---|---|" + "---|" * len(wholes))
    for mechanism in MECHANISMS:
        columns = []
        for name in mechanism.sets:
            cases = [*made(name, given.only)]
            columns.append(f"{name} ({len(cases)}): {shown(cases, mechanism)} → {shown(cases, None)}")
        rest = [f"{shown(cases, mechanism)} → {full}" for (_, cases), full in zip(wholes, all_shown, strict=True)]
        print(f"| {mechanism.name} | {'; '.join(columns)} | {' | '.join(rest)} |", flush=True)


if __name__ == "__main__":
    main()
