"""Settings: defaults, overridden by ``config.toml`` under the root, overridden by ``SIGHTLINE_*`` variables.

A wrong value is an error that names the place, the key and the allowed values; an unknown key is an error, too. A
version refuses the keys that only a later one knows, and would not run commands any more. So keys that 0.2.0 does not
know may stand in ``config.extra.toml`` beside it, which 0.2.0 does not read.
"""

import os

from sightline.base.errors import SettingError
from sightline.base.ownership import others_could_write
from sightline.base.private_files import close_folder
from sightline.base.profile import DEFAULT, check_profile_name, load_profile
from sightline.base.regular_files import read_regular
from sightline.light.late_imports import late_modules
from sightline.light.late_pattern import re
from sightline.light.library import suppress
from sightline.light.named_tuple import NamedTuple
from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, Mapping

with late_modules(globals()):
    from sightline.light import toml_text  # few stores have settings

if TYPE_CHECKING:  # few settings hide anything
    from sightline.redact.hiding import Redaction as Redaction

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_UNITS = {
    "": 1,
    "b": 1,
    "k": KIB,
    "kib": KIB,
    "m": MIB,
    "mib": MIB,
    "g": GIB,
    "gib": GIB,
    "t": GIB << 10,
    "tib": GIB << 10,
}
_TABLES = ("safety", "directories", "keys", "redact", "inspector", "evidence", "fleet", "trust", "store", "prices")
ENVIRONMENT_PREFIX = "SIGHTLINE_"
HOOKS = "hooks"
"""Folder below the root with what hooks of harnesses must know of each other."""

NOTED_TRANSCRIPTS = f"{HOOKS}/transcripts"
"""Folder below the root with a file for each session that hooks record: the path of its harness' own transcript."""

_OTHER_VARIABLES = {"HOME", "SESSION", "STORE"}
"""Our variables that are not settings."""


class FleetSettings(NamedTuple):
    """Where this machine's outputs are shipped, and how. Nothing is shipped if ``db`` is empty.

    Attributes:
        db: address of the shared database.
        objects: address of the object store.
        host: name of this store there, for CI, where many ship under one role.
        password_command: a command that prints the database's password; empty if its client finds that itself.
        password_refused: why that command is not run; empty if it is.
        redact_known: whether secrets of well-known formats are hidden there, even if they are kept here.
        max_buffer_bytes: a larger buffer is not shipped.
        store: address of the shared database for reading, as ``--store fleet`` does.
        messages: whether to ship also prompts, agents' messages, and summaries of contexts.
    """

    db: str = ""
    objects: str = ""
    host: str = ""
    password_command: str = ""
    redact_known: bool = False
    max_buffer_bytes: int = 4 * GIB
    messages: bool = False
    store: str = ""
    password_refused: str = ""

    def password_program(self) -> str:
        """Return the command that prints the password; empty without one. Raises SettingError if it must not run."""
        if self.password_refused:
            raise SettingError(
                f"[fleet] password_command is not run: {self.password_refused}", "let nobody else write the settings"
            )
        return self.password_command


class EvidenceSettings(NamedTuple):
    """Which own words of people and agents are kept, and what an agent is told about its own.

    Attributes:
        messages: whether prompts and agents' messages are kept: for the timeline, and to compare claims with the log.
        remind: whether a session is told after a compaction which failures it has forgotten.
        ask: whether an agent that stops is told, once, what its claims lack.
    """

    messages: bool = True
    remind: bool = False
    ask: bool = False


class ModelPrice(NamedTuple):
    """What the tokens of a model cost, in US dollars per million."""

    input: float
    cache_read: float
    cache_write: float
    cache_write_1h: float
    output: float


