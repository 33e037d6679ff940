"""How many formats redaction hides, by rules of others: ``python -m benchmarks.secrets --rules FILE``.

FILE is a list of regular expressions as gitleaks has it (TOML), as Trivy has it (Go), a folder of detectors as
TruffleHog has it (Go, a folder each), or a plugin of detect-secrets (Python). None is part of this project. From each
expression three values are drawn, and put into 14 forms; a rule counts if all of these are hidden.

Values have letters, digits and ``+/_.~-`` where a class has more: ``=`` in classes is meant for the end of base64.
Where an expression has only a vendor's name and "anything" before the value, the name is that of the rule with
``_API_KEY``, ``_TOKEN`` or ``_SECRET``. Rules for ids and public keys are left out: these are no secrets.
"""

import argparse
import ast
import json
import random
import re
import string
import sys
import tomllib
from collections.abc import Callable, Iterator
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from sightline.redact.hiding import StreamHider
from sightline.redact.rules import load_rules

_parser = import_module("re._parser")
_SAMPLES = 3
_ENDINGS = ("_API_KEY", "_TOKEN", "_SECRET")
_NAMED = re.compile(r"\{0,(?:25|40|50)\}\?|\{0,25\}\)\(=|\(:\|=>\|=\)\?")  # a vendor's name, and anything
_NO_SECRET = re.compile(r"[-_](?:id|username)$|\bpub(?:lic|lishable)?\b|^spotifykey$")
_GO_TEXT = r"`[^`]*`|\"(?:[^\"\\]|\\.)*\""
_COMMON = string.ascii_letters + string.digits
_LIKELY = _COMMON + "+/_.~-"


def _as_is(text: str) -> str:
    return text


def _json(text: str) -> str:
    return json.dumps(text)[1:-1]


FORMS: dict[str, tuple[Callable[[str], str], str]] = {
    "bare": (_as_is, "NAME=%s"),
    "JSON": (_json, '{"NAME": "%s", "b": 1}'),
    "JSON in JSON": (lambda text: _json(_json(text)), '{"output": "{\\"NAME\\": \\"%s\\"}"}'),
    "YAML": (_as_is, "  NAME: %s"),
    "shell": (_as_is, "export NAME='%s'; make"),
    "URL": (_as_is, "https://api.example/v1?a=1&NAME=%s&b=2"),
    "grep -n": (_as_is, "config/app.env:12:NAME=%s"),
    "colours": (_as_is, "\x1b[34mNAME\x1b[0m=\x1b[32m%s\x1b[0m"),
    ".env": (_json, 'NAME="%s"'),
    "TOML": (_json, 'NAME = "%s"'),
    "log": (_as_is, "2026-01-02T03:04:05Z INFO started with NAME=%s in 3 ms"),
    "diff": (_as_is, "+NAME: %s"),
    "Python": (_json, "NAME = '%s'"),
    "XML": (escape, "<NAME>%s</NAME>"),
}


class Rule(NamedTuple):
    """A rule of another project: its id, and its regular expression."""

    id: str
    regex: str
    group: int | None = None  # of the secret; None for the first, if there is one


class Sample(NamedTuple):
    """What an expression matches, with the secret in it; ``name`` stands before it."""

    name: str
    text: str
    secret: str


def read(path: Path) -> list[Rule]:
    """Return the rules of a file or a folder; one whose expression Python does not read is named and left out."""
    if path.is_dir():
        found = [rule for folder in sorted(path.iterdir()) if folder.is_dir() for rule in _detector(folder)]
    elif path.suffix == ".toml":
        rules = tomllib.loads(path.read_text())["rules"]
        found = [Rule(rule["id"], rule["regex"], rule.get("secretGroup")) for rule in rules if "regex" in rule]
    elif path.suffix == ".go":
        found = list(_trivy(path.read_text()))
    else:
        found = list(_python(path))
    return [rule for rule in found if not _NO_SECRET.search(rule.id)]


