"""``sightline install`` and ``uninstall``: change the settings of harnesses, and show the change as a diff."""

import difflib
import os

from sightline.agents.install.claude_plugin import make_plugin, rules_to_add
from sightline.agents.install.harness_health import Present, present_harnesses
from sightline.agents.install.harness_settings import (
    PROJECT,
    SCOPES,
    USER,
    SettingsPlaces,
    coincide,
    here,
    hints_for,
    installable,
    places_of,
    targets_of,
    told_root,
)
from sightline.agents.install.installation import Done, install, uninstall
from sightline.agents.install.installation_record import Record
from sightline.agents.install.status import status_of
from sightline.base.errors import SightlineError, UsageError
from sightline.base.private_files import make_folder, read_file, write_atomically
from sightline.doors.cli.confirmation import can_ask, is_agreed
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import dim, green, print_json, red, write_err, write_out
from sightline.harnesses.base import DEFAULT_MODE, MODES, Harness
from sightline.light.typing_names import Any
from sightline.settings.config import default_root, judge_store, load_settings
from sightline.settings.entry_points import refresh_plugins
from sightline.store import Layout
from sightline.verbs.printable_text import printable

_OFFER = "hide secrets of known formats (tokens, keys, passwords) in all that is kept from now on?"
_MODES = (
    "The mode says what the hooks do. record: log each call, as far as the harness tells of it. keep: also keep the "
    "whole output of commands, while the agent sees what it always saw. shape: show the agent Sightline's views "
    "instead."
)


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    if name == "uninstall":
        made = command_parser(
            name,
            "Take out of the settings of a harness what `sightline install` wrote into them. What else has been "
            "changed in them since then stays.",
            "sightline uninstall claude-code",
            "sightline uninstall codex --scope project --dry-run",
        )
    else:
        made = command_parser(
            name,
            "Write Sightline's MCP server and hooks into the settings of a harness; everything else in them stays as "
            "it is. The change is shown as a diff, and `sightline uninstall` takes it back. To install again is "
            "harmless: it changes only what an older version wrote. Without a name, the command looks for the "
            "harnesses on this machine, and asks about each. " + _MODES,
            "sightline install",
            "sightline install claude-code --dry-run",
            "sightline install claude-code --mode shape",
        )
        made.add_argument(
            "--mode",
            choices=MODES,
            metavar="MODE",
            help=f"choose {', '.join(MODES)}; by default the mode that is installed already, or {DEFAULT_MODE}",
        )
        made.add_argument(
            "--yes", action="store_true", help="without a name, install for every harness found without asking first"
        )
        made.add_argument(
            "--plugin",
            default="",
            metavar="FOLDER",
            help="for claude-code only: write a plugin into this folder instead of changing settings",
        )
    made.add_argument(
        "harness",
        choices=installable(),
        metavar="HARNESS",
        nargs=None if name == "uninstall" else "?",
        help=f"one of {', '.join(installable())}",
    )
    made.add_argument(
        "--scope",
        choices=SCOPES,
        default=USER,
        metavar="SCOPE",
        help="choose user, for all your sessions, or project, for sessions in the current folder only",
    )
    made.add_argument("--dry-run", action="store_true", help="only show the change, without making it")
    return made


def main(given: Namespace) -> int:
    """Change the settings of a harness, or of those that a person agrees to, and return the exit code."""
    if given.harness is None:
        return _install_found(given)
    given.harness = installable()[given.harness]
    if given.plugin:
        return _plugin(given)
    mode, done = _install(given, given.harness, dry_run=given.dry_run)
    if not given.dry_run:
        refresh_plugins(default_root())
    if given.json:
        print_json(_data(given, done, mode))
        return 0
    _show(done)
    _tell_installed(given, done, mode)
    if not given.dry_run and _changed(done):
        _offer_redaction(given)
        _tell_next()
    return 0


