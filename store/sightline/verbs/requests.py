"""The requests of the verbs: each has the arguments of one, declared once for every door.

They load nothing of what carries a request out, so that a server offers its tools before it opens a store.
"""

from sightline.base.profile import DEFAULT, Profile
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Annotated, Any, Callable
from sightline.shell_words import LONGEST_COMMAND
from sightline.verbs.arguments import (
    LONGEST_NAME,
    LONGEST_PATH,
    LONGEST_PATTERN,
    LONGEST_REF,
    LONGEST_WORD,
    VERBOSITIES,
    VERBOSITY,
    Argument,
)

LIMIT = 20
"""How many outputs are listed by default."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+%@")  # need no quotes
STREAMS = ("out", "err", "all")


class RunRequest(NamedTuple):
    """The arguments of run_command.

    Attributes:
        argv: a program and its arguments, to run without a shell; then there is no ``command``.
        timeout_secs: 0 for never, None for the profile's number.
    """

    command: Annotated[
        str,
        Argument(
            "run a command line by bash, or by sh where there is no bash",
            "STRING",
            "for bash; or an @ack_ token, which confirms",
            option="-c",
            longest=LONGEST_COMMAND,
            hint="write it to a file, and run that: bash FILE",
        ),
    ] = ""
    argv: tuple[str, ...] = ()
    cwd: Annotated[
        str, Argument("run it in this folder", "FOLDER", "working directory", option="-C", longest=LONGEST_PATH)
    ] = ""
    timeout_secs: Annotated[
        float | None,
        Argument(
            "end it, and what it has started, after this time; 0 is never",
            "SECONDS",
            "ends it after so long (default 600; 0: never)",
            option="--timeout",
            least=0,
        ),
    ] = None
    verbosity: Annotated[str, VERBOSITY] = "auto"
    background: Annotated[
        bool,
        Argument(
            "print the ref at once and let the command go on, as for a server",
            agent="answer at once with the ref and let it go on",
        ),
    ] = False
    compare: Annotated[
        str,
        Argument(
            "print what changed since the run before (last) of this command, or since another one",
            "REF",
            "last: answer with what changed since the last run of this command",
            longest=LONGEST_REF,
        ),
    ] = ""
    label: Annotated[
        str, Argument("name the buffer, so that `list --match` finds it", "TEXT", longest=LONGEST_NAME)
    ] = ""
    acknowledge_risk: Annotated[
        bool,
        Argument(
            "run a command that destroys things without asking back",
            agent="run a destructive command without asking back",
        ),
    ] = False

    @property
    def line(self) -> str:
        """The command as one line."""
        if self.command or not any(set(word) - _PLAIN or not word for word in self.argv):
            return self.command or " ".join(self.argv)
        import shlex  # only a word that needs quotes needs it

        return shlex.join(self.argv)

    def logged(self) -> dict[str, Any]:
        """Return the given arguments, for the audit log."""
        return {name: value for name, value in self._asdict().items() if value != RunRequest._field_defaults[name]}

    def limit_secs(self, profile: Profile) -> float | None:
        """Return the seconds after which it is ended; None for never."""
        return (profile.timeout_secs if self.timeout_secs is None else self.timeout_secs) or None


class ReadRequest(NamedTuple):
    """The arguments of read_output."""

    ref: Annotated[
        str,
        Argument(
            "the output: @last or @cmd_a1b2c3; @cmd_a1b2c3.err is its standard error, @cmd_a1b2c3:10-40 some of its "
            "lines",
            "REF",
            "such as @cmd_a1b2c3, @cmd_a1b2c3.err, @file_…, @tool_…, @last",
            longest=LONGEST_REF,
        ),
    ]
    lines: Annotated[
        str,
        Argument("show lines A to B, counted from 1", "A-B", '"42-80", "42" or "42-"', longest=LONGEST_WORD),
    ] = ""
    offset: Annotated[
        int | None,
        Argument(
            "show a page of bytes that begins at byte N, for output whose lines are very long",
            "N",
            "first byte, from 0",
            least=0,
        ),
    ] = None
    limit: Annotated[
        int | None,
        Argument(
            f"show at most N bytes in that page (default {DEFAULT.reading.page_bytes:,})",
            "N",
            f"bytes (default {DEFAULT.reading.page_bytes})",
            least=1,
        ),
    ] = None
    search: Annotated[
        str,
        Argument(
            "show the lines that match this regular expression; what is not a valid one is looked for as text",
            "PATTERN",
            "regular expression; gives matching lines with numbers and the true total",
            longest=LONGEST_PATTERN,
        ),
    ] = ""
    context: Annotated[
        int,
        Argument("also show N lines before and after each match", "N", "lines around each match", least=0, most=100),
    ] = 0
    ignore_case: Annotated[
        bool | None,
        Argument(
            "search without regard to capital and small letters, as most profiles do anyway",
            agent="of a search; default true",
            other=("--case", "search for capital and small letters as typed, so that Error does not match error"),
        ),
    ] = None
    stream: Annotated[
        str,
        Argument(
            "show this stream: out, err, or all, which is both in the order they came",
            "STREAM",
            "instead of the ref's",
            choices=STREAMS,
            longest=LONGEST_WORD,
        ),
    ] = ""
    wait: Annotated[
        float | None,
        Argument(
            "wait up to this long for a running command to end, or to write lines and be quiet for 2 s",
            "SECONDS",
            "seconds to wait for the end, a match of until, or new lines and 2 s of quiet",
            least=0,
            most=50,
        ),
    ] = None
    until: Annotated[
        str,
        Argument(
            "wait until a line matches, however quiet the command is",
            "PATTERN",
            "regular expression: wait for a line that matches, however quiet it is",
            longest=LONGEST_PATTERN,
        ),
    ] = ""
    verbosity: Annotated[
        str,
        Argument(
            "show less or more in the view: silent, concise, normal, verbose, full or auto",
            "MODE",
            "of the view",
            choices=VERBOSITIES,
            longest=LONGEST_WORD,
        ),
    ] = ""
    path: Annotated[
        str,
        Argument(
            "show the value at this path of a JSON result, such as '$.items[0].name'",
            "JSONPATH",
            "into JSON: $.items[0].name, $.items[-3:]",
            longest=LONGEST_PATH,
        ),
    ] = ""
    schema: Annotated[
        bool, Argument("show the structure of a JSON result: types instead of values, one item instead of all")
    ] = False

    @property
    def alone(self) -> bool:
        """Whether only a ref is given."""
        return self.logged().keys() <= {"ref", "stream"}

    def logged(self) -> dict[str, Any]:
        """Return the given arguments, for the audit log."""
        given = self._asdict()
        return {
            name: given[name] for name in given if name == "ref" or given[name] != ReadRequest._field_defaults[name]
        }


class FileRequest(NamedTuple):
    """The arguments of read_file.

    Attributes:
        start_line: 0 for the whole file.
        end_line: 0 for the end of the file, or of the profile's window.
        exact: whether the path was approved as it is, so that no symbolic link may be followed.
    """

    path: Annotated[
        str,
        Argument("the file to read", "FILE", "absolute, or relative to the working directory", longest=LONGEST_PATH),
    ]
    start_line: Annotated[int, Argument("show lines from this one on", "A", "first line, from 1", least=1)] = 0
    end_line: Annotated[int, Argument("show lines up to this one", "B", "last line, inclusive", least=1)] = 0
    exact: bool = False

    def logged(self) -> dict[str, Any]:
        """Return the given arguments, for the audit log."""
        return {name: value for name, value in self._asdict().items() if value and name != "exact"}


class QueryRequest(NamedTuple):
    """The arguments of query.

    Attributes:
        sink: for a person's ``--full``, gets all of the answer as it comes; the reply then has none of it.
    """

    pipeline: Annotated[
        str,
        Argument(
            "the programs and the refs they read, in quotes as one argument",
            "PIPELINE",
            "programs joined by |, with refs as files",
        ),
    ]
    sink: Callable[[bytes], None] | None = None

    def logged(self) -> dict[str, Any]:
        """Return the given arguments, for the audit log."""
        return {"pipeline": self.pipeline, **({"full": True} if self.sink else {})}


class ListRequest(NamedTuple):
    """The arguments of list_outputs; ``match`` also takes the filters of `sightline.audit.buffer_filter`."""

    match: Annotated[
        str,
        Argument(
            "only outputs that match these words and filters",
            "TEXT",
            "words that command, ref or label resemble",
            longest=LONGEST_PATH,
        ),
    ] = ""
    session: Annotated[
        str,
        Argument(
            "list only outputs that this session captured",
            "SESSION",
            "only what this session captured",
            longest=LONGEST_NAME,
        ),
    ] = ""
    limit: Annotated[
        int, Argument(f"list at most N (default {LIMIT})", "N", f"how many (default {LIMIT})", least=1)
    ] = LIMIT
    project: Annotated[
        str,
        Argument("list only outputs of the project that this folder belongs to", "DIR", longest=LONGEST_PATH),
    ] = ""
    mine: Annotated[
        bool,
        Argument(
            "list instead the questions that this session has asked, and their answers",
            agent="your own past calls instead",
        ),
    ] = False

    def logged(self) -> dict[str, Any]:
        """Return the given arguments, for the audit log."""
        return {name: value for name, value in self._asdict().items() if value != ListRequest._field_defaults[name]}
