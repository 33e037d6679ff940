"""Recognises commands that wait until the caller confirms them. This is a seat belt, not a sandbox."""

from sightline.errors import SettingError
from sightline.late_pattern import re
from sightline.named_tuple import NamedTuple
from sightline.typing_names import TYPE_CHECKING, Callable, Collection, Iterator, Sequence
from sightline.verbs import late

if TYPE_CHECKING:
    from sightline.shell_words.commands import Command


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALL = "all"
"""Stands for every known kind in ``[safety] confirm_not``."""


class DestructiveKind(NamedTuple):
    """A kind of destructive command.

    Attributes:
        name: name of the kind in the settings.
        programs: names of its programs; empty if any program may be.
        asks: returns whether a command of these programs waits.
        reason: what the command does.
    """

    name: str
    programs: frozenset[str]
    asks: Callable[["Command"], bool]
    reason: str


def reason_to_confirm(line: str, confirm: Collection[str] = (), confirm_not: Collection[str] = ()) -> str:
    """Return why a command waits for a confirmation; empty if it does not.

    Args:
        line: the command line.
        confirm: regular expressions, and names of known kinds, for further commands that wait.
        confirm_not: names of known kinds that do not wait, or ALL, and regular expressions to take out of ``confirm``.

    Raises:
        SettingError: a name is not one of a kind, or a regular expression is faulty.
    """
    names = {kind.name for kind in KINDS}
    for name in confirm_not:
        if name != ALL and name not in names and name not in confirm:
            raise SettingError(
                f"safety.confirm_not: there is no kind {name!r}", f"known are: {ALL}, {', '.join(names)}"
            )
    for pattern in confirm:
        if pattern not in names and pattern not in confirm_not and _own(pattern).search(line):
            return f"{pattern}: the settings ask for a confirmation"
    kinds = [
        kind for kind in KINDS if kind.name not in confirm_not and (ALL not in confirm_not or kind.name in confirm)
    ]
    return _reason(line, kinds) if kinds else ""


def _reason(line: str, kinds: Sequence[DestructiveKind]) -> str:
    plain = line.translate(_QUOTES)
    if not any(word in plain for word in _SIGNS) and "drop" not in plain.lower() and "$'" not in line:
        return ""
    for command in late.commands_in(line):
        options = _before(command.words, "--")
        if "--help" in options or "--version" in options:
            continue
        for kind in kinds:
            if (not kind.programs or command.name in kind.programs) and kind.asks(command):
                return f"{kind.name}: {kind.reason}"
    return ""


def _own(pattern: str) -> "re.Pattern[str]":
    try:
        return re.compile(pattern)
    except re.error as error:
        raise SettingError(
            f"safety.confirm: {pattern!r} is no regular expression: {error}", "a kind's name or a regex"
        ) from error


def _before(words: Sequence[str], stop: str) -> Sequence[str]:
    return words[: words.index(stop)] if stop in words else words


def _has(words: Sequence[str], letters: str, *names: str) -> bool:
    """Return whether an option is among the words: one of the letters, alone or joined, or a name that begins so."""
    return any(
        word.split("=")[0] in names
        if word.startswith("--")
        else word.startswith("-") and not set(letters).isdisjoint(word[1:])
        for word in _before(words, "--")
    )


def _subcommand(words: Sequence[str], takes: str) -> Sequence[str]:
    """Return a program's words from the first one that is not an option.

    Args:
        words: words of the command, with the program's name.
        takes: its options that take the next word as their value.
    """
    at, with_value = 1, takes.split()
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in with_value else 1
    return words[at:]


def _git(*names: str) -> Callable[["Command"], Sequence[str]]:
    """Return a function for the words after one of git's subcommands, which are empty for any other subcommand."""

    def words(command: "Command") -> Sequence[str]:
        rest = _subcommand(command.words, "-C -c --git-dir --work-tree --namespace --config-env")
        return rest if rest and rest[0] in names else ()

    return words


_pushed, _reset, _cleaned, _branch, _stashed = map(_git, ("push", "reset", "clean", "branch", "stash"))
_checked_out, _restored, _switched = map(_git, ("checkout", "restore", "switch"))


def _pushes(command: "Command") -> Sequence[str]:
    words = _pushed(command)
    return () if _has(words, "n", "--dry-run") else words[1:]