class Settings(NamedTuple):
    """All settings, with their defaults.

    No variable turns redaction off, because whoever starts a program must not show what a person's file hides.

    Attributes:
        max_buffers: how many outputs are kept; the least recently used ones go first.
        max_bytes: how many bytes of output are kept in all.
        max_age_days: how many days after its last use an output is kept.
        max_view_bytes: how many bytes of the texts of replies the log keeps.
        max_stream_bytes: how many bytes of one stream are kept; the rest is dropped, and the output says so.
        profile: the profile, which limits what a reply shows.
        durable: whether files are written with fsync, so that nothing that was announced is lost with the power.
        confirm: regular expressions of commands that ask for a confirmation, besides the kinds that always do.
        confirm_not: names of those kinds that do not ask any more; ``all`` for all of them.
        capture_off: folders with ``capture = "off"``: nothing is kept of what runs in one, or below it.
        keys: keys of the inspector, each as (``PANE.action``, its keys, separated by commas).
        starts_with: what the inspector shows first, ``list`` or ``brief``.
        redact_known: whether secrets of well-known formats are hidden before anything is written.
        redact_patterns: regular expressions of further secrets; if one has a group, only the group is hidden.
        ship_off: folders with ``ship = "off"``: nothing is shipped of what runs in one, or below it.
        evidence: whether prompts and agents' messages are kept, whether a session is reminded of failures after a
            compaction, and whether an agent is told what its claims lack: [more](evidence.md).
        fleet: the fleet to which outputs are shipped.
        trusted_stores: in your own settings: stores that you use although others own or may write their folders.
        index_folder: a folder on a local disk in which the index lies, for a store on a network's disk.
        prices: your own prices of models, in US dollars per million tokens, instead of list prices:
            [more](cost.md#your-own-prices).
    """

    max_buffers: int = 100_000
    max_bytes: int = 4 * GIB
    max_age_days: float = 180.0
    max_view_bytes: int = 2 * GIB
    max_stream_bytes: int = 4 * GIB
    profile: str = DEFAULT.name
    durable: bool = False
    confirm: tuple[str, ...] = ()
    confirm_not: tuple[str, ...] = ()
    capture_off: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()
    starts_with: str = "list"
    redact_known: bool = False
    redact_patterns: tuple[str, ...] = ()
    ship_off: tuple[str, ...] = ()
    evidence: EvidenceSettings = EvidenceSettings()
    fleet: FleetSettings = FleetSettings()
    trusted_stores: tuple[str, ...] = ()
    index_folder: str = ""
    prices: tuple[tuple[str, ModelPrice], ...] = ()

    @property
    def redacts(self) -> bool:
        """Whether anything is hidden."""
        return self.redact_known or bool(self.redact_patterns)

    def redaction(self) -> "Redaction | None":
        """Return what hides the secrets of one capture or text; None if no person has turned that on."""
        if not self.redacts:
            return None
        from sightline.redact.hiding import redaction_by  # 30 ms

        return redaction_by(self.redact_known, self.redact_patterns)

    def captures(self, cwd: str) -> bool:
        """Return whether what runs in a folder is captured."""
        return not _is_below(cwd, self.capture_off)

    def ships(self, cwd: str) -> bool:
        """Return whether what ran in a folder is shipped; nothing is if nothing may be captured there any more."""
        return not _is_below(cwd, (*self.capture_off, *self.ship_off))


def _is_below(cwd: str, folders: tuple[str, ...]) -> bool:
    """Return whether a folder is one of these, or below one, by any of its names, of which mounts give more."""
    if not folders:
        return False
    here = os.path.realpath(cwd)
    if any(here == folder or here.startswith(folder.rstrip("/") + "/") for folder in folders):
        return True
    wanted = set(filter(None, map(_identity, folders)))
    while wanted and _identity(here) not in wanted and here != os.path.dirname(here):
        here = os.path.dirname(here)
    return _identity(here) in wanted


def _identity(folder: str) -> tuple[int, int] | None:
    """Return device and inode of a folder; None if it is not there, or its file system numbers none."""
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_ino else None


def default_root(environment: Mapping[str, str] = os.environ) -> str:
    """Return ``$SIGHTLINE_HOME``, else the platform's state folder."""
    if root := environment.get("SIGHTLINE_HOME"):
        return os.path.abspath(os.path.expanduser(root))
    return _usual_root(environment)


def _usual_root(environment: Mapping[str, str]) -> str:
    if os.uname().sysname == "Linux":  # platformdirs would answer the same, after 9 ms of imports
        state = environment.get("XDG_STATE_HOME", "").strip() or os.path.expanduser("~/.local/state")
        return os.path.join(state, "sightline")
    import platformdirs  # 9 ms, see above

    return platformdirs.user_state_dir("sightline", appauthor=False)


def settings_files(path: str) -> tuple[str, str]:
    """Return the files that settings are read from, given the path of ``config.toml``; the later one overrides."""
    return path, path.removesuffix(".toml") + ".extra.toml"


def settings_state(path: str) -> tuple[tuple[int, ...], ...]:
    """Return what differs once a file of the settings is changed, made or removed, given ``config.toml``'s path."""
    return tuple(map(_state_of, settings_files(path)))


