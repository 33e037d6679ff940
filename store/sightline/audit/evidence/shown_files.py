"""Tells which files a command shows lines of: those that it names, some that it does not name, or none."""

from functools import lru_cache

from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import WritingProgram, programs_of

NOTHING, NAMED, AT_LARGE = "nothing", "named", "at large"

_NO_LINES = """ls wc stat test [ file rm mkdir rmdir touch chmod chown cp mv ln which type du df cd pwd echo printf true
    false basename dirname realpath readlink tree sleep kill md5sum sha256sum shasum"""
_SHOW_NONE = frozenset(_NO_LINES.split())
"""Programs that may name a file, and show no line of it."""

_GIT_SHOWS = frozenset(("show", "diff", "log", "grep", "blame", "cat-file", "stash", "annotate"))
_COUNTING = frozenset("cLlq")
_SEARCH = frozenset(("grep", "egrep", "fgrep", "rg"))
_READERS = frozenset(("cat", "head", "tail", "sed", "awk", "less", "more", "nl", "bat", "xxd"))


@lru_cache(maxsize=512)
def shows_lines(command: str) -> str:
    """Return NAMED if a command may show lines of files that it names, AT_LARGE for files unnamed, else NOTHING."""
    try:
        programs = programs_of(command)
    except Unclear:
        return AT_LARGE
    found = {_shown_by(one) for one in programs}
    return next((one for one in (AT_LARGE, NAMED) if one in found), NOTHING)


def scripts_run(command: str) -> frozenset[str]:
    """Return the names of scripts that a command runs, and that none of its other programs may show."""
    try:
        programs = programs_of(command)
    except Unclear:
        return frozenset()
    others = " ".join(word for one in programs for word in one.words[1:])
    return frozenset(one.name for one in programs if "." in one.name and one.name not in others)


def _shown_by(program: WritingProgram) -> str:
    name, options = program.name, [word for word in program.words[1:] if word[:1] == "-"]
    if name in _SHOW_NONE or (name in ("sed", "perl") and any(one[:2] == "-i" for one in options)):
        return NOTHING
    ran = (name, *program.plain) if name[-3:] == ".sh" else program.plain if name in ("bash", "sh", "zsh") else ()
    if name in ("find", "fd") or (len(ran) == 1 and ran[0][-3:] == ".sh"):  # a script's own lines are not shown
        return NOTHING
    if name == "git":
        return NAMED if program.plain[:1] and program.plain[0] in _GIT_SHOWS else NOTHING
    if name in _SEARCH:
        letters = {letter for one in options if one[:2] != "--" for letter in one[1:]}
        counts = letters & _COUNTING or {"--count", "--files-with-matches", "--quiet", "--files"} & {*options}
        return NOTHING if counts else NAMED
    if name in _READERS and any(sign in word for word in program.words[1:] for sign in "*?$["):
        return AT_LARGE if name != "sed" and name != "awk" else _of_script(program)
    return NAMED


def _of_script(program: WritingProgram) -> str:
    """Return what a program with a script shows; signs in the script itself choose no files."""
    return AT_LARGE if any(sign in word for word in program.plain[1:] for sign in "*$") else NAMED