def _forces_push(command: "Command") -> bool:
    words = _pushes(command)
    return _has(words, "f", "--force", "--force-with-lease") or any(word[:1] == "+" and word[1:] for word in words)


def _deletes_by_push(command: "Command") -> bool:
    words = _pushes(command)
    return _has(words, "d", "--delete", "--mirror", "--prune") or any(word[:1] == ":" and word[1:] for word in words)


def _cleans(command: "Command") -> bool:
    words = _cleaned(command)
    return _has(words, "f", "--force") and not _has(words, "n", "--dry-run")


def _deletes_branch(command: "Command") -> bool:
    words = _branch(command)
    return _has(words, "D") or (_has(words, "d", "--delete") and _has(words, "f", "--force"))


def _checks_out_all(command: "Command") -> bool:
    if words := _checked_out(command):
        return "." in words or ":/" in words
    words = _restored(command)
    only_staged = _has(words, "S", "--staged") and not _has(words, "W", "--worktree")
    return ("." in words or ":/" in words) and not only_staged


def _checks_out_by_force(command: "Command") -> bool:
    words = _checked_out(command) or _switched(command)
    return _has(words, "f", "--force", "--discard-changes")


# The patterns are compiled at their first use, because at every start they would take half a millisecond.
_DROPS = r"(?i)\bdrop\s+(?:table|database|schema)\b"
_DATABASES = _words(
    "psql mysql mariadb sqlite3 sqlite duckdb clickhouse clickhouse-client cockroach sqlcmd sqlplus usql pgcli mycli "
    "litecli cqlsh snowsql bq hive beeline trino presto"
)
_MENTIONS = _words(
    "grep egrep fgrep rg ag ack git gh glab hg echo printf cat tee head tail less more sed awk gawk wc sort uniq tr "
    "cut diff patch jq test [ [[ : true false export set read find fd ls curl man alias"
)
_TAKES_SQL = _words("-c -e -q -Q -r -E --command --execute --eval --query --sql --inline")


def _drops_data(command: "Command") -> bool:
    """Return whether SQL that drops data reaches a program that may run it, rather than one that searches it."""
    name, words = command.name, command.words
    if name in _MENTIONS:
        return False
    if re.search(_DROPS, command.stdin):
        return True
    if name in _DATABASES:
        return bool(re.search(_DROPS, " ".join(words)))
    return any(
        before.partition("=")[0] in _TAKES_SQL and re.search(_DROPS, f"{before} {word}")
        for before, word in zip(words, (*words[1:], ""), strict=True)
    )


_WRITABLE_BY_ALL = r"[0-7]?777|(?:.*,)?(?:[ugo]*a[ugoa]*|[ugo]*o[ugo]*)[+=][rxXst]*w[rwxXst]*(?:,.*)?"


def _lets_all_write(command: "Command") -> bool:
    modes = (word for word in command.words[1:] if not word.startswith("-"))
    return bool(re.fullmatch(_WRITABLE_BY_ALL, next(modes, "")))


def _signals(words: Sequence[str]) -> Iterator[str]:
    """Yield the signals that the options of kill, pkill or killall name."""
    for word, following in zip(words[1:], (*words[2:], ""), strict=True):
        if word in ("-s", "-n", "--signal"):
            yield following
        elif word.startswith("--signal="):
            yield word.partition("=")[2]
        elif word.startswith("-") and not word.startswith("--"):
            yield word[2:] if word[1:2] in ("s", "n") else word[1:]


def _kills(command: "Command") -> bool:
    words = _before(command.words, "--")
    if _has(words, "l", "--list"):
        return False
    for signal in _signals(words):
        if signal.upper().removeprefix("SIG") in ("9", "KILL"):
            return True
        if command.name == "kill" and signal:
            return False  # a number after the signal is a process group
    return False


_EMPTIED = r"\s(?:-[co]*s\s?|--size[= ])0+[A-Za-z]{0,2}(?=\s|$)"


def _overwrites(command: "Command") -> bool:
    return any(word.startswith("of=") and word not in ("of=/dev/null", "of=/dev/stdout") for word in command.words)


def _flushes(command: "Command") -> bool:
    said = f"{' '.join(command.words)} {command.stdin}".lower().split()
    return "flushall" in said or "flushdb" in said


