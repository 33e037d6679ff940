"""Marks characters that are drawn as nothing, or turn others' direction, so that they cannot hide what a text says.

For people they are shown as marks. Three kinds stay where they only serve their purpose:

- joiners (U+200C, U+200D) between two letters of a script that needs them, and U+200D between two emoji;
- one variation selector (U+FE0E, U+FE0F) after a symbol that has two forms;
- the tags of the three flags that have some (England, Scotland, Wales).
"""

import re
from collections.abc import Callable

HIDING = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""For a character class: what Unicode ignores by default if it is not known (DerivedCoreProperties.txt:
Default_Ignorable_Code_Point), what turns directions, and interlinear marks."""

# From Arabic to Myanmar, Khmer and Mongolian, with their later blocks. Letters of Latin and the like are not joined.
_JOINED = (
    "\u0620-\u06d3\u06fa-\u109f\u1780-\u17b3\u17b6-\u1809\u1810-\u18af\ua840-\ua8ff\uaa60-\uaa7f"
    "\ufb50-\ufdff\ufe70-\ufefc"
)
_SYMBOL = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
JOINING = f"(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}])"
"""A joiner between two letters."""

_KEPT = "|".join(
    (
        JOINING,
        f"(?<=[{_SYMBOL}\ufe0f])\u200d(?=[{_SYMBOL}])",
        f"(?<=[{_SYMBOL}#*0-9])[\ufe0e\ufe0f](?![\ufe00-\ufe0f\U000e0000-\U000e0fff])",
        "(?<=\U0001f3f4)\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|"
        "\U000e0077\U000e006c\U000e0073)\U000e007f",
    )
)
_MAY_STAY = re.compile("[\u200c\u200d\U000e0000-\U000e007f]")
_patterns: list[re.Pattern[str]] = []


def mark_hidden(text: str, mark: Callable[[str], str]) -> str:
    """Put a mark in place of each character that may hide something; controls are left as they are.

    Args:
        text: the text.
        mark: returns the mark for a character.
    """
    if text.isascii():
        return text
    if not _patterns:  # most outputs do not need it
        _patterns.append(re.compile(f"({_KEPT})|([{HIDING}])"))
    return _patterns[0].sub(lambda match: match[1] or mark(match[2]), text)


def fit_to_read(text: str, mark: Callable[[str], str], keep: str = "") -> str:
    """Mark what `mark_hidden` marks, and everything else that is not printable, except for some characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep or _MAY_STAY.match(char) else mark(char)
        for char in mark_hidden(text, mark)
    )