def _detector(folder: Path) -> Iterator[Rule]:
    """Yield the first expression for a secret of a detector."""
    for file in sorted(folder.rglob("*.go")):
        if file.name.endswith("_test.go"):
            continue
        text = file.read_text()
        for name, arguments in re.findall(r"(\w+)\s*=\s*regexp\.MustCompile\((.*)\)", text):
            if re.search(r"(?i)key|token|secret|pass|^pat", name) and not re.search(r"(?i)id|url|user", name):
                parts = re.findall(rf"PrefixRegex\(\[\]string\{{(.*?)\}}\)|({_GO_TEXT})", arguments)
                pieces = ["(?:name){0,40}?" if names else _go(piece) for names, piece in parts]
                if "common." not in arguments and pieces:
                    yield Rule(folder.name, "".join(pieces))
                    return


def _trivy(text: str) -> Iterator[Rule]:
    constants = {name: _go(value) for name, value in re.findall(rf"(?m)^\s+(\w+)\s*=\s*({_GO_TEXT})$", text)}
    for name, arguments in re.findall(r"ID:\s*\"([^\"]*)\"[^}]*?Regex:\s*MustCompile\w*\((.*)\),\n", text):
        pattern = re.search(_GO_TEXT, arguments)
        if pattern:
            regex, names = _go(pattern[0]), re.findall(r"\w+", arguments[pattern.end() :])
            for part in names:
                regex = regex.replace("%s", constants.get(part, ""), 1)
            yield Rule(name, f"({regex})" if regex.startswith("?P<") else regex, 0)


def _python(path: Path) -> Iterator[Rule]:
    for number, node in enumerate(ast.walk(ast.parse(path.read_text()))):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "re.compile"
            and isinstance(node.args[0], ast.Constant)
        ):
            yield Rule(f"{path.stem}-{number}", str(node.args[0].value))


def _go(literal: str) -> str:
    return literal[1:-1] if literal[0] == "`" else str(ast.literal_eval(literal))


def sample(rule: Rule, number: int) -> Sample:
    """Draw what a rule matches. Raises re.error for an expression that Python does not read."""
    chance = random.Random(f"{rule.id} {number}")
    regex = rule.regex.replace("[[:alnum:]]", "[0-9A-Za-z]").replace("[:alnum:]", "0-9A-Za-z").replace(r"\z", "$")
    tree = _parser.parse(re.sub(r"\(\?[ims]+\)", "", regex))
    first = 1 if tree.state.groups > 1 else 0
    named = bool(_NAMED.search(rule.regex))
    wanted = tree.state.groupdict.get("secret", first if rule.group is None else rule.group)
    wanted = wanted or (tree.state.groups - 1 if named else 0)
    drawn = _Draw(chance, wanted)
    text = drawn.of(tree, inside=not wanted)
    start, end = drawn.span or (0, len(text))
    before, secret, after = text[:start], text[start:end], text[end:]
    if named:
        name = re.sub(r"\W", "_", rule.id).upper()
        known = name.endswith(("KEY", "TOKEN", "SECRET", "PASSWORD"))
        return Sample(name if known else name + _ENDINGS[number % 3], secret, secret)
    before, after = (part if len(part) > 1 else "" for part in (before, after))  # one only shows an edge
    return Sample("VALUE", before + secret + after, secret)


