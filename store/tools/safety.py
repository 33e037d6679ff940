"""Commands that are not run at once: they wait until the caller confirms. A seat belt, not a sandbox."""

import re
from typing import NamedTuple

from sightline.store.errors import SettingError

_START = r"(?:^|[;&|({`\n]|\$\(|\b(?:sudo|doas|env|nohup|time|exec|command|xargs|then|do|else)(?:\s+-\S+|\s+\w+=\S*)*\s|-c\s+['\"])\s*"
_GIT = _START + r"git(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+"


class Kind(NamedTuple):
    """A kind of destructive command.

    Attributes:
        name: what the settings call it.
        pattern: finds it in a command line.
        reason: what it does.
    """

    name: str
    pattern: str
    reason: str


KINDS = (
    Kind("rm -rf", _START + r"rm\s+(?:\S+\s+)*?(?:-\w*[rR]\w*|--recursive)\b", "removes folders with all they hold"),
    Kind(
        "git push --force",
        _GIT + r"push\b[^;&|\n]*\s(?:--force(?:-with-lease)?\b|-\w*f\w*\b|\+\S)",
        "overwrites history on a remote",
    ),
    Kind("git reset --hard", _GIT + r"reset\b[^;&|\n]*\s--hard\b", "throws away uncommitted changes"),
    Kind("git clean -f", _GIT + r"clean\b[^;&|\n]*\s(?:-\w*f\w*|--force)\b", "deletes untracked files"),
    Kind(
        "git branch -D",
        _GIT + r"branch\b[^;&|\n]*\s(?:-\w*D\w*|--delete\s+--force)\b",
        "deletes a branch that may not be merged",
    ),
    Kind(
        "git checkout -- .",
        _GIT + r"(?:checkout\b[^;&|\n]*\s(?:--\s+)?\.|restore\b(?![^;&|\n]*--staged)[^;&|\n]*\s\.)(?=\s|$|[;&|)])",
        "throws away uncommitted changes",
    ),
    Kind("DROP TABLE", r"(?i)\bdrop\s+(?:table|database|schema)\b", "deletes data from a database"),
    Kind("chmod 777", _START + r"chmod\s+(?:-\S+\s+)*(?:0?777|a\+rwx)\b", "lets everyone write"),
    Kind(
        "kill -9",
        _START + r"(?:p?kill|killall)\s+(?:-\S+\s+)*-(?:9|KILL|SIGKILL|s\s*(?:9|KILL|SIGKILL))\b",
        "ends a process without letting it clean up",
    ),
    Kind("mkfs", _START + r"mkfs(?:\.\w+)?\b", "formats a file system"),
    Kind("dd of=", _START + r"dd\b[^;&|\n]*\sof=", "overwrites a device or a file"),
)


def reason_to_confirm(command: str, confirm: tuple[str, ...] | None) -> str:
    """Why a command waits for a confirmation; empty where it does not.

    Args:
        command: the command line.
        confirm: names of kinds and regular expressions, as ``[safety] confirm`` has them; None means all known kinds.
    """
    by_name = {kind.name: kind for kind in KINDS}
    wanted = list(KINDS) if confirm is None else [by_name.get(item) or _own(item) for item in confirm]
    for kind in wanted:
        if re.search(kind.pattern, command):
            return f"{kind.name}: {kind.reason}"
    return ""


def _own(pattern: str) -> Kind:
    try:
        re.compile(pattern)
    except re.error as error:
        raise SettingError(
            f"safety.confirm: {pattern!r} is no regular expression: {error}", "a kind's name or a regex"
        ) from error
    return Kind(pattern, pattern, "the settings ask for a confirmation")
