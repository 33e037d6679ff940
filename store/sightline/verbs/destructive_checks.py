"""Decides what forms of `destructive.toml` cannot say: SQL, code, modes, signals, what a file or a branch holds."""

import os
from fnmatch import fnmatchcase

from sightline.base.project import has_branch, repository_of
from sightline.light.late_pattern import re
from sightline.light.typing_names import Callable, Collection, Iterator, Sequence
from sightline.shell_words.commands import Command
from sightline.verbs.command_forms import DestructiveKind


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _has_letter(words: Sequence[str], letter: str) -> bool:
    return any(word[:1] == "-" and word[1:2] != "-" and letter in word for word in words)


def _values(command: Command, options: Collection[str]) -> Iterator[str]:
    """Yield what stands behind some options, in the next word or in the same."""
    for word, following in zip(command.words[1:], (*command.words[2:], ""), strict=False):
        name, equals, value = word.partition("=")
        if name in options:
            yield value if equals else following


# Files

_DEVICES = (
    "/dev/sd*",
    "/dev/nvme*",
    "/dev/hd*",
    "/dev/vd*",
    "/dev/xvd*",
    "/dev/mmcblk*",
    "/dev/disk*",
    "/dev/mem",
    "/proc/sysrq-trigger",
)


def _is_silent(command: Command) -> bool:
    name, words = command.name, command.words[1:]
    if name in ("echo", "printf"):  # that of echo is a newline at most
        return not any(word for word in words if word != "-n")
    return name in (":", "true", "false") or (name == "cat" and words == ("/dev/null",))


def _empties_file(command: Command, folder: str, _: DestructiveKind) -> bool:
    """Return whether the output of a command without output goes to a file that holds something."""
    if not command.emptied or not _is_silent(command):
        return False
    return any(_holds_something(path, folder) for path in command.emptied)


def _holds_something(path: str, folder: str) -> bool:
    file = os.path.join(folder, os.path.expandvars(os.path.expanduser(path)))
    return os.path.isfile(file) and os.path.getsize(file) > 0


def _overwrites(command: Command, folder: str, _: DestructiveKind) -> bool:
    """Return whether ``dd`` writes to a device, or to a file that holds something."""
    paths = [path for path in _values(command, ("of",)) if path not in ("/dev/null", "/dev/stdout", "/dev/stderr")]
    return any(re.match("/dev/(?!shm/)", path) or "$" in path or _holds_something(path, folder) for path in paths)


def _writes_device(command: Command, _: str, __: DestructiveKind) -> bool:
    return any(fnmatchcase(path, device) for path in command.emptied for device in _DEVICES)


def _takes_nothing(command: Command, _: str, __: DestructiveKind) -> bool:
    """Return whether ``cp`` or ``ln`` puts /dev/null in the place of a file."""
    return [word for word in command.words[1:] if word[:1] != "-"][:1] == ["/dev/null"]


_EMPTIED = r"\s(?:-[co]*s\s?|--size[= ])(?:0+|[-<]\d+)[A-Za-z]{0,2}(?=\s|$)"


def _cuts_to_nothing(command: Command, _: str, __: DestructiveKind) -> bool:
    return bool(re.search(_EMPTIED, " ".join(command.words)))


_LONGEST_MODE = 200  # characters: the pattern takes the square of their number
_WRITABLE_BY_ALL = r"[0-7]?777|(?:.*,)?(?:[ugo]*a[ugoa]*|[ugo]*o[ugo]*)[+=][rxXst]*w[rwxXst]*(?:,.*)?"


def _lets_all_write(command: Command, _: str, __: DestructiveKind) -> bool:
    mode = next((word for word in command.words[1:] if not word.startswith("-")), "")
    return len(mode) <= _LONGEST_MODE and bool(re.fullmatch(_WRITABLE_BY_ALL, mode))


# Branches


def _replaces_branch(command: Command, folder: str, _: DestructiveKind) -> bool:
    """Return whether git gives a branch a name, or a commit, that another branch has now."""
    words = command.words
    for subcommand, letter in (("branch", "M"), ("checkout", "B"), ("switch", "C")):
        if subcommand in words and _has_letter(words[(at := words.index(subcommand)) :], letter):
            names = [word for word in words[at + 1 :] if word[:1] != "-"]
            name = names[-1:] if subcommand == "branch" else names[:1]
            elsewhere = words[words.index("-C") + 1] if "-C" in words[:at] else ""
            return bool(name) and has_branch(repository_of(os.path.join(folder, elsewhere)), name[0])
    return False


