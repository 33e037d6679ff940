"""Says which runs of checks a claim is about, if it names their folder or tool, as “clippy is clean” does."""

import os
import re
from collections.abc import Sequence

from sightline.audit.evidence.checks import Check

_WORDS = re.compile(r"(?<![\w.-])[\w.-]*\w")
_TOOLS = "cargo go npm pnpm yarn bun deno make just task mise mix dotnet swift zig dart flutter python node rails"
_TASKS = "run test tests build check checks lint format compile typecheck type-check types"
_OF_MANY_TOOLS = frozenset(f"{_TOOLS} {_TASKS}".split())
"""Words of a check's phrase that do not say which tool it is."""


def runs_named(claim: str, runs: Sequence[Check]) -> Sequence[Check]:
    """Return the runs in the folders, and of the tools, that the words of a claim name; all if they name none."""
    words = set(_WORDS.findall(claim.lower()))
    if len({one.folder for one in runs}) > 1:
        runs = [one for one in runs if os.path.basename(one.folder).lower() in words] or runs
    return [one for one in runs if words & {*one.phrase.split()} - _OF_MANY_TOOLS] or runs
