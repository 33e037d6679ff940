"""A search engine for machines without ripgrep and grep, as a script: searches its standard input with ``re``.

``re_engine.py -FLAGS MOST PATTERN`` prints ``NUMBER:`` for the first MOST matching lines, or with flag ``c`` their
count. Flags: ``i`` ignores case, ``v`` takes lines that do not match, ``F`` a literal pattern, ``b`` prints the byte at
which the line begins instead of its number (``nb`` both), ``o`` each match instead of each line. It exits as grep does.
"""

import os
import re
import sys


def main(arguments: list[str]) -> int:
    """Search, and return 0 if a line matched, 1 if none did, 2 if the pattern is not valid."""
    flags, most, pattern = arguments[0], int(arguments[1]), os.fsencode(arguments[2])
    try:
        text = pattern.decode() if "i" in flags else ""
        # In bytes only ASCII has cases, in text every letter has, so lines are decoded if case is ignored.
        compiled = re.compile(re.escape(pattern) if "F" in flags else pattern)
        folded = re.compile(re.escape(text) if "F" in flags else text, re.IGNORECASE)
    except (re.error, UnicodeDecodeError, OverflowError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    found = offset = 0
    write = sys.stdout.buffer.write
    for number, line in enumerate(sys.stdin.buffer, 1):
        start, offset = offset, offset + len(line)
        line = line.removesuffix(b"\n")
        text = line.decode(errors="surrogateescape") if "i" in flags else ""
        if bool(folded.search(text) if "i" in flags else compiled.search(line)) == ("v" in flags):
            continue
        found += 1
        if "c" not in flags:
            named = b"%d:" % number if "n" in flags or "b" not in flags else b""
            spans = _spans(folded, text) if "i" in flags else [match.span() for match in compiled.finditer(line)]
            for first, last in spans if "o" in flags else [(0, 0)]:
                if last > first or "o" not in flags:
                    write(named + (b"%d:" % (start + first) if "b" in flags else b"") + line[first:last] + b"\n")
            if found >= most:
                break
    if "c" in flags:
        write(b"%d\n" % found)
    return 0 if found else 1


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return the matches in a decoded line, in bytes."""
    sizes = [len(text[:at].encode(errors="surrogateescape")) for match in pattern.finditer(text) for at in match.span()]
    return list(zip(sizes[::2], sizes[1::2], strict=True))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
