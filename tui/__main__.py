"""The inspector as a module, ``python -m sightline.tui [REF]``: for what runs it without a terminal of its own."""

import sys

from sightline.errors import SightlineError
from sightline.tui.app import run


def main(words: list[str]) -> int:
    """Open the inspector on the usual store; the exit code."""
    try:
        return run(None, words[0] if words else None)
    except SightlineError as error:
        print(f"sightline: {error.message}\n  {error.hint}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
