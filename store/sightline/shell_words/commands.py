"""Finds the commands that a shell line runs, also behind sudo or xargs, and in scripts given to a shell.

What the text does not show (a variable, a script in a file) is not followed. If the shell's syntax is unclear, the
line is read loosely, as if nothing in it were quoted. The time grows as the length of the line.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from sightline.light.late_pattern import late_pattern
from sightline.light.named_tuple import NamedTuple
from sightline.shell_words.lexer import OPERATOR, WORD, Token, Tokens, Unclear, tokens_of
from sightline.shell_words.pipelines import assigns
from sightline.shell_words.quoting import unquoted

_DEEPEST = 8  # scripts within scripts; deeper ones are read loosely
_MOST_READ = 24  # times the line's length that its scripts may have in total

_REDIRECTIONS = frozenset(("<", ">", ">>", "<<", "<<-", "<<<", ">&", "<&", "&>", "&>>", "<>", ">|"))
_EMPTYING = frozenset((">", ">|", "&>"))
_PIPES = frozenset(("|", "|&"))
_BEFORE_COMMANDS = frozenset(("if", "then", "elif", "else", "while", "until", "do", "time", "{", "!", "coproc"))
_AFTER_GROUPS = (["fi"], ["done"], ["esac"], ["}"])
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash", "mksh"))
_WRITERS = frozenset(("echo", "printf"))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Runner(NamedTuple):
    """A program that runs the one in its arguments.

    Attributes:
        takes: its options that take the next word as their value.
        operands: number of words before that program.
    """

    takes: frozenset[str]
    operands: int = 0


def _runner(takes: str = "", operands: int = 0) -> Runner:
    return Runner(_words(takes), operands)


_RUNNERS = {
    "sudo": _runner("-u --user -g --group -h --host -p --prompt -C -D --chdir -r --role -t --type -T -R --chroot -U"),
    "doas": _runner("-u -C"),
    "env": _runner("-u --unset -C --chdir"),
    "nice": _runner("-n --adjustment"),
    "ionice": _runner("-c --class -n --classdata"),
    "timeout": _runner("-s --signal -k --kill-after", operands=1),
    "xargs": _runner("-a --arg-file -d --delimiter -E -I -L --max-lines -n --max-args -P --max-procs -s --max-chars"),
    "parallel": _runner("-j --jobs -a --arg-file"),
    "stdbuf": _runner("-i --input -o --output -e --error"),
    "chroot": _runner(operands=1),
    "flock": _runner("-w --timeout -E", operands=1),
    "exec": _runner("-a"),
    "strace": _runner("-o -e -p -s"),
    "gosu": _runner(operands=1),
    "su-exec": _runner(operands=1),
    "systemd-run": _runner("-u --unit -p --property -E --setenv -M --machine -H --host --slice --uid --gid"),
    "busybox": _runner(),
    "toybox": _runner(),
    "command": _runner(),
    "builtin": _runner(),
    "nohup": _runner(),
    "time": _runner("-o -f"),
    "setsid": _runner(),
    "unshare": _runner(),
    "caffeinate": _runner("-t -w"),
}
_IN_CONTAINERS = frozenset(("docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose"))
_EXEC_TAKES = _words("-e --env -u --user -w --workdir -n --namespace -c --container --index")
_SSH_TAKES = _words("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w")
_TAKE_SCRIPT = {"script": "-c", "vagrant": "-c", "ansible": "-a"}
_SHELL_TAKES = late_pattern(r"[-+][a-zA-Z]*[oO]|--rcfile|--init-file")
_WATCH_TAKES = _words("-n --interval")
_FINDERS = _words("find fd fdfind")
_FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"))


class Command(NamedTuple):
    """One program that is run.

    A redirection without a program counts as ``:``, and a function that starts itself twice as ``fork-bomb``.

    Attributes:
        words: its name, without a path, and its arguments, as far as the text shows them.
        stdin: what is known of its standard input: a here-document, a here-string, what an echo writes into the pipe.
        emptied: files that the shell empties before it starts, by a ``>``.
    """

    words: tuple[str, ...]
    stdin: str = ""
    emptied: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the program."""
        return self.words[0]


