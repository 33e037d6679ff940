"""Finds the lines of a marker that is pasted in place of a ref.

A marker with a ref names them. A short one, such as ``[… 3-345]``, belongs to the session's last view that has it.
"""

import re
from collections.abc import Callable

from sightline.base.errors import AmbiguousRef, SightlineError
from sightline.base.records import Session
from sightline.base.refs import format_ref
from sightline.log.log_index import list_views
from sightline.log.view_text import view_text
from sightline.shape.markers import MARKER, pasted_lines
from sightline.store import Reading

MARK = "[…"
"""Every marker begins with this, and no ref does."""

VIEWS = 200
"""Views of a session that are searched, the newest first."""

_CANDIDATES = 3
_NAMED = r"(?:[A-Za-z][A-Za-z0-9-]{0,127}/)?@[^\s:]+(?::\d+(?:-\d+)?)?"
_IN_A_PIPELINE = r"(['\"]?)(\[… ?[^\]\n]{0,1000}\])\1"


def ref_of(store: Reading, session: Session, text: str) -> str:
    """Return the ref of a marker's lines; any other text unchanged.

    Raises:
        AmbiguousRef: the marker is short, and no view of the session has it.
    """
    marker = text.strip()
    if MARK not in marker:
        return text
    if named := re.search(_NAMED, marker):
        return named[0]
    lines = pasted_lines(marker)
    return _of_last_view(store, session, lines) if lines else text


def without_marker(pipeline: str, ref: Callable[[str], str]) -> str:
    """Return a pipeline that reads the lines of the marker in it, which may be quoted; queries read whole streams."""
    found = next((one for one in re.finditer(_IN_A_PIPELINE, pipeline) if re.fullmatch(MARKER, one[2])), None)
    if found is None:
        return pipeline
    place, _, lines = ref(found[2]).rpartition(":")
    first, _, last = lines.partition("-")
    rest = f"{pipeline[: found.start()].rstrip()} {pipeline[found.end() :].lstrip()}".strip()
    return f"sed -n {first},{last or first}p {place} | {rest}"


def _of_last_view(store: Reading, session: Session, lines: str) -> str:
    before = r"×[\d,]+ more: |[\d,]+ (?:B|bytes?) of (?:line )?"
    written = re.compile(rf"\[… (?:{before})?{re.escape(lines)}(?:, [\d,]+ error lines?)?(?: …)?\]")
    seen: list[str] = []
    for indexed in list_views(store, session=session.name, limit=VIEWS):
        if len(indexed.view.refs) != 1:
            continue
        name = indexed.view.refs[0]
        if name not in seen:
            seen.append(name)
        try:
            text = view_text(store, indexed)
        except SightlineError:
            continue  # the text was blanked, or what it quotes is gone
        if written.search(text):
            return _ref(name, lines)
    likely = ", ".join(_ref(name, lines) for name in seen[:_CANDIDATES])
    raise AmbiguousRef(
        f"no view of this session holds [… {lines}]",
        f"name the output as well: {likely}"
        if likely
        else "write the ref of its output instead; list_outputs names them",
    )


def _ref(name: str, lines: str) -> str:
    stream, _, numbers = lines.rpartition(":")
    return f"{format_ref(name)}{stream}:{numbers}"
