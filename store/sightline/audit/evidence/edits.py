"""Finds edits in a session: which files it changed, when, and by which call; for many commands nobody can tell.

Editing tools name the file that they change. Only plain commands are read: redirections, ``sed -i``, ``tee``,
``mv``, ``cp``, ``rm``, ``git checkout``, formatters. What other commands change is unknown, and the result says so.
"""

import os
import re
from collections.abc import Iterator
from functools import lru_cache

from sightline.audit.evidence.call_facts import command_of, exit_code_of, request_of
from sightline.audit.evidence.check_names import check_named, check_table
from sightline.audit.evidence.check_places import of_windows
from sightline.audit.timeline import Call
from sightline.base.errors import SightlineError
from sightline.harnesses.file_changes import EDITS, WRITES, files_changed, patched_in, replaced_lines
from sightline.light.json_text import dumps
from sightline.light.named_tuple import NamedTuple
from sightline.log.view_text import view_text
from sightline.shape.failure.judgement import judgement_for
from sightline.shell_words.lexer import Unclear, tokens_of
from sightline.shell_words.pipelines import Pipeline, Pipelines, Stage, without_assignments
from sightline.shell_words.quoting import unquoted
from sightline.store import Reading

_ASIDE = """.md .mdx .markdown .rst .txt .adoc .org .log .png .jpg .jpeg .gif .svg .ico .pdf .csv .tsv .diff .patch
    .gitignore .gitattributes .editorconfig .license"""
SET_ASIDE = frozenset(_ASIDE.split())
"""Endings of files on which no check is taken to depend: documentation, pictures, logs."""

_NAMES_ASIDE = "LICENSE NOTICE AUTHORS CHANGELOG README TODO CODEOWNERS mkdocs .readthedocs .mailmap"
_SET_ASIDE_NAMES = frozenset(_NAMES_ASIDE.split())
_CODE = re.compile(
    r"\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|bash|ex|exs|hs|ml|vue|svelte"
    r"|toml|ya?ml|cfg|ini|html|css|scss|sql|proto|graphql)$"
)
_DATA = re.compile(r"\.(?:json|jsonc|txt|md|env)$")
"""Files that count as written where the command has their text, as in ``cat > x.json <<EOF``."""

_OF_CI = re.compile(r"(?:^|/)(?:\.github|\.gitlab|\.circleci|\.husky|\.claude|\.entire|\.vscode)/")
"""Folders of what other machines, editors and agents run, on which no check that runs here depends."""

_WRITING = re.compile(r"(?:\d*|&)>>?\|?(?!&)(.+)")
_FORMATTERS = {
    "black": (),
    "isort": (),
    "gofmt": ("-w",),
    "goimports": ("-w",),
    "rustfmt": (),
    "prettier": ("--write", "-w"),
    "clang-format": ("-i",),
    "eslint": ("--fix",),
    "rubocop": ("-a", "-A", "--autocorrect"),
}
_CHECKING = frozenset(("--check", "--check-formatted", "--diff", "-l", "--list-different", "--dry-run"))
_REWRITING = "apply am stash reset merge pull rebase revert cherry-pick switch clean"
_MANY = frozenset(_REWRITING.split())
_SILENT = "cd pushd popd echo printf true false test [ sleep export set mkdir which type read wait kill exit :"
_QUIET = frozenset(_SILENT.split())