def _offer_redaction(given: Namespace) -> None:
    """Ask in a line whether known secrets are to be hidden; ``--yes`` answers no question about what is kept."""
    root = default_root()
    if not given.yes and can_ask() and _is_undecided(root) and is_agreed(_OFFER):
        write_out(f"{_turn_on_redaction(root)}: secrets of known formats are hidden from now on\n")


def _install(given: Namespace, harness: Harness, *, dry_run: bool) -> tuple[str, list[Done]]:
    """Install for one harness, or plan it only, and return the mode and the changes of its files."""
    places = _places(given, harness)
    root = told_root()
    mode = given.mode or status_of(harness, places, root).mode or DEFAULT_MODE
    return mode, install(targets_of(harness, mode, places, root), _record(given, harness, places), dry_run=dry_run)


def _install_found(given: Namespace) -> int:
    """Look for harnesses on this machine, and install for those that a person agrees to."""
    if given.plugin:
        raise UsageError("--plugin needs a name", "try `sightline install claude-code --plugin FOLDER`")
    asks = not (given.yes or given.dry_run)
    if asks and given.json:
        raise UsageError("--json cannot ask which harnesses you want", "add --yes or --dry-run, or name a harness")
    found = list(present_harnesses(here()))
    if not found:
        write_err(f"no harness was found on this machine: name one of {', '.join(installable())}\n")
    if found and asks and not can_ask():
        for one in found:
            write_err(f"{_told(one)}\n")
        write_err("to install for all of them: `sightline install --yes`, or name one\n")
        return UsageError.exit_code
    code, data, changed = 0, [], False
    for one in found:
        given.harness = one.harness
        try:
            mode, done = _install(given, one.harness, dry_run=True)
            if not given.json:
                _show(done)
            if not given.dry_run and _changed(done) and (not asks or _is_wanted(one)):
                mode, done = _install(given, one.harness, dry_run=False)
                changed = True
            elif asks and _changed(done):
                continue  # the person said no
        except SightlineError as error:  # the other harnesses are installed all the same
            code = error.exit_code
            write_err(f"{_titled(given)}: {printable(error.message)}\n  {printable(error.hint)}\n")
            continue
        data.append(_data(given, done, mode))
        if not given.json:
            _tell_installed(given, done, mode)
    if changed:
        refresh_plugins(default_root())
    if given.json:
        print_json(data)
    elif changed:
        _offer_redaction(given)
        _tell_next()
    return code


def _is_wanted(one: Present) -> bool:
    return is_agreed(f"install for {_told(one)}?")


def _told(one: Present) -> str:
    return printable(f"{one.named}, found by {_short(one.program.path or one.settings)}")


def take_out(given: Namespace) -> int:
    """Take Sightline out of a harness' settings, and return the exit code."""
    given.harness = installable()[given.harness]
    places = _places(given, given.harness)
    targets = targets_of(given.harness, DEFAULT_MODE, places, told_root())
    done = uninstall(targets, _record(given, given.harness, places), dry_run=given.dry_run)
    if given.json:
        print_json(_data(given, done, ""))
        return 0
    _show(done)
    what = ("would be removed" if given.dry_run else "removed") if _changed(done) else "there was nothing to remove"
    write_out(f"{_titled(given)}: {what}\n")
    return 0


def _places(given: Namespace, harness: Harness) -> SettingsPlaces:
    places = places_of(harness, given.scope, here())
    if given.scope != USER and coincide(places, places_of(harness, USER, here())):
        raise UsageError(
            ("the settings of this folder are those of your account, not of a project"),
            "leave --scope out, or go to the project's folder",
        )
    return places


def _record(given: Namespace, harness: Harness, places: SettingsPlaces) -> Record:
    layout = Layout(default_root())
    if not given.dry_run:
        judge_store(layout.root)
        layout.ensure()
    return Record(layout.root, f"{harness.name}-{given.scope}", places.all)


