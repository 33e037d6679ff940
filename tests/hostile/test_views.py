"""An output may consist of anything: its view is made within a second."""

from tests.each import each
from tests.hostile.shapes import REPEATED, in_bounded_time
from tests.store.verbs.views_kit import Output

OUTPUT_BYTES = 300_000


@each("unit", REPEATED)
def test_an_output_of_any_shape_is_shown_within_a_second(unit: str) -> None:
    data = unit.encode() * (OUTPUT_BYTES // len(unit.encode()))
    for failed in (False, True):
        with in_bounded_time(f"a view of {unit!r}, failed: {failed}"):
            assert Output("make", data, b"", failed).view(2048).body


@each("form", ["src/app%d.py:DIGITS: error: x%d", "src/app%d.py(DIGITS): error TS1: x%d", "@@ -%d,DIGITS +%d @@"])
def test_a_number_of_more_digits_than_python_reads_is_shown_like_any_text(form: str) -> None:
    lines = "".join(form.replace("DIGITS", "1" * 4_400) % (number, number) + "\n" for number in range(300))
    for command in ("make", "git diff"):
        assert Output(command, lines.encode(), b"", True).view(2048).body
