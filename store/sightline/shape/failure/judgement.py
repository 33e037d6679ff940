"""Decides which lines that look like failures are failures: by what the command does, and how it ended.

What a program reads, finds or looks up was written by others, so words of failure in it are nobody's failure.
"""

import re
from collections.abc import Callable

from sightline.light.library import lru_cache
from sightline.light.named_tuple import NamedTuple
from sightline.shape.failure.judge import CAUSE, ECHO, EXCEPTION, EXIT, NAME, LineVerdict
from sightline.shape.levels import is_error_entry
from sightline.shell_words.lexer import Unclear
from sightline.shell_words.programs import WritingProgram, programs_of

READS, SEARCHES, SHOWS = "reads", "searches", "shows"

_WORDS = {
    READS: """awk bat bzcat cat column comm cut file fmt fold gawk head hexdump join less mawk md5 md5sum more nl nm
        objdump od paste readelf rev sed sha1sum sha256sum shasum sort stat strings tac tail tee tr uniq wc xmllint
        xxd xzcat yq zcat zless jq open goto scroll_down scroll_up str_replace_editor/view""",
    SEARCHES: """ack ag cmp diff egrep fd fgrep find find_file grep locate ls pgrep rg search_dir search_file tree type
        whereis which zgrep""",
    SHOWS: """date df dig dmesg du history hostname http id info journalctl lsof man nslookup perldoc printenv ps pwd
        pydoc tldr uname uptime whatis whoami whois curl wget
        git/blame git/cat-file git/describe git/diff git/diff-files git/diff-index git/diff-tree
        git/for-each-ref git/grep git/log git/ls-files git/ls-remote git/ls-tree git/merge-base git/name-rev git/reflog
        git/rev-list git/rev-parse git/shortlog git/show git/show-ref git/status git/whatchanged
        git/stash/list git/stash/show git/worktree/list git/notes/show git/submodule/status
        gh/api gh/browse gh/search gh/status gh/*/diff gh/*/list gh/*/status gh/*/view
        docker/diff docker/history docker/images docker/inspect docker/logs docker/ps docker/top docker/*/inspect
        docker/*/ls docker/*/list docker/*/logs docker/*/ps podman/history podman/inspect podman/logs podman/ps
        kubectl/api-resources kubectl/describe kubectl/explain kubectl/get kubectl/logs kubectl/top
        helm/get helm/history helm/list helm/show helm/status systemctl/cat systemctl/show systemctl/status
        npm/explain npm/info npm/list npm/ls npm/outdated npm/search npm/show npm/view yarn/info yarn/list pnpm/list
        pip/freeze pip/index pip/list pip/search pip/show pip3/freeze pip3/list pip3/show
        cargo/metadata cargo/search cargo/tree go/doc go/env go/help go/list go/version brew/info brew/list brew/search
        apt/list apt/search apt/show apt-cache/policy apt-cache/search apt-cache/show rustup/show
        svn/blame svn/cat svn/diff svn/info svn/log svn/status hg/annotate hg/cat hg/diff hg/grep hg/log hg/status""",
}
"""Programs, and subcommands, that only show what others wrote; ``*`` stands for any word."""

_SHOWING = {tuple(phrase.split("/")): what for what, phrases in _WORDS.items() for phrase in phrases.split()}
_DEEPEST = 3  # words of a phrase

_UNHEARD = """cd pushd popd export set unset shopt true false : echo printf sleep [ [[ test read exit return break
    continue wait trap local declare shift mkdir touch"""
_SILENT = frozenset(_UNHEARD.split())
"""Programs that say nothing about success or failure themselves, as long as they end well."""

_HELP = frozenset(("--help", "--version", "help"))
_PATCHING = frozenset(("-p", "--patch"))

_LEVEL = re.compile(
    r"^\s{0,4}(?:\[[\w .:/@-]{1,40}\] ?)?(?:[\[(<*!✖✗✘❌✕🚨]{1,3} ?)?"
    r"(?:(?:[a-z][\w./@+-]{0,40}(?:\[\d+\])?:? )?(?:ERROR|FATAL|CRITICAL|PANIC|SEVERE|EMERGENCY)\b(?![\w=(.])"
    r"|(?:[a-z][\w./@+-]{0,40}: )?(?:[Ee]rror|[Ff]atal(?: error)?|panic)(?:\[\w+\])?: )"
)
"""A level at a line's start, perhaps after its source: ``ERROR x``, ``[lint] ERROR x``, ``ld: error: x``."""

