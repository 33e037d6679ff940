"""What a harness says of a tool that was called, brought into one form."""

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from sightline.doors.hooks.facts import FAILED, Facts
from sightline.harnesses.past import CHANGES_FILES
from sightline.records import Gap

if TYPE_CHECKING:
    from sightline.harnesses.content import Kept

Json = dict[str, Any]

EXIT_LINE = re.compile(r"Exit code (\d+)(?:\n|$)")
"""What Claude Code puts before what a failing command wrote."""

_CWD_RESET = re.compile(r"\n?Shell cwd was reset to [^\n]*\n?")
_UNTRUSTED = re.compile(r"<untrusted_context>\n(.*)\n</untrusted_context>", re.DOTALL)
_GEMINI_EXIT = re.compile(r"^Exit Code: (\d+)$", re.MULTILINE)
_GEMINI_CUT = re.compile(
    r"\nIMPORTANT: The file content has been truncated\.\nStatus: Showing lines (\d+)-\d+ of \d+ total lines\.\n"
    r".*?\n--- FILE CONTENT \(truncated\) ---\n",
    re.DOTALL,
)
_TAIL_CHARACTERS = 500


class Called(NamedTuple):
    """One call of a tool, and what came of it.

    Attributes:
        tool: its name.
        input: its input.
        use: the harness' id of the use; empty where it gives none.
        session: the harness' id of the session.
        cwd: the session's working directory.
        command: the command line of a shell's tool, else empty.
        path: the file that it read, else empty.
        text: what came of it as text; None where ``blocks`` has it, or nothing is known of it.
        blocks: content blocks as MCP has them; None where ``text`` has it.
        errors: what stands apart as standard error.
        whole_path: a file that the harness keeps all of the output in; empty for none.
        whole_in: how the path of such a file ends, see `own_file`.
        whole_bytes: the size that this file has once it is written, 0 where that is not told.
        whole_tail: how it ends then, likewise empty.
        first: number of the first line, where ``path`` was read from a line on.
        exit_code: of the command, None where it is unknown.
        failed: whether the tool reported an error.
        partial: whether the harness had cut the text before anybody could keep it.
        shown: exactly what the model is shown, None where the event does not tell.
        gaps: where that left something out of the text, as far as it says so; its marks are not in the text.
        told: what the event tells of that, where it is not all and not the text either.
    """

    tool: str
    input: Json
    use: str
    session: str
    cwd: str
    command: str = ""
    path: str = ""
    text: str | None = None
    blocks: list[Any] | None = None
    errors: str = ""
    whole_path: str = ""
    whole_in: tuple[str, ...] = ()
    whole_bytes: int = 0
    whole_tail: str = ""
    first: int = 1
    exit_code: int | None = None
    failed: bool = False
    partial: bool = False
    shown: str | None = None
    gaps: tuple[Gap, ...] = ()
    told: str = ""

    @property
    def makes_buffer(self) -> bool:
        """Whether there is something to be kept."""
        return self.tool not in CHANGES_FILES and (self.text is not None or bool(self.blocks))


def called_of(facts: Facts, when: str, given: Json) -> Called | None:
    """The call that an event is about; None where it is about none, or goes on.

    Args:
        facts: the harness.
        when: AFTER or FAILED.
        given: what the event says.
    """
    tool, tool_input = given.get("tool_name"), given.get("tool_input")
    if not isinstance(tool, str):
        return None
    call = Called(
        tool=tool,
        input=tool_input if isinstance(tool_input, dict) else {},
        use=_text(given.get("tool_use_id")),
        session=_text(given.get("session_id") or given.get("conversation_id")),
        cwd=_text(given.get("cwd")) or os.getcwd(),
    )
    if tool in facts.runs:
        call = call._replace(command=_text(call.input.get("command")))
    return _READERS[facts.name](call, when, given)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _claude_code(call: Called, when: str, given: Json) -> Called | None:
    if when == FAILED:
        return _claude_failed(call, _text(given.get("error")))
    response = given.get("tool_response")
    if call.command and isinstance(response, dict):
        if response.get("backgroundTaskId"):
            return None
        return call._replace(
            text=_text(response.get("stdout")),
            errors=_CWD_RESET.sub("", _text(response.get("stderr"))),
            whole_path=_text(response.get("persistedOutputPath")),
            whole_in=("projects", "", call.session, "tool-results", ""),
            whole_bytes=size if isinstance(size := response.get("persistedOutputSize"), int) else 0,
            exit_code=None if response.get("interrupted") else 0,
        )
    file = response.get("file") if isinstance(response, dict) else None
    if isinstance(file, dict) and isinstance(file.get("base64"), str):
        return call._replace(blocks=[{"type": "image", "data": file["base64"], "mimeType": file.get("type")}])
    if isinstance(file, dict) and isinstance(file.get("content"), str):
        first = file.get("startLine")
        first = first if isinstance(first, int) else 1
        return call._replace(path=_text(file.get("filePath")), text=file["content"], first=first)
    return with_result(call, response)


def _claude_failed(call: Called, error: str) -> Called:
    found = EXIT_LINE.match(error) if call.command else None
    start = found.end() if found else 0
    call = call._replace(text=error[start:], exit_code=int(found[1]) if found else None, failed=True)
    if " truncated] ..." not in error:
        return call
    from sightline.harnesses.claude_code import left_of  # only what was cut pays for it

    return _left(call, left_of(error, start, _stream(call)))


