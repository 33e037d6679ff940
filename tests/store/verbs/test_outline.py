"""The outline of a file: what it defines, where, and what a line lies in."""

from sightline.shape.source import Line
from sightline.verbs.outline import definitions, place_of, summary_of

PYTHON = "import os\n\nclass Reader:\n    def read(self):\n        return 1\n\nasync def main():\n    pass\n"


def lines(text: str) -> list[Line]:
    return [Line(number, line.encode(), len(line)) for number, line in enumerate(text.split("\n"), 1)]


def test_a_summary_has_language_lines_and_what_is_outermost() -> None:
    found = definitions("/a/x.py", lines(PYTHON))
    assert summary_of("/a/x.py", 8, found) == "Python, 8 lines: class Reader (3), def main (7)"


def test_a_line_lies_in_what_is_around_it() -> None:
    found = definitions("x.py", lines(PYTHON))
    assert place_of(found, 5) == "class Reader, def read"
    assert place_of(found, 8) == "def main"
    assert place_of(found, 1) == ""


def test_other_languages_are_outlined_by_their_words() -> None:
    go = definitions("x.go", lines("package x\nfunc (s *Server) Run() error {\n}\ntype Server struct {\n"))
    assert [one.name for one in go] == ["func Run", "type Server"]
    rust = definitions("x.rs", lines("pub(crate) fn go() {}\nimpl Reader {\n    pub async fn read() {}\n}"))
    assert [one.name for one in rust] == ["fn go", "impl Reader", "fn read"]
    assert [one.name for one in definitions("x.md", lines("# One\ntext\n## Two"))] == ["One", "Two"]
    assert definitions("x.json", lines("{}")) == []


def test_what_defines_nothing_is_told_by_its_lines() -> None:
    assert summary_of("log.txt", 1_200, []) == "1,200 lines"
