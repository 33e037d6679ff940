"""Redaction: what a capture costs where secrets are hidden, beside one where they are not; and hiding them alone."""

import base64
import os
import random
import time
from functools import partial
from pathlib import Path

from benchmarks.measure import SIGHTLINE, Row, interleaved, median, ms, run
from sightline.redact.hiding import Redaction
from sightline.redact.rules import load_rules

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
    "token_count=%s",
)
"""What looks like tokens, and is too short for one."""
_REPEATED = (
    b"-eyJ", b"eyJhbGciOi.", b"AKIA", b"ghp_", b"xoxb-", b"https://a:", b"path=", b"token: ", b"password=", b"api_key="
)  # fmt: skip
"""What many tokens, or their names, begin with."""


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
            off=partial(run, words, environment["off"]),
            on=partial(run, words, environment["on"]),
        )
        on, off = median(ran["on"]), median(ran["off"])
        found.append(Row(what, ms(on), f"without redaction {ms(off)}", on / off, aim))
    alike = texts["2 MiB of lines that look like tokens"][0]
    slowest, word = max((_hiding(word * (len(alike) // (2 * len(word)))), word) for word in _REPEATED)
    return [
        *found,
        _speed("looking through a log", _hiding(_log(chance, len(alike))), 200),
        _speed("looking through lines that look like tokens", _hiding(alike), 60),
        _speed(f"looking through {word.decode()} over and over, the slowest of its kind", slowest, 20),
    ]


def _log(chance: random.Random, size: int) -> bytes:
    line = "2026-01-02T03:04:05.{:03d} INFO  worker-{} request {:010d} done in {} ms, path=/api/v1/items/{}?page=2\n"
    numbers = ((9, 999), (1, 9), (0, 10**9), (1, 99), (1, 9999))
    made = (line.format(*(chance.randint(*ends) for ends in numbers)) for _ in range(size // 100))
    return "".join(made).encode()


def _hiding(text: bytes) -> float:
    """Processor time of looking through a text, in ns a byte; of three times the least."""
    seconds = []
    for _ in range(3):
        redaction = Redaction(load_rules(True, ()))
        began = time.process_time()
        for at in range(0, len(text), 1 << 16):
            redaction.feed("out", text[at : at + (1 << 16)])
        redaction.finish()
        seconds.append(time.process_time() - began)
    return min(seconds) * 1e9 / len(text)


def _speed(what: str, spent: float, least_mb: float) -> Row:
    return Row(f"{what}, ns a byte", f"{1e3 / spent:.0f} MB/s", "", spent, 1e3 / least_mb)
