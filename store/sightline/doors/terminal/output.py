"""Writes replies for the command line, and opens the store for a command."""

import codecs
import errno
import os

from sightline.base.errors import ExpiredRef, SightlineError, StoreFailed, UsageError
from sightline.base.private_files import write_atomically
from sightline.base.profile import DEFAULT, Profile, load_profile
from sightline.base.records import Buffer, Shown
from sightline.doors.terminal.arguments import Namespace
from sightline.doors.terminal.process_end import process_ends
from sightline.light.json_text import dumps
from sightline.light.late_imports import late_modules
from sightline.light.late_pattern import late_pattern
from sightline.light.library import partial, suppress
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable
from sightline.log.sessions import at_terminal, current_session
from sightline.log.views import Shows, record_view
from sightline.settings.config import default_root
from sightline.shape.segments import Segment
from sightline.store import STORE_VARIABLE, IndexFailed, Reading, Store, cause_of, is_known
from sightline.verbs.asker import Asker
from sightline.verbs.delivery import deliver
from sightline.verbs.head_line import render_text
from sightline.verbs.next_call import cli_call, shared_call
from sightline.verbs.printable_text import escape, printable
from sightline.verbs.reply import Render, Reply, error_reply, fault

with late_modules(globals()):
    from sightline.verbs import file_facts  # only data names files

if TYPE_CHECKING:
    from sightline.capture.recorder import Echo
    from sightline.doors.terminal.progress_line import ProgressLine

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
"""errors of an output that is open but takes no more"""

_DIM, _RED, _GREEN, _PLAIN = "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[0m"

_ACTING = late_pattern(
    r"(\x1b\[(?:2|31|32|0)m)"  # what we write in colours ourselves
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"  # controls, line ends, and bytes that are not UTF-8
)


def render_json(store: Reading, profile: Profile = DEFAULT) -> Render:
    """Render one object, with the body in ``stdout`` and ``stderr``, and the paths of the streams."""

    def render(reply: Reply) -> tuple[Segment, ...]:
        data = dict(reply.fields)
        try:
            data |= _files(store, reply, profile)
        except Exception as error:  # a command may have run, and its output must not be lost
            data["warning"] = f"the paths of its streams are not known: {fault(error)}"
        if "error" not in data:
            data["stdout"], data["stderr"] = reply.streams
        return (Segment(dumps(data, ensure_ascii=False) + "\n"),)

    return render


def _files(store: Reading, reply: Reply, profile: Profile) -> dict[str, Any]:
    name = str(reply.fields.get("output_id") or reply.fields.get("file_id") or "").lstrip("@").partition(".")[0]
    buffer = store.index.buffer(name) if name else None
    return file_facts.file_fields(store, buffer, profile) if buffer and isinstance(store, Store) else {}


def _render_error(reply: Reply) -> tuple[Segment, ...]:
    told = SightlineError(reply.fields["error"], reply.fields.get("hint", ""))
    return (Segment(error_text(told)),)


class OutputFailed(SightlineError):
    """Standard output, or the file that was named, cannot be written, as on a full disk."""