class Edit(NamedTuple):
    """A change of a file.

    Attributes:
        path: the file, absolute if that is known; empty if a command changed files that nobody can name.
        time: seconds since the epoch.
        call: the call that made it.
        sure: whether it surely changed the file; a formatter may have changed nothing.
        wrote: whether the file was written whole.
        rewrites: whether it changed lines in place, rather than moved, removed or restored the file.
        gone: whether it removed the file.
    """

    path: str
    time: float
    call: Call
    sure: bool = True
    wrote: bool = False
    rewrites: bool = True
    gone: bool = False

    @property
    def name(self) -> str:
        """Name of the file, for people."""
        return self.path.rpartition("/")[2] or "files that are not known"

    @property
    def is_script(self) -> bool:
        """Whether it is a shell script, on which lint may depend, but hardly tests of anything else."""
        return self.path.endswith((".sh", ".bash", ".zsh", ".fish"))

    @property
    def bears_on_checks(self) -> bool:
        """Whether a check could depend on it."""
        name = self.path.rpartition("/")[2]
        stem, ending = os.path.splitext(name)
        if not self.path or not self.sure or _OF_CI.search(self.path) or _OF_PLANS.search(self.path):
            return False
        is_aside = ending.lower() in SET_ASIDE or name in SET_ASIDE
        return not is_aside and name not in _SET_ASIDE_NAMES and stem not in _SET_ASIDE_NAMES


_OF_PLANS = re.compile(
    r"(?:^|/)(?:docs?|documentation|\.?plan(?:s|ning)?|notes|todos?|stories|memory-bank|_bmad[\w-]{0,40}|[\w-]{0,40}artifacts"
    r"|\.specify|\.taskmaster|\.beads)/.{0,300}\.(?:ya?ml|jsonl?|toml|xml|html)$"
)
"""Data beside documents and plans, such as the status of a story, on which no check depends."""


def edits_of(store: Reading, call: Call, folder: str) -> list[Edit]:
    """Return the edits that a call made.

    Args:
        store: the store.
        call: the call.
        folder: the session's folder, for relative paths.
    """
    view = call.view
    request = request_of(view)
    tool = request.get("tool")
    if (
        isinstance(tool, str)
        and (tool in EDITS or (view.verb == "tool" and "files" in request))
        and not request.get("command")
    ):
        listed = request.get("files")
        files = listed if isinstance(listed, list) else files_changed(tool, request.get("arguments"))
        if _was_refused(store, call):
            return []
        return [
            Edit(_absolute(str(one), folder), view.time, call, True, tool in WRITES or _adds(view.request, str(one)))
            for one in files
        ]
    command = command_of(call)
    if not command or call.running or call.unanswered:
        return []
    where = _absolute(call.buffer.cwd, folder) if call.buffer else folder  # Codex' may be relative to it
    code = exit_code_of(call)
    changes = [*_changes(command), *(_Change(one, wrote=_adds(command, one)) for one in patched_in(command))]
    changes = [one for one in changes if not _STANDS_FOR_OUTPUT.search(one.path)]
    return [
        Edit(
            _absolute(one.path, where) if one.path else "",
            view.time,
            call,
            one.sure and not (code or call.failed),
            one.wrote,
            one.rewrites,
            one.gone,
        )
        for one in dict.fromkeys(changes)
    ]


def _adds(patch: str, path: str) -> bool:
    """Return whether a patch makes a file that, as far as it says, was not there."""
    return f"*** Add File: {path}" in patch and f"*** Delete File: {path}" not in patch


def replaced_lines_of(edit: Edit) -> list[str]:
    """Return the lines that a call names as those that it replaces, or around them, as far as known."""
    request = request_of(edit.call.view)
    command = command_of(edit.call)
    files = patched_in(command) if command else request.get("files")
    names = [str(one) for one in files] if isinstance(files, list) else [edit.path]
    name = next((one for one in names if edit.path.endswith(one.removeprefix("./"))), edit.path)
    command = command.replace("'\"'\"'", "'").replace("'\\''", "'")  # as a shell has it within its own quotes
    return replaced_lines(command or request.get("patch", request.get("arguments")), name)


def may_have_edited(call: Call) -> bool:
    """Return whether a call ran a command whose edits nobody can name."""
    command = command_of(call)
    return bool(command) and _is_open(command)


