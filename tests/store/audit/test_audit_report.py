"""A report: what was overlooked first, bounded, and with nothing in it that an output could make of it."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.audit.report import report as gather
from sightline.audit.report.data import as_data
from sightline.audit.report.html import render_html
from sightline.audit.report.markdown import render_markdown
from sightline.audit.report.report import Report
from sightline.base.records import Buffer, Session, Shown
from sightline.log.notes import write_note
from sightline.log.session_list import find_session, rename_session
from sightline.log.views import Shows, record_view
from sightline.shape.segments import Segment
from sightline.store import Store, Target
from tests.examples import examples

Keep = Callable[..., Buffer]
ME = Session("s", "shell", "", "<i>client</i>", "/<b>cwd", 1.0)
INJECTIONS = [
    "<script>alert(1)</script>",
    "</pre><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><style>body{background:url(http://example.com)}",
    "<!-- ",
    "]]>",
    "&lt;script&gt;",
    "\x1b]0;title\x07\x1b[2J",
    "\u202eevil\u2066",
    "```\n# heading\n<script>",
    "javascript:alert(1)",
    "\x00",
]
NEVER = ("script", "img", "iframe", "link", "object", "embed", "a", "form", "base", "input")


class _Page(HTMLParser):
    """What a browser would make of a page: its elements with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def _fill(store: Store, keep: Keep, text: str) -> Report:
    data = ("fine\n" * 10 + f"ValueError: {text}\n" + "fine\n" * 10).encode(errors="surrogatepass")
    buffer = store.amend(keep(data, command=f"make {text}").name, exit_code=1, label=text)
    write_note(store, ME, Target(buffer, "out", 1, 2), f"note {text}")
    shows = Shows(
        "run_command", {"command": f"make {text}"}, (buffer.name,), (Shown(buffer.name, "out", 1, 3),), 21, 99, 1, True
    )
    record_view(store, ME, shows, [Segment(f"reply {text}\n")])
    return gather.gather(store)


def _elements_are_ours(page: _Page) -> None:
    for tag, attributes in page.elements:
        assert tag not in NEVER
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "href", "style")]


@pytest.mark.parametrize("text", INJECTIONS)
def test_what_an_output_holds_is_text_in_the_page(store: Store, keep: Keep, text: str) -> None:
    markup = render_html(_fill(store, keep, text))
    page = _Page(markup)
    _elements_are_ours(page)
    assert sum(tag == "style" for tag, _ in page.elements) == 1
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", markup)
    if text.isprintable():
        assert f"ValueError: {text}" in page.text
        assert f"reply {text}" in page.text
        assert f"note {text}" in page.text


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.sampled_from("<>\"'&`/=!- \n\x00\x1b\u202eabsrctype"), min_size=1, max_size=60))
def test_nothing_in_an_output_becomes_an_element(store: Store, keep: Keep, text: str) -> None:
    _elements_are_ours(_Page(render_html(_fill(store, keep, text or "x"))))


def test_the_page_needs_nothing_and_may_do_nothing(store: Store, keep: Keep) -> None:
    markup = render_html(_fill(store, keep, "x"))
    assert "default-src 'none'" in markup
    assert "http" not in markup.replace("http-equiv", "")
    assert "url(" not in markup
    assert "@import" not in markup


def test_overlooked_failures_come_first_with_their_lines(store: Store, keep: Keep) -> None:
    report = _fill(store, keep, "boom")
    (missed,) = report.missed
    assert [line.text for line in missed.excerpt if line.tells] == ["ValueError: boom"]
    assert (report.judged.unseen, report.totals.cut) == (1, 1)
    markup = render_html(report)
    assert markup.index("Overlooked failures</h2>") < markup.index("Outputs</h2>") < markup.index("Call by call</h2>")
    document = render_markdown(report)
    assert document.index("## Overlooked") < document.index("## Outputs") < document.index("## Call by call")


def test_what_a_reply_left_out_is_told(store: Store, keep: Keep) -> None:
    (told,) = _fill(store, keep, "boom").calls
    ((ref, spans),) = told.unseen
    assert (ref[:5], spans) == ("@cmd_", ((4, 21),))


@pytest.mark.parametrize("text", INJECTIONS)
def test_what_an_output_holds_cannot_leave_its_fence(store: Store, keep: Keep, text: str) -> None:
    fence = ""
    for line in render_markdown(_fill(store, keep, text)).split("\n"):
        ticks = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif ticks and line == ticks[0] + "text":
            fence = ticks[0]
        else:
            assert "<script" not in re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line).replace("\\<", "")
    assert not fence


@pytest.mark.parametrize("render", [render_html, render_markdown])
@pytest.mark.parametrize("text", INJECTIONS)
def test_what_cannot_be_seen_stands_in_no_report(
    store: Store, keep: Keep, text: str, render: Callable[[Report], str]
) -> None:
    assert not [char for char in render(_fill(store, keep, text)) if not char.isprintable() and char not in "\n\t"]


def test_data_is_json_with_everything_in_it(store: Store, keep: Keep) -> None:
    data = json.loads(json.dumps(as_data(_fill(store, keep, "boom"))))
    assert data["totals"]["overlooked_failures"] == len(data["overlooked"]) == 1
    assert data["calls"][0]["text"] == "reply boom\n"
    assert data["outputs"][0]["overlooked"] == 1
    assert data["notes"][0]["text"] == "note boom"
    assert data["totals"]["accounted"]["calls"] == 0


def test_a_large_store_makes_a_bounded_report_that_says_so(
    store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("MOST_CALLS", 2), ("MOST_OUTPUTS", 1), ("MOST_OVERLOOKED", 1), ("TEXT_CHARACTERS", 100)):
        monkeypatch.setattr(gather, name, most)
    for number in range(3):
        report = _fill(store, keep, f"{number} " + "x" * 500)
    assert (len(report.calls), len(report.outputs), len(report.missed)) == (2, 1, 1)
    assert report.left_out == ("2 more overlooked failures", "2 more outputs", "1 more earlier call")
    assert report.calls[-1].cut_characters == len("reply 2 \n") + 500 - 100
    assert all(line in render_html(report) for line in report.left_out)
    assert (report.judged.unseen, report.totals.calls) == (3, 3)


def test_texts_have_a_limit_in_all(store: Store, keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "ALL_TEXT_CHARACTERS", 5)
    for number in range(2):
        report = _fill(store, keep, str(number))
    assert [told.text for told in report.calls] == [None, "reply 1\n"]
    assert "no room" in render_html(report)


def test_a_blanked_reply_is_told_as_that(store: Store, keep: Keep) -> None:
    from sightline.log import retention

    _fill(store, keep, "boom")
    retention.remove(store, [item.buffer for item in store.listed(5)], purge=True)
    report = gather.gather(store)
    assert report.calls[0].text is None
    assert "blanked" in render_html(report)
    assert "blanked" in render_markdown(report)


def test_an_empty_store_makes_a_page_too(store: Store) -> None:
    report = gather.gather(store)
    assert "Nothing was asked." in render_html(report)
    assert "None: something of every failure" in render_markdown(report)


def test_a_session_is_called_by_its_name(store: Store, keep: Keep) -> None:
    _fill(store, keep, "x")
    rename_session(store, find_session(store, "s").session, "<b>release</b>")
    report = gather.gather(store, session="s")
    assert report.title == "<b>release</b>"
    assert "<h1>&lt;b&gt;release&lt;/b&gt;</h1>" in render_html(report)