class _Scripts:
    """The scripts that are still to be read: each once, and in total no longer than a multiple of the line."""

    def __init__(self, line: str) -> None:
        self.waiting = [(line, 0)]
        self._seen = {line}
        self._left = _MOST_READ * len(line) + 1000

    def add(self, text: str, depth: int) -> Iterator[Command]:
        """Take one more script; yield the commands of one that is too deep, read loosely."""
        if text in self._seen or not text.strip() or self._left < len(text):
            return
        self._seen.add(text)
        self._left -= len(text)
        if depth < _DEEPEST:
            self.waiting.append((text, depth))
        else:
            yield from _loose_commands(text)


def commands_in(line: str) -> Iterator[Command]:
    """Yield the commands that a shell line runs, and those that these run."""
    scripts = _Scripts(line)
    while scripts.waiting:
        text, depth = scripts.waiting.pop()
        try:
            tokens = tokens_of(text)
        except Unclear:
            yield from _loose_commands(text)
            continue
        groups = [tokens.tokens]
        for substituted in (tokens.substituted, tokens.in_documents):
            groups += substituted.groups
            for inner in substituted.backticked:
                yield from scripts.add(re.sub(r"\\([$`\\])", r"\1", inner.text), depth + 1)
        for group in groups:
            for command in _simple_commands(group, tokens):
                yield from _run_by(command, scripts, depth)


def _simple_commands(group: Sequence[Token], tokens: Tokens) -> Iterator[Command]:
    """Yield the simple commands of a list as they stand, without reserved words and variables set for them."""
    words: list[str] = []
    emptied: list[str] = []
    stdin = written = ""
    behind_group = False
    at = 0
    if _is_fork_bomb(group):
        yield Command(("fork-bomb",))
    while at < len(group):
        token = group[at]
        at += 1
        if token.kind == WORD:
            begins = not words
            if not begins or not (token.text in _BEFORE_COMMANDS or assigns(token.text)):
                words.append(token.text)
            continue
        if token.kind != OPERATOR:
            continue
        if token.text in _REDIRECTIONS:
            if words and group[at - 2].end == token.start and words[-1].isdigit():
                words.pop()  # it is the number of a descriptor
            if at < len(group) and group[at].kind == WORD:
                stdin = _given(token.text, group[at], tokens) or stdin
                if token.text in _EMPTYING:
                    emptied.append(unquoted(group[at].text))
                at += 1
            continue
        if (words or (emptied and not behind_group)) and words[:1] not in _AFTER_GROUPS:
            command = _command(words or (":",), stdin, emptied)
            yield command
            written = _written(command)
        words, emptied, stdin = [], [], written if token.text in _PIPES else ""
        behind_group = token.text == ")"
    if words or (emptied and not behind_group):
        yield _command(words or (":",), stdin, emptied)


def _is_fork_bomb(group: Sequence[Token]) -> bool:
    """Return whether a function pipes itself into itself: ``f() { f | f & }``."""
    texts = [token.text for token in group if token.text != "\n"]
    return "(" in texts and any(
        texts[at + 1 : at + 3] == ["(", ")"] and texts[at + 3 : at + 7] == ["{", name, "|", name]
        for at, name in enumerate(texts[:-6])
    )


def _given(redirection: str, target: Token, tokens: Tokens) -> str:
    if redirection == "<<<":
        return unquoted(target.text)
    return tokens.documents.get(target.start, "") if redirection in ("<<", "<<-") else ""


def _command(words: Iterable[str], stdin: str, emptied: Sequence[str]) -> Command:
    parts = [part for word in words for part in (_expanded(word) if "IFS" in word or word[0] == "{" else (word,))]
    return _named([unquoted(part) for part in parts], stdin, tuple(emptied))


