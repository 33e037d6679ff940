"""``sightline fleet join``: all that a host does to ship: settings, password, keys, and the service that ships."""

import getpass
import os
import shutil
import subprocess
import sys

import tomlkit

from sightline.base.errors import UsageError
from sightline.base.private_files import make_folder, new_file, remove_file, write_all, write_atomically
from sightline.base.regular_files import read_regular
from sightline.doors.fleet.ship import LAUNCHD_UNIT, SYSTEMD_UNIT, unit_text
from sightline.doors.terminal.arguments import CommandParser, Namespace, command_parser
from sightline.doors.terminal.output import print_json, write_out
from sightline.fleet import KEY_FILE, PASSWORD_FILE, QUEUE_FOLDER, ExtraMissing
from sightline.settings.config import load_settings
from sightline.store import Store
from sightline.verbs.printable_text import printable

try:
    from sightline.fleet.invitation import Invitation, accept, invitation_of, new_password
except ImportError as error:
    _MISSING: ImportError | None = error
else:
    _MISSING = None


def parser(name: str) -> CommandParser:
    """Declare what the command takes."""
    made = command_parser(
        name,
        "Join a fleet with the line that its owner's `sightline fleet add-host` has printed. The line is read from "
        "standard input or a file, never from arguments, which others can read. The machine then has a password that "
        "nobody else knows, in a file that only you can read, the addresses in config.toml, and a service that ships "
        "what comes.",
        "ssh owner sightline fleet add-host host7 --team backend | sightline fleet join",
        "sightline fleet join --file invitation.txt",
    )
    made.add_argument("--file", default="", metavar="FILE", help="read the line from this file, and remove the file")
    made.add_argument(
        "--no-service", action="store_true", help="install no service; `sightline ship --follow` is run in another way"
    )
    return made


def main(given: Namespace) -> int:
    """Join, and return the exit code."""
    if _MISSING:
        raise ExtraMissing(_MISSING) from _MISSING
    invitation = invitation_of(_line(given.file))
    with Store() as store:
        root, config = store.root, store.layout.config
    _refuse_another_fleet(config, invitation)
    password_file = os.path.join(root, QUEUE_FOLDER, PASSWORD_FILE)
    _take_password(invitation, password_file)
    _write_settings(config, invitation, password_file)
    if invitation.key_id:
        _write_key(invitation, os.path.join(root, QUEUE_FOLDER, KEY_FILE))
    if given.file:
        remove_file(given.file)
    service = "" if given.no_service else _install_service(root)
    if given.json:
        print_json({"db": invitation.db, "objects": invitation.objects, "service": service})
        return 0
    shown = f"joined {invitation.db}; settings are in {config}, the password in {password_file}\n"
    shown += f"{service}\n" if service else "next: `sightline ship --follow`, by whatever starts services here\n"
    write_out(printable(shown))
    return 0


def _line(path: str) -> str:
    if path:
        try:
            return read_regular(path).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}", "name the file that has the line") from error
    if os.isatty(0):
        return getpass.getpass("the line of `sightline fleet add-host`: ")  # not shown, and in no history
    return sys.stdin.read(1 << 16)


def _refuse_another_fleet(config: str, invitation: "Invitation") -> None:
    known = load_settings(config).fleet.db
    if known and known != invitation.db:
        raise UsageError(
            f"this store ships to {known} already", f"take [fleet] out of {config} first, if it is to ship elsewhere"
        )


def _take_password(invitation: "Invitation", path: str) -> None:
    """Keep a new password in a file, before the database has it: a role whose password nobody has would be lost."""
    make_folder(os.path.dirname(path))
    password, waiting = new_password(), f"{path}.new"
    remove_file(waiting)
    fd = new_file(waiting, 0o600)
    try:
        write_all(fd, f"{password}\n".encode())
        os.fsync(fd)
    finally:
        os.close(fd)
    accept(invitation, password)
    os.replace(waiting, path)


def _write_settings(config: str, invitation: "Invitation", password_file: str) -> None:
    try:
        text = read_regular(config).decode()
    except FileNotFoundError:
        text = ""
    document = tomlkit.parse(text)
    table = document.setdefault("fleet", tomlkit.table())
    table["db"], table["objects"] = invitation.db, invitation.objects
    quoted = "'" + password_file.replace("'", "'\\''") + "'"
    table["password_command"] = f"cat {quoted}"
    write_atomically(config, tomlkit.dumps(document).encode())


def _write_key(invitation: "Invitation", path: str) -> None:
    key = f"AWS_ACCESS_KEY_ID={invitation.key_id}\nAWS_SECRET_ACCESS_KEY={invitation.key_secret}\n"
    write_atomically(path, key.encode())


def _install_service(root: str) -> str:
    """Write the unit, and start it where the system's manager answers; return what was done, in a sentence."""
    darwin = sys.platform == "darwin"
    path = os.path.expanduser(LAUNCHD_UNIT if darwin else SYSTEMD_UNIT)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_atomically(path, unit_text(root).encode())
    starts = (
        [["launchctl", "bootstrap", f"gui/{os.getuid()}", path]]
        if darwin
        else [["systemctl", "--user", "daemon-reload"], ["systemctl", "--user", "enable", "--now", "sightline-ship"]]
    )
    for words in starts:
        if shutil.which(words[0]) is None or subprocess.run(words, capture_output=True, check=False).returncode:
            return f"the service is in {path}, and was not started: {' '.join(words)}"
    return f"the service in {path} ships what comes"
