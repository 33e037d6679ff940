"""Chooses the project or the host to show: a line to type in, above the found ones with their overlooked failures."""

from collections.abc import Callable

from textual.strip import Strip

from sightline.audit.project_scope import KnownProject, projects_of
from sightline.audit.verdict import Scope, Verdict, VerdictReader
from sightline.base.project import FolderCount, Project, project_of
from sightline.search.matcher import terms_of
from sightline.store import Reading
from sightline_tui.common.choice import Choice, ChoiceRows
from sightline_tui.common.phrases import counted
from sightline_tui.common.store_read import StoreRead
from sightline_tui.common.strips import StripPart, row
from sightline_tui.common.visible_text import title
from sightline_tui.header import headline

SHOWN = "▸"
"""The mark of the project that is shown now."""

_STEP_SECONDS = 0.1
_Key = tuple[str | None, str]
"""The root of a project, and its host."""


class ProjectRows(ChoiceRows[KnownProject | None]):
    """One project or host a row; the first row, whose value is None, stands for all."""

    PARTS = (*ChoiceRows.PARTS, "failed", "ok")

    def __init__(self, shown: Project | None) -> None:
        super().__init__()
        self._shown = (shown.root, shown.host) if shown is not None else None
        self.verdicts: dict[_Key, Verdict] = {}
        self.ended: frozenset[str] = frozenset()

    def draw(self, at: int, width: int) -> Strip:
        """A row: name, folder or hosts, number of outputs, and what no agent saw; that of an ended job is dim."""
        one = self.offered[at]
        is_shown = self._shown == (one and (one.root, one.host))
        lead = StripPart(f" {SHOWN if is_shown else ' '} ", "accent")
        if one is None:
            return row([lead, StripPart("all projects", "strong")], (), width, self.own_style, self.part_styles)
        verdict = self.verdicts.get((one.root, one.host))
        told = headline(verdict) if verdict is not None else StripPart("…", "dim")
        counts = [StripPart(f"  {counted(one.buffers, 'output')} ", "dim")]
        faded = "dim" if one.root is None and one.host in self.ended else "strong"
        named = [lead, StripPart(title(one.name), faded), StripPart(f"  {_where(one)}", "dim")]
        return row(named, [told, *counts], width, self.own_style, self.part_styles)


def _where(one: KnownProject) -> str:
    if one.root is None:
        return "host"
    hosts = f"on {one.host}" if one.host else f"on {counted(one.hosts, 'host')}" if one.hosts > 1 else ""
    return "  ".join(filter(None, (title(one.root), hosts)))


EVERYTHING = KnownProject(None, "", 0)
"""The answer for all projects of all hosts."""


class ProjectChoice(Choice[KnownProject | None, KnownProject]):
    """A screen that answers with the chosen project or host, `EVERYTHING`, or None for no change.

    Attributes:
        folders: where outputs were made, as the store has it.
    """

    TITLE_TEXT, HINT = (
        "Project",
        f"a part of its name; ↑ ↓ Enter choose; {SHOWN} is shown now",
    )

    def __init__(self, store: Reading, shown: Project | None) -> None:
        """Make the screen; `shown` is the project that is shown now, None for all."""
        self._found = ProjectRows(shown)
        super().__init__(self._found)
        self._store = store
        self._projects: list[KnownProject] = []
        self.folders: list[FolderCount] = []
        self._judged: list[_Key] = []
        self._reader = VerdictReader(store)  # one for all, as what it judges is kept for all
        self._text = ""
        self._list: StoreRead[list[FolderCount]] = StoreRead(self, lambda: self._read, self._take)
        self._verdicts: StoreRead[tuple[_Key, Verdict]] = StoreRead(self, self._plan_verdict, self._take_verdict)

    def on_mount(self) -> None:
        """Read the projects; what is typed meanwhile is looked for once they are there."""
        self._list.ask()

    def offer(self, text: str) -> None:
        """Offer the projects and hosts whose name or folder contains a text."""
        self._text = text
        terms = terms_of(text)
        found = [
            one
            for one in self._projects
            if all(term.score(f"{one.name} {one.root or ''} {one.host}".lower()) >= 0 for term in terms)
        ]
        self._found.offer([*([] if terms else [None]), *found])

    def answer(self, chosen: KnownProject | None) -> KnownProject:
        """Answer with the chosen project or host, or with all."""
        return chosen or EVERYTHING

    def _read(self) -> list[FolderCount]:
        return self._store.index.folders()

    def _take(self, folders: list[FolderCount]) -> None:
        self.folders = folders
        self._projects = projects = projects_of(folders)
        self._found.ended = place.ended if (place := self._store.place) else frozenset()
        self._judged = [(one.root, one.host) for one in projects]
        self.offer(self._text)
        self._verdicts.ask()

    def _plan_verdict(self) -> Callable[[], tuple[_Key, Verdict]] | None:
        if not self._judged:
            return None
        key = root, host = self._judged[0]

        def read() -> tuple[_Key, Verdict]:
            self._reader.scope = Scope(project=project_of(root, self.folders, host))
            return key, self._reader.step(_STEP_SECONDS)

        return read

    def _take_verdict(self, read: tuple[_Key, Verdict]) -> None:
        key, verdict = read
        self._found.verdicts[key] = verdict
        self._found.refresh()
        if verdict.is_done:
            self._judged = [other for other in self._judged if other != key]
        self._verdicts.ask()