def _expanded(word: str) -> Sequence[str]:
    """Return the words that the shell makes of one with ``${IFS}``, or of ``{rm,-r,x}``."""
    if word[0] == "{" and word[-1] == "}" and "," in word:
        return word[1:-1].split(",")
    return [part for part in re.split(r"\$IFS\b|\$\{IFS[^}]*\}", word) if part] or (word,)


def _named(words: Sequence[str], stdin: str, emptied: tuple[str, ...] = ()) -> Command:
    return Command((words[0].rpartition("/")[2], *words[1:]), stdin, emptied)


def _written(command: Command) -> str:
    """Return what a command writes into a pipe, as far as it is known; filters are assumed to pass everything on."""
    if command.name not in _WRITERS:
        return command.stdin
    said = command.words[1:]
    return ("\n" if command.name == "printf" else " ").join(
        re.sub(r"\\n", "\n", word) for word in said if not re.fullmatch(r"-[neE]+", word)
    )


def _run_by(command: Command, scripts: _Scripts | None, depth: int) -> Iterator[Command]:
    """Yield a command, or the one that it runs; what it hands to a shell joins the scripts.

    Without scripts it is read loosely, and the words that follow are what it hands over.
    """
    words, at = command.words, 0
    while handed := (found := behind_runners(words, at, command.stdin)).script:
        if scripts is not None:
            yield from scripts.add(handed.text, depth + 1)
            return
        at = handed.begin
    if found.at >= len(words):
        return
    reached = _named(words[found.at :], command.stdin, command.emptied)
    yield reached
    for run in runs_of_find(reached.words):
        inner = _named(run, "")
        yield from _run_by(inner, scripts, depth + 1) if depth < _DEEPEST else (inner,)


class Reached(NamedTuple):
    """What a simple command runs in the end, behind programs that only run another.

    Attributes:
        at: index of the program's name among the words; their number if there is none.
        script: the script that this program gives to a shell; None for none.
    """

    at: int
    script: "Script | None" = None


def behind_runners(words: Sequence[str], at: int = 0, stdin: str = "") -> Reached:
    """Find the program that words run behind ``sudo``, ``timeout 5`` and the like.

    Args:
        words: words of a simple command, without quotes.
        at: index of the first word to look at.
        stdin: what is known of its standard input.
    """
    while at < len(words):
        name = words[at].rpartition("/")[2]
        if (behind := _behind_runner(name, words, at)) and behind < len(words):
            at = behind
            continue
        return Reached(at, _handed_to_shell(name, words, at, stdin))
    return Reached(len(words))


def _behind_runner(name: str, words: Sequence[str], at: int) -> int:
    """Return where the program begins that a word only runs; 0 if it runs none."""
    if name in _IN_CONTAINERS:
        return _in_container(words, at)
    if name not in _RUNNERS or (name == "env" and _split_by_env(words[at : at + 3])):
        return 0
    if name == "command" and at + 1 < len(words) and words[at + 1] in ("-v", "-V"):
        return 0  # it only says where the program is
    at = behind_options(words, at + 1, _RUNNERS[name].takes) + _RUNNERS[name].operands
    while at < len(words) and assigns(words[at]):
        at += 1
    return at


class Script(NamedTuple):
    """A script that a command gives to a shell.

    Attributes:
        begin: index of its first word.
        words: words of the command; those from there on, joined by blanks, are the script.
        given: the script, if it stands elsewhere or in a part of them.
    """

    begin: int
    words: Sequence[str] = ()
    given: str = ""

    @property
    def text(self) -> str:
        """The script; it is joined only when it is needed, since few commands contain others."""
        return self.given or " ".join(self.words[self.begin :])


