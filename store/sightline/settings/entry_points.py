"""Finds what installed packages add by their entry points, and tries all added rules.

This takes as long as several starts of an interpreter, so only `install` and `doctor` do it, and write down the result.
"""

import os
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec

from sightline.base.regular_files import read_regular
from sightline.light.named_tuple import NamedTuple
from sightline.settings.plugins import Plugins, added_files, write_plugins
from sightline.shape.failure.catalogue import MAX_FILE_BYTES, RuleFile
from sightline.shape.failure.rule_check import RuleCheck, check_rules

RULES, HARNESSES = "sightline.rules", "sightline.harnesses"
"""The groups. An entry point for rules names a package whose folder has files of rules; for a harness, its object."""


class Missing(NamedTuple):
    """An entry point that leads nowhere.

    Attributes:
        name: its name in its package.
        why: what is wrong, in words.
    """

    name: str
    why: str


class Checked(NamedTuple):
    """An added file of rules, and how each of its rules did on its examples."""

    file: RuleFile
    checks: tuple[RuleCheck, ...]


def refresh_plugins(root: str) -> tuple[list[Checked], list[Missing]]:
    """Find what packages add, try all added rules, and write down what views and hooks are to use.

    Args:
        root: root of the store, which exists.

    Raises:
        OSError: it cannot be written down.
    """
    paths, missing = find_rules()
    found = [Checked(file, tuple(_checked(file))) for file in added_files(root, paths)]
    refused = []
    for file, checks in found:
        if tools := tuple(one.tool for one in checks if one.problems):
            refused.append(file._replace(refused=tools))
    write_plugins(root, Plugins(paths, find_harnesses(), tuple(refused)))
    return found, missing


def _checked(file: RuleFile) -> list[RuleCheck]:
    if file.size > MAX_FILE_BYTES:
        return [RuleCheck("", problems=(f"it is larger than {MAX_FILE_BYTES:,} bytes",))]
    try:
        text = read_regular(file.path).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        return [RuleCheck("", problems=(f"it cannot be read: {why}",))]
    return check_rules(text, file)


def find_rules() -> tuple[tuple[str, ...], list[Missing]]:
    """Return paths of the files of rules in packages, and the entry points that lead to none."""
    files: list[str] = []
    missing: list[Missing] = []
    for entry in _sorted(RULES):
        try:
            found = _files_of(entry.value)
        except Exception as error:  # the package is imported, and its code may raise anything
            missing.append(Missing(entry.name, f"{entry.value} cannot be looked into: {type(error).__name__}: {error}"))
            continue
        files += found
        if not found:
            missing.append(Missing(entry.name, f"the folder of {entry.value} has no file that ends in .toml"))
    return tuple(files), missing


def find_harnesses() -> dict[str, str]:
    """Return where the object of each harness is, such as ``package.module:HARNESS``, by the harness' name."""
    return {entry.name: entry.value for entry in _sorted(HARNESSES)}


def _sorted(group: str) -> list[EntryPoint]:
    return sorted(entry_points(group=group), key=lambda entry: entry.name)


def _files_of(package: str) -> list[str]:
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise ModuleNotFoundError(f"there is no package {package}")
    return sorted(
        os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if name.endswith(".toml")
    )