_COMPLAINT = re.compile(
    r"^(?:\S*/)?[\w.+-]{1,40}(?:\[\d+\])?: \S.*\b(?:Permission denied|No such file or directory|No space left on device"
    r"|Operation not permitted|Disk quota exceeded|Input/output error|Connection (?:refused|timed out)"
    r"|Could not resolve host|Cannot allocate memory|Device or resource busy)\b"
)
"""What a program says in its own name of what the system refused it, in the system's words."""

_CRASH = re.compile(
    r"^(?:\(node:\d+\) |\[)?(?:Unhandled ?(?:Promise ?)?[Rr]ejection|Uncaught\b|[Uu]nhandled [Ee]xception)"
    r"|^npm (?:ERR!|error) (?!A complete log)|^[\w.]{0,80}(?:Error|Exception): \S"
    r"|^[\w./+@-]{1,200}:\d+(?::\d+)?: (?:fatal )?error: "
)
"""What a runtime, a compiler or npm says of what failed in it, though something else went on and ended well."""

_VERDICT = re.compile(r"^(?:[=*#+>-]{2,} ?)?FAIL(?:ED|URE)?(?::| -) ?\S|[^\s\d]\d* FAILED[ !.=*#-]*$")
"""What a runner of tests says of one of them, though it ended well."""

_SAID_OF_PARTS = (_COMPLAINT, _CRASH, _VERDICT)

_LOG_READERS = "bat bzcat cat dmesg docker head journalctl kubectl less more podman sed tac tail xzcat zcat zless"
_READ_LOGS = frozenset(_LOG_READERS.split())

_TRIED_AGAIN = re.compile(
    r"(?i)\b(?:re-?try(?:ing)?|re-?tried|trying again|try again in|will try again|attempt \d+ ?(?:of|/) ?\d+"
    r"|backing off)\b"
    r"(?!.*\b(?:giv(?:e|es|ing|en) up|gave up|exhausted|exceeded|no more|last attempt|aborting)\b)"
)

_SHELL_SAYS = re.compile(r"^(?:\S*/)?(?:(?:ba|da|k|z|c)?sh|\(eval\))(?:\[\d+\])?:(?: |\w*(?:(?<=\d)|:\d+): )")


_SHELL_WARNS = re.compile(r"^(?:\S*/)?(?:ba|da|k|z)?sh: (?:line \d+: )?warning: ")


class Judgement(NamedTuple):
    """The way in which an output is judged.

    Attributes:
        why_not: why no line of it is a failure, such as ``cat only reads``; empty if it is judged.
        failed: whether its command is known to have ended badly.
        shown: the programs that show what others wrote; their own complaints do count.
        acts: whether it has the output of other programs, too.
        hidden: whether it is unknown how some of these ended, as before a filter.
        unknown: whether it is unknown how the command ended.
        lenient: whether what a program says of what the system refused it counts, too, though it ended well: for a
            view, which shows such a line and raises no alarm.
        of_log: whether the output is a log that the command shows, of which the entries of level error count, for a
            view, too.
        alone: the program that alone wrote all of it; empty if there were several, or they are not known.
    """

    why_not: str = ""
    failed: bool = False
    shown: tuple[str, ...] = ()
    acts: bool = True
    hidden: bool = False
    unknown: bool = False
    lenient: bool = False
    of_log: bool = False
    alone: str = ""

    @property
    def may_show_log(self) -> bool:
        """Whether only programs with which people read logs have shown something."""
        return bool(self.why_not and self.shown) and _READ_LOGS.issuperset(self.shown)

    @property
    def ended_well(self) -> bool:
        """Whether the command is known to have ended well, and thus the last attempt at what it tried again."""
        return not (self.failed or self.unknown)

    @property
    def all_counts(self) -> bool:
        """Whether everything that looks like a failure is one."""
        return self.failed and not self.shown

    @property
    def why(self) -> str:
        """Why lines that look like failures do not count, in words."""
        if self.why_not:
            return self.why_not
        return f"{_list(self.shown)} shows what others wrote" if self.failed else "nothing else says that it failed"

    def counts(self, verdict: LineVerdict, text: str, says_failed: Callable[[], bool]) -> bool:
        """Return whether a line that looks like a failure is one.

        Args:
            verdict: the judgement on the line.
            text: the line, cleaned and without a log's prefix.
            says_failed: returns whether a tool's counts say that something failed.
        """
        if self.of_log:
            return is_error_entry(text)
        if self.why_not:
            return False
        if self.all_counts:
            return True
        if self.ended_well and is_tried_again(text):
            return False
        if not self.acts:
            return (
                self._complains(text)
                or bool(_SHELL_SAYS.match(text))
                or bool(verdict.rule and verdict.rule.name in self.shown)
            )
        if verdict.rule:
            told = verdict.rank in (CAUSE, NAME, ECHO)
            if told and verdict.sort and verdict.sort.logged:
                told = says_failed()
            if self.failed or told or (verdict.rank == EXCEPTION and self.hidden and not self.shown):
                return True
        if _SHELL_SAYS.match(text) or (self.failed and self._complains(text)):
            return True
        if self.unknown and not self.shown:
            return verdict.rank < EXIT
        if self.lenient and not self.shown and any(one.search(text) for one in _SAID_OF_PARTS):
            return True
        return (self.failed or not self.shown) and bool(_LEVEL.match(text))

    def _complains(self, text: str) -> bool:
        """Return whether a program that only shows texts complains in its own name."""
        who = text.partition(": ")[0].rpartition("/")[2]
        return who in self.shown or ("git" in self.shown and who == "fatal")