class Door:
    """The command line as a door: it has one store, one caller, and one way of writing.

    Attributes:
        local: the store of this machine, which logs everything.
        shared: the store that is read instead; None if that is the local one.
        asking: who asks.
    """

    shared: Reading | None = None

    def __init__(
        self,
        given: Namespace | None = None,
        *,
        as_json: bool = False,
        profile: str = "",
        insist: bool = True,
        waits: bool = True,
    ) -> None:
        """Open the default store, and the one to read instead if ``--store`` or SIGHTLINE_STORE names it.

        Args:
            given: the options of a command that reads; None for a command about this machine alone.
            as_json: whether replies are printed as JSON.
            profile: name of the profile; empty for that of the settings.
            insist: as for `Store`; False if the verb passes on what it cannot keep.
            waits: as for `Store`; False if the verb only adds to the index.

        Raises:
            SettingError: there is no such profile; and what `Store` raises.
        """
        self.local = Store(insist=insist, waits=waits)
        if os.isatty(2):
            self.local.access.filled, self.local.judged = _show_filling, _show_judging
        if self.local.layout.waiting_sessions():  # usually none wait, because a hook's next event takes them in, too
            from sightline.agents.past_sessions.live_transcript import catch_up  # 40 ms

            catch_up(self.local)
        chosen = load_profile(profile or self.local.settings.profile, "--profile" if profile else "profile")
        if os.isatty(1) or os.isatty(2):  # a profile for agents may leave sequences in that must not reach a terminal
            chosen = chosen._replace(cleaning=chosen.cleaning._replace(answers=DEFAULT.cleaning.answers))
        session = at_terminal(current_session()) if os.isatty(1) else current_session()
        self.asking = Asker(self.local, session, cli_call, chosen)
        if given is not None and (address := given.store or os.environ.get(STORE_VARIABLE, "")):
            from sightline.log.store_kinds import open_store  # few commands read more than this machine's store

            self.shared = open_store(self.local, address, offline=given.offline)
            calls = partial(shared_call, given.store) if given.store else cli_call
            self.asking = self.asking._replace(shared=self.shared, calls=calls)
        elif given is not None and given.offline:
            self.local.close()
            raise UsageError("--offline says how a shared place is read, and none is named", "name it with --store")
        self._render: Render = render_json(self.store, chosen) if as_json else render_text
        self._as_json = as_json

    def answer(
        self,
        verb: str,
        request: dict[str, Any],
        call: Callable[[], Reply],
        finish: Callable[[Reply], None] | None = None,
    ) -> int:
        """Call a verb, log its reply, print it or hand it to ``finish``, and return the exit code."""
        try:
            reply = call()
        except SightlineError as error:
            reply = error_reply(error, verb, request)
            deliver(
                self.asking,
                reply,
                self._render if self._as_json else _render_error,
                write_out if self._as_json else write_err,
            )
            return reply.exit_code
        (finish or self.deliver)(reply)
        return reply.exit_code

    def deliver(self, reply: Reply) -> None:
        """Log a reply and print it, to standard error if its body has been passed on as it came."""
        deliver(self.asking, reply, self._render, write_err if reply.passed_on else write_out)

    @property
    def store(self) -> Reading:
        """The store that is read."""
        return self.asking.store

    def buffer_named(self, ref: str) -> str:
        """Return the name of a ref's buffer, which may be gone: the log still has what was shown and said of it."""
        try:
            return self.asking.resolve(ref).buffer.name
        except ExpiredRef as expired:
            return expired.name

    def __enter__(self) -> "Door":
        """Return the door, which the end of the block closes."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Print what must be known of the store, and close the stores, but for what the end of the process closes."""
        if not os.path.exists(self.local.layout.clock):  # at the first start of this version
            with suppress(SightlineError, IndexFailed, OSError):
                self.local.limits.clock()
        for notice in self.local.notices:
            write_err(dim(f"sightline: {notice}") + "\n")
        if self.shared is not None:
            self.shared.close()
        if process_ends():
            self.local.access.leave()
        else:
            self.local.close()


def _show_filling(done: int, total: int) -> None:
    """Show how far a lost index is made anew, which takes seconds for a hundred thousand outputs."""
    _show_progress(done, total, "outputs listed anew")


def _show_judging(done: int, total: int, what: str) -> None:
    """Show how far outputs or sessions are judged that no verdict was ever about."""
    _show_progress(done, total, f"{what} judged for the first time")


def _show_progress(done: int, total: int, what: str) -> None:
    from sightline.doors.terminal.progress_line import ProgressLine, bar  # few commands have to wait

    global _progress
    _progress = _progress or ProgressLine()
    _progress.show(f"{bar(done / max(total, 1))} of {total:,} {what}")
    if done == total:
        _progress.remove()


_progress: "ProgressLine | None" = None


def log_streamed(door: Door, verb: str, request: dict[str, Any], buffer: Buffer, *, shown: bool = True) -> None:
    """Log that all of a buffer was passed on as it came: its ranges if a person saw it, never its text."""
    ranges = tuple(Shown(buffer.name, name, 1, info.lines) for name, info in buffer.streams.items())
    shows = Shows(
        verb=verb,
        request={**request, "streamed": True},
        refs=(buffer.name,),
        shown=ranges if shown else (),
        lines_total=buffer.lines,
        bytes_total=buffer.bytes,
        exit_code=buffer.exit_code,
    )
    try:
        record_view(door.local, door.asking.session, shows, ())
    except StoreFailed as error:
        write_err(dim(f"sightline: {error.message}") + "\n")


