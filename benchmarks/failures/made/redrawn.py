"""Progress that rewrites one long line with carriage returns: its last state must stand in the view."""

from benchmarks.failures.made.kit import Made, Words, made

_FORMS = {
    "percent": ("./fetch", "fetching NOUN {at:6.2f} %"),
    "bar": ("./unpack", "[{bar:<40}] NOUN {at:6.2f} %"),
    "bytes": ("git clone depot", "Receiving objects: {at:6.2f} % NOUN"),
    "spinner": ("npm ci", "- NOUN {at:6.2f}"),
    "layers": ("docker pull depot", "NOUN: Downloading {at:6.2f} MB/100 MB"),
}


def cases() -> list[Made]:
    """Five tools, four lengths each; every second one fails after it."""
    return [_case(tool, number) for tool in _FORMS for number in range(4)]


def _case(tool: str, number: int) -> Made:
    words = Words(f"redrawn {tool} {number}")
    command, form = _FORMS[tool]
    name = words.name()
    states = (2_000, 4_000, 8_000, 30_000)[number]
    shown = [
        form.replace("NOUN", name).format(at=100 * at / states, bar="#" * (40 * at // states)) for at in range(states)
    ]
    ended = f"{'error: ' if number % 2 else ''}{name} stopped at {words.number()} of {words.number()}"
    line = "\r".join([*shown, f"{ended:<90}"])
    lines = [*words.said(120), line, *words.said(120)]
    labels = [ended]
    code = 1 if number % 2 else 0
    if not code:  # what went well shows its ends, where this stands last
        lines = [*lines[:120], *lines[121:], line]
    return made(f"redrawn-{tool}-{number}", f"redrawn-{tool}", lines, labels, command=command, exit_code=code)