EVERYTHING = Judgement(failed=True)
"""For a failed command: everything that looks like a failure is one."""


def is_shell_warning(text: str) -> bool:
    """Return whether a line is a warning of a shell, as of a locale, whose command went on."""
    return bool(_SHELL_WARNS.match(text))


def is_tried_again(text: str) -> bool:
    """Return whether a line says of a failure that what failed is tried once more."""
    return bool(_TRIED_AGAIN.search(text))


@lru_cache(maxsize=16)  # an output is asked about several times in a row
def judgement_for(command: str, *, failed: bool, exit_code: int | None) -> Judgement:
    """Return how a command's output is judged.

    Args:
        command: the command line; empty if it is not known.
        failed: whether it is known to have ended badly.
        exit_code: its exit code; None if it is not known, or there is none.
    """
    try:
        programs = [program for program in programs_of(command) if program.name not in _SILENT]
    except Unclear:
        # After what seems a success, only a tool's rule counts, because other lines may be what some program shows.
        return Judgement("", failed, () if failed else ("it",), True, True)
    showing = [(program, found) for program in programs if (found := _shows(program))]
    shown = tuple(dict.fromkeys(program.name for program, _ in showing))
    acting = [program for program in programs if not _shows(program)]
    if acting or not shown:
        hidden = exit_code is None or not all(program.ends for program in acting)
        alone = acting[0].name if len(programs) == 1 and acting else ""
        return Judgement("", failed, shown, True, hidden, exit_code is None and not failed, alone=alone)
    if failed:
        filters = tuple(name for program in programs for name in program.filters)
        return Judgement("", True, tuple(dict.fromkeys((*shown, *filters))), False)
    phrases = list(dict.fromkeys(phrase for _, (phrase, _) in showing))
    what = showing[0][1][1] if len(phrases) == 1 else ""
    return Judgement(
        f"{phrases[0]} only {what}" if what else f"{_list(phrases)} only show what others wrote", shown=shown
    )


def _list(names: "tuple[str, ...] | list[str]") -> str:
    """Write a list such as ``cat``, ``cat and rg``, ``cat, rg and 2 more``."""
    first, more = names[:2], len(names) - 2
    if more > 0:
        return f"{', '.join(first)} and {more} more"
    return " and ".join(first)


def _shows(program: WritingProgram) -> tuple[str, str] | None:
    """Return the name of a program that only shows what others wrote, and what it does; None for any other."""
    if not _HELP.isdisjoint(program.words[1:3]):
        return f"{program.name} {next(word for word in program.words if word in _HELP)}", SHOWS
    words = (program.name, *program.plain)[:_DEEPEST]
    for count in range(1, len(words) + 1):
        for phrase in (words[:count], (*words[: count - 2], "*", words[count - 1]) if count == _DEEPEST else ()):
            if phrase in _SHOWING:
                return " ".join(words[:count]), _SHOWING[phrase]
    if program.name == "git" and not _PATCHING.isdisjoint(program.words):
        return f"git {words[-1]} -p", SHOWS
    return None
