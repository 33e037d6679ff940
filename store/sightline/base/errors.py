"""The errors, one class for each meaning: each says what happened and what to do next; doors decide how it looks."""


class SightlineError(Exception):
    """The base of every error that a person or an agent is meant to read.

    Attributes:
        message: what happened, in one sentence.
        hint: what to do next; may be empty.
        exit_code: exit code of the command line.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SightlineError):
    """A verb was called with arguments that it does not take."""

    exit_code = 2


class BadRef(UsageError):
    """The text is not a ref, or names a stream or a range that cannot exist."""


class UnknownRef(SightlineError):
    """No buffer has, or had, this name."""


class ExpiredRef(SightlineError):
    """The buffer has expired or was removed; a tombstone says what it was.

    Attributes:
        name: name of the buffer; empty if it is about something else.
    """

    def __init__(self, message: str, hint: str = "", *, name: str = "") -> None:
        super().__init__(message, hint)
        self.name = name


class AmbiguousRef(SightlineError):
    """A prefix that several buffers share, or a marker that may mean any of them."""


class BadRange(UsageError):
    """A range of lines or bytes lies outside the buffer, or is written backwards."""


class SettingError(SightlineError):
    """A setting has a wrong value; the message names file, key and the allowed values."""

    exit_code = 2


class StoreFailed(SightlineError):
    """The store could not keep what it was given (disk full, no permission)."""


class UnsafeStore(StoreFailed):
    """Something under the store's root is not what Sightline made (a symbolic link, a pipe, a foreign owner)."""


class OfNewerVersion(StoreFailed):
    """A newer Sightline wrote something in the store in a form that this one would misread."""

    def __init__(self, what: str) -> None:
        from sightline.base.distribution import upgrade  # a start needs no words about upgrading

        super().__init__(f"{what} was written by a newer Sightline", upgrade())


class CommandNotStarted(SightlineError):
    """The program could not be started, and nothing was captured.

    Its exit code is that of shells: 127 for not found, 126 for not executable.
    """

    def __init__(self, message: str, hint: str = "", exit_code: int = 127) -> None:
        super().__init__(message, hint)
        self.exit_code = exit_code


class OutOfProcesses(SightlineError):
    """The system starts no more processes or threads for this user."""

    def __init__(self) -> None:
        super().__init__(
            "no more processes or threads can be started",
            ("end some of yours (`ps` lists them), or raise the limit (`ulimit -u`)"),
        )


class QueryRefused(UsageError):
    """The query is not a read-only pipeline over refs."""
