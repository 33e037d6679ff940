"""Starting: what a command costs before and after the command itself, beside an interpreter that does nothing."""

import os
import sys

from benchmarks.measure import SIGHTLINE, Row, interleaved, median, ms, run


def rows(folder: str, scale: float) -> list[Row]:
    """``sightline run -- true`` and others, warm, against ``python -c pass``."""
    environment = {**os.environ, "SIGHTLINE_HOME": os.path.join(folder, "store")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    commands = {
        "run -- true": ["run", "--", "true"],
        "run -- echo": ["run", "--", "echo", "hi"],
        "list": ["list"],
        "query": ["query", "grep -c hi @last"],
        "show": ["show", "@last"],
        "views": ["views"],
    }
    run([*SIGHTLINE, "run", "--", "echo", "hi"], environment)
    cases = {name: (lambda words=words: run([*SIGHTLINE, *words], environment)) for name, words in commands.items()}
    found = interleaved(
        max(5, int(40 * scale)), floor=lambda: run([sys.executable, "-c", "pass"], environment), **cases
    )
    floor = median(found.pop("floor"))
    aims = {"run -- true": 3.0, "list": 2.8, "show": 2.8, "views": 2.8, "query": 3.5}
    return [
        Row(f"sightline {name}", ms(median(runs)), f"python -c pass {ms(floor)}", median(runs) / floor, aims.get(name))
        for name, runs in found.items()
    ]