# Databases

_DROPS = r"(?i)\b(?:drop\s+(?:table|database|schema|keyspace|owned|user|role)|truncate\s+table)\b"
_ONLY_IN_SQL = (
    r"(?i)\s*(?:truncate\s+[\w\".`]+\s*$|update\s+[\w\".`]+\s+set\b(?!.*\bwhere\b)|alter\s+table\b.*\bdrop\b)"
)
_DELETES, _WHERE = r"(?i)\bdelete\s+from\s+\S", r"(?i)\bwhere\b"
_MENTIONS = _words(
    "grep egrep fgrep rg ag ack git gh glab hg echo printf cat tee head tail less more sed awk gawk wc sort uniq tr "
    "cut diff patch jq test [ [[ : true false export set read find fd ls curl man alias"
)
_TAKES_SQL = _words("-c -e -q -Q -r -E --command --execute --eval --query --sql --inline")


def _deletes(text: str) -> bool:
    return bool(re.search(_DROPS, text)) or any(
        re.search(_DELETES, statement) and not re.search(_WHERE, statement) for statement in text.split(";")
    )


def _deletes_data(command: Command, _: str, __: DestructiveKind) -> bool:
    """Return whether a database program is given SQL that deletes data."""
    texts = (*command.words[1:], command.stdin)
    return any(_deletes(text) for text in (" ".join(texts), command.stdin)) or any(
        re.match(_ONLY_IN_SQL, statement, re.DOTALL) for text in texts for statement in _statements(text)
    )


def _statements(text: str) -> Iterator[str]:
    """Yield statements of SQL; an option may stand before the first one, as in ``--execute=TRUNCATE x``."""
    for statement in text.split(";"):
        yield statement.partition("=")[2] if statement.startswith("--") else statement


def _option_deletes_data(command: Command, _: str, __: DestructiveKind) -> bool:
    """Return whether SQL that deletes data reaches a program that may run it, rather than one that searches it."""
    if command.name in _MENTIONS:
        return False
    return _deletes(command.stdin) or any(map(_deletes, _values(command, _TAKES_SQL)))


_DROPS_DOCUMENTS = r"\bdropDatabase\b|\.drop\s*\(|\.(?:deleteMany|remove)\s*\(\s*(?:\{\s*\}\s*)?\)"


def _drops_documents(command: Command, _: str, __: DestructiveKind) -> bool:
    return bool(re.search(_DROPS_DOCUMENTS, f"{' '.join(command.words)} {command.stdin}"))


def _flushes(command: Command, _: str, __: DestructiveKind) -> bool:
    said = f"{' '.join(command.words)} {command.stdin}".lower().split()
    return "flushall" in said or "flushdb" in said


def _asks_to_delete(command: Command, _: str, __: DestructiveKind) -> bool:
    return "DELETE" in _values(command, ("-X", "--request"))


# Processes


def _signals(words: Sequence[str]) -> Iterator[str]:
    """Yield the signals that the options of kill, pkill or killall name."""
    for word, following in zip(words[1:], (*words[2:], ""), strict=False):
        if word in ("-s", "-n", "--signal"):
            yield following
        elif word.startswith("--signal="):
            yield word.partition("=")[2]
        elif word.startswith("-") and not word.startswith("--"):
            yield word[2:] if word[1:2] in ("s", "n") else word[1:]


def _kills(command: Command, _: str, __: DestructiveKind) -> bool:
    words = command.words[: command.words.index("--")] if "--" in command.words else command.words
    if "--list" in words or _has_letter(words, "l"):
        return False
    for signal in _signals(words):
        if signal.upper().removeprefix("SIG") in ("9", "KILL"):
            return True
        if command.name == "kill" and signal:
            return False  # a number after the signal is a process group
    return False


# Other programs

_MOST_SUBCOMMANDS = 4
_SUBCOMMAND = r"[a-z][a-z0-9_:-]{0,30}"
_HYPHENS = str.maketrans("_:", "--")
_FLAGS = _words(  # options without a value, or whose value is a verb
    "--all --force --yes --verbose --quiet --debug --json --user --system --global --recursive --interactive "
    "--non-interactive --assume-yes --auto-approve --action --mode --operation --command"
)


