"""A search engine for machines without ripgrep and grep: run as a script, it searches its standard input with ``re``.

``re_engine.py -FLAGS MOST PATTERN`` prints ``NUMBER:`` for the first MOST matching lines, or with flag ``c`` their
count. Flags: ``i`` ignore case, ``v`` lines that do not match, ``F`` a literal pattern. It exits as grep does.
"""

import os
import re
import sys


def main(arguments: list[str]) -> int:
    """Search; 0 where a line matched, 1 where none did, 2 where the pattern does not compile."""
    flags, most, pattern = arguments[0], int(arguments[1]), os.fsencode(arguments[2])
    try:
        text = pattern.decode() if "i" in flags else ""
        # Bytes know the case of ASCII only, text that of every letter; lines are decoded where case is ignored.
        compiled = re.compile(re.escape(pattern) if "F" in flags else pattern)
        folded = re.compile(re.escape(text) if "F" in flags else text, re.IGNORECASE)
    except (re.error, UnicodeDecodeError, OverflowError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    found = 0
    for number, line in enumerate(sys.stdin.buffer, 1):
        line = line.removesuffix(b"\n")
        matches = folded.search(line.decode(errors="replace")) if "i" in flags else compiled.search(line)
        if bool(matches) == ("v" in flags):
            continue
        found += 1
        if "c" not in flags:
            sys.stdout.write(f"{number}:\n")
            if found >= most:
                break
    if "c" in flags:
        sys.stdout.write(f"{found}\n")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
