"""Commands that went well and say that something did not: the worst line must stand in a view of 1 KiB."""

from benchmarks.failures.made.kit import Made, Words, made

_TOOLS: dict[str, tuple[str, str, str, bool]] = {
    "service": (
        "./load-all",
        "2024-05-02 10:11:12 ERROR depot.sync: NOUN was not written",
        "2024-05-02 10:11:12 INFO depot.sync: wrote {n}",
        False,
    ),
    "level": ("./index", "[ERROR] NOUN: index left out", "[INFO] indexed {n}", False),
    "pip": (
        "pip install -r requirements.txt",
        "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.",
        "Requirement already satisfied: {n} in ./lib/python3.11/site-packages (1.2.3)",
        True,
    ),
    "backup": (
        "./backup",
        'rsync: [sender] send_files failed to open "NOUN": Permission denied (13)',
        "depot/{n}",
        False,
    ),
    "build": ("make -k -i", "make: [Makefile:12: NOUN] Error 1 (ignored)", "cc -c -o {n}.o {n}.c", False),
    "js": (
        "npm run build",
        "ERROR in NOUN.scss: the variable $crate is not there",
        "asset {n}.js 12 KiB [emitted]",
        False,
    ),
}


def cases() -> list[Made]:
    """Six tools, four sizes and places each."""
    return [_case(tool, number) for tool in _TOOLS for number in range(4)]


def _case(tool: str, number: int) -> Made:
    words = Words(f"quiet {tool} {number}")
    command, bad, usual, late = _TOOLS[tool]
    size = (400, 900, 3_000, 8_000)[number]
    lines = [usual.replace("{n}", words.name()) for _ in range(size)]
    messages = [bad.replace("NOUN", words.name())]
    places = [size - 2] if late else [words.number(50, size - 50)]
    if number % 2 and not late:
        messages.append(bad.replace("NOUN", words.name()))
        places.append(words.number(50, size - 50))
    for place, message in zip(places, messages, strict=True):
        lines.insert(place, message)
    if late:
        lines.insert(size, "depot 2.1 requires crate<3, but you have crate 3.4 which is incompatible.")
        lines += [f"Successfully installed {' '.join(f'{words.name()}-1.{at}' for at in range(90))}"]
    return made(f"quiet-{tool}-{number}", f"ok-{tool}", lines, messages[:1], command=command, exit_code=0)