def mends_layout(call: Call, phrase: str) -> bool:
    """Return whether a call ran well the formatter whose ``--check``, or task of that name, a phrase runs."""
    wanted = tuple(_OF_CHECKING.sub("", word) for word in phrase.split() if not word.startswith("--check"))
    if wanted == tuple(phrase.split()) or exit_code_of(call) != 0:
        return False
    needed = set(_FORMATTERS.get(wanted[0], ()))
    for stage in _stages(command_of(call)) or ():
        words = tuple(unquoted(word) for word in without_assignments(stage.words))
        begin = next((at for at in range(_RUNNERS_END) if words[at : at + len(wanted)] == wanted), -1)
        run = begin == 0 or (begin > 0 and words[0] in _RUNNERS)
        if run and _CHECKING.isdisjoint(words) and (not needed or needed & {*words}):
            return True
    return False


_OF_CHECKING = re.compile(r"[:-]check$|^check[:-]")
_RUNNERS = frozenset(one.split()[0] for one in check_table()["runners"])
_RUNNERS_END = 4  # words of a runner, such as `uv run --frozen`

_REFUSED = re.compile(
    r"\s*(?:<tool_use_error>|Error\b|error:|Failed|failed to|The user doesn't want"
    r"|apply_patch verification failed|Exit code: -?[1-9])",
    re.IGNORECASE,
)


def _was_refused(store: Reading, call: Call) -> bool:
    """Return whether an editing tool changed nothing, because its answer is an error."""
    if call.failed or call.view.failed:
        return True
    try:
        return call.view.bytes_shown > 0 and bool(_REFUSED.match(view_text(store, call.indexed)[:200]))
    except SightlineError:
        return False


def _absolute(path: str, folder: str) -> str:
    folder = of_windows(folder, folder)
    path = of_windows(os.path.expanduser(path), folder)
    is_whole = os.path.isabs(path) or path[1:2] == ":"
    return os.path.normpath(path if is_whole or not folder else os.path.join(folder, path))


class _Change(NamedTuple):
    path: str
    sure: bool = True
    wrote: bool = False
    rewrites: bool = True
    gone: bool = False


@lru_cache(maxsize=512)
def _stages(command: str) -> tuple[Stage, ...] | None:
    try:
        return tuple(_all_stages(Pipelines(tokens_of(command).tokens).all_pipelines()))
    except Unclear:
        return None


def _all_stages(pipelines: tuple[Pipeline, ...]) -> Iterator[Stage]:
    for pipeline in pipelines:
        for stage in pipeline.stages:
            if stage.is_compound:
                yield from _all_stages(stage.inner)
            else:
                yield stage


def _changes(command: str) -> Iterator[_Change]:
    moved = ""
    for stage in _stages(command) or ():
        words = tuple(unquoted(word) for word in without_assignments(stage.words))
        name = words[0].rpartition("/")[2] if words else ""
        if name == "cd" and len(words) == 2:
            moved = os.path.join(moved, words[1])
            continue
        is_check = bool(words) and check_named((name, *words[1:])) is not None
        for change in (*(() if is_check else _redirected(stage)), *_by_program(name, words[1:])):
            yield change._replace(path=os.path.join(moved, change.path) if change.path else "")


def _redirected(stage: Stage) -> Iterator[_Change]:
    for text in stage.redirections:
        found = _WRITING.fullmatch(text)
        path = unquoted(found[1].strip()) if found and not text.startswith("2") else ""
        if (
            path
            and "$" not in path
            and (_CODE.search(path) or (_DATA.search(path) and "<<" in "".join(stage.redirections)))
        ):
            yield _Change(path, wrote=">>" not in text)


