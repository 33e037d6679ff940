"""Says how parts of a shell list ended, by what the list prints of that, as with ``; echo "exit $?"``, ``|| echo bad``.

The parts are the pipelines of the command's own list, by their number from 0.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.lexer import Unclear, tokens_of
from sightline.shell_words.pipelines import Pipeline, Pipelines, without_assignments
from sightline.shell_words.quoting import unquoted

ASIDE = frozenset(("set", "cd", "export", "source", ".", "echo", "printf", "pushd", "popd", "true", "sleep", "unset"))
"""Commands that do not count among those whose exit code a line may have."""

_PIPEFAIL = re.compile(r"\bset\s+-\w*o\s+pipefail\b")
_OF_PIPELINE, _OF_FIRST = "pipeline", "first"
_CODE = re.compile(r"\$(?:\?|\{\?\}|\{(?P<first>PIPESTATUS\[0\]|pipestatus\[1\])\}|\{?(?P<name>\w+)\}?)")
_KEEPS = re.compile(r"(\w+)=\"?(\$\?|\$\{(?:PIPESTATUS\[0\]|pipestatus\[1\])\})\"?")


class _Printed(NamedTuple):
    """What a part prints of the end of others.

    Attributes:
        line: the line, as a regular expression with a group ``code`` if it prints that.
        parts: the parts that ended so.
        code: 0 if the line is printed only where they ended well, 1 only where one failed; -1 if it has the code.
    """

    line: str
    parts: tuple[int, ...]
    code: int = -1


def pipefail_in(command: str) -> bool:
    """Return whether a command lets a pipeline fail with any of its stages."""
    return bool(_PIPEFAIL.search(command))


@lru_cache(maxsize=512)
def parts_of(command: str) -> tuple[Pipeline, ...]:
    """Return the pipelines of a command's own list; none if that cannot be understood for certain."""
    try:
        return Pipelines(tokens_of(command).tokens).all_pipelines()
    except Unclear:
        return ()


def prints_ends(command: str) -> bool:
    """Return whether a command prints how some of its parts end."""
    return bool(_printed(command))


def printed_ends(command: str, lines: Sequence[str]) -> Mapping[int, int]:
    """Return the exit codes of parts, as a command printed them; for one that only failed, 1.

    Args:
        command: the command.
        lines: everything that it printed, in lines.
    """
    found: dict[int, int] = {}
    wanted = _printed(command)
    for one in wanted:
        same = [other for other in wanted if other.line == one.line]
        seen = [match for line in lines if (match := re.fullmatch(one.line, line.strip()))]
        if one.code < 0:
            if len(seen) != len(same):
                continue  # some of it was cut, or something else printed such a line
            code = int(seen[same.index(one)]["code"])
        elif len(same) > 1:
            continue
        else:
            code = one.code if seen else 1 - one.code
        acting = [part for part in one.parts if _acts(parts_of(command)[part])]
        if not code or len(acting) == 1:
            found.update(dict.fromkeys(acting, code))
    return found


@lru_cache(maxsize=512)
def _printed(command: str) -> tuple[_Printed, ...]:
    return tuple(_read(command)) if "echo" in command or "printf" in command else ()


def _read(command: str) -> Iterator[_Printed]:
    parts, kept = parts_of(command), dict[str, tuple[int, str]]()
    fails = pipefail_in(command)
    for at, part in enumerate(parts):
        stage = part.stages[0]
        if (
            len(part.stages) > 1
            or stage.is_compound
            or any(">" in one and "&" not in one for one in stage.redirections)
        ):
            continue
        if len(stage.words) == 1 and (keeps := _KEEPS.fullmatch(stage.words[0])):
            kept[keeps[1]] = at - 1, _OF_PIPELINE if keeps[2] == "$?" else _OF_FIRST
            continue
        words = without_assignments(stage.words)
        if not at or words[:1] not in (("echo",), ("printf",)) or (text := _text(words)) is None:
            continue
        codes = [*_CODE.finditer(text)]
        if not codes:
            before = _before(parts, at)
            if part.joined in ("&&", "||") and text and before and _tells(parts, before, fails):
                yield _Printed(re.escape(text), before, 0 if part.joined == "&&" else 1)
            continue
        named = codes[0]["name"] or ""
        of, which = kept.get(named, (-1, "")) if named else (at - 1, _OF_FIRST if codes[0]["first"] else _OF_PIPELINE)
        if len(codes) > 1 or of < 0 or (which == _OF_PIPELINE and not _tells(parts, (of,), fails)):
            continue
        ended = (of,) if which == _OF_FIRST else _chain(parts, of)
        if parts[ended[0]].joined == "||":
            continue  # it may not have run
        line = f"{re.escape(text[: codes[0].start()])}(?P<code>\\d+){re.escape(text[codes[0].end() :])}"
        yield _Printed(
            line, (of,) if which == _OF_FIRST else (*_chain(parts, of - 1), of) if parts[of].joined == "&&" else (of,)
        )


