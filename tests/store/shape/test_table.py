"""Tables and markup are described by their columns and elements, with true counts; other text is not."""

import pytest

from sightline.shape.memory_stream import BytesSource
from sightline.shape.table import describe_text

ROWS = range(3000)
DESCRIBED = {
    "csv": (
        "id,name,city\n" + "".join(f'{n},"Doe, J",Ulm\n' for n in ROWS),
        "CSV, 3,001 lines of 3 columns: id, name, city",
    ),
    "tsv": ("id\tname\n" + "".join(f"{n}\tx\n" for n in ROWS), "TSV, 3,001 lines of 2 columns: id, name"),
    "semicolons": ("id;n\n" + "1;2\n" * 99, "CSV with semicolons, 100 lines of 2 columns: id, n"),
    "markdown": (
        "| id | name |\n|---|---|\n" + "| 1 | x |\n" * 98,
        "table with bars, 100 lines of 2 columns: id, name",
    ),
    "psql": (" id | name \n----+------\n" + "  1 | x\n" * 98, "table with bars, 100 lines of 2 columns: id, name"),
    "kubectl": (
        "NAME        READY   UP-TO-DATE\n" + "".join(f"app-{n:07}   1/1     1\n" for n in ROWS),
        "table, 3,000 rows below: NAME, READY, UP-TO-DATE",
    ),
    "html": (
        "<!doctype html><html><head><title>A shop</title></head><body>"
        + "<p>x</p>\n" * 900
        + "<a href=x>y</a></body></html>",
        "HTML 'A shop': 900 p, 1 head, 1 title, 1 body, 1 a",
    ),
    "xml": (
        '<?xml version="1.0"?>\n<testsuite>\n' + "<testcase><out/></testcase>\n" * 700 + "</testsuite>\n",
        "XML: <testsuite> of 700 testcase, 700 out",
    ),
}
PLAIN = {
    "prose": "It was late, and nobody came.\n" * 90,
    "log": "2026-01-01 12:00:00,123 INFO app, ready\n" * 90,
    "source": "import os, sys\ndef f(a, b):\n    return a, b\n" * 90,
    "numbers": "1,2,3\n" * 90,
    "list": "alpha\n" * 90,
    "type": "<T> is a type\n" * 90,
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_table_or_markup_is_described(name: str) -> None:
    text, told = DESCRIBED[name]
    assert describe_text(BytesSource(text.encode())) == told


@pytest.mark.parametrize("name", PLAIN)
def test_other_text_is_not(name: str) -> None:
    assert describe_text(BytesSource(PLAIN[name].encode())) == ""
