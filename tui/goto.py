"""Where "go to line" leads: reads what a person types there."""

import re

_PLACE = re.compile(r"\s*(?:(\d{1,15})|(\d{1,3}(?:\.\d{1,6})?)\s*%|(\$))\s*(?:[,-]\s*\d{0,15}\s*)?")


def line_meant(text: str, total: int) -> int | None:
    """The line that a text means, None where it means none.

    Args:
        text: ``42``, ``42-80`` (its first line), ``50%`` or ``$``.
        total: lines of the output; a larger number means the last line.
    """
    match = _PLACE.fullmatch(text)
    if not match:
        return None
    if match[3]:
        return total
    line = int(match[1]) if match[1] else round(total * min(float(match[2]), 100.0) / 100)
    return max(1, min(line, total))
