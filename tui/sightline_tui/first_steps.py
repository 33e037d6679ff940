"""Offers ways to fill an empty store; each step is a ``sightline`` command that is run in the terminal."""

import os
import sys
from typing import ClassVar

from textual.app import App, SuspendNotSupported
from textual.strip import Strip

from sightline.base.errors import SightlineError
from sightline.light.named_tuple import NamedTuple
from sightline_tui.common.choice import Choice, ChoiceRows
from sightline_tui.common.outside_program import ProgramCall, run_outside
from sightline_tui.common.store_errors import tell
from sightline_tui.common.strips import StripPart, row

_COMMAND = (sys.executable, "-P", "-m", "sightline.doors.cli.main")
_GO_BACK = "\nEnter goes back to the inspector. "


class FirstStep(NamedTuple):
    """A way to begin.

    Attributes:
        what: what it does, in words.
        words: the words of the command, without ``sightline``.
        tells: whether it prints something that a person should read.
    """

    what: str
    words: tuple[str, ...]
    tells: bool = True


STEPS = (
    FirstStep("Keep what Claude Code is told", ("install", "claude-code")),
    FirstStep("Other harnesses", ("install", "--help")),
    FirstStep("Look at earlier sessions", ("import",)),
    FirstStep("Look around in an example", ("demo",), tells=False),
)


class _StepRows(ChoiceRows[FirstStep]):
    """A list of steps with their commands."""

    COMPONENT_CLASSES: ClassVar = ChoiceRows.COMPONENT_CLASSES

    def draw(self, at: int, width: int) -> Strip:
        """A step's row: what it does, and its command."""
        step = self.offered[at]
        command = [StripPart(f"sightline {' '.join(step.words)} ", "key")]
        return row([StripPart(f" {step.what}")], command, width, self.own_style, self.part_styles)


class FirstSteps(Choice[FirstStep, FirstStep]):
    """A screen that offers the steps and answers with the chosen one."""

    TITLE_TEXT, HINT = "What to begin with", "Enter does it"

    def __init__(self) -> None:
        self._steps = _StepRows()
        super().__init__(self._steps)

    def offer(self, text: str) -> None:
        """Offer the steps whose words contain a text."""
        wanted = text.lower().split()
        told = {step: f"{step.what} {' '.join(step.words)}".lower() for step in STEPS}
        self._steps.offer([step for step in STEPS if all(word in told[step] for word in wanted)])

    def answer(self, chosen: FirstStep) -> FirstStep:
        """Answer with the chosen step."""
        return chosen


def call_of(step: FirstStep, root: str) -> ProgramCall:
    """Run a step as a process, for the store in a folder."""
    return ProgramCall([*_COMMAND, *step.words], {"SIGHTLINE_HOME": root})


def offer_first_steps(app: App[None], root: str) -> None:
    """Offer the steps for the store in a folder and run the chosen one; what it prints stays until Enter."""

    def do(step: FirstStep | None) -> None:
        if step is None:
            return
        try:
            with app.suspend():
                _run(step, root)
        except SuspendNotSupported:
            words = " ".join(step.words)
            app.notify(f"This terminal cannot be left: type `sightline {words}` in another", markup=False)
        except SightlineError as error:
            tell(app, error)

    app.push_screen(FirstSteps(), do)


def _run(step: FirstStep, root: str) -> None:
    run_outside(call_of(step, root))
    if step.tells:
        os.write(1, _GO_BACK.encode())
        os.read(0, 4096)
