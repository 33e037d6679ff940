"""The numbers of rules: what is kept by old rules is judged anew only if the number was raised with the rules."""

import ast
import io
import tokenize
from collections.abc import Sequence
from pathlib import Path

import pytest

from sightline import audit
from sightline.audit import output_facts
from sightline.audit.evidence import session_evidence
from sightline.base.sha256 import sha256_hex

HOUSE = Path(audit.__file__).parents[1]
OUTPUTS = ("audit/output_facts.py", "shell_words/*.py", "shape/failure/judgement.py")
EVIDENCE = ("audit/evidence/*.py", "audit/evidence/*.toml", "audit/claims/*.toml", "shell_words/*.py")
RECORDED = {
    "verdict/13": "110df40eec2c3589",
    "evidence/15": "5452f3c4324a91df",
}
"""By the number of rules, the hash of their data and code."""


def code_of(path: Path) -> str:
    """Return what a file says to a machine: without comments, docstrings, imports, blanks, and numbers of versions."""
    text = path.read_text()
    if path.suffix != ".py":
        return "".join(line for line in text.splitlines() if not line.startswith("#"))
    lines = [f"{line}\n" for line in text.splitlines()]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]] + "\n"
    for node in ast.walk(ast.parse(text)):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            assert isinstance(node, ast.stmt) and node.end_lineno
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno + 1 - node.lineno)
    return "".join("".join(lines).split())


def hash_of(patterns: Sequence[str], number: str) -> str:
    """Return the hash of the files that patterns name, each with its name, without the number itself."""
    found = sorted({path for one in patterns for path in HOUSE.glob(one)})
    assert len(found) > 2
    return sha256_hex("\n".join(code_of(one).replace(number, "") for one in found).encode())[:16]


@pytest.mark.parametrize(
    ("number", "patterns"), [(output_facts._VERSION, OUTPUTS), (session_evidence._EVIDENCE, EVIDENCE)]
)
def test_rules_that_changed_have_a_new_number(number: str, patterns: Sequence[str]) -> None:
    found = hash_of(patterns, number)
    assert RECORDED.get(number) == found, (
        f"the rules of {number} changed: raise their number where the same log or output may be judged differently, "
        f"and record {found} here"
    )


def test_words_for_people_change_no_hash(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text('"""What."""\nimport os\n\ndef twice(of: int) -> int:\n    return 2 * of  # why\n')
    other.write_text('def twice(of: int) -> int:\n    """Double."""\n\n    return 2 * of\n')
    assert code_of(one) == code_of(other)
    other.write_text("def twice(of: int) -> int:\n    return 3 * of\n")
    assert code_of(one) != code_of(other)
