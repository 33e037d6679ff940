"""What the totals of a timeline claim: nothing is said to be saved that no harness would have shown."""

import pytest

from sightline.audit.accounting import Accounted
from sightline.audit.coverage import Share
from sightline.audit.timeline import CallTotals
from sightline_tui.timeline.call_parts import seen_parts, sent_parts

CAPTURED = CallTotals(calls=3, captured_bytes=5_000_000, shown_bytes=2_000, saved_bytes=4_998_000)


def test_what_was_captured_and_not_sent_is_no_saving() -> None:
    assert [part.text for part in sent_parts(CAPTURED)] == ["not sent 4.8 MiB"]


@pytest.mark.parametrize(
    ("alone", "told", "style"),
    [(3_024, "1.0 KiB saved beside the harness alone", "ok"), (976, "1.0 KiB more beside the harness alone", "failed")],
)
def test_beside_a_known_harness_the_difference_is_told_whichever_it_is(alone: int, told: str, style: str) -> None:
    parts = sent_parts(CAPTURED._replace(accounted=Accounted(calls=3, shown_bytes=2_000, alone_bytes=alone)))
    assert (parts[-1].text, parts[-1].style) == (told, style)


def test_of_nothing_no_share_is_told() -> None:
    assert [part.text for part in seen_parts(Share(0, 0), 0)] == ["no lines captured"]
    assert "seen 50 % of 8 lines" in [part.text for part in seen_parts(Share(4, 8), 8)]
