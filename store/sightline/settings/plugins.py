"""Files of rules, and harnesses, that a person or other packages add.

A person's rules lie in ``rules/`` below the store's root. Packages name theirs by entry points. Looking for these takes
as long as several starts of an interpreter, so only `install` and `doctor` look, and write the result into the store's
folder, where views and hooks read it.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout

from sightline.base.ownership import others_could_write
from sightline.base.private_files import write_atomically
from sightline.base.regular_files import read_regular
from sightline.light.json_text import dumps, loads
from sightline.light.named_tuple import NamedTuple
from sightline.settings.config import default_root
from sightline.shape.failure.catalogue import MAX_FILE_BYTES
from sightline.shape.failure.catalogue import RuleFile as RuleFile

FOLDER = "rules"
"""Folder of a person's rules, below the store's root."""

FILE = "plugins.json"
"""File with what was found, below the store's root."""


class Plugins(NamedTuple):
    """What was found.

    Attributes:
        rules: files of rules in packages.
        harnesses: where the object of each harness is, such as ``package.module:HARNESS``, by the harness' name.
        refused: files with rules that are left out, in the state in which their examples were tried.
    """

    rules: tuple[str, ...] = ()
    harnesses: Mapping[str, str] = {}
    refused: tuple[RuleFile, ...] = ()


def read_plugins(root: str) -> Plugins:
    """Return what was written down last; nothing if it cannot be read."""
    try:
        data = loads(read_regular(os.path.join(root, FILE)))
        return Plugins(
            tuple(map(str, data["rules"])),
            {str(name): str(place) for name, place in data["harnesses"].items()},
            tuple(
                RuleFile(str(path), int(size), int(changed), tuple(map(str, tools)))
                for path, size, changed, tools in data["refused"]
            ),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Plugins()


def write_plugins(root: str, plugins: Plugins) -> None:
    """Write down what was found if it has changed. Raises OSError."""
    if plugins != read_plugins(root):
        write_atomically(os.path.join(root, FILE), dumps(plugins._asdict(), indent=1).encode() + b"\n")


def rule_files(root: str, plugins: Plugins | None = None) -> tuple[RuleFile, ...]:
    """Return the files of rules in force: those of packages, then a person's own, by name.

    Refused rules of a file are left out until it changes; a file over MAX_FILE_BYTES is always left out.
    """
    plugins = read_plugins(root) if plugins is None else plugins
    refused = {file[:3]: file for file in plugins.refused}
    found = (file for file in added_files(root, plugins.rules) if file.size <= MAX_FILE_BYTES)
    return tuple(refused.get(file[:3], file) for file in found)


def added_files(root: str, of_packages: Iterable[str]) -> Iterator[RuleFile]:
    """Yield all added files of rules as they are now."""
    for path in (*of_packages, *_own_files(root)):
        try:
            status = os.stat(path)
        except OSError:  # a link or package that is gone: doctor reports it, views find no rule in it
            yield RuleFile(path)
        else:
            yield RuleFile(path, status.st_size, status.st_mtime_ns)


def own_rules(root: str) -> str:
    """Return the folder of a person's rules, which may be missing. It is theirs, so links in it are followed."""
    return os.path.join(root, FOLDER)


def _own_files(root: str) -> list[str]:
    folder = own_rules(root)
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".toml"))
    except OSError:
        return []


def known_harnesses() -> Mapping[str, str]:
    """Return where the objects of added harnesses are, as written down in the store of this environment.

    Nothing if others could have written that, since these objects are programs.
    """
    root = default_root()
    return read_plugins(root).harnesses if not others_could_write(os.path.join(root, FILE)) else {}


def load_object(place: str) -> object:
    """Load ``package.module:NAME``; what its module prints goes to standard error, because hooks answer by printing.

    Raises:
        ImportError: it cannot be loaded, whatever its module raises.
    """
    module, _, name = place.partition(":")
    try:
        with redirect_stdout(sys.stderr):
            return getattr(__import__(module, fromlist=[name]), name)
    except (Exception, SystemExit) as error:  # others' code must not stop a hook or a doctor
        raise ImportError(f"{place} cannot be loaded: {type(error).__name__}: {error}") from error
