"""The inspector as a module, for what has no terminal of its own, such as a page: ``python -m sightline_tui [REF]``."""

import argparse
import sys

from sightline.base.errors import SightlineError
from sightline.log.store_kinds import opener_of
from sightline_tui.start import run


def main(words: list[str]) -> int:
    """Open the inspector on the usual store, and return the exit code. The options are those of the bare command."""
    parser = argparse.ArgumentParser(prog="python -m sightline_tui", allow_abbrev=False)
    parser.add_argument("ref", nargs="?")
    parser.add_argument("--project", default="")
    parser.add_argument("--session", default="")
    for option in ("--all", "--read-only"):
        parser.add_argument(option, action="store_true")
    given = parser.parse_args(words)
    shown = {"folder": given.project, "everything": given.all, "read_only": given.read_only, "session": given.session}
    try:
        return run(None, given.ref, **shown, opened=opener_of())
    except SightlineError as error:
        print(f"sightline: {error.message}\n  {error.hint}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