def _handed_to_shell(name: str, words: Sequence[str], at: int, stdin: str) -> Script | None:
    """Return the script that a command gives to a shell; None if it gives none, or one in a file."""
    if name in _SHELLS or name == "su":
        return _script_of_shell(name, words, at, stdin)
    if name == "env" and (text := _split_by_env(words[at : at + 3])):
        return Script(at + 2, given=text)
    if name == "ssh":
        at = behind_options(words, at + 1, _SSH_TAKES) + 1  # the host
        if at < len(words) and words[at] == "--":
            at += 1
        return Script(at, words, "" if at < len(words) else stdin)
    if name == "trap":
        at = behind_options(words, at + 1, frozenset())
        return Script(at, given=words[at] if at < len(words) else "")
    if name in _TAKE_SCRIPT and (script := _behind_option(words, at, _TAKE_SCRIPT[name])):
        return Script(at, given=script)
    if name == "git" and "foreach" in words[at : at + 4]:
        return Script(words.index("foreach", at) + 1, words)
    if name == "at":
        return Script(len(words), given=stdin)
    if name in ("tmux", "screen") and (script := words[-1]).count(" "):
        return Script(at, given=script)
    if name in ("eval", "watch"):
        at = behind_options(words, at + 1, _WATCH_TAKES)
        return Script(at, words)
    return None


def _behind_option(words: Sequence[str], at: int, option: str) -> str:
    """Return the word behind an option; empty if it is not there."""
    begin = words.index(option, at) + 1 if option in words[at:] else len(words)
    return words[begin] if begin < len(words) else ""


def _split_by_env(words: Sequence[str]) -> str:
    """Return the text that env splits into words, if its first option says so."""
    option = words[1] if len(words) > 1 else ""
    if option in ("-S", "--split-string"):
        return words[2] if len(words) > 2 else ""
    return option.removeprefix("--split-string=") if option.startswith("--split-string=") else ""


def _script_of_shell(name: str, words: Sequence[str], at: int, stdin: str) -> Script | None:
    reads = True
    for position in range(at + 1, len(words)):
        word = words[position]
        if re.fullmatch(r"-[a-zA-Z]*c|--command", word):
            return Script(position + 1, given=words[position + 1] if position + 1 < len(words) else "")
        if re.fullmatch(r"-[a-zA-Z]*s", word):
            break
        if not word.startswith(("-", "+")) and not _SHELL_TAKES.fullmatch(words[position - 1]) and name != "su":
            reads = False  # a file
            break
    return Script(len(words), given=stdin) if reads else None


def behind_options(words: Sequence[str], at: int, takes: Collection[str]) -> int:
    """Return the index behind the options at an index; some take the next word."""
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 2 if words[at] in takes else 1
    return at + 1 if at < len(words) and words[at] == "--" else at


def _in_container(words: Sequence[str], at: int) -> int:
    """Return where the command begins that runs in an existing container; 0 if there is none."""
    if "exec" not in words[at : at + 6]:
        return 0
    begin = words.index("exec", at) + 1
    if "--" in words[begin : begin + 12]:
        return words.index("--", begin) + 1
    return behind_options(words, begin, _EXEC_TAKES) + 1  # the container


def runs_of_find(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the commands that find runs, by its words; none for any other program."""
    if words[0] not in _FINDERS:
        return
    begin = 0
    for at, word in enumerate(words):
        if begin and word in (";", "+"):
            if words[begin:at]:
                yield words[begin:at]
            begin = 0
        elif not begin and word in _FIND_RUNS:
            begin = at + 1
    if begin and words[begin:]:
        yield words[begin:]


_LOOSE_ENDS = late_pattern(r"[;&|(){}`\n]")
_QUOTES = str.maketrans("", "", "'\"\\")


def _loose_commands(text: str) -> Iterator[Command]:
    """Yield the commands that a text may run, as if nothing in it were quoted."""
    for piece in _LOOSE_ENDS.split(text):
        words = piece.translate(_QUOTES).split()
        begin = 0
        while begin < len(words) and (words[begin] in _BEFORE_COMMANDS or assigns(words[begin])):
            begin += 1
        if begin < len(words):
            yield from _run_by(_named(words[begin:], ""), None, 0)
