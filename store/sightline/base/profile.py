"""Profiles: named sets of limits for what goes inline, read from ``profiles/NAME.toml``.

Each is data. Values that a file does not give are the default profile's, which are the defaults of the tuples here, so
that starting with it reads no file. The numbers of the other profiles are those of the systems they are named after.
"""

import os

from sightline.base.errors import SettingError
from sightline.light.late_imports import late_modules
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import Any

with late_modules(globals()):
    from sightline.light import toml_text  # the default profile needs none

FOLDER = os.path.join(os.path.dirname(__file__), "profiles")
"""Folder of the profiles, one file each."""


class Short(NamedTuple):
    """Decides which outputs are short, so that they are given whole, without ref or hint.

    Attributes:
        limit_bytes: the largest output that is given whole.
        measure: what this limit measures: the ``reply`` as it is sent; the ``streams`` as raw bytes; ``both``; or
            only the ``budget``, so that with every verbosity an output is short if it fits the budget.
        cut_lines: whether an output within the limit is still cut to ``cut.head_lines`` and ``cut.tail_lines``.
    """

    limit_bytes: int = 8_000
    measure: str = "reply"
    cut_lines: bool = False


class Budgets(NamedTuple):
    """Bytes of a reply by verbosity; ``full`` has no limit but the hard one.

    Attributes:
        silent, concise, normal, verbose: bytes of a body for this verbosity.
        auto_ok: bytes for ``auto`` if the command succeeded.
        auto_failed: bytes for ``auto`` if it failed.
        unknown: the mode for an unknown word; empty to make it an error.
        measure: what a budget counts: the ``reply``, head and body as the command line prints them; or the ``body``.
    """

    silent: int = 200
    concise: int = 2_048
    normal: int = 8_192
    verbose: int = 16_384
    auto_ok: int = 1_024
    auto_failed: int = 8_192
    unknown: str = ""
    measure: str = "reply"


class Cut(NamedTuple):
    """How the output of a success is cut; after a failure, every profile shows first the lines that explain it.

    Attributes:
        style: ``lines``, whole lines from both ends within the budget; ``middle``, bytes from both ends; ``ends``, a
            number of lines from both ends, if they fit the budget.
        head_percent: the share of the beginning in the budget; the end gets the rest.
        marker_bytes: what ``middle`` reserves in the budget for its marker; 0 if the marker comes on top.
        bytes_marker: what ``middle`` writes in place of ``{count}`` bytes.
        head_lines: how many lines ``ends`` keeps of the beginning.
        tail_lines: how many lines ``ends`` keeps of the end.
        lines_marker: what ``ends`` writes in place of ``{count}`` lines; empty for the marker with their range.
        repeats_marker: what ``ends`` writes for ``{count}`` repetitions of a line, if that is shorter; empty to
            leave them.
        markers: how ``lines`` names the lines that it leaves out: ``short``, by their numbers alone, since
            the ref stands above the view; or ``full``, with the ref.
    """

    style: str = "lines"
    head_percent: int = 20
    marker_bytes: int = 80
    bytes_marker: str = "\n[… {count} bytes elided …]\n"
    head_lines: int = 20
    tail_lines: int = 10
    lines_marker: str = ""
    repeats_marker: str = ""
    markers: str = "short"


class Cleaning(NamedTuple):
    """The rules by which raw bytes become text.

    Attributes:
        views: how a buffer's lines are cleaned: ``terminal``, as a terminal would show them; ``last-segment``, the
            text after the last carriage return of a line.
        answers: how the output of a query is cleaned: in one of these ways, or by ``csi``, which only removes CSI
            sequences.
    """

    views: str = "terminal"
    answers: str = "terminal"


class Query(NamedTuple):
    """How much of a query's answer goes into the reply.

    Attributes:
        max_lines: how many lines, with standard error.
        max_bytes: how many bytes, with standard error.
        max_stderr_lines: how many of the lines may be standard error.
    """

    max_lines: int = 100
    max_bytes: int = 8_000
    max_stderr_lines: int = 20


class ReadLimits(NamedTuple):
    """Pages and searches.

    Attributes:
        page_bytes: bytes of a page, unless the caller gives a limit.
        window_lines: how many lines ``read_file`` shows if only a first line is given; 0 for all that follow.
        ignore_case: whether a search matches letters in either case, unless the caller says.
        matches: how many matches of a search are shown.
        ref_alone: what a ref alone shows: the ``view`` of its output, or its first ``page``.
    """

    page_bytes: int = 40_960
    window_lines: int = 0
    ignore_case: bool = True
    matches: int = 100
    ref_alone: str = "view"


class Sampling(NamedTuple):
    """How structured results are shortened, and in which words they are described.

    The defaults are those of Everruns' distillation; that of fields is codescout's limit, rounded down.

    Attributes:
        array_items: how many elements are shown of a longer array.
        string_bytes: how many bytes are shown of a longer string.
        string_head_percent: the share of the string's beginning in these.
        depth: how many levels of JSON are shown.
        field_size: the size from which on a string field becomes a stream of its own.
        field_unit: the unit of that size: ``bytes`` of UTF-8, or ``utf-16`` code units.
        field_ends: whether the two ends of such a field are shown in its place, and what the JSON in it is.
        null_name: the name of null's type in a description.
        mark_mixed: whether a description says that the elements of an array differ.
    """

    array_items: int = 5
    string_bytes: int = 2_048
    string_head_percent: int = 70
    depth: int = 8
    field_size: int = 8_000
    field_unit: str = "bytes"
    field_ends: bool = True
    null_name: str = "null"
    mark_mixed: bool = True