def _state_of(file: str) -> tuple[int, ...]:
    try:
        status = os.stat(file)
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def judge_store(root: str) -> str:
    """Return why a store is another's, and close it to writing; empty if it is ours, or our own settings trust it.

    It is another's if its folder, or one above it without the sticky bit, belongs to neither this account nor root, or
    can be written by others. It is read, but neither its settings nor its rules. The settings that can trust it are
    those of the store that this account uses without SIGHTLINE_HOME.

    Raises:
        SettingError: those settings are wrong.
    """
    real = os.path.realpath(root)
    why = others_could_write(root)
    if why and real in _trusted_stores():
        why = ""
    close_folder(real, why)
    close_folder(os.path.abspath(root), why)
    return why


def _trusted_stores() -> tuple[str, ...]:
    import pwd  # needed for another's store only

    homes = [_usual_root(os.environ)]
    with suppress(KeyError):  # sudo may keep the HOME of another account
        home = pwd.getpwuid(os.geteuid()).pw_dir
        homes.append(_usual_root({"HOME": home}))
    trusted: tuple[str, ...] = ()
    for home in dict.fromkeys(homes):
        for file in settings_files(os.path.join(home, "config.toml")):
            if os.path.exists(file) and not others_could_write(file):
                trusted += _from_file(file).get("trusted_stores", ())
    return trusted


def load_settings(path: str, environment: Mapping[str, str] = os.environ) -> Settings:
    """Read settings from ``config.toml`` and the file beside it, neither of which need exist, and the environment.

    The files of another's store are not read; see `judge_store`.

    Raises:
        SettingError: a value or a key is wrong, or a file cannot be read.
    """
    values: dict[str, Any] = {}
    is_anothers = bool(judge_store(os.path.dirname(path)))
    for file in settings_files(path):
        if not is_anothers and os.path.exists(file):
            values |= _from_file(file)
    for variable, text in environment.items():
        if variable.startswith(ENVIRONMENT_PREFIX) and variable[len(ENVIRONMENT_PREFIX) :] not in _OTHER_VARIABLES:
            key = variable[len(ENVIRONMENT_PREFIX) :].lower()
            if key in _READERS:
                values[key] = _READERS[key](text, f"the environment: {variable}")
            elif key in _FLEET_VARIABLES:
                values["fleet"] = values.get("fleet", FleetSettings())._replace(**{key.removeprefix("fleet_"): text})
    if values.get("profile", DEFAULT.name) != DEFAULT.name and "max_buffers" not in values:
        values["max_buffers"] = load_profile(values["profile"]).max_buffers or Settings().max_buffers
    return Settings(**values)


def _from_file(path: str) -> dict[str, Any]:
    try:
        table = toml_text.loads(read_regular(path).decode())
    except OSError as error:
        raise SettingError(
            f"{path} cannot be read: {error.strerror}", "let your account read it, or remove it: it may be missing"
        ) from error
    except ValueError as error:
        raise SettingError(f"{path} is not TOML: {error}", "correct the line that it names") from error
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "safety":
            values |= _safety(value, path)
        elif key == "directories":
            values |= _directories(value, path)
        elif key == "keys":
            values["keys"] = _keys(value, path)
        elif key == "inspector":
            values |= _inspector(value, path)
        elif key == "redact":
            values |= _redact(value, path)
        elif key == "evidence":
            values["evidence"] = _evidence(value, path)
        elif key == "fleet":
            values["fleet"] = _fleet(value, path)
        elif key == "trust":
            values["trusted_stores"] = _trust(value, path)
        elif key == "store":
            values["index_folder"] = _index_folder(value, path)
        elif key == "prices":
            values["prices"] = _prices(value, path)
        elif key in _READERS:
            values[key] = _READERS[key](value, f"{path}: {key}")
        else:
            raise SettingError(f"{path}: unknown setting {key!r}", f"known are: {', '.join([*_READERS, *_TABLES])}")
    return values


def _safety(value: Any, path: str) -> dict[str, tuple[str, ...]]:
    allowed = (
        "[safety] confirm = ['^deploy'] (regular expressions of what waits, too), "
        "confirm_not = ['kill -9'] (kinds that do not wait)"
    )
    if not isinstance(value, dict) or not set(value) <= {"confirm", "confirm_not"}:
        raise SettingError(f"{path}: [safety] takes the keys confirm and confirm_not", allowed)
    for key, items in value.items():
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise SettingError(f"{path}: safety.{key} is not a list of texts", allowed)
    for item in value.get("confirm", ()):
        try:
            re.compile(item)
        except re.error as error:
            raise SettingError(
                f"{path}: safety.confirm: {item!r} is not a regular expression: {error}", allowed
            ) from error
    return {key: tuple(items) for key, items in value.items()}


