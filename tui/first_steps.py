"""What an empty store can be filled with, done at once: each step is a ``sightline`` command, run in the terminal."""

import os
import sys
from typing import ClassVar

from textual.app import App, SuspendNotSupported
from textual.strip import Strip

from sightline.errors import SightlineError
from sightline.named_tuple import NamedTuple
from sightline.tui.common.choice import Choice, ChoiceRows
from sightline.tui.common.outside_program import Call, run_outside
from sightline.tui.common.store_errors import tell
from sightline.tui.common.strips import Part, row

_COMMAND = (sys.executable, "-P", "-m", "sightline.doors.cli.main")
_GO_BACK = "\nEnter goes back to the inspector. "


class Step(NamedTuple):
    """Something to begin with.

    Attributes:
        what: it does.
        words: of the command, without its name.
        tells: whether it ends with something to be read.
    """

    what: str
    words: tuple[str, ...]
    tells: bool = True


STEPS = (
    Step("Keep what Claude Code is told", ("install", "claude-code")),
    Step("Other harnesses", ("install", "--help")),
    Step("Look at earlier sessions", ("import",)),
    Step("Look around in an example", ("demo",), tells=False),
)


class _StepRows(ChoiceRows[Step]):
    """Steps, with the commands that they are."""

    COMPONENT_CLASSES: ClassVar = ChoiceRows.COMPONENT_CLASSES

    def draw(self, at: int, width: int) -> Strip:
        """What it does, and its command."""
        step = self.offered[at]
        command = [Part(f"sightline {' '.join(step.words)} ", "key")]
        return row([Part(f" {step.what}")], command, width, self.own_style, self.part_styles)


class FirstSteps(Choice[Step, Step]):
    """Offers them; answers with the one that is chosen."""

    TITLE_TEXT, HINT = "What to begin with", "Enter does it"

    def __init__(self) -> None:
        self._steps = _StepRows()
        super().__init__(self._steps)

    def offer(self, text: str) -> None:
        """Offer the steps whose words hold a text."""
        wanted = text.lower().split()
        told = {step: f"{step.what} {' '.join(step.words)}".lower() for step in STEPS}
        self._steps.offer([step for step in STEPS if all(word in told[step] for word in wanted)])

    def answer(self, chosen: Step) -> Step:
        """Answer with the chosen step."""
        return chosen


def call_of(step: Step, root: str) -> Call:
    """The process that a step is, for the store in a folder."""
    return Call([*_COMMAND, *step.words], {"SIGHTLINE_HOME": root})


def offer_first_steps(app: App[None], root: str) -> None:
    """Offer what the store in a folder can be filled with, and do what is chosen; what it says stays until Enter."""

    def do(step: Step | None) -> None:
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


def _run(step: Step, root: str) -> None:
    run_outside(call_of(step, root))
    if step.tells:
        os.write(1, _GO_BACK.encode())
        os.read(0, 4096)