class _Draw:
    """Draws a text from a parsed expression: at random within the secret, the least that is possible around it."""

    def __init__(self, chance: random.Random, wanted: int) -> None:
        self.chance, self.wanted = chance, wanted
        self.span: tuple[int, int] | None = None
        self._texts: dict[int, str] = {}
        self._length = 0

    def of(self, tree: Any, inside: bool) -> str:
        """Return a text for a sequence."""
        before = self._length
        done = ""
        for operation, value in tree:
            self._length = before + len(done)
            done += self._one(str(operation), value, inside)
        self._length = before + len(done)
        return done

    def _one(self, operation: str, value: Any, inside: bool) -> str:
        match operation, value:
            case "LITERAL", int(code):
                return chr(code)
            case "NOT_LITERAL", int(code):
                return self.chance.choice(_COMMON.replace(chr(code), ""))
            case "ANY", _:
                return "."  # most stand for themselves
            case "IN", list(items):
                return self._in(items)
            case "BRANCH", (_, list(branches)):
                return self.of(self.chance.choice(branches), inside)
            case "SUBPATTERN", (group, _, _, tree):
                begins = self._length
                done = self.of(tree, inside or group == self.wanted)
                if group == self.wanted:
                    self.span = (begins, begins + len(done))
                self._texts[group] = done
                return done
            case "MAX_REPEAT" | "MIN_REPEAT", (least, most, tree):
                times = self.chance.randint(least, min(int(most), least + 16)) if inside else least
                begins, done = self._length, ""
                if str(tree[0][0]) == "ANY":
                    return "".join(self.chance.choices(_COMMON, k=times))
                for _ in range(times):
                    self._length = begins + len(done)
                    done += self.of(tree, inside)
                return done
            case "GROUPREF", int(group):
                return self._texts.get(group, "")
        return ""  # an edge, or something that is looked at only

    def _in(self, items: list[tuple[object, object]]) -> str:
        allowed = [char for char in map(chr, range(32, 127)) if self._allows(items, char)]
        likely = [char for char in allowed if char in _LIKELY]
        return self.chance.choice((likely if len(likely) > 1 else allowed) or " ")

    @staticmethod
    def _allows(items: list[tuple[object, object]], char: str) -> bool:
        categories = {"DIGIT": "[0-9]", "WORD": "[0-9A-Za-z_]", "SPACE": r"\s"}
        negate = found = False
        for kind, value in items:
            match str(kind), value:
                case "NEGATE", _:
                    negate = True
                case "LITERAL", int(code):
                    found |= ord(char) == code
                case "RANGE", (int(first), int(last)):
                    found |= first <= ord(char) <= last
                case "CATEGORY", category:
                    *_, name = str(category).split("_")
                    found |= bool(re.match(categories[name], char)) != ("_NOT_" in str(category))
        return found != negate


def open_forms(drawn: Sample) -> list[str]:
    """Return the forms in which the second half of a secret stays in the text."""
    secret = drawn.secret.partition("-----END")[0]
    half = secret[len(secret) // 2 :]
    left = []
    for form, (spelled, template) in FORMS.items():
        if form == "bare" and drawn.name == "VALUE":
            template = "%s"
        line = template.replace("NAME", drawn.name).replace("%s", spelled(drawn.text))
        hider = StreamHider(load_rules(True, ()))
        told = hider.feed(f"{line}\n".encode()) + hider.finish()
        if spelled(half).encode() in told:
            left.append(form)
    return left


def main() -> int:
    """Print what is hidden, and what is not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.secrets", description=__doc__)
    parser.add_argument("--rules", type=Path, required=True, metavar="FILE", help="a list of rules, or a folder")
    parser.add_argument("--take", type=int, metavar="N", help="N of them, at random by --seed")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="which of them")
    parser.add_argument("--show", action="store_true", help="print what was drawn for those that are not hidden")
    given = parser.parse_args()
    rules = read(given.rules)
    if given.take:
        rules = random.Random(given.seed).sample(rules, min(given.take, len(rules)))
    hidden, others = 0, 0
    for rule in rules:
        try:
            samples = [sample(rule, number) for number in range(_SAMPLES)]
        except re.error as error:
            print(f"  {rule.id}: not read: {error}")
            others += 1
            continue
        if len(set(samples)) == 1:  # a mark, and no secret
            others += 1
            continue
        left = {form: drawn for drawn in samples for form in open_forms(drawn)}
        hidden += not left
        if left:
            print(f"  {rule.id}: {len(left)} forms: {', '.join(left)}")
            if given.show:
                print(f"    {next(iter(left.values()))!r}")
    known = len(rules) - others
    print(f"{hidden} of {known} rules are hidden in all {len(FORMS)} forms ({hidden / known:.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