def _directories(value: Any, path: str) -> dict[str, tuple[str, ...]]:
    allowed = '[directories."/some/folder"] capture = "on" or "off", ship = "on" or "off"'
    if not isinstance(value, dict):
        raise SettingError(f"{path}: directories is not a table", allowed)
    off: dict[str, list[str]] = {"capture": [], "ship": []}
    for folder, settings in value.items():
        right = isinstance(settings, dict) and settings and set(settings) <= set(off)
        if not right or any(switch not in ("on", "off") for switch in settings.values()):
            raise SettingError(f"{path}: directories.{folder!r} has a wrong value", allowed)
        for key, switch in settings.items():
            if switch == "off":
                off[key].append(os.path.realpath(os.path.expanduser(folder)))
    return {f"{key}_off": tuple(folders) for key, folders in off.items()}


def _keys(value: Any, path: str) -> tuple[tuple[str, str], ...]:
    allowed = (
        '[keys.list] sort = "s" (a table for each pane, in it a text for each action; `?` in the inspector lists them)'
    )
    panes = value if isinstance(value, dict) else {"": None}
    keys = []
    for pane, actions in panes.items():
        if not isinstance(actions, dict):
            raise SettingError(f"{path}: keys{pane and '.' + pane} is not a table", allowed)
        for action, text in actions.items():
            if not isinstance(text, str) or not text.strip():
                raise SettingError(f"{path}: keys.{pane}.{action}: {text!r} is not the name of a key", allowed)
            keys.append((f"{pane}.{action}", text))
    return tuple(keys)


def _inspector(value: Any, path: str) -> dict[str, str]:
    allowed = 'start = "list" or start = "brief"'
    if not isinstance(value, dict) or set(value) - {"start"}:
        raise SettingError(f"{path}: [inspector] takes the key start", allowed)
    start = value.get("start", "list")
    if start not in ("list", "brief"):
        raise SettingError(
            f"{path}: inspector.start: {start!r} is not a view that the inspector can start with", allowed
        )
    return {"starts_with": start}


def _redact(value: Any, path: str) -> dict[str, Any]:
    from sightline.redact.rules import check_pattern  # few have the table

    allowed = "[redact] known = true (well-known formats), patterns = ['token-(\\w+)'] (a group: only that is hidden)"
    if not isinstance(value, dict) or not set(value) <= {"known", "patterns"}:
        raise SettingError(f"{path}: [redact] takes the keys known and patterns", allowed)
    known, patterns = value.get("known", False), value.get("patterns", [])
    if not isinstance(known, bool):
        raise SettingError(f"{path}: redact.known: {known!r} is neither true nor false", allowed)
    if not isinstance(patterns, list) or not all(isinstance(item, str) for item in patterns):
        raise SettingError(f"{path}: redact.patterns is not a list of texts", allowed)
    for item in patterns:
        if wrong := check_pattern(item):
            raise SettingError(f"{path}: redact.patterns: {item!r}: {wrong}", allowed)
    return {"redact_known": known, "redact_patterns": tuple(patterns)}


def _trust(value: Any, path: str) -> tuple[str, ...]:
    allowed = '[trust] stores = ["/some/folder"] (stores in folders that others own or may write)'
    if not isinstance(value, dict) or set(value) - {"stores"}:
        raise SettingError(f"{path}: [trust] takes the key stores", allowed)
    stores = value.get("stores", [])
    if not isinstance(stores, list) or not all(isinstance(store, str) and store for store in stores):
        raise SettingError(f"{path}: trust.stores is not a list of folders", allowed)
    return tuple(os.path.realpath(os.path.expanduser(store)) for store in stores)


def _index_folder(value: Any, path: str) -> str:
    allowed = '[store] index = "/a/folder/on/a/local/disk" (the index lies there, for a store on a network\'s disk)'
    if not isinstance(value, dict) or set(value) != {"index"}:
        raise SettingError(f"{path}: [store] takes the key index", allowed)
    folder = value["index"]
    if not isinstance(folder, str) or not os.path.isabs(folder := os.path.expanduser(folder)):
        raise SettingError(f"{path}: store.index: {value['index']!r} is not the whole path of a folder", allowed)
    return folder


