"""Names of checks: which commands are tests, builds, type checks or lint, as ``checks.toml`` tells."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

TEST, BUILD, TYPES, LINT = "test", "build", "types", "lint"
KINDS = (TEST, BUILD, TYPES, LINT)
NOUNS = {TEST: "tests", BUILD: "build", TYPES: "type check", LINT: "lint"}

_IDLE = "--help --version -h --collect-only --co --list --listTests --dry-run --watch"
_HELP = frozenset(_IDLE.split())
"""Options with which a program checks nothing, or never ends."""

_DEEPEST = 4


@cache
def check_table() -> Mapping[str, Any]:
    """Return what ``checks.toml`` has."""
    with open(os.path.join(os.path.dirname(__file__), "checks.toml"), "rb") as file:
        return tomllib.load(file)


@cache
def _phrases(*keys: str) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Return the phrases below some keys of the table, each as (key, words), the longest first, by its first word."""
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for key in keys:
        for phrase in check_table()[key]:
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((key, words))
    for entries in found.values():
        entries.sort(key=lambda entry: -len(entry[1]))
    return found


class NamedCheck(NamedTuple):
    """A check that a command line names."""

    kind: str
    phrase: str
    operands: tuple[str, ...]

    @property
    def is_silent(self) -> bool:
        """Whether the program prints nothing if all is well, and something if not."""
        return self.phrase in check_table()["silent"]


@lru_cache(maxsize=512)
def check_named(words: tuple[str, ...]) -> NamedCheck | None:
    """Return the check that a program's words name; None if they name none.

    Args:
        words: words of a simple command, without quotes, beginning with the program's name without a path.
    """
    phrases, runners = _phrases(*KINDS), _phrases("runners")
    for _ in range(_DEEPEST):
        if not words or not _HELP.isdisjoint(words):
            return None
        name = words[0].rpartition("/")[2]
        name = re.sub(r"^(python)[\d.]*$", r"\1", name)
        words = (name, *words[1:])
        if name == "python" and words[1:2] and words[1].rpartition("/")[2] == "manage.py":
            words = ("manage.py", *words[2:])
            continue
        if words[:2] == ("cmake", "--build") and {"--target", "-t"} & {*words} and (task := _task_named(words)):
            return task
        for kind, phrase in phrases.get(words[0], ()):
            if (rest := _behind(words, phrase)) is not None:
                idle = check_table()["idle"].get(" ".join(phrase), ())
                return None if {*idle} & {*rest} else NamedCheck(kind, " ".join(phrase), tuple(_operands(rest)))
        if task := _task_named(words) or _own_tests(words):
            return task
        ran = next(
            (
                _ran_by(runner, rest)
                for _, runner in runners.get(words[0], ())
                if (rest := _behind(words, runner, strict=True)) is not None
            ),
            None,
        )
        if ran is None:
            return None
        words = ran
    return None


def is_idle(words: tuple[str, ...]) -> bool:
    """Return whether a program was called with an option with which it checks nothing, as ``bash -n`` was."""
    return not {*check_table()["idle"].get(words[0], ())}.isdisjoint(words)


@lru_cache(maxsize=512)
def may_run_checks(words: tuple[str, ...]) -> bool:
    """Return whether a program that names no check may run some: a script, a git hook, a task that people named."""
    table = check_table()
    is_script = bool(_SCRIPT.search(words[0])) or words[0] in table["managers"]
    phrases = _phrases("may_run").get(words[0], ())
    return is_script or any(_behind(words, phrase) is not None for _, phrase in phrases)


_SCRIPT = re.compile(r"\.(?:sh|bash|zsh|py|js|mjs|ts|rb|pl)$")


def may_show_checks(words: tuple[str, ...]) -> bool:
    """Return whether a program may show how checks ended that it, or somebody else, ran.

    A program of any name may run checks that its words name, unless it is known for something else.
    """
    if words[0] in check_table()["shows_others"] or may_run_checks(words):
        return True
    if words[0] in check_table()["checks_nothing"]:
        return False
    begins = words[:_WRAPPED_AT]
    return any(map(_OF_CHECKS.search, begins)) or any(check_named(words[at:]) for at in range(1, len(begins)))


