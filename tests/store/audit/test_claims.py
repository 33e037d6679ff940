"""Claims are read by rules whose own examples are tests: true ones, and false ones of which no rule may read any."""

import pytest

from sightline.audit.evidence.claims import claim_rules, claims_in, sentences_of, veto_of
from tests.each import each
from tests.hostile.shapes import in_bounded_time

RULES, VETOES = claim_rules()


@each(("kind", "text"), [(rule.name, text) for rule in RULES for text in rule.true])
def test_a_true_example_is_read(kind: str, text: str) -> None:
    assert kind in [claim.kind for claim in claims_in(text)]


@each("text", [text for rule in RULES for text in rule.false])
def test_a_false_example_is_read_by_no_rule(text: str) -> None:
    assert claims_in(text) == []


@pytest.mark.parametrize(("why", "text"), [(veto.why, text) for veto in VETOES for text in veto.examples])
def test_an_example_of_a_veto_is_no_claim(why: str, text: str) -> None:
    assert [veto_of(one) is not None for one in sentences_of(text)] == [True], why


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        ("Done!\n\n- All tests pass\n- Lint is clean\n", ["tests-pass", "lint-clean"]),
        ("```\nAll tests pass.\n```\n> All tests pass.\nI changed cart.py.", []),
        ("The tests fail, but the build succeeds.", ["build-succeeds"]),
        ("**All 12 tests pass** with 0 failures.", ["tests-pass"]),
        ("I fixed the parser; all tests pass — the build should pass, too.", ["fixed", "tests-pass"]),
        ("All tests pass. If you want, I can also check that the build succeeds.", ["tests-pass"]),
        ("", []),
    ],
)
def test_a_message_is_read_sentence_by_sentence(message: str, kinds: list[str]) -> None:
    assert [claim.kind for claim in claims_in(message)] == kinds


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("All tests pass.", True),
        ("Tests pass.", True),
        ("The new tests pass.", False),
        ("One test is passing.", False),
        ("All overlap tests are passing now.", False),
        ("The test passes.", False),
        ("The test suite passes.", True),
        ("All 47 tests passed.", True),
        ("`tests/test_x.py` tests pass.", False),
    ],
)
def test_a_claim_of_some_is_none_of_all(text: str, is_whole: bool) -> None:
    assert [claim.is_whole for claim in claims_in(text)] == [is_whole]


def test_a_claim_quotes_its_words() -> None:
    (claim,) = claims_in("I looked at it. I ran `pytest -q` and it finished. Bye.")
    assert (claim.words, claim.command) == ("I ran `pytest -q` and it finished.", "pytest -q")


@pytest.mark.parametrize("unit", [" ", "\n", " \n", "\t", "|", "| ", "`", ".", ". ", "—", " — ", "```\n", '"', "pass "])
def test_a_long_message_is_read_in_bounded_time(unit: str) -> None:
    with in_bounded_time(unit):
        assert claims_in(f"All tests{unit * (18_000 // len(unit))}!") == []


@pytest.mark.parametrize("begin", ["pytest,", "The build,", "mypy,", "ruff,", "All tests,"])
def test_a_long_path_in_a_claim_is_read_in_bounded_time(begin: str) -> None:
    sentence = f"{begin}{'/' * 500} ~ ok. "
    with in_bounded_time(begin):
        claims_in(sentence * 8)
