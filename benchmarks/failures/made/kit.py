"""What the made cases share: a vocabulary, noise of several sorts, and how a case is put together."""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

_NOUNS = """basket tariff parcel depot ledger route stamp crate pallet invoice courier beacon harbor timber lantern
    saddle orchard granary quarry kiln""".split()
_VERBS = "sorts merges splits rounds weighs seals opens counts loads joins trims packs".split()
_WHATS = "twice once late early empty full again whole half first last".split()


class Made(NamedTuple):
    """A case: the manifest's entry, and the output, both streams in one."""

    entry: dict[str, Any]
    data: bytes


class Words:
    """Invented names, each its own, from one seed."""

    def __init__(self, seed: str) -> None:
        self.chance = random.Random(seed)

    def noun(self) -> str:
        """Such as ``basket``."""
        return self.chance.choice(_NOUNS)

    def name(self) -> str:
        """Such as ``sorts_parcel_twice_41``; hardly ever the same again."""
        chance = self.chance
        return f"{chance.choice(_VERBS)}_{chance.choice(_NOUNS)}_{chance.choice(_WHATS)}_{chance.randint(10, 99)}"

    def number(self, low: int = 2, high: int = 900) -> int:
        """A number."""
        return self.chance.randint(low, high)

    def said(self, count: int) -> list[str]:
        """Lines of a program that goes about its work and mentions nothing that failed."""
        return [
            f"{self.chance.choice(('loaded', 'checked', 'wrote', 'read'))} {self.noun()} {self.number()} "
            f"in {self.number(1, 40)} ms ({self.noun()}/{self.noun()}{self.number()})"
            for _ in range(count)
        ]

    def compiled(self, count: int) -> list[str]:
        """Lines of a compiler that is called once a file."""
        return [
            f"cc -O2 -Wall -Iinclude -c -o build/{name}.o src/{name}.c" for name in (self.name() for _ in range(count))
        ]

    def warned(self, count: int) -> list[str]:
        """Warnings that fail nothing."""
        lines = []
        for _ in range(count):
            name, line = self.name(), self.number()
            lines += [
                f"src/{name}.c:{line}:9: warning: unused variable '{self.noun()}' [-Wunused-variable]",
                f"  {line} |     int {self.noun()};",
                "      |         ^~~~~~",
            ]
        return lines

    def scary(self, count: int) -> list[str]:
        """Lines that speak of failure and fail nothing."""
        forms = (
            "retrying {n}: connection refused, attempt {i} failed",
            "note: {n} not found in cache, downloading",
            "WARN {n}: error handler replaced",
            "Get:{i} http://mirror.example/{n}-error-perl all {i}.2-1 [31.0 kB]",
            "unpacking lib{n}-exception-perl ({i}.2-1) ...",
        )
        return [self.chance.choice(forms).format(n=self.noun(), i=self.number()) for _ in range(count)]


def made(
    name: str,
    family: str,
    lines: Sequence[str],
    labels: Sequence[str],
    *,
    command: str = "./run.sh",
    exit_code: int = 1,
    **more: Any,
) -> Made:
    """A case; each label is a text that must stand in the view, ``re:`` before a pattern."""
    data = ("\n".join(lines) + "\n").encode()
    wanted = [{"re": label[3:]} if label.startswith("re:") else {"text": label} for label in labels]
    places = [data.find(label.encode()) for label in labels if not label.startswith("re:")]
    assert all(place >= 0 for place in places), (name, labels)
    entry = {
        "id": name,
        "kind": "fail" if exit_code else "ok",
        "family": family,
        "command": command,
        "exit_code": exit_code,
        "labels": wanted,
        "label_bytes": sum(len(label.encode()) + 1 for label in labels),
        "farthest_label_from_end": len(data) - min(places, default=len(data)),
        **more,
    }
    return Made(entry, data)
