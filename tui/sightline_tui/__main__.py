"""The inspector as a module, ``python -m sightline_tui [--read-only] [REF]``: for what has no terminal of its own."""

import sys

from sightline.base.errors import SightlineError
from sightline.log.store_kinds import opener_of
from sightline_tui.start import run

READ_ONLY = "--read-only"


def main(words: list[str]) -> int:
    """Open the inspector on the usual store; the exit code."""
    try:
        refs = [word for word in words if word != READ_ONLY]
        opened = opener_of()
        return run(None, refs[0] if refs else None, read_only=READ_ONLY in words, opened=opened)
    except SightlineError as error:
        print(f"sightline: {error.message}\n  {error.hint}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
