"""What tools that nobody knows say of why they failed, in words that are not "error" or "failed"."""

from benchmarks.failures.made.kit import Made, Words, made

_SAID = {
    "exist": ("database NOUN does not exist", "the branch NOUN doesn't exist here"),
    "missing": ("NOUN.key is missing", "missing NOUN in section depot", "required setting NOUN is not set"),
    "found": ("NOUN: not found", "no NOUN found for depot", "found 0 of NOUN"),
    "expected": ("expected NOUN, found crate", "depot: expected 3 NOUN but got 2", "line 7: expected ';' after NOUN"),
    "undefined": ("undefined symbol NOUN", "undefined: NOUN"),
    "denied": ("access to NOUN was denied", "NOUN: permission denied", "denied: requested access to NOUN"),
    "refused": ("depot refused NOUN", "dial tcp NOUN:5432: connection refused"),
    "time": ("waiting for NOUN timed out", "timed out after 30 s: NOUN", "deadline exceeded for NOUN"),
    "space": ("write NOUN: no space left on device", "disk quota exceeded: NOUN"),
    "ended": ("./stage: line 4: 812 Killed   ./NOUN", "NOUN: core dumped", "NOUN was terminated by signal 9"),
    "invalid": ("invalid NOUN in depot", "NOUN is not valid here", "unknown option --NOUN", "unrecognized NOUN"),
    "conflict": ("NOUN conflicts with crate", "NOUN requires crate 3, which is not installed", "incompatible NOUN"),
}

_TOOLS = ("./deploy", "./migrate", "./fetch", "./assemble", "./publish")


def cases() -> list[Made]:
    """Each message, said once in the middle of an output of one of five tools."""
    forms = [form for forms in _SAID.values() for form in forms]
    return [_case(number, form) for number, form in enumerate(forms)]


def _case(number: int, form: str) -> Made:
    tool = _TOOLS[number % len(_TOOLS)]
    words = Words(f"words {form}")
    message = form.replace("NOUN", words.name())
    said = f"{tool[2:]}: {message}" if number % 3 else message
    lines = [*words.said(120), said, *words.said(words.number(60, 130))]
    return made(f"words-{number}", f"unknown-{tool[2:]}", lines, [said], command=tool)