def _prices(value: Any, path: str) -> tuple[tuple[str, ModelPrice], ...]:
    allowed = (
        '[prices."some-model"] input = 3.0, output = 15.0, cache_read = 0.3, cache_write = 3.75 (dollars a million)'
    )
    prices = []
    for model, rates in (value if isinstance(value, dict) else {"": {}}).items():
        known = isinstance(rates, dict) and {"input", "output"} <= set(rates) <= set(ModelPrice._fields)
        if not known or not all(type(rate) in (int, float) and 0 <= rate < 1e9 for rate in rates.values()):
            raise SettingError(f"{path}: prices.{model!r} does not give input and output as numbers", allowed)
        written = rates.get("cache_write", rates["input"])
        given = {"cache_read": rates["input"], "cache_write": written, "cache_write_1h": written, **rates}
        prices.append((model, ModelPrice(**{name: float(rate) for name, rate in given.items()})))
    return tuple(prices)


def _evidence(value: Any, path: str) -> EvidenceSettings:
    names = EvidenceSettings._fields
    allowed = "[evidence] messages = true, remind = false, ask = false"
    if not isinstance(value, dict) or not set(value) <= set(names):
        raise SettingError(f"{path}: [evidence] takes the keys {', '.join(names)}", allowed)
    for key, switch in value.items():
        if not isinstance(switch, bool):
            raise SettingError(f"{path}: evidence.{key}: {switch!r} is not a yes or a no", allowed)
    return EvidenceSettings(**value)


_FLEET_VARIABLES = ("fleet_db", "fleet_objects", "fleet_host")
"""Variables that CI sets in place of a file; what hides or runs something can only be set in the file."""


def _fleet(value: Any, path: str) -> FleetSettings:
    allowed = (
        '[fleet] db = "postgresql://user@host/db", objects = "s3://bucket/prefix", host = "name", '
        'store = "postgresql://reader@host/db", '
        'password_command = "command", redact = "known" or "as captured", max_buffer_bytes = "1 GiB", messages = false'
    )
    if not isinstance(value, dict) or not set(value) <= {*FleetSettings._fields, "redact"} - {
        "redact_known",
        "password_refused",
    }:
        raise SettingError(f"{path}: [fleet] has an unknown key", allowed)
    given = dict(value)
    redact = given.pop("redact", "as captured")
    if redact not in ("known", "as captured"):
        raise SettingError(f"{path}: fleet.redact: {redact!r} is not one of the values allowed", allowed)
    if "max_buffer_bytes" in given:
        given["max_buffer_bytes"] = _size(given["max_buffer_bytes"], f"{path}: fleet.max_buffer_bytes")
    if not isinstance(given.get("messages", False), bool):
        raise SettingError(f"{path}: fleet.messages: {given['messages']!r} is not a yes or a no", allowed)
    for key, text in given.items():
        if key not in ("max_buffer_bytes", "messages") and not isinstance(text, str):
            raise SettingError(f"{path}: fleet.{key} is not a text", allowed)
    refused = others_could_write(path) if given.get("password_command") else ""
    return FleetSettings(**given, redact_known=redact == "known", password_refused=refused)


def _count(value: Any, place: str) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value).replace("_", "")) or int(value) < 1:
        raise SettingError(f"{place}: {value!r} is not a count", "give a whole number from 1 up")
    return int(value)


def _size(value: Any, place: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", str(value).replace("_", "").strip())
    size = 0 if isinstance(value, bool) or not match else int(float(match[1]) * _UNITS.get(match[2].lower(), 0))
    if size < 1:
        raise SettingError(f"{place}: {value!r} is not a size", 'give bytes, or a text such as "512 MiB" or "2 GiB"')
    return size


def _days(value: Any, place: str) -> float:
    try:
        days = float(value)
    except (TypeError, ValueError):
        days = 0.0
    if isinstance(value, bool) or not days > 0:
        raise SettingError(f"{place}: {value!r} is not a number of days", "give a number above 0")
    return days


def _flag(value: Any, place: str) -> bool:
    words = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}
    if str(value).lower() not in words:
        raise SettingError(f"{place}: {value!r} is neither true nor false", "write true or false")
    return words[str(value).lower()]


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "max_buffers": _count,
    "max_bytes": _size,
    "max_age_days": _days,
    "max_view_bytes": _size,
    "max_stream_bytes": _size,
    "profile": check_profile_name,
    "durable": _flag,
}