class Files(NamedTuple):
    """Whether a reply that lacks something says where the whole output lies.

    Attributes:
        shown: whether a reply that lacks something says where the whole output lies.
        naming: how a stream's file is named: ``stream``, by its name, or ``sha256.json``, by its content.
    """

    shown: bool = False
    naming: str = "stream"


class Profile(NamedTuple):
    """A named set of limits; the defaults are those of the profile `sightline`.

    Attributes:
        name: its name.
        about: what it is, in a sentence.
        timeout_secs: seconds after which a command is ended, unless the caller says.
        max_buffers: how many outputs a store keeps whose settings choose the profile and give no number; 0 for the
            usual number.
    """

    name: str = "sightline"
    about: str = "the default: small honest views, failures first"
    timeout_secs: int = 600
    max_buffers: int = 0
    short: Short = Short()
    budgets: Budgets = Budgets()
    cut: Cut = Cut()
    cleaning: Cleaning = Cleaning()
    query: Query = Query()
    reading: ReadLimits = ReadLimits()
    results: Sampling = Sampling()
    files: Files = Files()


DEFAULT = Profile()

CHOICES: dict[str, tuple[str, ...]] = {
    "short.measure": ("reply", "streams", "both", "budget"),
    "budgets.unknown": ("", "silent", "concise", "normal", "verbose", "full"),
    "budgets.measure": ("reply", "body"),
    "cut.markers": ("short", "full"),
    "cut.style": ("lines", "middle", "ends"),
    "cleaning.views": ("terminal", "last-segment"),
    "cleaning.answers": ("terminal", "last-segment", "csi"),
    "reading.ref_alone": ("view", "page"),
    "results.field_unit": ("bytes", "utf-16"),
    "files.naming": ("stream", "sha256.json"),
}
"""The allowed words, for keys that take only some."""


def profile_names() -> list[str]:
    """Return the names of all profiles, the default first."""
    others = {file.removesuffix(".toml") for file in os.listdir(FOLDER) if file.endswith(".toml")} - {DEFAULT.name}
    return [DEFAULT.name, *sorted(others)]


def check_profile_name(name: Any, place: str) -> str:
    """Return the name if there is such a profile. Raises SettingError, which names the existing ones."""
    if name != DEFAULT.name and name not in profile_names():
        raise SettingError(f"{place}: there is no profile {name!r}", f"it is one of {', '.join(profile_names())}")
    return str(name)


def load_profile(name: str, place: str = "profile") -> Profile:
    """Return the profile with a name.

    Args:
        name: one of ``profile_names``.
        place: where the name was written, for the error.

    Raises:
        SettingError: there is no such profile.
    """
    if check_profile_name(name, place) == DEFAULT.name:
        return DEFAULT
    path = os.path.join(FOLDER, name + ".toml")
    with open(path, encoding="utf-8") as file:
        return read_profile(file.read(), name, path)


def read_profile(text: str, name: str, place: str) -> Profile:
    """Read a profile from TOML; values that it does not give are the default profile's.

    Raises:
        SettingError: it is not TOML, has an unknown key, or a value that its key does not take.
    """
    try:
        table = toml_text.loads(text)
    except ValueError as error:
        raise SettingError(f"{place} is not TOML: {error}", "correct the line that it names") from error
    profile: Profile = _filled(DEFAULT, table, "", place)
    return profile._replace(name=name)


def _filled(default: Any, table: dict[str, Any], prefix: str, place: str) -> Any:
    """Return the tuple of defaults with the values of a table in place of them."""
    known = [field for field in default._fields if prefix or field != "name"]
    for key in table:
        if key not in known:
            raise SettingError(f"{place}: unknown key {prefix + key!r}", f"known are: {', '.join(known)}")
    values = {key: _value(getattr(default, key), value, prefix + key, place) for key, value in table.items()}
    return default._replace(**values)


def _value(default: Any, value: Any, key: str, place: str) -> Any:
    if isinstance(default, tuple):
        if not isinstance(value, dict):
            raise SettingError(f"{place}: {key} is not a table", f"write [{key}], and its keys on the lines below it")
        return _filled(default, value, key + ".", place)
    allowed = CHOICES.get(key)
    if allowed is not None and value not in allowed:
        raise SettingError(f"{place}: {key}: {value!r} is not known", f"it is one of {', '.join(map(repr, allowed))}")
    if type(value) is not type(default) or (isinstance(value, int) and value < 0):
        raise SettingError(f"{place}: {key}: {value!r} has the wrong type", f"write it like {default!r}")
    if key.endswith("_percent") and value > 100:
        raise SettingError(f"{place}: {key}: {value!r} is not a percentage", "give a whole number from 0 to 100")
    return value