def passing_on() -> "Echo":
    """Return a function that passes an output on to ours as it comes; after the reader has left, it drops the rest.

    A terminal gets a command's own colours and moves, and escapes for what would hide a part of its text.
    """
    gone: set[str] = set()
    texts = {stream: _TerminalText() for stream, fd in (("out", 1), ("err", 2)) if os.isatty(fd)}

    def pass_on(stream: str, data: memoryview) -> None:
        if stream in gone:
            return
        try:
            write_all(2 if stream == "err" else 1, texts[stream].marked(bytes(data)) if stream in texts else data)
        except OSError as error:  # the capture continues
            gone.add(stream)
            if stream == "out" and error.errno in _FULL:
                tell_error(SightlineError(f"standard output cannot be written: {error.strerror}"))

    return pass_on


class _TerminalText:
    """A stream on its way to a terminal, read as UTF-8 as it comes; a character's last bytes may come later."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def marked(self, data: bytes) -> bytes:
        """Return the next bytes, with an escape in place of each character that may hide others."""
        text = self._decoder.decode(data)
        if text.isascii():
            return text.encode()
        from sightline.shape.invisible_characters import mark_hidden  # as in `text_for`

        return mark_hidden(text, escape).encode(errors="surrogateescape")


def write_out(text: str) -> None:
    """Print exactly this text; on a terminal, control sequences are shown as escapes.

    Raises:
        BrokenPipeError: the reader has left.
        OutputFailed: the text cannot be written.
    """
    try:
        write_all(1, text_for(1, text).encode(errors="surrogateescape"))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(f"standard output cannot be written: {error.strerror}") from error


def write_file(path: str, text: str) -> None:
    """Write what a command makes into a file that a person has named. Raises OutputFailed."""
    try:
        write_atomically(os.path.abspath(path), text.encode(errors="backslashreplace"))
    except OSError as error:
        raise OutputFailed(f"{path} cannot be written: {error.strerror}") from error


def write_err(text: str) -> None:
    """Print to standard error, as `write_out` does to standard output."""
    write_all(2, text_for(2, text).encode(errors="surrogateescape"))


def text_for(fd: int, text: str) -> str:
    """Make text safe for where a descriptor leads: all that verbs say passes here, so this is the last safeguard."""
    if (text.isascii() and text.isprintable()) or not os.isatty(fd):
        return text
    from sightline.shape.invisible_characters import (
        mark_hidden,  # 2 ms, which only a terminal needs, as for the next pattern
    )

    return mark_hidden(_ACTING.sub(lambda match: match[1] or escape(match[0]), text), escape)


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write every byte, however little the other end takes at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def error_text(error: SightlineError) -> str:
    """Return what went wrong, and on the next line what to do; text quoted in it cannot act on a terminal."""
    hint = f"\n  {printable(error.hint)}" if error.hint else ""
    return f"sightline: {printable(error.message)}{hint}\n"


def tell_error(error: SightlineError) -> int:
    """Print an error to standard error, and return the exit code for it."""
    write_err(error_text(error))
    return error.exit_code


def tell_store_failure(error: Exception) -> int:
    """Print an error of SQLite or the disk, and return its exit code. Raises an unknown error of the system again."""
    if isinstance(error, OSError) and not is_known(error):
        raise error
    return tell_error(SightlineError(*cause_of(error, default_root())))


def dim(text: str, fd: int = 2) -> str:
    """Dim text, on a terminal that can show it so."""
    return f"{_DIM}{text}{_PLAIN}" if _styled(fd) else text


def red(text: str, fd: int = 1) -> str:
    """Colour text red, on a terminal that can show it so."""
    return f"{_RED}{text}{_PLAIN}" if _styled(fd) else text


def green(text: str, fd: int = 1) -> str:
    """Colour text green, on a terminal that can show it so."""
    return f"{_GREEN}{text}{_PLAIN}" if _styled(fd) else text


def _styled(fd: int) -> bool:
    return os.isatty(fd) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def print_json(value: Any) -> None:
    """Print data as JSON, indented if a person reads it."""
    write_out(json_text(value))


def json_text(value: Any) -> str:
    """Return data as the text that `print_json` prints."""
    return dumps(value, ensure_ascii=False, indent=2 if os.isatty(1) else None) + "\n"
