"""Turns on, where a person agrees, that secrets of known formats are hidden: `[redact] known = true`."""

import os

from sightline.base.private_files import make_folder, read_file, write_atomically
from sightline.settings.config import load_settings

QUESTION = "hide secrets of known formats (tokens, keys, passwords) in all that is kept from now on?"


def is_open(root: str) -> bool:
    """Return whether nobody has decided yet: no setting hides anything, and no file has a table for it."""
    return not load_settings(_file(root), {}).redacts and b"[redact]" not in _text(root)


def turn_on(root: str) -> str:
    """Add the setting to ``config.toml``, and return its path. Everything else in it stays."""
    make_folder(root)
    before = _text(root)
    gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
    write_atomically(_file(root), before + gap + b"[redact]\nknown = true\n")
    return _file(root)


def _file(root: str) -> str:
    return os.path.join(root, "config.toml")


def _text(root: str) -> bytes:
    try:
        return read_file(_file(root))
    except FileNotFoundError:
        return b""
