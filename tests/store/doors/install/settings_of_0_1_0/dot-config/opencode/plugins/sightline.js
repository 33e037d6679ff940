// Written by `sightline install opencode`: keeps what tools give. `sightline uninstall opencode` removes it.
import { spawn } from "node:child_process"

const HOOK = ["@BIN@/python3", "-E", "-P", "@PACKAGES@/sightline/store/doors/harness/__main__.py", "opencode", "tool.execute.after", "--mode", "keep"]

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
    const late = setTimeout(() => child.kill(), 20000)
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

export const Sightline = async ({ directory }) => ({
  "tool.execute.after": async (input, output) => {
    try {
      const answer = await ask({
        session_id: input.sessionID,
        tool_use_id: input.callID,
        tool_name: input.tool,
        tool_input: input.args ?? {},
        cwd: directory,
        output: output.output,
        content: output.content,
        metadata: output.metadata,
      })
      const text = [answer.output, answer.append].filter((one) => typeof one === "string")
      if (Array.isArray(output.content)) {
        if (typeof answer.output === "string") output.content.length = 0
        for (const one of text) output.content.push({ type: "text", text: one })
      } else if (text.length) {
        if (typeof answer.output !== "string") text.unshift(output.output ?? "")
        output.output = text.join("\n\n")
      }
    } catch {
      // the tool's result stays as it is
    }
  },
})
