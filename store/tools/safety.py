"""Commands that are not run at once: they wait until the caller confirms. A seat belt, not a sandbox."""

import re
from typing import NamedTuple

from sightline.store.errors import SettingError

_RUNNERS = "sudo|doas|env|nohup|time|timeout|nice|exec|command|xargs|then|do|else|if|while|until|!"
_START = (
    r"(?:(?:^|[;&|({`\n]|\$\(|-c\s+['\"])\s*(?:\w+=\S*\s+)*"  # where a command begins, with variables set for it
    rf"(?:(?:{_RUNNERS})(?:\s+[^\s;&|]+)*?\s+)?|-exec(?:dir)?\s+)"  # or after words that run one
    r"(?:[^\s;&|'\"]*/|\\)?"  # by its path; an alias avoided
)
_GIT = _START + r"git(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+"
_QUOTED = r"(?s)\\.|'[^']*'|\"(?:\\.|[^\"\\])*\""
_RUN_QUOTED = r"(?:-c|\beval|\bssh\s+\S+)\s+\Z"


class Kind(NamedTuple):
    """A kind of destructive command.

    Attributes:
        name: what the settings call it.
        word: stands in every such command line, in small letters: looked for before the pattern is compiled.
        pattern: finds it in a command line.
        reason: what it does.
    """

    name: str
    word: str
    pattern: str
    reason: str


KINDS = (
    Kind(
        "rm -rf",
        "rm",
        _START + r"rm\s+(?:[^\s;&|]+\s+)*?(?:-\w*[rR]\w*|--recursive)\b",
        "removes folders with all they hold",
    ),
    Kind(
        "git push --force",
        "push",
        _GIT + r"push\b[^;&|\n]*\s(?:--force(?:-with-lease)?\b|-\w*f\w*\b|\+\S)",
        "overwrites history on a remote",
    ),
    Kind("git reset --hard", "reset", _GIT + r"reset\b[^;&|\n]*\s--hard\b", "throws away uncommitted changes"),
    Kind("git clean -f", "clean", _GIT + r"clean\b[^;&|\n]*\s(?:-\w*f\w*|--force)\b", "deletes untracked files"),
    Kind(
        "git branch -D",
        "branch",
        _GIT + r"branch\b[^;&|\n]*\s(?:-\w*D\w*|(?:-d|--delete)\s+(?:-f|--force)|(?:-f|--force)\s+(?:-d|--delete))\b",
        "deletes a branch that may not be merged",
    ),
    Kind(
        "git checkout -- .",
        "git",
        _GIT + r"(?:checkout\b[^;&|\n]*\s(?:--\s+)?\.|restore\b(?![^;&|\n]*--staged)[^;&|\n]*\s\.)(?=\s|$|[;&|)])",
        "throws away uncommitted changes",
    ),
    Kind(
        "DROP TABLE",
        "drop",
        r"(?is)\A(?!\s*(?:[ef]?grep|rg|git)\b[^;&|\n]*\Z).*\bdrop\s+(?:table|database|schema)\b",
        "deletes data from a database",
    ),
    Kind("chmod 777", "chmod", _START + r"chmod\s+(?:-\S+\s+)*(?:0?777|a\+rwx)\b", "lets everyone write"),
    Kind(
        "kill -9",
        "kill",
        _START + r"(?:p?kill|killall)\s+(?:-\S+\s+)*-(?:9|KILL|SIGKILL|s\s*(?:9|KILL|SIGKILL))\b",
        "ends a process without letting it clean up",
    ),
    Kind("mkfs", "mkfs", _START + r"mkfs(?:\.\w+)?\b", "formats a file system"),
    Kind("dd of=", "dd", _START + r"dd\b[^;&|\n]*\sof=", "overwrites a device or a file"),
)


def reason_to_confirm(command: str, confirm: tuple[str, ...] | None) -> str:
    """Why a command waits for a confirmation; empty where it does not.

    Args:
        command: the command line.
        confirm: names of kinds and regular expressions, as ``[safety] confirm`` has them; None means all known kinds.
    """
    by_name = {kind.name: kind for kind in KINDS}
    wanted = list(KINDS) if confirm is None else [by_name.get(item) or _own(item) for item in confirm]
    small = command.lower()
    for kind in wanted:
        if kind.word in small and re.search(kind.pattern, _outside_quotes(command) if kind.word else command):
            return f"{kind.name}: {kind.reason}"
    return ""


def _outside_quotes(command: str) -> str:
    """The command without what would begin another, where it is quoted: ``git commit -m 'a; rm -r'`` is harmless."""

    def defused(match: re.Match[str]) -> str:
        text = match[0]
        if text[0] == "\\" or re.search(_RUN_QUOTED, command[: match.start()]):
            return text
        return re.sub(r"[;&|({`\n$]" if text[0] == "'" else r"(?<!\$)[;&|({\n]", "_", text)

    return re.sub(_QUOTED, defused, command)


def _own(pattern: str) -> Kind:
    try:
        re.compile(pattern)
    except re.error as error:
        raise SettingError(
            f"safety.confirm: {pattern!r} is no regular expression: {error}", "a kind's name or a regex"
        ) from error
    return Kind(pattern, "", pattern, "the settings ask for a confirmation")