def _left(call: Called, left: "Kept") -> Called:
    return call._replace(text=left.text, partial=call.partial or left.is_cut, gaps=left.gaps)


def _stream(call: Called) -> str:
    return "out" if call.command else "part.0"


def _codex(call: Called, _: str, given: Json) -> Called | None:
    response = given.get("tool_response")
    if isinstance(response, str):
        call = call._replace(text=response, told=response)
        if not response.startswith(("Warning: truncated", "Total output lines: ")):
            return call
        from sightline.harnesses.codex import left_of  # only what was cut pays for it

        return _left(call, left_of(response, _stream(call)))
    return with_result(call, response)


def _gemini(call: Called, _: str, given: Json) -> Called | None:
    response = given.get("tool_response")
    if not isinstance(response, dict):
        return None
    told, display = response.get("llmContent"), response.get("returnDisplay")
    error = response.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):  # this is shown of it, and nothing else
        return call._replace(failed=True, command="", text=error["message"])  # a command never ran
    shown = _joined(told)
    call = call._replace(failed=bool(response.get("error")), shown=shown)
    if call.command and shown is not None:
        code = _GEMINI_EXIT.search(shown)
        text = _gemini_displayed(shown, display) if isinstance(display, str) else shown
        return call._replace(text=text, exit_code=int(code[1]) if code else None if call.failed else 0)
    if call.tool == "read_file" and shown is not None and not call.failed:
        path = os.path.join(call.cwd, _text(call.input.get("file_path")))
        cut = _GEMINI_CUT.match(shown)
        first = int(cut[1]) if cut else 1
        return call._replace(path=path, text=shown[cut.end() :] if cut else shown, first=first)
    if shown is None:
        return with_result(call, told)
    inner = _UNTRUSTED.fullmatch(shown)
    return call._replace(text=inner[1] if inner else shown)


def _gemini_displayed(shown: str, display: str) -> str:
    from sightline.harnesses.gemini import displayed  # of no other harness

    return displayed(shown, display)


def _opencode(call: Called, _: str, given: Json) -> Called | None:
    about = given.get("metadata")
    about = about if isinstance(about, dict) else {}
    if isinstance(given.get("content"), list):
        content = given["content"]
        texts = [one.get("text") for one in content if isinstance(one, dict)]
        known = [text for text in texts if isinstance(text, str)]
        shown = "\n\n".join(known) if len(known) == len(content) else None
        return call._replace(blocks=content, shown=shown)
    output, code = _text(given.get("output")), about.get("exit")
    display = about.get("display")
    if isinstance(display, dict) and isinstance(display.get("text"), str) and display.get("type") == "file":
        first = display.get("lineStart")
        first = first if isinstance(first, int) else 1
        return call._replace(path=_text(display.get("path")), text=display["text"], first=first, shown=output)
    call = call._replace(
        text=output,
        whole_path=_text(about.get("outputPath")),
        whole_in=("opencode", "tool-output", ""),
        whole_tail=output[-_TAIL_CHARACTERS:],
        exit_code=code if call.command and isinstance(code, int) else None,
        partial=bool(about.get("truncated")),
        shown=output,
    )
    if not call.partial:
        return call
    from sightline.harnesses.opencode import left_of  # only what was cut pays for it

    return _left(call, left_of(output, _stream(call)))


def _cursor(call: Called, _: str, given: Json) -> Called | None:
    output = given.get("tool_output")
    if isinstance(output, str) and output.startswith("{"):
        import json

        try:
            output = json.loads(output)
        except ValueError:
            return call._replace(text=output)
    if call.command and isinstance(output, dict):
        code = output.get("exitCode")
        text = output.get("output", output.get("stdout"))
        return call._replace(text=_text(text), exit_code=code if isinstance(code, int) else None)
    return with_result(call, output)


_READERS = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "cursor": _cursor,
}


def with_result(call: Called, response: Any) -> Called | None:
    """The call with any other result: text, blocks of MCP, or an object, of which its text is taken."""
    if isinstance(response, str):
        return call._replace(text=response)
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        return call._replace(blocks=response["content"], failed=call.failed or response.get("isError") is True)
    if isinstance(response, list) and all(isinstance(one, dict) and "type" in one for one in response):
        return call._replace(blocks=response)
    if response is None:
        return None
    if isinstance(response, dict):
        for key in ("content", "result", "output", "text"):
            if isinstance(response.get(key), str):
                return call._replace(text=response[key])
        names = response.get("filenames")
        if isinstance(names, list) and all(isinstance(one, str) for one in names):
            return call._replace(text="".join(f"{one}\n" for one in names))
    import json

    return call._replace(text=json.dumps(response, ensure_ascii=False))


def _joined(content: Any) -> str | None:
    """The text of what a model is given; None for what is no text alone."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [one if isinstance(one, str) else one.get("text") if isinstance(one, dict) else None for one in parts]
    known = [text for text in texts if isinstance(text, str)]
    return "".join(known) if len(known) == len(parts) else None


def shown_text(response: Any) -> str:
    """The text of what a model is shown: a text, or blocks one after the other; of others what they are."""
    if isinstance(response, str):
        return response
    if not isinstance(response, list):
        import json

        return json.dumps(response, ensure_ascii=False)
    told = []
    for one in response:
        text = one.get("text") if isinstance(one, dict) else one
        kind = one.get("type", "block") if isinstance(one, dict) else "block"
        told.append(text if isinstance(text, str) else f"[{kind}]")
    return "\n".join(told)
