"""Command lines: one parser a command, each with an example."""

import argparse


def parser(name: str, description: str, *, example: str, json: bool = True) -> argparse.ArgumentParser:
    """A command's parser.

    Args:
        name: the command.
        description: what it does, in a sentence or two.
        example: a command line that someone would really type.
        json: whether it can print data as JSON.
    """
    made = argparse.ArgumentParser(
        prog=f"sightline {name}",
        description=description,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if json:
        made.add_argument("--json", action="store_true", help="print one JSON value")
    return made


def seconds(text: str) -> float:
    """A number of seconds from 0 on, for argparse."""
    value = float(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError("it is a number of seconds from 0 on")
    return value
