"""Mistral Vibe, as version 3.0.3 was seen to behave: its file of hooks and their payloads, its limits."""

import json
import re
import shlex
from collections.abc import Callable, Mapping

from sightline.harnesses.base import AFTER, Harness, Hook, Json, Limit
from sightline.harnesses.tool_call import ToolCall, dict_of, text_of

_EVENT = "post_tool"
_HOOKS = """\
# Written by `sightline install vibe`: keeps what tools give. `sightline uninstall vibe` removes it.
[[hooks]]
name = "sightline"
type = "post_tool"
command = {command}
timeout = 20.0
"""
_SHOWN_CHARACTERS = 16_000  # a longer result is shown as a preview, beside the name of a file with the whole
_COMMAND = re.compile(r'(?m)^command = ("(?:[^"\\]|\\.)*")$')


class Vibe(Harness):
    """Commands are not rewritten, because a hook gets all that they wrote."""

    name, title, seen = "vibe", "Mistral Vibe", "3.0.3"
    programs = ("vibe",)
    missing = "no MCP server is installed: agents reach Sightline through the command line"
    hooks = (Hook(_EVENT, AFTER),)
    runs = ("file_system.bash",)
    replaces = tells = True
    limits: Mapping[str, Limit] = {"cmd": Limit(_SHOWN_CHARACTERS, 9_100)}
    plugin_file = "hooks.toml"
    endings = (".json",)
    reader = "sightline_vibe.transcript"

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """Its hooks have a file of their own, so that is written whole."""
        folder = environment.get("VIBE_HOME") or f"{home}/.vibe"
        return "", f"{folder}/{self.plugin_file}"

    def project_settings(self, project: str) -> tuple[str, str]:
        """Likewise, and it heeds them in a folder that it was told to trust."""
        return "", f"{project}/.vibe/{self.plugin_file}"

    def transcript_places(self, home: str, environment: Mapping[str, str]) -> list[str]:
        """It has a folder for each session there."""
        return [f"{environment.get('VIBE_HOME') or home + '/.vibe'}/logs/session/unified"]

    def plugin(self, words: list[str], root: str) -> str:
        """Return the file of hooks; strings of JSON are strings of TOML, too."""
        line = (f"SIGHTLINE_HOME={shlex.quote(root)} " if root else "") + shlex.join(words)
        return _HOOKS.format(command=json.dumps(line))

    def plugin_words(self, text: str) -> list[str]:
        """Return the words of the command in that file."""
        found = _COMMAND.search(text)
        words = shlex.split(json.loads(found[1])) if found else []
        return words[1:] if words and words[0].startswith("SIGHTLINE_HOME=") else words

    def call_of(self, given: Json) -> ToolCall | None:
        """It has its own name for the id of a tool's use."""
        return super().call_of({**given, "tool_use_id": given.get("tool_call_id")})

    def result(self, call: ToolCall, when: str, given: Json) -> ToolCall | None:
        """Of a command both streams are given apart, whole, with its exit code; its model is shown that as JSON."""
        output = dict_of(given.get("tool_output"))
        call = call._replace(failed=given.get("tool_status") == "failure")
        if call.kind == "cmd" and isinstance(output.get("returncode"), int):
            call = call.with_text(text_of(output.get("stdout")), text_of(output.get("stderr")))
            cut = self.cut if output.get("was_truncated") else ""
            shown = json.dumps(output, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
            call = call._replace(shown=(shown,)) if len(shown) <= _SHOWN_CHARACTERS else call
            return call._replace(exit_code=output["returncode"], partial=cut, note="")
        return call.with_text(text_of(given.get("tool_output_text")) or text_of(given.get("tool_error")))

    def replacement(self, event: str, call: ToolCall, given: Json) -> Callable[[str], Json] | None:
        """A result is replaced by refusing it."""
        return lambda text: {"decision": "deny", "reason": text}

    def addition(self, event: str, text: str) -> Json:
        """It has its own names for this."""
        return {"hook_specific_output": {"additional_context": text}}


HARNESS = Vibe()
