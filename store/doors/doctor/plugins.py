"""What a person and other packages add: rules that stand their examples or are left out, harnesses that do not load."""

from collections.abc import Iterator

from sightline.doors.doctor.check_result import CheckResult
from sightline.entry_points import Checked, refresh_plugins
from sightline.harnesses import load_harness
from sightline.plugins import read_plugins
from sightline.verbs.printable_text import printable


def examine_plugins(root: str) -> Iterator[CheckResult]:
    """Look for them, and write down for views and hooks what was found; what was found and refused, as it comes.

    Raises:
        OSError: it cannot be written down.
    """
    found, missing = refresh_plugins(root)
    for one in missing:
        yield CheckResult("problem", printable(f"rules of {one.name}: {one.why}; tell whoever made the package"))
    for checked in found:
        yield from _told(checked)
    for name, place in read_plugins(root).harnesses.items():
        try:
            load_harness(name, place)
        except ImportError as error:
            yield CheckResult("problem", printable(f"the harness {name}: {error}; tell whoever made the package"))


def _told(checked: Checked) -> Iterator[CheckResult]:
    path = printable(checked.file.path)
    good = [one.tool for one in checked.checks if not one.problems]
    if good:
        yield CheckResult("ok", f"{path}: rules that stand their examples: {printable(', '.join(good))}")
    for one in checked.checks:
        if one.problems:
            what = f"the rule of {printable(one.tool)} is left out" if one.tool else "it is left out"
            yield CheckResult("problem", f"{path}: {what}: {printable('; '.join(one.problems))}")
        elif not one.examples:
            yield CheckResult("note", f"{path}: the rule of {printable(one.tool)} has no example, so nothing tried it")
