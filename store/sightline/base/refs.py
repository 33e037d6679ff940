"""The grammar of refs: the name of a buffer, a stream of it and a range of its lines.

Only text is checked here; the store says whether a buffer of that name exists.
"""

from sightline.base.errors import BadRange, BadRef
from sightline.light.late_pattern import re
from sightline.light.named_tuple import NamedTuple

KINDS = ("cmd", "file", "tool")
HEX_DIGITS = 6  # 24 bits: collisions start near 4,800 buffers, and a name then gets longer
MANY_HEX_DIGITS = 8  # from MANY_BUFFERS on: a mistyped ref of 6 digits would name another of 100,000 in 0.6 % of cases
MANY_BUFFERS = 10_000
PREFIX_DIGITS = 4  # the shortest prefix that a person may type
SHA_PREFIX_DIGITS = 6

_HEX = "0123456789abcdef"

# The patterns are compiled at their first use, by re itself, because the commonest refs are read without any.
_HOST = r"[A-Za-z][A-Za-z0-9-]{0,127}"
_REF = (
    rf"(?:(?P<host>{_HOST})/)?"
    rf"@(?:(?P<kind>cmd|file|tool)_(?P<hex>[0-9a-f]{{{PREFIX_DIGITS},64}})"
    r"|(?P<recent>last)(?:~(?P<back>[0-9]{1,6}))?"
    rf"|sha256:(?P<sha>[0-9a-f]{{{SHA_PREFIX_DIGITS},64}}))"
    r"(?:\.(?P<stream>out|err|all|[0-9]{1,6}))?"
    r"(?::(?P<first>[0-9]{1,15})(?P<dash>-(?P<last>[0-9]{1,15})?)?)?"
)
_ARTIFACT = r"cmd-[0-9]{1,20}\.txt"
_ACK = r"@ack_[0-9a-f]{8}"
_LOOKS_LIKE_A_REF = rf"(?:{_HOST}/)?(?:@(?:cmd|file|tool)_|@last(?![0-9A-Za-z_])|@sha256:)|@ack_"


class Ref(NamedTuple):
    """A parsed ref.

    Exactly one of ``name``, ``back``, ``sha256`` and ``artifact`` is set.

    Attributes:
        name: ``cmd_a1b2c3``, or a prefix of it; in a shared place ``host7/cmd_a1b2c3``.
        back: 0 for ``@last``, N for ``@last~N``.
        sha256: a prefix of a stream's hash, hex.
        artifact: an imported artifact's id such as ``cmd-1706119234567.txt``.
        stream: ``out``, ``err``, ``all``, ``part.N``, or empty if none was named.
        first: first line of the range, from 1; 0 without a range.
        last: last line, inclusive; 0 for "to the end", and without a range.
        host: its host, in a shared place; empty if that was not given.
    """

    name: str = ""
    back: int | None = None
    sha256: str = ""
    artifact: str = ""
    stream: str = ""
    first: int = 0
    last: int = 0
    host: str = ""


def parse_ref(text: str) -> Ref:
    """Parse one ref. Raises BadRef, or BadRange for a range that is written backwards or starts at 0."""
    text = text.strip()
    if text == "@last":
        return Ref(back=0)
    kind, _, digits = text[1:].partition("_")
    if text[:1] == "@" and kind in KINDS and PREFIX_DIGITS <= len(digits) <= 64 and not digits.strip(_HEX):
        return Ref(name=text[1:])
    if text.startswith("cmd-") and re.fullmatch(_ARTIFACT, text):
        return Ref(artifact=text)
    match = re.fullmatch(_REF, text)
    if not match:
        raise BadRef(
            f"not a ref: {text[:80]!r}",
            "a ref looks like @cmd_a1b2c3, @cmd_a1b2c3.err, @cmd_a1b2c3:42-80 or @last; `sightline list` names them",
        )
    first, last = _range_of(match, text)
    stream = match["stream"] or ""
    if stream.isdigit():
        stream = f"part.{int(stream)}"
    found = Ref(stream=stream, first=first, last=last, host=match["host"] or "")
    if match["recent"]:
        return found._replace(back=int(match["back"] or 0))
    if match["sha"]:
        return found._replace(sha256=match["sha"])
    return found._replace(name=on_host(found.host, f"{match['kind']}_{match['hex']}"))


def on_host(host: str, name: str) -> str:
    """Return the name of a host's buffer, or session, in a shared place; without a host, its own name."""
    return f"{host}/{name}" if host else name


def host_of(name: str) -> str:
    """Return the host in such a name; empty if there is none."""
    return name.rpartition("/")[0]


def are_of_two_hosts(name: str, other: str) -> bool:
    """Return whether two outputs were made on different hosts."""
    return host_of(name) != host_of(other)


def _range_of(match: "re.Match[str]", text: str) -> tuple[int, int]:
    if match["first"] is None:
        return 0, 0
    first = int(match["first"])
    last = int(match["last"]) if match["last"] else (0 if match["dash"] else first)
    if first < 1 or (match["last"] and last < first):
        raise BadRange(f"no such range of lines: {text}", "lines count from 1 and the range is inclusive: :42-80")
    return first, last


def parse_lines(text: str) -> tuple[int, int]:
    """Parse ``"42-80"``, ``"42"`` or ``"42-"`` into (first, last); last is 0 for "to the end". Raises BadRange."""
    match = re.fullmatch(r"\s*(\d{1,15})\s*(?:([-,:])\s*(?:(\d{1,15})\s*)?)?", text)
    if not match:
        raise BadRange(f"not a range of lines: {text[:40]!r}", 'write it as "42-80", "42" or "42-"')
    first = int(match[1])
    last = int(match[3]) if match[3] else (0 if match[2] else first)
    if first < 1 or (match[3] and last < first):
        raise BadRange(f"no such range of lines: {text}", "lines count from 1 and the range is inclusive")
    return first, last


def looks_like_a_ref(text: str) -> bool:
    """Return whether a text begins as only a ref does, so that a faulty one is an error, and never plain text."""
    if text == "@last" or text.startswith(("@cmd_", "@file_", "@tool_")):
        return True
    return "@" in text and bool(re.match(_LOOKS_LIKE_A_REF, text))


def is_ack(text: str) -> bool:
    """Return whether the whole text is a token that confirms a command."""
    return bool(text.lstrip().startswith("@ack_") and re.fullmatch(_ACK, text.strip()))


def format_ref(name: str, stream: str = "", first: int = 0, last: int = 0) -> str:
    """Return the ref of a buffer, a stream of it, or lines of that stream; ``out`` is left out.

    It is ``@cmd_a1b2c3.err:3-9``, and for a host's buffer in a shared place ``host7/@cmd_a1b2c3.err:3-9``.
    """
    suffix = {"": "", "out": ""}.get(stream, "." + stream.removeprefix("part."))
    lines = f":{first}-{last or ''}" if first else ""
    host, slash, own = name.rpartition("/")
    return f"{host}{slash}@{own}{suffix}{lines}"
