"""What a terminal can be made to do by text that it is given, one attack a line; and a terminal that judges."""

import re
import unicodedata
from typing import Any

import pyte

ATTACKS = {
    "title": b"\x1b]0;owned\x07",
    "title, 8-bit": b"\x9d0;owned\x9c",
    "title, C1 in UTF-8": "\x9d0;owned\x9c".encode(),
    "icon name": b"\x1b]1;owned\x1b\\",
    "clipboard": b"\x1b]52;c;cm0gLXJmIH4=\x07",
    "clipboard of the selection, asked for": b"\x1b]52;p;?\x1b\\",
    "link": b"\x1b]8;;https://example.org\x1b\\text\x1b]8;;\x1b\\",
    "folder": b"\x1b]7;file://host/\x07",
    "colours of the palette": b"\x1b]4;1;#000000\x07\x1b]10;#000\x07\x1b]11;#000\x07",
    "notification": b"\x1b]9;read me\x07\x1b]777;notify;a;b\x07",
    "shell integration": b"\x1b]133;A\x07\x1b]633;E;rm\x07\x1b]1337;File=name=eA==;inline=1:AAAA\x07",
    "an unended OSC": b"\x1b]0;never ended",
    "DCS": b"\x1bP+q544e\x1b\\",
    "DCS, 8-bit": b'\x90$q"p\x9c',
    "sixel": b"\x1bPq#0;2;0;0;0#0!10~\x1b\\",
    "tmux passthrough": b"\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\",
    "an unended DCS": b"\x1bP0;1|17/6c",
    "APC": b"\x1b_Gf=24,s=1,v=1;AAAA\x1b\\",
    "PM and SOS": b"\x1b^x\x1b\\\x1bXx\x1b\\",
    "screen's title": b"\x1bkowned\x1b\\",
    "other screen": b"\x1b[?1049h\x1b[?47h\x1b[?1047h",
    "back from the other screen": b"\x1b[?1049l",
    "bracketed paste": b"\x1b[?2004h",
    "end of a paste": b"\x1b[201~rm -rf ~\r\x1b[200~",
    "mouse": b"\x1b[?1000h\x1b[?1003h\x1b[?1006h",
    "focus": b"\x1b[?1004h",
    "hidden cursor": b"\x1b[?25l",
    "application keys": b"\x1b=\x1b[?1h",
    "no wrapping": b"\x1b[?7l",
    "insert mode": b"\x1b[4h",
    "origin mode and margins": b"\x1b[2;3r\x1b[?6h",
    "synchronised output": b"\x1b[?2026h",
    "keyboard protocol": b"\x1b[>1u\x1b[=1;1u",
    "erase": b"\x1b[2J\x1b[3J\x1b[H",
    "erase, 8-bit": b"\x9b2J\x9bH",
    "erase, C1 in UTF-8": "\x9b2J\x9bH".encode(),
    "cursor up and rewrite": b"\x1b[5A\x1b[Gall is well\x1b[K",
    "cursor to anywhere": b"\x1b[1;1Hhere\x1b[999;999Hthere\x1b[5d\x1b[9`",
    "saved cursor": b"\x1b7\x1b[H\x1b8\x1b[s\x1b[u",
    "index": b"\x1bD\x1bM\x1bE\x84\x85\x8d",
    "index, C1 in UTF-8": "\x84\x85\x8d".encode(),
    "scrolling": b"\x1b[9S\x1b[9T\x1b[9L\x1b[9M\x1b[9P\x1b[9@\x1b[9X",
    "tabs cleared": b"\x1b[3g\x1bH",
    "reset": b"\x1bc\x1b[!p",
    "charset": b"\x1b(0lqk\x1b)0\x0e\x0f\x1b%@\x1b%G",
    "asked for a status": b"\x1b[5n\x1b[6n\x1b[c\x1b[>c\x1b[=c\x05\x1b[?996n",
    "asked for the title": b"\x1b[21t",
    "window": b"\x1b[8;1;1t\x1b[3;0;0t\x1b[2t",
    "printer": b"\x1b[5i\x1b[4i",
    "alignment": b"\x1b#8\x1b#3",
    "LEDs, and text that blinks unseen": b"\x1b[1q\x1b[5;8m",
    "bell, NUL, vertical tab, form feed, DEL": b"\x07\x00\x0b\x0c\x7f",
    "backspaces": b"secret\x08\x08\x08\x08\x08\x08public",
    "carriage return": b"failed\rpassed",
    "escape split by a NUL": b"\x1b\x00[2J",
    "cancelled": b"\x1b[2\x18J\x1b[3\x1aJ",
    "a lone escape": b"\x1b",
    "direction turned": "\u202egpj.exe\u2066x\u2069\u200f".encode(),
    "Arabic letter mark": "\u061cx".encode(),
    "line separators": "a\u2028b\u2029c".encode(),
    "no UTF-8": b"\xff\xfe\xc0\x9b2J\xed\xa0\x80",
    "a flood of combining marks": ("e" + "\u0301" * 500).encode(),
    "wide and without width": "日本\u200b\u200d\ufeff\U000e0041👩\u200d👩".encode(),
    "markup": b"[bold red on blink]x[/] [@click=app.quit]y[/] [link=https://example.org]z",
}
"""By what they do."""

OWN_STYLE = re.compile(r"\x1b\[(?:2|31|0)m")
TURNING = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")
_HARMLESS = {"draw", "linefeed", "carriage_return", "tab", "select_graphic_rendition", "debug"}


class Judge:
    """A terminal that remembers everything it is made to do but write text and begin lines."""

    def __init__(self) -> None:
        self.deeds: list[str] = []
        self._screen = pyte.Screen(100, 30)

    def __getattr__(self, name: str) -> Any:
        if name not in pyte.Stream.events - _HARMLESS:
            return getattr(self._screen, name)

        def deed(*arguments: object, **_: object) -> None:
            self.deeds.append(f"{name}{arguments}")

        return deed


def deeds(data: bytes) -> list[str]:
    """What a terminal would do for these bytes besides writing text, as pyte has it and as plain reading finds."""
    text = OWN_STYLE.sub("", data.decode(errors="surrogateescape")).replace("\r\n", "\n")
    judge = Judge()
    pyte.Stream(judge).feed(text.encode(errors="surrogateescape").decode("latin-1") if not _is_utf8(data) else text)
    acting = [
        f"U+{ord(char):04X}"
        for char in text
        if char not in "\n\t" and (unicodedata.category(char) in ("Cc", "Cs") or char in TURNING)
    ]
    return judge.deeds + acting


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
