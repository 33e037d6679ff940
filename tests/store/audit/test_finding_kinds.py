"""The kinds of findings: a new one has its words on every screen."""

import pickle

from sightline.audit import finding_kinds
from sightline.audit.finding_kinds import CUT, KINDS, FindingKind
from sightline.audit.findings import Finding
from sightline.audit.report.html import render_html
from sightline.audit.report.markdown import render_markdown
from sightline.audit.report.report import gather
from sightline.store import Store

NEW = FindingKind("late-answer", "Answered late", "a command that was answered after the turn had ended")


def test_every_kind_is_in_the_list_of_all() -> None:
    made = {one for one in vars(finding_kinds).values() if isinstance(one, FindingKind)}
    assert made == {*KINDS.values()}
    assert all(kind.headline and kind.meaning for kind in made)


def test_a_new_kind_has_its_headline_in_reports(store: Store) -> None:
    found = Finding(NEW, "", "after 3 s", "make")
    report = gather(store)._replace(findings=(found,))
    assert "- Answered late: `make`: after 3 s" in render_markdown(report)
    assert "<b>Answered late</b>" in render_html(report)


def test_a_kind_travels_to_another_process_as_its_name() -> None:
    assert pickle.loads(pickle.dumps(CUT)) == CUT