def _by_program(name: str, words: tuple[str, ...]) -> Iterator[_Change]:
    plain = [word for word in words if not word.startswith("-")]
    options = [word for word in words if word.startswith("-")]
    if name in ("sed", "gsed") and any(re.match(r"-[a-zA-Z]*i|--in-place", one) for one in options):
        yield from (_Change(path) for path in _files(_without_script(words, ("-e", "-f", "--expression"), first=True)))
    elif name in ("perl", "ruby") and any(re.match(r"-\w*i", one) for one in options):
        yield from (_Change(path) for path in _files(_without_script(words, ("-M", "-I"), first=False)))
    elif name == "tee":
        yield from (_Change(path, wrote="-a" not in options) for path in _files(plain) if _CODE.search(path))
    elif name in ("mv", "cp") and len(plain) > 1:
        *sources, target = _files(plain) if _NO_FILE.search(plain[-1]) is None else ("",)
        is_folder = target[-1:] == "/" or len(sources) > 1
        made = [os.path.join(target, os.path.basename(one)) for one in sources] if is_folder else [target]
        yield from (_Change(path, rewrites=False, gone=True) for path in (sources if name == "mv" else ()))
        yield from (_Change(path, wrote=True, rewrites=False) for path in made if path)
    elif name == "rm":
        yield from (_Change(path, rewrites=False, gone=True) for path in _files(plain) if _CODE.search(path))
    elif name == "git" and _leaves_files(plain, {*options}):
        return
    elif name == "git" and plain[:1] in (["checkout"], ["restore"]):
        files = [one for one in plain[1:] if _CODE.search(one)]
        yield from (_Change(path, rewrites=False) for path in files) if files else (_Change("", sure=False),)
    elif (name == "git" and plain[:1] and plain[0] in _MANY) or name == "patch" or _formats(name, words):
        yield _Change("", sure=False)


_INDEX_ALONE = frozenset(("--staged", "-S", "--cached", "--soft", "--mixed"))
_WORK_TREE = frozenset(("--worktree", "-W", "--hard", "--merge", "--keep"))


def _leaves_files(plain: list[str], options: set[str]) -> bool:
    """Return whether a command of git changes only its index, or shows something, and no file of the work tree."""
    if options & _WORK_TREE:
        return False
    return bool(options & _INDEX_ALONE) or plain[:1] == ["reset"] or plain[:2] in (["stash", "list"], ["stash", "show"])


def _without_script(words: tuple[str, ...], takes: tuple[str, ...], *, first: bool) -> list[str]:
    """Return the files among the words of ``sed -i`` or ``perl -i``: neither the script nor a backup's suffix.

    Args:
        words: the words behind the program's name.
        takes: options with a value.
        first: whether the first plain word is the script, unless an option gave it.
    """
    files, at = list[str](), 0
    while at < len(words):
        word = words[at]
        if word in takes or (not first and re.fullmatch(r"-\w*[eE]", word)):
            first, at = False, at + 2
        elif word == "-i" and words[at + 1 : at + 2] and re.fullmatch(r"(?:\.\w{1,5})?", words[at + 1]):
            at += 2  # as on BSD, where the suffix of a backup, mostly empty, is a word of its own
        else:
            if word[:1] != "-" and word:
                files.append(word)
            at += 1
    return files[1:] if first else files


def _files(words: list[str]) -> Iterator[str]:
    return (word for word in words if not _NO_FILE.search(word))


_NO_FILE = re.compile(r"[$*`\n]")
_STANDS_FOR_OUTPUT = re.compile(r"(?:^|/)@(?:last(?:~\d+)?|(?:cmd|file|tool)_[0-9a-f]{4,})(?:[.:]|$)")
"""A ref in a command is the path of a stand-in, which goes with the command, and no file of a project."""


def _formats(name: str, words: tuple[str, ...]) -> bool:
    if (name, *words[:1]) in (("ruff", "format"), ("cargo", "fmt"), ("go", "fmt"), ("biome", "format")):
        return _CHECKING.isdisjoint(words)
    if name == "ruff" and "--fix" in words:
        return True
    needed = _FORMATTERS.get(name)
    return needed is not None and _CHECKING.isdisjoint(words) and (not needed or not set(needed).isdisjoint(words))


@lru_cache(maxsize=512)
def _is_open(command: str) -> bool:
    stages = _stages(command)
    if stages is None:
        return True
    for stage in stages:
        words = tuple(unquoted(word) for word in without_assignments(stage.words))
        name = words[0].rpartition("/")[2] if words else ""
        if not name or name in _QUIET or check_named((name, *words[1:])) or any(_by_program(name, words[1:])):
            continue
        if not judgement_for(" ".join(dumps(word) for word in words), failed=False, exit_code=0).why_not:
            return True
    return False
