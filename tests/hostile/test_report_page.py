"""Whatever any field of a report holds, its page has the elements and attributes that it has without."""

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.audit.report import report as gather
from sightline.audit.report.html import render_html
from sightline.audit.report.report import Report
from sightline.base.records import Buffer, Session, Shown
from sightline.log.notes import send_note, write_note
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store, Target
from tests.each import each
from tests.examples import examples

_STRUCTURE = {"kind", "state", "id", "refs", "text_sha256", "request", "streams"}
"""Fields of ours, which no one else's text gets into."""

CONTEXTS = (
    "</title><script>alert(1)</script>",
    "</style><script>x</script>",
    "</pre></code></p></article></section></main></body></html><b>",
    '" onload="x',
    "' onload='x",
    "x onload=x",
    "`onload=x`",
    "--><script>x</script><!--",
    "<![CDATA[<b>]]>",
    "<?php b ?>",
    "<!doctype x>",
    "<svg><title><b>",
    "</svg><b>",
    "<math><mtext></mtext><b>",
    "<plaintext>",
    "<textarea><b>",
    "<xmp><b>",
    "<noscript><b>",
    "<template><b>",
    "javascript:alert(1)",
    "data:text/html,<b>",
    "&#60;b&#62;",
    "&lt;b&gt;",
    "&amp;lt;b&amp;gt;",
    "&",
    "<",
    ">",
    '"',
    "'",
    "\x00<b>",
    "<\x00b>",
    "<b\n>",
    "<b/>",
    "<b ",
    "</b",
    "<!",
    "<!-",
    "<!--",
    "\u2028<b>",
    "+ADw-b+AD4-",
    "\ud800<b>",
    "<b\u202e>",
    "expression(alert(1))",
    "url(x)",
    "}*{background:url(x)}",
    "\\3c b\\3e",
    "%3Cb%3E",
    "\r<b>\r\n",
    "\t<b>",
)


class _Shape(HTMLParser):
    """The elements of a page, each with the names of its attributes, and the values that are no text of anyone's."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.shape: list[Any] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shape.append((tag, [(name, value) for name, value in attrs if name != "aria-label"]))

    def handle_endtag(self, tag: str) -> None:
        self.shape.append("/" + tag)

    def handle_comment(self, data: str) -> None:
        self.shape.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.shape.append(("declaration", decl))

    def handle_pi(self, data: str) -> None:
        self.shape.append(("instruction", data))

    def unknown_decl(self, data: str) -> None:
        self.shape.append(("unknown", data))


def _with(value: Any, text: str, field: str = "") -> Any:
    """A report's part with every text in it that can be someone's replaced."""
    if isinstance(value, str):
        return text if value and field not in _STRUCTURE else value
    if hasattr(value, "_fields"):
        return type(value)(**{name: _with(getattr(value, name), text, name) for name in value._fields})
    if isinstance(value, tuple | list):
        return type(value)(_with(one, text, field) for one in value)
    return value


@pytest.fixture
def report(store: Store, keep: Callable[..., Buffer]) -> Report:
    """A report in which nothing is empty."""
    me = Session("s", "harness", "id", "client", "/cwd", 1.0, title="title")
    store.index.put_session(me)
    data = b"fine\n" * 10 + b"ValueError: boom\n" + b"fine\n" * 10
    buffer = store.amend(keep(data, data, command="make").name, exit_code=1, label="label", note="note")
    send_note(store, me, write_note(store, me, Target(buffer, "out", 1, 2), "remark"), "s")
    shows = Shows(
        "run_command", {"command": "make"}, (buffer.name,), (Shown(buffer.name, "out", 1, 3),), 21, 99, 1, True
    )
    record_view(store, me, shows, [Segment("reply\n")])
    record_view(store, me._replace(name="s2"), shows, [Segment("x" * 9000)])
    return gather.gather(store)


def test_the_report_has_something_of_everything(report: Report) -> None:
    assert report.missed and report.outputs and report.calls and report.notes and len(report.sessions) == 2


@each("text", CONTEXTS)
def test_the_page_keeps_its_shape(report: Report, text: str) -> None:
    assert _Shape(render_html(_with(report, text))).shape == _Shape(render_html(_with(report, "plain"))).shape


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(CONTEXTS) | st.text(max_size=8), min_size=1, max_size=5).map("".join).filter(str.strip))
def test_the_page_keeps_its_shape_whatever_is_in_it(report: Report, text: str) -> None:
    page = render_html(_with(report, text))
    assert _Shape(page).shape == _Shape(render_html(_with(report, "plain"))).shape
    assert page.encode().decode() == page
