"""Writes a session's steps as the transcript that a harness would have left: Claude Code, Codex or Gemini CLI."""

import json
import os
import time
from typing import Any, NamedTuple

FOLDER = "/home/user/shop"


class Ran(NamedTuple):
    """A command, what it printed, and its exit code."""

    command: str
    out: str = ""
    code: int = 0


class Read(NamedTuple):
    """A file that was read, with its text."""

    path: str
    text: str = "a = 1\nb = 2\nc = 3\n"


class Edited(NamedTuple):
    """A file of which a line was changed by the harness' editing tool, or that it refused to change (Claude Code)."""

    path: str
    refused: bool = False
    line: str = "b = 2"


class Wrote(NamedTuple):
    """A file that was written whole by the harness' tool (Claude Code), anew or over what was there."""

    path: str
    text: str
    is_new: bool = True


class Said(NamedTuple):
    """What the agent said."""

    text: str


class Compacted(NamedTuple):
    """The context was compacted into a summary."""

    summary: str = "The work goes on."


Step = Ran | Read | Edited | Wrote | Said | Compacted


def write_transcript(harness: str, session: str, steps: list[Step], folder: str) -> str:
    """Write it below a folder; its path. Steps are a minute apart, and long past."""
    lines = {"claude-code": _claude, "codex": _codex, "gemini": _gemini}[harness](session, steps)
    before = {"claude-code": "", "codex": "rollout-", "gemini": "session-"}[harness]
    place = os.path.join(folder, harness, "chats") if harness == "gemini" else os.path.join(folder, harness)
    os.makedirs(place, exist_ok=True)
    path = os.path.join(place, f"{before}{session}.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    past = time.time() - 3600
    os.utime(path, (past, past))
    return path


_BEGAN = 1_767_348_000  # 2026-01-02, 10:00


def _stamp(step: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:00.000Z", time.gmtime(_BEGAN + 60 * step))


def _absolute(path: str) -> str:
    return path if path.startswith("/") else f"{FOLDER}/{path}"


def _claude(session: str, steps: list[Step]) -> list[dict[str, Any]]:
    common = {"sessionId": session, "cwd": FOLDER, "version": "2.1.329", "isSidechain": False}
    lines: list[dict[str, Any]] = []

    def record(kind: str, name: str, at: int, **more: Any) -> None:
        lines.append({"type": kind, "uuid": f"{session}-{name}", "timestamp": _stamp(at), **common, **more})

    def call(at: int, tool: str, given: dict[str, Any], shown: str, told: Any, *, failed: bool = False) -> None:
        use = f"toolu_{session}_{at:04}"
        block = {"type": "tool_use", "id": use, "name": tool, "input": given}
        record("assistant", f"a{at}", at, message={"role": "assistant", "content": [block]})
        result = {"type": "tool_result", "tool_use_id": use, "content": shown, "is_error": failed}
        record("user", f"r{at}", at, message={"role": "user", "content": [result]}, toolUseResult=told)

    for at, step in enumerate(steps):
        match step:
            case Ran(command, out, 0):
                told = {"stdout": out.rstrip("\n"), "stderr": "", "interrupted": False}
                call(at, "Bash", {"command": command}, out.rstrip("\n") or "(no output)", told)
            case Ran(command, out, code):
                shown = f"Exit code {code}\n{out.rstrip()}"
                call(at, "Bash", {"command": command}, shown, f"Error: {shown}", failed=True)
            case Read(path, text):
                count = text.count("\n")
                file = {"filePath": _absolute(path), "content": text, "startLine": 1, "numLines": count}
                numbered = "".join(f"{n}\t{line}\n" for n, line in enumerate(text.splitlines(), 1))
                told = {"type": "text", "file": {**file, "totalLines": count}}
                call(at, "Read", {"file_path": _absolute(path)}, numbered, told)
            case Edited(path, refused=True):
                shown = "<tool_use_error>String to replace not found in file.</tool_use_error>"
                given = {"file_path": _absolute(path), "old_string": "x", "new_string": "y"}
                call(at, "Edit", given, shown, f"Error: {shown}", failed=True)
            case Edited(path, line=line):
                given = {"file_path": _absolute(path), "old_string": line, "new_string": f"{line} + 1"}
                call(at, "Edit", given, f"The file {_absolute(path)} has been updated successfully.", {})
            case Wrote(path, text, is_new):
                shown = f"File created successfully at: {path}" if is_new else f"The file {path} has been updated."
                call(at, "Write", {"file_path": _absolute(path), "content": text}, shown, {})
            case Said(text):
                blocks = [{"type": "text", "text": text}]
                record("assistant", f"s{at}", at, message={"role": "assistant", "content": blocks})
            case Compacted(summary):
                about = {"trigger": "auto", "preTokens": 150_000, "preservedMessages": {"allUuids": []}}
                record("system", f"b{at}", at, subtype="compact_boundary", compactMetadata=about)
                record("user", f"c{at}", at, isCompactSummary=True, message={"role": "user", "content": summary})
    return lines


def _codex(session: str, steps: list[Step]) -> list[dict[str, Any]]:
    about = {"id": session, "cwd": FOLDER, "cli_version": "0.169.0", "timestamp": _stamp(0)}
    lines: list[dict[str, Any]] = [{"timestamp": _stamp(0), "type": "session_meta", "payload": about}]

    def item(at: int, **payload: Any) -> None:
        stamp = _stamp(at).replace(".000Z", f".{len(lines) % 1000:03}Z")
        lines.append({"timestamp": stamp, "type": "response_item", "payload": payload})

    def call(at: int, name: str, arguments: Any, output: str) -> None:
        use = f"call_{session}_{at:04}_of_many"
        if name == "apply_patch":
            item(at, type="custom_tool_call", name=name, input=arguments, call_id=use)
            item(at, type="custom_tool_call_output", call_id=use, output=output)
            return
        item(at, type="function_call", name=name, arguments=json.dumps(arguments), call_id=use)
        item(at, type="function_call_output", call_id=use, output=output)

    for at, step in enumerate(steps):
        match step:
            case Ran(command, out, code):
                output = f"Wall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{out}"
                call(at, "exec_command", {"cmd": command}, output)
            case Read(path, text):
                output = f"Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{text}"
                call(at, "exec_command", {"cmd": f"cat {path}"}, output)
            case Edited(path, line=line):
                patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{line}\n+{line} + 1\n*** End Patch"
                call(at, "apply_patch", patch, "Success. Updated the following files:\nM " + path)
            case Said(text):
                item(at, type="message", role="assistant", content=[{"type": "output_text", "text": text}])
            case Compacted(summary):
                lines.append({"timestamp": _stamp(at), "type": "compacted", "payload": {"message": summary}})
    return lines


def _gemini(session: str, steps: list[Step]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        {"sessionId": session, "projectHash": "hash", "startTime": _stamp(0), "kind": "main"},
    ]

    def message(at: int, text: str, calls: list[dict[str, Any]]) -> None:
        name = f"{session}-{at}"
        lines.append({"id": name, "timestamp": _stamp(at), "type": "gemini", "content": text, "toolCalls": calls})

    def call(at: int, name: str, args: dict[str, Any], output: str, display: str) -> None:
        response = {"functionResponse": {"id": f"{session}-{at}", "name": name, "response": {"output": output}}}
        made = {"id": f"{name}-{session}-{at}", "name": name, "args": args, "status": "success", "result": [response]}
        message(at, "", [{**made, "timestamp": _stamp(at), "resultDisplay": display}])

    for at, step in enumerate(steps):
        match step:
            case Ran(command, out, code):
                below = f"\nExit Code: {code}" if code else ""
                call(at, "run_shell_command", {"command": command}, f"Output: {out.rstrip() or '(empty)'}{below}", out)
            case Read(path, text):
                call(at, "read_file", {"file_path": _absolute(path)}, text, text)
            case Edited(path, line=line):
                given = {"file_path": _absolute(path), "old_string": line, "new_string": f"{line} + 1"}
                call(at, "replace", given, f"Successfully modified file: {path} (1 replacements).", "")
            case Said(text):
                message(at, text, [])
            case Wrote(path, text, is_new):
                said = "created and wrote to new file" if is_new else "overwrote file"
                given = {"file_path": _absolute(path), "content": text}
                call(at, "write_file", given, f"Successfully {said}: {path}.", "")
            case Compacted():
                raise ValueError("a chat of Gemini CLI has no such step here")
    return lines