def own_lines(command: str, lines: Sequence[str]) -> Mapping[int, Sequence[str]]:
    """Return what each part printed of which a command has marked the place, as with ``; echo "=== LINT ==="``.

    Args:
        command: the command.
        lines: everything that it printed, in lines.

    Returns:
        The lines by part, for those that have no other acting part between the same marks.
    """
    parts, marks = parts_of(command), list[tuple[int, int]]()
    for at, part in enumerate(parts):
        words = without_assignments(part.stages[0].words) if len(part.stages) == 1 else ()
        text = _text(words) if words[:1] in (("echo",), ("printf",)) and not part.stages[0].redirections else None
        places = [place for place, line in enumerate(lines) if line.strip() == text] if text and "$" not in text else []
        if len(places) == 1 and (not marks or marks[-1][1] < places[0]):
            marks.append((at, places[0]))
    if not marks:
        return {}
    found: dict[int, Sequence[str]] = {}
    for (begin, first), (end, last) in pairwise(((-1, -1), *marks, (len(parts), len(lines)))):
        acting = [at for at in range(begin + 1, end) if _acts(parts[at])]
        if len(acting) == 1:
            found[acting[0]] = lines[first + 1 : last]
    return found


@lru_cache(maxsize=512)
def printed_marks(command: str) -> frozenset[str]:
    """Return the lines that parts of a command only print, as with ``; echo DONE``."""
    found = set[str]()
    for part in parts_of(command) if "echo" in command or "printf" in command else ():
        words = without_assignments(part.stages[0].words) if len(part.stages) == 1 else ()
        if words[:1] in (("echo",), ("printf",)) and (text := _text(words)) and "$" not in text:
            found.add(text)
    return frozenset(found)


def _text(words: tuple[str, ...]) -> str | None:
    """Return what ``echo`` or ``printf`` prints, with its variables; None where nobody can tell."""
    if any(word.startswith("'") and "$" in word for word in words):
        return None
    plain = [unquoted(word) for word in words[1:]]
    if words[0] == "printf":
        if len(plain) == 1:
            text = plain[0]
        elif len(plain) == 2 and len(re.findall(r"%[sd]", plain[0])) == 1:
            text = re.sub(r"%[sd]", lambda _: plain[1], plain[0])
        else:
            return None
        text = text.removesuffix("\\n")
    else:
        text = " ".join(word for word in plain if word not in ("-e", "-n"))
    lines = [line for line in text.replace("\\n", "\n").split("\n") if line.strip()]
    if len(lines) != 1 or "$(" in text or "`" in text:
        return None
    return lines[0].strip()


def _before(parts: Sequence[Pipeline], at: int) -> tuple[int, ...]:
    """Return the parts on whose end depends whether a part behind ``&&`` or ``||`` runs."""
    before = at - 1
    if parts[at].joined == "||":  # as in ``a && echo good || echo bad``
        while before > 0 and parts[before].joined == "&&" and not _acts(parts[before]):
            before -= 1
    return _chain(parts, before)


def _chain(parts: Sequence[Pipeline], last: int) -> tuple[int, ...]:
    """Return the parts that are joined by ``&&`` up to one."""
    found = [last]
    while found[0] > 0 and parts[found[0]].joined == "&&":
        found.insert(0, found[0] - 1)
    return tuple(found) if last >= 0 else ()


def _tells(parts: Sequence[Pipeline], which: Sequence[int], fails: bool) -> bool:
    """Return whether the end of parts is that of the programs before their filters."""
    return fails or all(len(parts[one].stages) == 1 for one in which if _acts(parts[one]))


def _acts(part: Pipeline) -> bool:
    words = without_assignments(part.stages[0].words)
    return part.stages[0].is_compound or (bool(words) and unquoted(words[0]) not in ASIDE)
