"""Finds claims that agents make of their work in their messages, by rules that are data: ``audit/claims/*.toml``.

A sentence is a claim if a rule matches it, and nothing marks it as a question, a plan, a hypothetical, a negation or
the words of somebody else. A message that no rule matches counts as not read, and nothing is said of it.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from sightline.audit.evidence.check_names import check_named
from sightline.light.named_tuple import NamedTuple

RAN, OF_COMMAND, FIXED, SAME = "ran", "command-passes", "fixed", "same"
"""Rules of claims that name a command, that rest on a check which failed before, or on a comparison."""

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "claims")

MESSAGE_CHARACTERS = 20_000
"""Characters of a message that are read: a report of what was done is shorter, and a quoted log is no claim."""

_NEAR_CHARACTERS = 40  # before a claim, which may restrict it to some
_SENTENCE_CHARACTERS = 600  # a longer text is not a sentence
_FENCED = re.compile(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)")
_QUOTED = re.compile(r"(?m)^[ \t]*>.*$")
_ROW = re.compile(r"(?m)^[ \t]*\|(.*)\|[ \t]*$")
_RESULT_OF_CODE = re.compile(r"(?m)^([^\w`\n]*`[^`\n]+`(?:\*\*)?)[ \t]+[—–][ \t]+")
"""What a list says of a command behind a dash, as in ``- `ruff check` — no warnings``, is of one sentence with it."""

_SCENARIO = re.compile(r"\W*\*\*(?:Given|When|Then|And|But)\*\*", re.IGNORECASE)
"""How a step of a scenario begins, which says what is wanted."""

_WHOLE_CODE = re.compile(r"^[-*\s]*`[^`]*`[.\s]*$")
_ENDS = re.compile(
    r"(?<=[.!?…])[\"”*_)]*\s+|(?<=[。！？；])|\n+|;\s+|(?<!\s)\s{1,80}[—–]\s+|,\s+(?=(?:but|so|however|although|though|yet|while|which)\b"
    r"|and (?:the|I|we|it|this|that|there)\b)"
)
_MAY_CLAIM = re.compile(
    r"pass|green|succe|work|compil|build|built|clean|happy|error|fail|regression|fixed|resolved|verified|confirmed|ran\b"
    r"|[✅✓✔☑]|\[x\]|validated|tested|\brun\b|re-?ran|executed|check|warning|issue|problem|\bok\b|complain|quiet|silent"
    r"|identical|\bdiff|\bmatch|the same",
    re.IGNORECASE,
)
"""A test for all rules together, which most sentences do not pass."""

_NOTHING = re.compile(
    r"\b(?:0|no|zero|without(?: any)?)(?: (?:more|remaining|new|further|other|test|single|any))*"
    r" (?:failures?|fails?|failed|failing|errors?|warnings?|issues|problems|regressions?)\b"
    r"|\bno longer (?:complains?|fails?|failing|errors?|breaks?)\b"
    r"|\bno(?: more| other)? tests? (?:(?:is|are|was|were) )?(?:broken|failing|failed|red)\b"
    r"|\bno (?:failing|failed|broken) tests?\b"
    r"|\bnothing(?: else)? (?:is |has |was )?(?:broken|failed|fails|failing|broke)\b"
    r"|\bnone (?:of (?:them|the tests|these) )?(?:fail|failed|fails|failing)\b",
    re.IGNORECASE,
)
_FORMERLY = re.compile(
    r"\b(?:(?:previously|formerly|originally|once)[- ])?(?:failing|broken)"
    r"(?= (?:[\w`.-]+ ){0,2}tests? (?:now|all|is now|are now))",
    re.IGNORECASE,
)
_ASSERTED = re.compile(
    r"\b(?:I|I'?ve|I have|we|we'?ve|we have)(?: now| also| just)? (?:verified|confirmed|checked|validated) (?:that )?",
    re.IGNORECASE,
)
_NO_ISSUES = re.compile(r"^0 (?:issues|problems|offenses)(?=[.!]?$)", re.IGNORECASE)
"""What linters print last, and agents quote."""

_DONE = re.compile(r"(?:✅|✔|☑|🟢|✓)\ufe0f?|:white_check_mark:|\[x\]", re.IGNORECASE)
_WORDS_OF_OTHERS = re.compile(r"\"[^\"\s]*\s[^\"]*\"|“[^“”\s]*\s[^“”]*”|(?<=\s)'[A-Z][^'\s]*\s[^']*'(?=[\s.,;:!?)]|$)")
_BEGINS_WITH_CODE = re.compile(r"[^\w`]*`")
_ASIDE = re.compile(r" ?\([^()]{1,60}\)")
_TRANSITIVE = re.compile(r"\bpass(?:es|ed)? `")
_MARKS = re.compile(r"[*_`]{1,3}|^\s*(?:[-*•]|\d+[.)])\s+|^#+\s+")
_RESTRICTING = re.compile(
    r"\b(?:new|unit|integration|e2e|end-to-end|existing|other|remaining|these|those|both|my|its|affected|related|relevant"
    r"|added|updated|failing|smoke|targeted|specific|individual|this|that|each|first|second|third|last|next|one|two|three"
    r"|four|five|single|another|a|an|focused|prepared|own|core|cli|project's)\b"
    r"|[`/]|\w\.\w|::|\btest\b(?! (?:suite|run))|\btests? #?\d|(?-i:\b[A-Z][a-z\d]{1,30}[A-Z]\w{0,40}:)"
    r"|\b(?!type-|full-|whole-|pre-|post-)[a-z]+-[a-z]+ (?:lint|tests?)\b|(?-i:\b[A-Z]{2,} (?:tests?|type))"
    r"|\b(?:all|the)(?: of)?(?: the)?(?: \d[\d,]*)?(?: (?!the\b|of\b|our\b|tests?\b|now\b)[a-z][\w-]*){1,3} tests?\b",
    re.IGNORECASE,
)


_OF_ITS_OWN = re.compile(
    r"\b(?:no|zero|without(?: any)?) (?:new|further|additional|other) (?:\w+ )?"
    r"(?:failures?|errors?|warnings?|issues|problems)\b"
    r"|\b(?:from|by|in|of|due to|related to) (?:my|our|these|this|the) (?:own )?"
    r"(?:changes?|edits?|changed|modified|touched)\b",
    re.IGNORECASE,
)
"""What restricts a claim to what the agent changed, so that an older failure does not contradict it."""


class ClaimRule(NamedTuple):
    """A rule for one kind of claim.

    Attributes:
        name: name of the kind.
        checks: kinds of check that bear on it.
        patterns: a sentence with this claim matches one of them.
        vague: whether a failed check does not contradict it, since something else may be meant.
        true: sentences that it matches.
        false: sentences that no rule matches.
    """

    name: str
    checks: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    vague: bool
    true: tuple[str, ...]
    false: tuple[str, ...]


class Veto(NamedTuple):
    """A reason why a sentence is no claim: its name, its pattern, and examples."""

    why: str
    pattern: re.Pattern[str]
    examples: tuple[str, ...]


class Claim(NamedTuple):
    """An agent's claim that it has done something, or that something holds.

    Attributes:
        kind: name of the rule.
        words: the sentence.
        checks: kinds of check that bear on it.
        is_whole: whether it is about everything that such checks look at, as far as its words tell.
        vague: see `ClaimRule`.
        command: the command that it says was run; empty if it names none.
        number: number of tests that it says passed; 0 for none.
        is_total: whether it says so itself: all, every, the whole.
    """

    kind: str
    words: str
    checks: tuple[str, ...]
    is_whole: bool
    vague: bool
    command: str = ""
    number: int = 0
    is_total: bool = False


@cache
def claim_rules() -> tuple[tuple[ClaimRule, ...], tuple[Veto, ...]]:
    """Return the rules, and the reasons why a sentence is no claim."""
    rules: list[ClaimRule] = []
    vetoes: list[Veto] = []
    for name in sorted(os.listdir(FOLDER)):
        if not name.endswith(".toml"):
            continue
        with open(os.path.join(FOLDER, name), "rb") as file:
            table = tomllib.load(file)
        vetoes += [
            Veto(one["why"], re.compile(one["pattern"], re.IGNORECASE), tuple(one["examples"]))
            for one in table.pop("veto", ())
        ]
        words = table.pop("words", {})
        for key in _OF_LANGUAGES:
            table.pop(key, None)
        for rule, given in table.items():
            patterns = tuple(re.compile(_expanded(pattern, words), re.IGNORECASE) for pattern in given["patterns"])
            texts = (tuple(given[key]) for key in ("true", "false"))
            rules.append(ClaimRule(rule, tuple(given["checks"]), patterns, given.get("vague", False), *texts))
    return tuple(rules), tuple(vetoes)


_OF_LANGUAGES = ("language", "hints", "restricting")


@cache
def _of_languages(key: str) -> tuple[str, ...]:
    """Return what each file of claims says under a key: its language, or a pattern."""
    found = list[str]()
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".toml"):
            with open(os.path.join(FOLDER, name), "rb") as file:
                found += filter(None, [tomllib.load(file).get(key)])
    return tuple(found)


def languages_with_rules() -> tuple[str, ...]:
    """Return the languages whose claims rules read."""
    return _of_languages("language")


@cache
def _any_of(key: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in _of_languages(key)) or r"(?!)", re.IGNORECASE)


def _expanded(pattern: str, words: Mapping[str, str]) -> str:
    """Put in the words that a pattern names as ``<name>``, and those that these name."""
    while _WORD.search(pattern):
        pattern = _WORD.sub(lambda found: words[found[1]], pattern)
    return pattern


_WORD = re.compile(r"(?<!\?P)<([a-z_]+)>")


def sentences_of(message: str) -> Iterator[str]:
    """Yield the sentences that a message says in its own words; code and quotations are left out."""
    text = _ROW.sub(_told_by_row, _QUOTED.sub("\n", _FENCED.sub("\n", message[:MESSAGE_CHARACTERS])))
    text = _RESULT_OF_CODE.sub(r"\1: ", text)
    for sentence in _ENDS.split(text):
        sentence = (sentence or "").strip()
        is_step = _WHOLE_CODE.match(sentence) or _SCENARIO.match(sentence)
        if sentence and len(sentence) <= _SENTENCE_CHARACTERS and not is_step:
            yield sentence


def claims_in(message: str) -> list[Claim]:
    """Return the claims of a message, in order; a sentence may make several, each kind once."""
    rules, _ = claim_rules()
    found: list[Claim] = []
    if _SUMS_UP.match(message):
        return found
    sentences = list(sentences_of(message))
    for at, sentence in enumerate(sentences):
        if not (_MAY_CLAIM.search(sentence) or _any_of("hints").search(sentence)) or veto_of(sentence) is not None:
            continue
        made = [claim for rule in rules if (claim := _read(rule, sentence))]
        named = {claim.checks: claim for claim in made if claim.kind == OF_COMMAND}
        made = [_of_command(claim, named[claim.checks]) if claim.checks in named else claim for claim in made]
        of_rules = {claim.checks for claim in made if claim.kind != OF_COMMAND and not claim.vague}
        made = [claim for claim in made if claim.kind != OF_COMMAND or claim.checks not in of_rules]
        made = [claim for claim in made if not claim.vague] or made
        if any(map(_ADMITS.search, sentences[max(at - _ADMITTING, 0) : at + _ADMITTING + 1])):
            made = [claim._replace(is_whole=False) for claim in made]
        found += made
    return found


def _of_command(claim: Claim, named: Claim) -> Claim:
    """Return a claim with the command that its sentence names, which says best which run is meant."""
    return claim._replace(command=named.command, is_whole=claim.is_whole or named.is_whole)


_SUMS_UP = re.compile(r"\s*<(?:analysis|summary)>")
"""How a message begins that harnesses have agents write when a context is compacted, and that nobody is told."""

_TOTAL = re.compile(r"\b(?:all|every|everything|entire|full|whole|alle|sämtliche|gesamte)\b|所有|全部", re.IGNORECASE)
_COUNTED = re.compile(r"\b(\d[\d,]{0,30}) (?:[a-z-]+ )?tests?\b", re.IGNORECASE)
_ADMITTING = 2  # sentences before and after a claim in which an agent says what it left out
_ADMITS = re.compile(
    r"\b(?:(?<!no )(?<!0 )(?<!zero )fail(?:s|ed|ing|ures?)"
    r"|pre-?existing|unrelated|not (?:related|caused)|mismatch(?:es)?"
    r"|flaky|flakes?|timed? ?out|except|apart from|skipped)\b",
    re.IGNORECASE,
)
"""What an agent says beside a claim if not everything went well, so that the claim is about the rest."""


def _told_by_row(row: re.Match[str]) -> str:
    """Return what a row of a table says, as a sentence: ``Tests: 42 passed``."""
    cells = [cell.strip() for cell in row[1].split("|")]
    if len(cells) < 2 or not any(any(map(str.isalnum, cell)) for cell in cells):
        return "\n"
    return "\n" + f"{cells[0]}: {' '.join(filter(None, cells[1:]))}" + "\n"


def veto_of(sentence: str) -> Veto | None:
    """Return the reason why a sentence is no claim; None if there is none."""
    text = _prepared(sentence)
    text = _ASSERTED.sub("", text, count=1)
    if _BEGINS_WITH_CODE.match(sentence):
        text = f"The {text}"  # the first word of a command bids nobody do anything
    return next((veto for veto in claim_rules()[1] if veto.pattern.search(text)), None)


@lru_cache(maxsize=16)
def _prepared(sentence: str) -> str:
    text = _TRANSITIVE.sub("hand `", _WORDS_OF_OTHERS.sub("QUOTED", sentence.replace("’", "'")))
    text = _NO_ISSUES.sub("lint: no issues", _MARKS.sub("", _DONE.sub("✓", text)))
    return _FORMERLY.sub("", _NOTHING.sub("OKNONE", text)).strip()


@lru_cache(maxsize=16)  # each of some twenty rules reads the same sentence
def _readings(sentence: str, *, with_marks: bool) -> tuple[str, ...]:
    """Return a sentence as patterns read it, and without its asides if it has any."""
    text = _prepared(sentence)
    if with_marks:
        text = _TRANSITIVE.sub("hand `", _DONE.sub("✓", sentence.replace("’", "'").replace("**", "")))
        text = _FORMERLY.sub("", _NOTHING.sub("OKNONE", text))
    return tuple(dict.fromkeys((text, _ASIDE.sub("", text))))


def _read(rule: ClaimRule, sentence: str) -> Claim | None:
    readings = _readings(sentence, with_marks=rule.name in (RAN, OF_COMMAND))  # they quote commands, whose marks stay
    text = readings[0]
    for pattern in rule.patterns:
        if found := next((found for one in readings if (found := pattern.search(one))), None):
            groups = found.groupdict()
            if groups.get("m") and groups["m"] != groups["n"]:
                continue  # of so many only some
            near = text[max(0, found.start() - _NEAR_CHARACTERS) : found.end()]
            restricted = any(one.search(near) for one in (_RESTRICTING, _any_of("restricting")))
            is_whole = not (restricted or _FORMERLY.search(sentence) or _OF_ITS_OWN.search(sentence))
            command, checks = groups.get("command") or "", rule.checks
            if rule.name == OF_COMMAND:
                parts = (check_named(tuple(part.split())) for part in re.split(r"&&|;", command))
                named = [one for one in parts if one]
                if not named:
                    return None
                checks = tuple(dict.fromkeys(one.kind for one in named))
                is_whole = not any(one.operands for one in named)
            if what := groups.get("what"):
                checks = (_kind_of(what),)
            stated = groups.get("n") or ((counted := _COUNTED.search(near)) and counted[1]) or "0"
            number = int(re.sub(r"\D", "", stated))
            is_total = bool(_TOTAL.search(near))
            return Claim(rule.name, sentence, checks, is_whole, rule.vague, command, number, is_total)
    return None


def _kind_of(what: str) -> str:
    what = what.lower()
    if what.startswith(("test", "pytest")):
        return "test"
    if what.startswith("build"):
        return "build"
    return "types" if what.startswith(("type", "mypy", "tsc")) else "lint"