def _says_delete(command: Command, _: str, kind: DestructiveKind, within: bool = False) -> bool:
    """Return whether a program's name or a subcommand is a verb, as in ``tool --debug volume delete NAME``.

    Args:
        command: the command.
        kind: the kind with the verbs.
        within: whether the verb must stand behind another subcommand.
    """
    if command.words[-1] in ("-h", "/?"):  # help; of rsync, -h means another thing
        return False
    name = command.name.partition(".")[0].lower().translate(_HYPHENS)
    if not within and "-" in name and _has_verb(name, kind.words):  # pkg_delete
        return True
    before, passed = "", 0
    for at, word in enumerate(command.words[1:], 2):
        if not _takes_value(before) and not word.startswith("-"):
            passed += 1
            parts = word.translate(_HYPHENS)
            if not re.fullmatch(_SUBCOMMAND, word) or not kind.spared.isdisjoint(parts.split("-")):
                return False
            if word in kind.words or _has_verb(parts, kind.words):
                is_within = passed > 1 or ":" in word
                if word == "d":  # tool droplet d NAME, but not od -t d FILE
                    return passed > 1 and before[:1] != "-" and at < len(command.words)
                return is_within or not within
            if passed == _MOST_SUBCOMMANDS:
                return False
        before = word
    return False


def _says_delete_within(command: Command, folder: str, kind: DestructiveKind) -> bool:
    return _says_delete(command, folder, kind, within=True)


def _has_verb(word: str, verbs: Collection[str]) -> bool:
    """Return whether a word, whose parts hyphens join, begins or ends with a verb."""
    return any(len(part) > 1 and part in verbs for part in (word.partition("-")[0], word.rpartition("-")[2]))


def _takes_value(option: str) -> bool:
    """Return whether a long option takes the next word, as far as one can tell."""
    return option.startswith("--") and "=" not in option and option not in _FLAGS and not option.startswith("--no-")


# Code

_INTERPRETERS = _words(
    "python ipython pypy node nodejs deno bun perl ruby php lua Rscript go tsx pwsh powershell rails gitlab-rails"
)
_TAKES_CODE = _words("-c -e -E -r -p -ne -ni -pe -i -le --eval --print --run -Command eval runner")
_MEANT = {"remove": r"os\.remove", "delete": r"(?:File\.|all\(\)\.)delete"}  # by themselves, these words mean anything
_ONE_FILE = ("unlink", *_MEANT.values())
_RUNS_SHELL = r"(?:\b(?:system|\w*[pP]open|run|call|check_\w+|exec\w*|spawn\w*|shell_exec|passthru|qx|sh|cmd)\b|%x|`)"
_DELETES_BY_SHELL = r"\brm['\",\s]{1,8}-\w*[rR]"


def _deletes_in_code(command: Command, _: str, kind: DestructiveKind) -> bool:
    """Return whether code in a command line deletes folders, or, in an option, even one file."""
    if command.name.partition(".")[0].rstrip("0123456789") not in _INTERPRETERS:
        return False
    names = [_MEANT.get(name, name) for name in kind.words]
    recursive = [name for name in names if not name.startswith(_ONE_FILE)]
    return any(_calls(code, names) for code in _values(command, _TAKES_CODE)) or _calls(command.stdin, recursive)


def _calls(code: str, names: Collection[str]) -> bool:
    shell = re.search(_RUNS_SHELL, code)
    by_shell = shell and re.search(_DELETES_BY_SHELL, code[shell.end() :])
    return bool(by_shell or re.search(rf"\b(?:{'|'.join(names)})\b(?!['\"])", code))


CHECKS: dict[str, Callable[[Command, str, DestructiveKind], bool]] = {
    "empties_file": _empties_file,
    "overwrites": _overwrites,
    "writes_device": _writes_device,
    "takes_nothing": _takes_nothing,
    "cuts_to_nothing": _cuts_to_nothing,
    "lets_all_write": _lets_all_write,
    "replaces_branch": _replaces_branch,
    "deletes_data": _deletes_data,
    "option_deletes_data": _option_deletes_data,
    "drops_documents": _drops_documents,
    "flushes": _flushes,
    "asks_to_delete": _asks_to_delete,
    "kills": _kills,
    "deletes_in_code": _deletes_in_code,
    "says_delete": _says_delete,
    "says_delete_within": _says_delete_within,
}
"""What the names in the data stand for: functions of the command, the folder that it runs in, and the kind."""
