"""What `doctor` says of harnesses: what is installed, which version was found, and whether a probe call works."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator

from sightline.agents.install.harness_settings import SCOPES, USER, Where, coincide, installable, places_of
from sightline.agents.install.probe import Probe, probe_hooks, probe_server
from sightline.agents.install.status import Status, status_of
from sightline.base.check_result import CheckResult
from sightline.base.errors import SightlineError
from sightline.base.ownership import others_could_write
from sightline.base.regular_files import read_regular
from sightline.harnesses.base import Harness
from sightline.light.json_text import loads
from sightline.light.named_tuple import NamedTuple

_PATIENCE_SECONDS = 10
_VERSION = re.compile(r"(?<!\d)\d+\.\d+[\w.+-]*")
_PACKAGE_LEVELS = 4  # from a program up to its package.json


class HarnessProgram(NamedTuple):
    """The program of a harness.

    Attributes:
        path: where it was found; empty where it was not found.
        version: the version that its package states; empty where that is not known.
    """

    path: str = ""
    version: str = ""


def program_of(harness: Harness) -> HarnessProgram:
    """The harness' program on ``PATH``."""
    for name in harness.programs:
        if path := shutil.which(name):
            return HarnessProgram(path, _packaged(os.path.realpath(path)) or _told(path))
    return HarnessProgram()


class Present(NamedTuple):
    """A harness that is on this machine.

    Attributes:
        harness: which one.
        program: its program, with an empty path where only settings show that the harness is here.
        settings: the settings file that shows that it is here; empty where a program does.
    """

    harness: Harness
    program: HarnessProgram
    settings: str = ""

    @property
    def named(self) -> str:
        """Its title, and the version where that is known."""
        return f"{self.harness.title} {self.program.version}".rstrip()


def present_harnesses(where: Where) -> Iterator[Present]:
    """The harnesses on this machine: those with a program on ``PATH``, or with a settings file of the person.

    A folder of settings proves nothing: the one with Claude Code's list of servers is the person's home.

    Args:
        where: whose settings.
    """
    for harness in installable().values():
        program = program_of(harness)
        files = [] if program.path else places_of(harness, USER, where).all
        settings = next((path for path in files if os.path.isfile(path)), "")
        if program.path or settings:
            yield Present(harness, program, settings)


def _packaged(path: str) -> str:
    """The version of the npm package that a program lies in. To ask the program would take seconds with some."""
    for _ in range(_PACKAGE_LEVELS):
        path = os.path.dirname(path)
        try:
            described = loads(read_regular(os.path.join(path, "package.json")))
            if described.get("bin"):
                return str(described["version"])
        except (OSError, ValueError, KeyError, AttributeError):
            continue
    return ""


def _told(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search(done.stdout.decode(errors="replace"))
    return found.group() if found else ""


def examine_harnesses(where: Where, root: str) -> Iterator[CheckResult]:
    """Look at every harness; findings as they come.

    Args:
        where: whose settings, and of which project.
        root: the store's root where it is not the usual one, else empty.
    """
    ready = []
    for harness in installable().values():
        program = program_of(harness)
        installed = False
        for scope in SCOPES:
            places = places_of(harness, scope, where)
            if scope != USER and coincide(places, places_of(harness, USER, where)):
                continue
            try:
                status = status_of(harness, places, root)
            except SightlineError as error:
                yield CheckResult("problem", f"{harness.title}, {scope}: {error.message}; {error.hint}")
                continue
            if status.installed:
                installed = True
                yield from _installed(harness, scope, program, status)
        if not installed and program.path:
            ready.append(f"{Present(harness, program).named} (`sightline install {harness.name}`)")
    if ready:
        yield CheckResult("note", f"harnesses that are here and do not know of Sightline: {', '.join(ready)}")


def _installed(harness: Harness, scope: str, program: HarnessProgram, status: Status) -> Iterator[CheckResult]:
    head = f"{Present(harness, program).named}, {'user' if scope == USER else 'this folder'}"
    found = "" if program.path else "; the program is not on the PATH"
    mode = f"mode {status.mode}" if status.mode else "no hooks"
    yield CheckResult("ok" if program.path else "note", f"{head}: installed, {mode}{found}")
    install = f"`sightline install {harness.name}{'' if scope == USER else f' --scope {scope}'}`"
    again = f"{install} mends that"
    if way := harness.ways.get(status.mode):
        yield CheckResult("ok", f"{head}: {way}")
    if status.former:
        yield CheckResult(
            "note", f"{head}: as an earlier version installed it, which goes on working; {install} brings it up to date"
        )
    elif status.stale:
        yield CheckResult("problem", f"{head}: not as it was installed: {', '.join(status.stale)}; {again}")
    if status.off:
        yield CheckResult("problem", f"{head}: all hooks are turned off by {status.off}; without it they run")
    if status.strange and scope != USER:  # a stranger may have written this folder, settings included
        yield CheckResult("note", f"{head}: not tried, since it would start what this version of us has not written")
        return
    if why := next(filter(None, map(others_could_write, status.paths)), ""):
        yield CheckResult("note", f"{head}: not tried, since others could have written what it would start: {why}")
        return
    if status.server is not None:
        yield _tried(f"{head}: the MCP server", [("", probe_server(status.server))], again)
    if status.hooks:
        yield _tried(f"{head}: hooks", probe_hooks(harness.name, status.hooks), again)
    if harness.seen and program.version and _numbers(program.version) != _numbers(harness.seen):
        newer = _numbers(program.version) > _numbers(harness.seen)
        told = f"{'newer' if newer else 'older'} than {harness.seen}, with which Sightline was tried"
        yield CheckResult("note", f"{Present(harness, program).named} is {told}; what it gives may differ")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _tried(what: str, tried: list[tuple[str, Probe]], again: str) -> CheckResult:
    wrong = [f"{event}: {probe.wrong}".removeprefix(": ") for event, probe in tried if probe.wrong]
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if wrong[1:] else ""
        return CheckResult("problem", f"{what} did not answer a probe call: {wrong[0]}{more}; {again}")
    slowest = max(probe.seconds for _, probe in tried)
    return CheckResult("ok", f"{what} answered {_counted(len(tried))} {slowest * 1000:.0f} ms")


def _counted(calls: int) -> str:
    return "a probe call within" if calls == 1 else f"{calls} probe calls, each within"