_WRAPPED_AT = 6  # words of a wrapper and its options
_OF_CHECKS = re.compile(
    r"(?<!la)(?<!at)(?<!con)(?<!grea)test|(?<![a-z])(?:specs?|check|verify|validate|lint|build|types?|ci|all|qa)(?![a-z])",
    re.IGNORECASE,
)


def _task_named(words: tuple[str, ...]) -> NamedCheck | None:
    """Return the check of a package manager's task, such as ``pnpm --filter x run test:unit``; None for any other."""
    manager = check_table()["managers"].get(words[0])
    if words[0] == "node" and not any(one.startswith("--run") for one in words):
        return None
    if manager is None or {*check_table()["idle"].get(words[0], ())} & {*words}:
        return None
    said, scope, at = [words[0]], list[str](), 1
    while at < len(words):
        name, _, value = words[at].partition("=")
        following = words[at + 1] if at + 1 < len(words) else ""
        if name in manager.get("task", ()):
            words, at = (*words[: at + 1], value or following), at + 1
            break
        if name in manager.get("takes", ()):
            scope.append(f"{name} {value or following}")
            at += 1 if value else 2
        elif name in manager.get("aside", ()):
            at += 1 if value else 2
        elif words[at] in manager.get("of", ()):
            scope.append(following)
            at += 2
        elif words[at] in manager.get("first", ()):
            at += 1
        elif words[at] in manager.get("run", ()):
            said.append(words[at])
            at += 1
        elif words[at][:1] == "-":
            at += 1
        else:
            break
    if at >= len(words):
        return NamedCheck(manager["alone"], words[0], tuple(scope)) if "alone" in manager else None
    kind, name, parts = _kind_of_task(words[at], manager.get("own", {}))
    if not kind:
        like = manager.get("like", {}).items()
        kind, name = next((kind for kind, names in like if re.fullmatch(names, words[at])), ""), words[at]
    if not kind:
        return None
    return NamedCheck(kind, " ".join((*said, name)), (*scope, *parts, *_operands(words[at + 1 :])))


def _own_tests(words: tuple[str, ...]) -> NamedCheck | None:
    """Return the check of a script whose name says that it has tests, such as ``python test_x.py``."""
    if words[0] not in OWN_SCRIPTS or len(words) < 2:
        return None
    return NamedCheck(TEST, words[0], (words[1],)) if _TEST_SCRIPT.search(words[1]) else None


OWN_SCRIPTS = ("python", "node", "bun", "deno", "ruby", "tsx")
"""What runs a script of tests of a project's own; each script is tests of its own."""

_TEST_SCRIPT = re.compile(
    r"(?:^|/)test_\w+\.(?:py|rb)$|_test\.(?:py|rb)$|(?:^|/)test[\w-]*\.[mc]?[jt]s$|\.(?:test|spec)\.[mc]?[jt]s$"
)


def _kind_of_task(task: str, own: Mapping[str, str]) -> tuple[str, str, tuple[str, ...]]:
    """Return what a task checks, its name, and its part, as of ``test:unit`` or of ``app:test``.

    The first is empty for a task whose name says nothing.
    """
    kinds = {**{name: kind for kind, names in check_table()["tasks"].items() for name in names}, **own}
    if task in kinds:
        return kinds[task], task, ()
    first, _, rest = task.partition(":")
    if first in kinds:
        return kinds[first], first, () if rest in check_table()["whole_tasks"] else (rest,)
    place, _, last = task.rpartition(":")
    return (kinds[last], last, (place,) if place else ()) if last in kinds else ("", "", ())


@lru_cache(maxsize=512)
def may_be_the_same(phrase: str, other: str) -> bool:
    """Return whether two phrases may run the same tests: one hides what it runs, or both are of one language."""
    wrappers, families = check_table()["wrappers"], check_table()["families"].values()
    names = phrase.partition(" ")[0], other.partition(" ")[0]
    return any(name in wrappers for name in names) or any(all(name in family for name in names) for family in families)


@lru_cache(maxsize=512)
def is_of_other_language(program: str, path: str) -> bool:
    """Return whether a file is source of a language, and a program one of the tools of other languages only."""
    ending = os.path.splitext(path)[1].lower()
    families, endings = check_table()["families"], check_table()["endings"]
    of_file = next((language for language, ends in endings.items() if ending in ends), "")
    of_program = {language for language, programs in families.items() if program in programs and language in endings}
    return bool(of_file and of_program) and of_file not in of_program