def _plugin(given: Namespace) -> int:
    if given.harness.name != "claude-code" or given.scope != USER:
        raise UsageError(
            ("--plugin can only be used with claude-code, and without --scope"),
            "a plugin lies where you put it, and has no scope",
        )
    mode = given.mode or DEFAULT_MODE
    done = make_plugin(os.path.abspath(given.plugin), mode, told_root(), dry_run=given.dry_run)
    if given.json:
        print_json(_data(given, done, mode))
        return 0
    _show(done)
    write_out(f"Claude Code plugin, mode {mode}; try it: claude --plugin-dir {given.plugin}\n")
    for rule in rules_to_add(os.path.abspath(given.plugin), mode):
        write_out(f"· a plugin cannot bring this rule along; add it in /permissions: {rule}\n")
    return 0


def _show(done: list[Done]) -> None:
    for one in done:
        write_out("".join(map(_styled, _diff(one))))


def _diff(done: Done) -> list[str]:
    """Return the lines of a file's change, without line ends."""
    before, after = ((data or b"").decode().splitlines() for data in (done.change.found.data, done.change.after))
    name = printable(_short(done.change.found.path))
    old = name if done.change.found.data is not None else "/dev/null"
    new = name if done.change.after is not None else "/dev/null"
    return list(difflib.unified_diff(before, after, old, new, lineterm=""))


def _styled(line: str) -> str:
    text = printable(line.replace("\t", "    "))
    if line.startswith("+"):
        return green(text) + "\n"
    if line.startswith("-"):
        return red(text) + "\n"
    return dim(text, fd=1) + "\n" if line.startswith("@@") else text + "\n"


def _tell_installed(given: Namespace, done: list[Done], mode: str) -> None:
    harness = given.harness
    with_mode = f", mode {mode}" if harness.hooks else ""
    changed = _changed(done)
    if not changed:
        write_out(f"{_titled(given)}{with_mode}: everything is there already\n")
        return
    write_out(
        f"{_titled(given)}{with_mode}: {'this would be' if given.dry_run else ''} installed\n".replace(":  ", ": ")
    )
    for one in changed:
        if one.backup:
            write_out(f"  {_short(one.change.found.path)} as it was: {_short(one.backup)}\n")
    missing = (f"{harness.title}: {harness.missing}",) if harness.missing else ()
    way = (harness.ways[mode],) if mode in harness.ways else ()
    for hint in (*way, *hints_for(harness, given.scope), *missing):
        write_out(f"· {hint}\n")


def _tell_next() -> None:
    write_out("`sightline doctor` tries it; sessions that are running do not know of it yet\n")


def _changed(done: list[Done]) -> list[Done]:
    return [one for one in done if one.change.changes]


def _titled(given: Namespace) -> str:
    return f"{given.harness.title}, {'this folder' if given.scope == PROJECT else 'user'}"


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path.startswith(home + "/") else path


def _data(given: Namespace, done: list[Done], mode: str) -> dict[str, Any]:
    files = [
        {
            "path": one.change.found.path,
            "changed": one.change.changes,
            "backup": one.backup or None,
            "diff": "\n".join(_diff(one)),
        }
        for one in done
    ]
    return {
        "harness": given.harness.name,
        "scope": given.scope,
        "mode": mode or None,
        "dry_run": given.dry_run,
        "files": files,
    }


def _is_undecided(root: str) -> bool:
    """Return whether nobody has decided yet: no setting hides anything, and no file has a table for it."""
    return not load_settings(_settings_file(root), {}).redacts and b"[redact]" not in _settings_text(root)


def _turn_on_redaction(root: str) -> str:
    """Add the setting to ``config.toml``, and return its path. Everything else in it stays."""
    make_folder(root)
    before = _settings_text(root)
    gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
    write_atomically(_settings_file(root), before + gap + b"[redact]\nknown = true\n")
    return _settings_file(root)


def _settings_file(root: str) -> str:
    return os.path.join(root, "config.toml")


def _settings_text(root: str) -> bytes:
    try:
        return read_file(_settings_file(root))
    except FileNotFoundError:
        return b""
