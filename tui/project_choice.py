"""Chooses the project to show: a line to type in, above the projects that it finds with their overlooked failures."""

from collections.abc import Callable
from typing import ClassVar

from textual.strip import Strip

from sightline.audit.project_scope import KnownProject, projects_of
from sightline.audit.verdict import Verdict, VerdictReader
from sightline.project import project_of
from sightline.store import Reading
from sightline.tui.buffers.matcher import terms_of
from sightline.tui.common.choice import Choice, ChoiceRows
from sightline.tui.common.phrases import counted
from sightline.tui.common.store_read import StoreRead
from sightline.tui.common.strips import Part, row
from sightline.tui.common.visible_text import title
from sightline.tui.header import verdict_parts

_STEP_SECONDS = 0.1
_MOST_JUDGED = 50  # how many projects are searched for failures


class ProjectRows(ChoiceRows[KnownProject | None]):
    """One project a row; the first row, whose value is None, stands for all."""

    PARTS = (*ChoiceRows.PARTS, "failed", "ok")
    COMPONENT_CLASSES: ClassVar = {f"row-view--{part}" for part in PARTS}

    def __init__(self) -> None:
        super().__init__()
        self.verdicts: dict[str, Verdict] = {}

    def draw(self, at: int, width: int) -> Strip:
        """A project's row: its name, its folder, how many outputs it has, and what no agent saw."""
        one = self.offered[at]
        if one is None:
            return row([Part(" "), Part("all projects", "strong")], (), width, self.own_style, self.part_styles)
        verdict = self.verdicts.get(one.root)
        told = verdict_parts(verdict) if verdict is not None else [Part("…", "dim")]
        counts = [Part(f"  {counted(one.buffers, 'output')} ", "dim")]
        named = [Part(" "), Part(title(one.name), "strong"), Part(f"  {title(one.root)}", "dim")]
        return row(named, [*told, *counts], width, self.own_style, self.part_styles)


class ProjectChoice(Choice[KnownProject | None, str]):
    """A screen that answers with the root of the chosen project, an empty text for all, or None for no change."""

    TITLE_TEXT, HINT = "Project", "which project"

    def __init__(self, store: Reading) -> None:
        self._found = ProjectRows()
        super().__init__(self._found)
        self._store = store
        self._projects: list[KnownProject] = []
        self._judged: list[str] = []
        self._readers: dict[str, VerdictReader] = {}
        self._text = ""
        self._list: StoreRead[list[KnownProject]] = StoreRead(self, self._plan, self._take)
        self._verdicts: StoreRead[tuple[str, Verdict]] = StoreRead(self, self._plan_verdict, self._take_verdict)

    def on_mount(self) -> None:
        """Read the projects; what is typed meanwhile is looked for once they are there."""
        self._list.ask()

    def offer(self, text: str) -> None:
        """Offer the projects whose name or folder contains a text."""
        self._text = text
        terms = terms_of(text)
        found = [
            one for one in self._projects if all(term.score(f"{one.name} {one.root}".lower()) >= 0 for term in terms)
        ]
        self._found.offer([*([] if terms else [None]), *found])

    def answer(self, chosen: KnownProject | None) -> str:
        """Answer with the root of the chosen project, empty for all."""
        return chosen.root if chosen else ""

    def _plan(self) -> Callable[[], list[KnownProject]]:
        return lambda: projects_of(self._store.index.folders())

    def _take(self, projects: list[KnownProject]) -> None:
        self._projects = projects
        self._judged = [one.root for one in projects[:_MOST_JUDGED]]
        self.offer(self._text)
        self._verdicts.ask()

    def _plan_verdict(self) -> Callable[[], tuple[str, Verdict]] | None:
        if not self._judged:
            return None
        root = self._judged[0]

        def read() -> tuple[str, Verdict]:
            if root not in self._readers:
                self._readers[root] = VerdictReader(self._store, project_of(root, self._store.index.folders()))
            return root, self._readers[root].step(_STEP_SECONDS)

        return read

    def _take_verdict(self, read: tuple[str, Verdict]) -> None:
        root, verdict = read
        self._found.verdicts[root] = verdict
        self._found.refresh()
        if verdict.done:
            self._judged = [other for other in self._judged if other != root]
            self._readers.pop(root, None)
        self._verdicts.ask()