def covers_operands(later: tuple[str, ...], earlier: tuple[str, ...]) -> bool:
    """Return whether what chooses the tests of a later run also chooses those of an earlier one.

    The same words do; so does a pattern of names in which each name of the earlier pattern is found.
    """
    options = [[one for one in words if one[:1] == "-"] for words in (later, earlier)]
    places = [[one for one in words if one[:1] != "-"] for words in (later, earlier)]
    narrowing = [one for one in options[0] if one not in options[1]]
    if not all(any(_pattern_covers(one, other) for other in options[1]) for one in narrowing):
        return False
    return not places[0] or (
        bool(places[1]) and all(any(_lies_in(one, other) for other in places[0]) for one in places[1])
    )


def parts_of_operands(operands: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return what chooses the parts of a run: each of its places, or each name of its only pattern."""
    options = [one for one in operands if one[:1] == "-"]
    places = [one for one in operands if one[:1] != "-"]
    option, _, pattern = options[0].partition(" ") if options else ("", "", "")
    names = pattern.strip("'\"").split("|")
    if len(options) == 1 and option in _BY_PATTERN and len(names) > 1:
        return [(f"{option} {name}", *places) for name in names]
    return [(*options, one) for one in places]


def _lies_in(place: str, other: str) -> bool:
    """Return whether a file, folder or test is, or is a part of, another: ``./a/b`` of ``./a/...``."""
    place, other = place.removeprefix("./").rstrip("/"), other.removeprefix("./").removesuffix("/...").rstrip("/")
    return place == other or place.startswith((f"{other}/", f"{other}::"))


def _pattern_covers(later: str, earlier: str) -> bool:
    option, _, pattern = later.partition(" ")
    if option not in _BY_PATTERN or not earlier.startswith(f"{option} "):
        return False
    try:
        wide = re.compile(pattern.strip("'\""))
    except re.error:
        return False
    names = earlier.partition(" ")[2].strip("'\"").split("|")
    return all(re.fullmatch(r"[\w/^$]+", name) and wide.search(name.strip("^$")) for name in names)


_BY_PATTERN = ("-run", "--run", "-t", "--testNamePattern", "--grep")


def _behind(words: tuple[str, ...], phrase: tuple[str, ...], *, strict: bool = False) -> tuple[str, ...] | None:
    """Return the words after a phrase, between whose words options may stand; None if the phrase is not there."""
    at = 0
    for place, one in enumerate(phrase):
        while not strict and place and at < len(words) and words[at][:1] == "-" and words[at] != one:
            at += 1
        if at >= len(words) or not _is(words[at], one):
            if one[:2] == "--" and one in words[at:]:
                continue  # an option may stand anywhere
            return None
        at += 1
    return words[at:]


def _is(word: str, one: str) -> bool:
    return word == one or (one.endswith("*") and word.startswith(one[:-1]))


def _ran_by(runner: tuple[str, ...], words: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a runner runs: the words behind its options, its ``--`` or, in a container, its service."""
    if "--" in words:
        return words[words.index("--") + 1 :]
    at = 0
    while at < len(words) and words[at][:1] == "-":
        at += 2 if words[at] in check_table()["runners_take"] else 1
    return words[at + (runner[-1] in ("run", "exec") and runner[0].startswith(("docker", "podman", "kubectl"))) :]


_CHOOSING = "-k -m -t -p -run --run --testNamePattern --grep --filter --test --lf --last-failed --package"
_SELECTING = frozenset(_CHOOSING.split())
_ALL = ". ./... ./ all tests tests/ test test/ src src/ --"
_EVERYTHING = frozenset(_ALL.split())


def _operands(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the words that choose what is checked."""
    for place, word in enumerate(words):
        name = word.partition("=")[0]
        if name in _SELECTING:
            yield f"{name} {words[place + 1]}" if "=" not in word and place + 1 < len(words) else word
        elif word[:1] != "-" and word not in _EVERYTHING and (not place or words[place - 1] not in _SELECTING):
            if place and words[place - 1][:1] == "-" and "=" not in words[place - 1] and not _looks_like_a_place(word):
                continue  # the value of an option
            yield word


def _looks_like_a_place(word: str) -> bool:
    return "/" in word or "::" in word or bool(re.search(r"\.\w{1,4}$", word))
