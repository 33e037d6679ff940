"""Cline, as version 3.0.65 of its command line was seen to behave: its hook and what that gets, settings, limits."""

import re
import shlex
from collections.abc import Mapping

from sightline.base.records import Gap
from sightline.harnesses.base import AFTER, Harness, Hook, Json, Limit
from sightline.harnesses.tool_call import ToolCall, dict_of, list_of, text_of
from sightline.light.typing_names import Any

_EVENT = "PostToolUse"
_ENDED = re.compile(r"\A\[Command exited with code (\d{1,3})\]\n")
_STDERR = "\n[stderr]\n"
_CUT = re.compile(r"\n\[\.\.\. output truncated: (\d{1,15}) chars total\. [^\n]*\]?\n")
_SHOWN_CHARACTERS = 8_000
"""Of a longer result its model is shown the beginning and the end."""


class Cline(Harness):
    """A script of its folder of hooks runs ours. Commands are not rewritten."""

    name, title, seen = "cline", "Cline", "3.0.65"
    programs = ("cline",)
    clients = ("cline-core-e2738aad",)  # "@cline/core", as names of sessions have it
    missing = "commands are recorded up to the 48,000 characters that Cline keeps, and not rewritten"

    hooks = (Hook(_EVENT, AFTER),)
    runs = ("run_commands",)
    own = ("sightline__",)
    tells = True

    limits: Mapping[str, Limit] = {
        kind: Limit(_SHOWN_CHARACTERS, _SHOWN_CHARACTERS, 3_800, 3_800) for kind in ("cmd", "file", "tool")
    }
    reply_bytes = 5_000  # its JSON, in which newlines take two characters, is to have 8,000

    servers = ("mcpServers",)
    plugin_file = f"{_EVENT}.sh"

    def caller(self, given: Json) -> tuple[str, str, str]:
        """A helper's events name the session of the agent, too."""
        session = text_of(dict_of(given.get("sessionContext")).get("rootSessionId")) or text_of(given.get("taskId"))
        folders = [folder for folder in list_of(given.get("workspaceRoots")) if isinstance(folder, str)]
        helper = text_of(given.get("agent_id")) if given.get("parent_agent_id") else ""
        return session, folders[0] if folders else "", helper

    def call_of(self, given: Json) -> ToolCall | None:
        """Its events have names of their own, and one call may run several commands."""
        told = dict_of(given.get("tool_result"))
        arguments = dict_of(told.get("input"))
        commands = [one for one in list_of(arguments.get("commands")) if isinstance(one, str)]
        call = super().call_of(
            {
                **given,
                "tool_name": told.get("name"),
                "tool_input": {**arguments, "command": "\n".join(commands)},
                "tool_use_id": told.get("id"),
            }
        )
        return call._replace(arguments=arguments) if call else None

    def is_own(self, given: Json) -> bool:
        """The tool's name stands within the result."""
        return super().is_own({"tool_name": dict_of(given.get("tool_result")).get("name")})

    def result(self, call: ToolCall, when: str, given: Json) -> ToolCall | None:
        """It reports each command's output, up to 48,000 characters, and what its model is shown if that is short."""
        told = dict_of(given.get("tool_result"))
        output, shown = told.get("output"), dict_of(given.get("postToolUse")).get("result")
        if isinstance(shown, str) and len(shown) <= _SHOWN_CHARACTERS:
            call = call._replace(shown=(shown,))
        if call.kind != "cmd" or not isinstance(output, list):
            return call.with_result(output)
        return _ran(call, [dict_of(one) for one in output])

    def addition(self, event: str, text: str) -> Json:
        """It has another name for this."""
        return {"contextModification": text}

    def user_settings(self, home: str, environment: Mapping[str, str]) -> tuple[str, str]:
        """Each file of its folder of hooks counts, so ours is one of its own."""
        folder = environment.get("CLINE_DIR") or f"{home}/.cline"
        return f"{folder}/data/settings/cline_mcp_settings.json", f"{folder}/hooks/{self.plugin_file}"

    def project_settings(self, project: str) -> tuple[str, str]:
        """It has hooks of a project, and no MCP servers."""
        return "", f"{project}/.clinerules/hooks/{self.plugin_file}"

    def plugin(self, words: list[str], root: str) -> str:
        """It runs scripts by their names, and tells them nothing else."""
        told = f"export SIGHTLINE_HOME={shlex.quote(root)}\n" if root else ""
        return f"# Written by `sightline install {self.name}`.\n{told}exec {shlex.join(words)}\n"

    def plugin_words(self, text: str) -> list[str]:
        """They stand on the script's last line."""
        last = text.rstrip("\n").rpartition("\n")[2]
        return shlex.split(last.removeprefix("exec ")) if last.startswith("exec ") else []


def _ran(call: ToolCall, outputs: list[dict[str, Any]]) -> ToolCall:
    """Return a call with what its commands wrote, one after another, and with the code of the first that failed."""
    text, codes, gaps = "", list[int | None](), list[Gap]()
    for one in outputs:
        told = text_of(one.get("result"))
        ended = _ENDED.match(told)
        codes.append(int(ended[1]) if ended else 0 if one.get("success") is True else None)
        told = told[ended.end() :] if ended else told
        if not told and codes[-1] is None:
            told = text_of(one.get("error"))  # it was given up, and this says why
        if told.count(_STDERR) == 1:
            out, _, err = told.partition(_STDERR)
            told = _ended(out) + err
        if cut := _CUT.search(told):
            head = _ended(text + told[: cut.start()])
            gaps.append(Gap("out", head.count("\n"), max(int(cut[1]) - len(told) + len(cut[0]), 1)))
            text = head + told[cut.end() :]
        else:
            text += told
        text = _ended(text) if one is not outputs[-1] else text
    code = next((one for one in codes if one != 0), 0) if codes else None
    call = call.with_text(text)._replace(exit_code=code, failed=code != 0)
    if len(codes) > 1:
        each = ", ".join("not known" if one is None else str(one) for one in codes)
        call = call._replace(note=f"{call.note}; {len(codes)} commands, one after another: exit codes {each}")
    return call._replace(gaps=tuple(gaps), partial=HARNESS.cut if gaps else "")


def _ended(text: str) -> str:
    """Return a text with a newline at its end, unless it is empty."""
    return text if not text or text.endswith("\n") else f"{text}\n"


HARNESS = Cline()