def _destroys(command: "Command") -> bool:
    words = _subcommand(command.words, "")
    return words[:1] == ("destroy",) or (words[:1] == ("apply",) and ("-destroy" in words or "--destroy" in words))


def _deletes_from_cluster(command: "Command") -> bool:
    words = _subcommand(
        command.words, "-n --namespace --context --cluster --user --kubeconfig -s --server --as --token -v"
    )
    return words[:1] == ("delete",) and not any(
        word.startswith("--dry-run") and not word.endswith("=none") for word in words
    )


def _prunes(command: "Command") -> bool:
    words = _subcommand(command.words, "-H --host -c --context --config -l --log-level")
    return tuple(words[:2]) in (("system", "prune"), ("volume", "prune"))


def _removes_from_s3(command: "Command") -> bool:
    words = _subcommand(
        command.words, "--profile --region --endpoint-url --output --query --ca-bundle --color --cli-read-timeout"
    )
    if "--dryrun" in words:
        return False
    return (tuple(words[:2]) == ("s3", "rm") and "--recursive" in words) or (
        tuple(words[:2]) == ("s3", "rb") and "--force" in words
    )


def _always(_: "Command") -> bool:
    return True


_GIT = _words("git")
KINDS = (
    DestructiveKind(
        "rm -rf",
        _words("rm"),
        lambda command: _has(command.words, "rR", "--recursive"),
        "removes folders with all they hold",
    ),
    DestructiveKind("git push --force", _GIT, _forces_push, "overwrites history on a remote"),
    DestructiveKind("git push --delete", _GIT, _deletes_by_push, "deletes branches on a remote"),
    DestructiveKind(
        "git reset --hard", _GIT, lambda command: _has(_reset(command), "", "--hard"), "throws away uncommitted changes"
    ),
    DestructiveKind("git clean -f", _GIT, _cleans, "deletes untracked files"),
    DestructiveKind("git branch -D", _GIT, _deletes_branch, "deletes a branch that may not be merged"),
    DestructiveKind("git checkout -- .", _GIT, _checks_out_all, "throws away uncommitted changes"),
    DestructiveKind("git checkout -f", _GIT, _checks_out_by_force, "throws away uncommitted changes"),
    DestructiveKind(
        "git stash clear", _GIT, lambda command: "clear" in _stashed(command)[1:2], "throws away all that was stashed"
    ),
    DestructiveKind("DROP TABLE", frozenset(), _drops_data, "deletes data from a database"),
    DestructiveKind("dropdb", _words("dropdb"), _always, "deletes a database"),
    DestructiveKind("redis-cli flushall", _words("redis-cli valkey-cli"), _flushes, "deletes data from a database"),
    DestructiveKind("chmod 777", _words("chmod"), _lets_all_write, "lets everyone write"),
    DestructiveKind(
        "kill -9", _words("kill pkill killall skill"), _kills, "ends a process without letting it clean up"
    ),
    DestructiveKind(
        "find -delete", _words("find"), lambda command: "-delete" in command.words, "deletes every file that it finds"
    ),
    DestructiveKind("shred", _words("shred"), _always, "overwrites files, so that nothing brings them back"),
    DestructiveKind(
        "truncate -s 0",
        _words("truncate"),
        lambda command: bool(re.search(_EMPTIED, " ".join(command.words))),
        "empties files",
    ),
    DestructiveKind(
        "mkfs", frozenset(), lambda command: command.name.partition(".")[0] == "mkfs", "formats a file system"
    ),
    DestructiveKind("dd of=", _words("dd"), _overwrites, "overwrites a device or a file"),
    DestructiveKind(
        "terraform destroy", _words("terraform tofu terragrunt"), _destroys, "takes down what runs, with its data"
    ),
    DestructiveKind("kubectl delete", _words("kubectl oc"), _deletes_from_cluster, "deletes what runs in a cluster"),
    DestructiveKind(
        "docker system prune", _words("docker podman nerdctl"), _prunes, "deletes images, containers or volumes"
    ),
    DestructiveKind("aws s3 rm --recursive", _words("aws"), _removes_from_s3, "deletes many objects of a bucket"),
)
_SIGNS = ("mkfs", *sorted(frozenset().union(*(kind.programs for kind in KINDS)), key=len))
_QUOTES = str.maketrans("", "", "'\"\\\n")
