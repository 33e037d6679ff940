"""Sessions for the pictures: of timeline and replay by the command line, as any agent would have it; of costs made up."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable

RELEASED = "RELEASED"  # the ref of what was captured last
STEPS = [
    ("run", "--", "python3", "-m", "unittest", "-v", "test_parser"),
    ("query", "grep -n FAIL @last.err"),
    ("show", "@last.err", "--search", "AssertionError", "--context", "3"),
    ("read", "parser.py"),
    ("run", "--", "python3", "-m", "unittest", "-v", "test_parser"),
    ("run", "--", "find", "/usr/share/doc", "-name", "copyright"),
    ("query", "grep -c python @last"),
    ("run", "--verbosity", "silent", "--", "python3", "release.py"),
    ("note", f"{RELEASED}:217", "item 217 never made it into the catalogue", "--send"),
    ("query", f"tail -2 {RELEASED}"),
]
"""What an agent asks, which overlooks a failure; and the remark by which a person points at it."""


def ask(root: str, agent: str, person: str, after: Callable[[str], None]) -> None:
    """Take all steps in the current folder.

    Args:
        root: the store's folder.
        agent: the id that its harness gives the session.
        person: name of the person's session.
        after: called after each step with its first word.
    """
    ours = ("SIGHTLINE_SESSION", "CLAUDE_CODE_SESSION_ID")
    usual = {name: value for name, value in os.environ.items() if name not in ours}
    released = ""
    for words in STEPS:
        who = {ours[0]: person} if words[0] == "note" else {ours[1]: agent}
        given = (word.replace(RELEASED, released) for word in words)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "sightline.doors.cli.main", *given],
            env={**usual, **who, "SIGHTLINE_HOME": root},
            capture_output=True,
            check=False,
            text=True,
        )
        if told := re.match(r"\[output_id=(@\w+)", done.stdout):
            released = told[1]
        after(words[0])


WORK = (
    ("Bash", "git log --stat -40", 14_000, 2), ("Read", "src/checkout/cart.ts", 21_000, 1),
    ("Bash", "cat package-lock.json", 96_000, 1), ("Grep", "applyDiscount", 6_000, 2),
    ("Read", "src/checkout/prices.ts", 26_000, 2), ("Bash", "npm test", 38_000, 3),
    ("Read", "src/checkout/prices.test.ts", 18_000, 2), ("Edit", "src/checkout/prices.ts", 600, 2),
    ("Bash", "npm test", 37_500, 4), ("Bash", "npx tsc --noEmit", 9_000, 3),
    ("WebFetch", "https://docs.example.com/rounding", 30_000, 4), ("Edit", "src/checkout/round.ts", 700, 2),
    ("Bash", "npm test -- prices", 7_000, 5), ("Bash", "git diff", 5_000, 3), ("Bash", "npm run build", 12_000, 6),
    ("Read", "CHANGELOG.md", 16_000, 3), ("Bash", "git status --short", 300, 2), ("Bash", "npm test", 4_000, 8),
)  # fmt: skip
"""What the agent of the made-up session asked: the tool, its subject, the bytes of the result, the requests up to the next."""

_BYTES_A_TOKEN = 2.8
_FIRST_TOKENS = 21_000  # of what the harness says before anything is asked


def write_transcript(folder: str, project: str) -> None:
    """Write a made-up session of Claude Code, with the tokens of its requests as that would state them."""
    context, lines, number = _FIRST_TOKENS, list[dict[str, object]](), 0
    written = context
    common = {"sessionId": "6f1c2b7e-1d0a-4c55-9a57-0a8e6c3b9d10", "cwd": project, "version": "2.1.181"}

    def line(kind: str, message: dict[str, object], **more: object) -> None:
        stamp = f"2026-11-27T{9 + number // 60:02}:{number % 60:02}:{len(lines) % 60:02}.000Z"
        lines.append({"type": kind, "uuid": f"u{len(lines)}", "timestamp": stamp, **common, "message": message, **more})

    line("user", {"role": "user", "content": "Round prices after the discount, not before it"})
    for tool, subject, size, requests in WORK:
        for at in range(requests):
            number += 1
            usage = {
                "input_tokens": 4,
                "cache_read_input_tokens": context - written,
                "cache_creation_input_tokens": written,
            }
            content: list[dict[str, object]] = [{"type": "text", "text": "Next."}]
            if at == 0:
                given = {"Bash": "command", "Grep": "pattern", "WebFetch": "url"}.get(tool, "file_path")
                content = [{"type": "tool_use", "id": f"toolu_{number:020}", "name": tool, "input": {given: subject}}]
            about = {
                "id": f"msg_{number:03}",
                "model": "claude-opus-4-5-20251101",
                "role": "assistant",
                "stop_reason": "end_turn",
            }
            line(
                "assistant",
                {**about, "content": content, "usage": {**usage, "output_tokens": 90}},
                requestId=f"req_{number:03}",
            )
            written = 94
            if at == 0:
                text = "\n".join(f"{subject} {row:05}" for row in range(size // (len(subject) + 7)))
                result = {"type": "tool_result", "tool_use_id": f"toolu_{number:020}", "content": text}
                told = {"stdout": text, "stderr": "", "interrupted": False} if tool == "Bash" else None
                line("user", {"role": "user", "content": [result]}, **({"toolUseResult": told} if told else {}))
                written += int(len(text) / _BYTES_A_TOKEN)
            context += written
    os.makedirs(folder)
    with open(os.path.join(folder, f"{common['sessionId']}.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in lines)
