"""Replaces refs in a shell command by paths, if a shell would see a whole word: unquoted, or double-quoted.

Single quotes, ``\\@``, comments and here-documents are left unchanged.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from sightline.base.errors import BadRef
from sightline.base.refs import parse_ref
from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.lexer import OPERATOR, WORD, Token, lexed
from sightline.shell_words.pipelines import assigns
from sightline.store import Target
from sightline.verbs.byte_wise import reads_bytes

_LIKE_A_REF = re.compile(
    r"@(?:(?:cmd|file|tool)_[0-9a-f]{4}|ack_[0-9a-f]{8}\b|sha256:[0-9a-f]{6}|last(?:~\d|[.:]\w|$))"
)


class CommandWord(NamedTuple):
    """A word of a command.

    Attributes:
        start: offset of its beginning in the command; end is that of its end.
        operator: the operator right before it, such as ``|`` or ``>``; empty after another word.
        program: name of the program that gets it, as far as the text shows.
        is_raw: whether that program counts or copies bytes.
    """

    start: int
    end: int
    operator: str
    program: str = ""
    is_raw: bool = False


_READERS = {"cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "rg", "cut", "tr", "comm", "diff", "cmp", "join",
            "paste", "nl", "tac", "rev", "fold", "fmt", "column", "jq", "strings", "od", "less", "more", "file", "stat",
            "ls", "test", "[", "echo", "printf", "md5sum", "sha1sum", "sha256sum", "cksum"}  # fmt: skip
"""Programs that write to no file that they are given."""


class RefWord(NamedTuple):
    """A word of a command that a path replaces.

    Attributes:
        target: what its ref names.
        only_read: whether the program that gets it only reads its files.
        is_raw: whether that program gets a JSON result as it was sent, since it counts or copies bytes.
    """

    target: Target
    only_read: bool
    is_raw: bool = False

    @property
    def key(self) -> str:
        """What finds its path."""
        return f"{self.target.ref} as sent" if self.is_raw else self.target.ref


class Substitution(NamedTuple):
    """A command, or its arguments, with the refs that are to be replaced by paths.

    Attributes:
        parts: texts that stay, and refs.
        targets: what the refs name, each once, in order.
    """

    parts: tuple[str | RefWord, ...]
    targets: tuple[Target, ...]

    @property
    def wanted(self) -> list[RefWord]:
        """The targets that need a path, each once, and whether all programs that get one only read it."""
        found = dict[str, RefWord]()
        for part in self.parts:
            if isinstance(part, RefWord):
                before = found.get(part.key, part)
                found[part.key] = part._replace(only_read=part.only_read and before.only_read)
        return list(found.values())

    def command(self, paths: Mapping[str, str]) -> str:
        """Return the command line with paths, given by `RefWord.key`."""
        return "".join(part if isinstance(part, str) else shlex.quote(paths[part.key]) for part in self.parts)

    def argv(self, paths: Mapping[str, str]) -> list[str]:
        """Return the arguments with paths, given by `RefWord.key`."""
        return [part if isinstance(part, str) else paths[part.key] for part in self.parts]


def substitute(command: str, resolve: Callable[[str], Target]) -> Substitution:
    """Find the refs of a command line.

    Raises:
        BadRef: a word looks like a ref and is none, is written to, or names lines.
        UnknownRef, ExpiredRef, AmbiguousRef: raised by `Store.resolve`.
    """
    parts, targets, done = list[str | RefWord](), list[Target](), 0
    known = dict[tuple[str, str], Target]()  # a ref may stand there thousands of times
    for word in words(command):
        text = command[word.start : word.end]
        bare = text[1:-1] if len(text) > 2 and text[0] == text[-1] == '"' else text
        if not _LIKE_A_REF.match(bare):
            continue
        target = known.get((bare, word.operator)) or _target(bare, word.operator, resolve)
        known[bare, word.operator] = target
        if target not in targets:
            targets.append(target)
        # Sightline itself takes refs, and ``@last`` may mean another output when it runs.
        is_ours = word.program == "sightline"
        only_read = word.operator == "<" or word.program in _READERS
        parts += [command[done : word.start], target.ref if is_ours else _ref_word(target, only_read, word.is_raw)]
        done = word.end
    return Substitution((*parts, command[done:]), tuple(targets))


def substitute_words(argv: Sequence[str], resolve: Callable[[str], Target]) -> Substitution:
    """Find the refs in arguments without a shell; ``\\@`` begins plain text. Raises what `substitute` raises."""
    parts, targets = list[str | RefWord](), list[Target]()
    program = argv[0].rpartition("/")[2] if argv else ""
    only_read, is_raw = program in _READERS, reads_bytes([(program, argv[1:])])[0]
    for word in argv:
        if _LIKE_A_REF.match(word):
            target = _target(word, "", resolve)
            parts.append(_ref_word(target, only_read, is_raw))
            if target not in targets:
                targets.append(target)
        else:
            parts.append(word[1:] if word.startswith("\\") and _LIKE_A_REF.match(word, 1) else word)
    return Substitution(tuple(parts), tuple(targets))


def _ref_word(target: Target, only_read: bool, is_raw: bool) -> RefWord:
    return RefWord(
        target, only_read, is_raw and bool(target.buffer.stream(target.stream).mime)
    )  # all others have one form


def _target(text: str, operator: str, resolve: Callable[[str], Target]) -> Target:
    if text.startswith("@ack_"):
        raise BadRef(
            f"{text} confirms a command, and cannot stand within one",
            f"to confirm, run {text} alone; for the plain text write \\{text}",
        )
    try:
        parsed = parse_ref(text)
    except BadRef as error:
        raise BadRef(f"{text} looks like a ref but is not one", f"for the plain text write \\{text}") from error
    if ">" in operator:
        raise BadRef(f"{text} cannot be written to", "a captured output never changes; write to a file of your own")
    if parsed.first:
        ref = text.partition(":")[0]
        last = parsed.last or "$"
        raise BadRef(
            f"{text}: a command takes whole streams", f"for these lines: sed -n '{parsed.first},{last}p' {ref}"
        )
    return resolve(text)


def words(command: str) -> list[CommandWord]:
    """Return the words of a command, with those in substitutions, in the order of their beginnings."""
    tokens = lexed(command)
    found = [word for group in (tokens.tokens, *tokens.substituted.groups) for word in _words_of(group)]
    for backticked in tokens.substituted.backticked:
        by = backticked.start
        found += [word._replace(start=word.start + by, end=word.end + by) for word in words(backticked.text)]
    return sorted(found)


def _words_of(tokens: Sequence[Token]) -> Iterator[CommandWord]:
    found: list[tuple[int, CommandWord]] = []
    commands: list[tuple[str, list[str]]] = [("", [])]
    behind: list[str] = []
    operator = ""
    for token in tokens:
        if token.kind == WORD and operator not in ("<<", "<<-"):  # these begin with the end mark of a here-document
            program, given = commands[-1]
            if not program and not assigns(token.text) and not set(operator) & set("<>"):
                program = token.text.rpartition("/")[2]
                commands[-1] = program, given
            given.append(token.text)
            found.append((len(behind), CommandWord(token.start, token.end, operator, program)))
        operator = token.text if token.kind == OPERATOR else ""
        if operator and not set(operator) & set("<>"):
            behind.append(operator)
            commands.append(("", []))
    is_raw = _reads_bytes(commands, behind)
    for place, word in found:
        yield word._replace(is_raw=is_raw[place])


def _reads_bytes(commands: Sequence[tuple[str, Sequence[str]]], behind: Sequence[str]) -> list[bool]:
    """Return which commands read bytes; pipes alone join them to pipelines."""
    ends = [at for at, operator in enumerate(behind, 1) if operator != "|"]
    found: list[bool] = []
    for first, end in zip((0, *ends), (*ends, len(commands)), strict=True):
        found += reads_bytes(commands[first:end])
    return found
