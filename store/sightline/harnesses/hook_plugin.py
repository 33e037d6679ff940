"""The common part of plugins in JavaScript that pass events to a hook, for harnesses whose settings list no hooks."""

import re

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


def plugin_text(name: str, words: list[str], root: str, body: str) -> str:
    """Return the text of a plugin.

    Args:
        name: name of the harness for `sightline install`.
        words: words of the hook's command line.
        root: the store's root if it is not the usual one, else empty.
        body: JavaScript that calls ``ask(event)``, which returns the hook's answer, an empty object for none.
    """
    head = (
        f"// Written by `sightline install {name}`: keeps what tools give. `sightline uninstall {name}` removes it.\n"
    )
    asking = _ASK % {"hook": dumps(words), "patience_ms": _PATIENCE_MS}
    told = f"\nprocess.env.SIGHTLINE_HOME ??= {dumps(root)}\n" if root else ""
    return head + asking + body + told


def words_in(text: str) -> list[str]:
    """Return the words of the hook that such a plugin runs, from a line of it; none if it runs none."""
    found = _HOOK.search(text)
    return list(loads(found[1])) if found else []
