"""Says what a JSON text is in a line: ``[{id, name, data}] (2000 items)``.

Of elements that differ all is told: ``[{id, note?}] (12 items)`` where not all have a note, ``[number | string]``.
"""

from sightline.shape.json.element_tally import DEFAULT, MEMBERS_LOOKED_AT, ElementTally, keys_of, read_key
from sightline.shape.json.sampling import Sampling
from sightline.shape.json.scan import Scanner
from sightline.shape.json.tree import Document
from sightline.shape.source import Source

OBJECT_KEYS = 10
"""Keys that are named of one object, as gh-aw's compact schema does."""

TEXT = "text content"
"""What is said of anything that is no JSON."""


def describe(document: Document | None, source: Source, sampling: Sampling = DEFAULT) -> str:
    """What a text is, in a line.

    Args:
        document: its JSON, None where it is none.
        source: the text.
        sampling: what null is called, and whether all elements are told of or the first.
    """
    if document is None:
        return TEXT
    root = document.root
    if root.kind == "lines":
        what = "values" if document.several else "lines"
        return f"JSON {what}: {_elements(document, source, sampling)} ({root.total} {what})"
    if root.kind == "array":
        return f"[{_elements(document, source, sampling)}] ({root.total} items)" if root.total else "[]"
    if root.kind != "object":
        return sampling.null_name if root.kind == "null" else root.kind
    names = [read_key(key) for key in dict.fromkeys(keys_of(Scanner(source), root.start, OBJECT_KEYS + 1))]
    if len(names) > OBJECT_KEYS or root.total > MEMBERS_LOOKED_AT:
        return "{" + ", ".join(names[:OBJECT_KEYS]) + f", ...}} ({root.total} keys)"
    return "{" + ", ".join(names) + "}"


def _elements(document: Document, source: Source, sampling: Sampling) -> str:
    """What the elements of an array are, or the lines; none is empty."""
    tally, root = document.tally, document.root
    if not sampling.mark_mixed:
        tally = ElementTally()
        tally.large(root.start if root.kind == "lines" else Scanner(source).opened(root.start)[1])
    return tally.told(source, sampling.null_name)
