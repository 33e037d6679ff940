"""The common part of plugins in JavaScript that pass events to a hook, for harnesses whose settings list no hooks."""

import re

from sightline.harnesses.base import Harness, Json
from sightline.light.json_text import dumps, loads

_PATIENCE_MS = 20_000
_ASK = """\
import { spawn } from "node:child_process"

const HOOK = %(hook)s

function ask(event) {
  return new Promise((resolve) => {
    const child = spawn(HOOK[0], HOOK.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    let said = ""
    const end = () => {
      try {
        resolve(said ? JSON.parse(said) : {})
      } catch {
        resolve({})
      }
    }
    const late = setTimeout(() => child.kill(), %(patience_ms)d)
    child.on("error", () => resolve({}))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => (said += data))
    child.on("close", () => {
      clearTimeout(late)
      end()
    })
    child.stdin.end(JSON.stringify(event))
  })
}
"""
_HOOK = re.compile(r"(?m)^const HOOK = (\[.*\])$")


class PluginHarness(Harness):
    """A harness that runs no programs from its settings at events, but plugins: ours runs the hook after a tool.

    Attributes:
        script: JavaScript that calls ``ask(event)``, which returns the hook's answer, an empty object for none.
    """

    script: str
    replaces = tells = True

    def plugin(self, words: list[str], root: str) -> str:
        """Return the text of the plugin."""
        asking = _ASK % {"hook": dumps(words), "patience_ms": _PATIENCE_MS}
        told = f"\nprocess.env.SIGHTLINE_HOME ??= {dumps(root)}\n" if root else ""
        return (
            f"// Written by `sightline install {self.name}`: keeps what tools give. "
            f"`sightline uninstall {self.name}` removes it.\n{asking}{self.script}{told}"
        )

    def plugin_words(self, text: str) -> list[str]:
        """Return the words of the hook that such a plugin runs, from a line of it; none if it runs none."""
        found = _HOOK.search(text)
        return list(loads(found[1])) if found else []

    def addition(self, event: str, text: str) -> Json:
        """The plugin adds the text."""
        return {"append": text}
