"""What an agent is told if a person wants that: failures that it has forgotten, and what its claim lacks.

`[evidence] remind` and `ask` are off by default, so most hooks never load this.
"""

import os

from sightline.config import EvidenceSettings, default_root, load_settings
from sightline.doors.hooks import late, late_hooks
from sightline.harnesses.base import Harness
from sightline.typing_names import Any

Json = dict[str, Any]

_MOST = 5


def switches() -> EvidenceSettings:
    """What a person has switched on: nothing by default, and nothing without a settings file."""
    path = os.path.join(default_root(), "config.toml")
    return load_settings(path).evidence if os.path.exists(path) else EvidenceSettings()


def reminder(harness: Harness, given: Json) -> list[str]:
    """After a compaction, a line with its ref for each failure that was lost with it; none at any other start."""
    if given.get("source") != "compact" or not switches().remind:
        return []
    with late_hooks.open_store() as store:
        session = late_hooks.session_of(harness.name, str(given.get("session_id") or ""), str(given.get("cwd") or ""))
        found = late.forgotten_failures(store, session)
    return [f"Sightline: {one.at} ({one.command}): {one.text}" for one in found[:_MOST]]


def question(harness: Harness, given: Json) -> Json | None:
    """At the end of a turn, once, what its claim lacks; None if it lacks nothing, or if that is off."""
    if not harness.asks or given.get("stop_hook_active") or not switches().ask:
        return None
    with late_hooks.open_store() as store:
        session = late_hooks.session_of(harness.name, str(given.get("session_id") or ""), str(given.get("cwd") or ""))
        claims = late.evidence_of(store, session).claims
    newest = [one for one in claims if one.message == claims[-1].message] if claims else []
    said = str(given.get("last_assistant_message") or "")
    lacking = [one for one in newest if one.verdict in (late.CONTRADICTED, late.STALE) and one.claim.words in said]
    if not lacking:
        return None
    told = "; ".join(
        f"“{one.claim.words}”: {one.why} ({', '.join(ground.ref for ground in one.grounds if ground.ref)})"
        for one in lacking[:_MOST]
    )
    return {"decision": "block", "reason": f"Sightline: {told}"}
