"""What a log puts before each line of what ran: times, names of services and jobs.

Patterns that say how a line of some tool begins hold for what stands behind such a prefix.
"""

import re
from collections.abc import Iterable

_FORMS = (
    r"[^\t\n]{1,80}\t[^\t\n]{1,80}\t(?=\d{4}-)",  # gh run view --log: job, step
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d)?\]?(?: \d\d[OE]\+?)? ?",
    r"\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? ",
    r"#\d+ \d+\.\d+ ",  # docker build, plain progress
    r"[\w.-]{1,40} {0,20}\| ",  # docker compose
    r"(?!\[(?:INFO|ERROR|WARN|WARNING|DEBUG|TRACE|FATAL|info|error|warn|debug|success|stderr|stdout|\d+/\d+)\])"
    r"\[[\w@][\w@:/.-]*(?: [\w@:/.-]+)*\] ",  # concurrently, npm-run-all
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: ",  # syslog, journal
    r"(?:@[\w.-]+/)?[\w-]{1,40}:[a-z][a-z:-]{1,30}: ",  # turbo, lerna
)
_SAMPLED = 200
_LEAST_LINES = 5
_SHARE = 0.6


def prefix_of(lines: Iterable[str]) -> re.Pattern[str] | None:
    """What matches the prefix of most of some lines; None where they have none in common."""
    texts = [line for line in lines if line.strip()][:_SAMPLED]
    if len(texts) < _LEAST_LINES:
        return None
    found: list[str] = []
    for form in _FORMS:
        pattern = re.compile("".join(f"(?:{one})?" for one in found) + f"(?:{form})")
        if sum(1 for text in texts if pattern.match(text)) >= _SHARE * len(texts):
            found.append(form)
    return re.compile("".join(f"(?:{form})?" for form in found)) if found else None
