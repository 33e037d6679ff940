"""Sessions of Claude Code with the tokens of their requests, and what came of importing them."""

from pathlib import Path
from typing import Any

from sightline.agents.past_sessions.importer import Importer
from sightline.harnesses.formats import find_sources
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, write_lines

MODEL = "claude-opus-4-5"
"""A million tokens cost $5 fresh, $0.50 read from the cache, $6.25 written to it, $25 of output."""

NAME = "claude-code-5e551011"


class Requests:
    """Lines of a session, request by request."""

    def __init__(self, session: str = "5e551011") -> None:
        self.claude = Claude(session)
        self.lines: list[dict[str, Any]] = []
        self.number = 0

    def reply(
        self,
        *results: str,
        read: int = 0,
        written: int = 0,
        output: int = 100,
        stop: str | None = "tool_use",
        model: str = MODEL,
        command: str = "./step",
    ) -> "Requests":
        """Add a reply with a call for each of some results, which follow."""
        self.number += 1
        usage = {
            "input_tokens": 0,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": output,
        }
        about = {"id": f"msg{self.number}", "model": model, "stop_reason": stop, "usage": usage}
        uses = [self.claude.use(f"{self.number}_{at}", command) for at in range(max(1, len(results)))]
        for one in uses:
            one["message"] |= about
            one["requestId"] = f"req{self.number}"
        if not results:
            uses[0]["message"]["content"] = [{"type": "text", "text": "Done."}]
        told = [
            self.claude.result(f"{self.number}_{at}", text, {"stdout": text, "stderr": "", "interrupted": False})
            for at, text in enumerate(results)
        ]
        self.lines += [*uses, *told]
        return self

    def compacted(self) -> "Requests":
        """Add a compaction."""
        about = {"trigger": "auto", "preTokens": 1000}
        line = {"type": "system", "subtype": "compact_boundary", "compactMetadata": about, "content": "compacted"}
        self.lines.append({**self.claude.use("x"), "uuid": f"c{len(self.lines)}", **line})
        return self

    def imported(self, store: Store, folder: Path) -> None:
        """Import the session."""
        path = write_lines(folder / f"{self.claude.common['sessionId']}.jsonl", *self.lines)
        Importer(store).run(find_sources(str(path)))
