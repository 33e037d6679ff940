"""Redaction: what a capture costs where secrets are hidden, beside the same one where they are not."""

import base64
import os
import random
from pathlib import Path

from benchmarks.measure import SIGHTLINE, Row, interleaved, median, ms, run

_LINE_BYTES, _TOKEN_BYTES = 8 << 20, 2 << 20
_LINE_AIM, _TOKEN_AIM = 3.0, 2.0
_ROUNDS = 5
_ALIKE = (
    "ghp_%s",
    "id: %s",
    "eyJ%s.x",
    "user_%s@example.org",
    "npm_%s",
    "AKIA%s",
    "sk-%s",
    "commit %s",
    "hf_%s",
    "dapi%s",
    "SG.%s",
    "https://u:%s/x",
    "Authorization: %s",
    "token=%s",
)
"""What looks like tokens, and is too short for one."""


def rows(folder: str, scale: float) -> list[Row]:
    """Files of several kinds, captured by ``sightline run`` with redaction and without."""
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    def lines(size: float, forms: tuple[str, ...], least: int, most: int) -> bytes:
        made: list[str] = []
        while size > 0:
            made.append(chance.choice(forms) % "".join(chance.choices(letters, k=chance.randint(least, most))))
            size -= len(made[-1]) + 1
        return ("\n".join(made) + "\n").encode()

    texts = {
        "8 MiB of base64 in one line": (base64.b64encode(chance.randbytes(int(_LINE_BYTES * scale * 0.75))), _LINE_AIM),
        "2 MiB of lines that look like tokens": (lines(_TOKEN_BYTES * scale, _ALIKE, 10, 30), _TOKEN_AIM),
        "2 MiB of lines with a token each": (lines(_TOKEN_BYTES * scale, ("token ghp_%s end",), 36, 36), None),
        "1 MiB of beginnings of tokens": (b"-eyJ" * int((1 << 18) * scale), None),
    }
    environment = {}
    for setting in ("off", "on"):
        root = os.path.join(folder, setting)
        os.makedirs(root)
        Path(root, "config.toml").write_text(f"[redact]\nknown = {'true' if setting == 'on' else 'false'}\n")
        environment[setting] = {**os.environ, "SIGHTLINE_HOME": root}
    found = []
    for what, (text, aim) in texts.items():
        path = os.path.join(folder, "text")
        Path(path).write_bytes(text)
        words = (*SIGHTLINE, "run", "--quiet", "--", "cat", path)
        ran = interleaved(
            _ROUNDS,
            off=lambda words=words: run(words, environment["off"]),
            on=lambda words=words: run(words, environment["on"]),
        )
        on, off = median(ran["on"]), median(ran["off"])
        found.append(Row(what, ms(on), f"without redaction {ms(off)}", on / off, aim))
    return found
