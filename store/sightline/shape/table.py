"""Describes a table or markup in a line: the columns of CSV and of aligned tables, the elements of HTML and XML.

Counts are those of all lines, or of all elements; the columns are those of the head row.
"""

import re
from collections import Counter

from sightline.shape.clean import clean_text
from sightline.shape.source import Source

SAMPLED_BYTES = 1 << 16
SEARCHED_BYTES = 1 << 24
"""The largest markup whose elements are counted."""

_LEAST_ROWS = 5
_SAME_PERCENT = 95
"""Sampled rows with as many fields as the head row, at least, if a text is a table."""

_NAMED = 12  # columns or elements
_NAME_CHARACTERS = 40
_DELIMITERS = {",": "CSV", "\t": "TSV", ";": "CSV with semicolons", "|": "table with bars"}
_WORDS = r"[A-Z][A-Z0-9_()%/#.-]*(?: [A-Z0-9_()%/#.-]+)*"
_GAP = r"(?: {2,}|\t)"
_ALIGNED, _COLUMN_GAP = re.compile(rf"{_WORDS}(?:{_GAP}{_WORDS})+ *"), re.compile(_GAP)
_HEAD_CHARACTERS = 1000
_TAG = re.compile(rb"<([A-Za-z][\w.:-]{0,60})")
_TITLE = re.compile(rb"(?is)<title[^>]{0,200}>(.{0,300}?)</title>")


def describe_text(source: Source) -> str:
    """Describe a stream that is a table or markup; empty for any other text."""
    data = source.read(0, SAMPLED_BYTES)
    head = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return _markup(source, "HTML")
    if head.startswith(b"<?xml") or (head.startswith(b"<") and _TAG.match(head) and data.rstrip().endswith(b">")):
        return _markup(source, "XML")
    lines = data.split(b"\n")
    if len(data) < source.byte_count:
        lines.pop()
    texts = [line for line in clean_text(b"\n".join(lines)).split("\n") if line.strip()]
    return _table(texts, source.line_count) if len(texts) > _LEAST_ROWS else ""


def _table(texts: list[str], total: int) -> str:
    if _ALIGNED.fullmatch(texts[0][:_HEAD_CHARACTERS]):
        return f"table, {total - 1:,} rows below: {_listed(_COLUMN_GAP.split(texts[0].strip()))}"
    for delimiter, name in _DELIMITERS.items():
        if delimiter not in texts[0] or ", " in texts[0] or texts[0] in texts[1:]:
            continue  # a comma before a space is one of a sentence, or of source text
        import csv  # 2 ms, and the first line of most texts has no delimiter

        bars = delimiter == "|"
        rows = [text for text in texts if not re.fullmatch(r"[\s|:+-]+", text)]
        fields = [[one.strip() for one in row] for row in csv.reader(rows, delimiter=delimiter)]
        if bars:
            fields = [row[row[0] == "" : len(row) - (row[-1] == "")] for row in fields if len(row) > 1]
        columns = len(fields[0]) if fields else 0
        same = sum(len(row) == columns for row in fields)
        least = _SAME_PERCENT * len(rows)
        if columns > 1 and len(fields) > _LEAST_ROWS and 100 * same >= least and _is_head(fields[0]):
            return f"{name}, {total:,} lines of {columns} columns: {_listed(fields[0])}"
    return ""


def _is_head(names: list[str]) -> bool:
    """Return whether some fields may be the names of columns: short, different, and no sentence or number."""
    filled = [name for name in names if name]
    return (
        len(filled) == len(set(filled)) >= len(names) - 1
        and all(len(name) <= _NAME_CHARACTERS and len(name.split()) <= 4 for name in filled)
        and not any(re.fullmatch(r"[-+.\d:/ ]+|.*[{}();=<>].*", name) for name in filled)
    )


def _listed(names: list[str]) -> str:
    return ", ".join(name[:_NAME_CHARACTERS] for name in names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


def _markup(source: Source, name: str) -> str:
    if source.byte_count > SEARCHED_BYTES:
        return name
    counts: Counter[bytes] = Counter()
    title, root = None, b""
    for _, block in source.blocks():
        found = _TAG.findall(block)
        root = root or (found[0] if found else b"")
        counts.update(found)
        title = title or (_TITLE.search(block) if name == "HTML" else None)
    told = f"{name} {clean_text(b' '.join(title[1].split()))!r}" if title and title[1].strip() else name
    del counts[root]
    others = ", ".join(f"{count:,} {tag.decode()}" for tag, count in counts.most_common(_NAMED))
    inside = f"<{root.decode()}>" if name == "XML" and root else ""
    return f"{told}: {' of '.join(filter(None, (inside, others)))}" if inside or others else told
