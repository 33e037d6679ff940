"""What `doctor` says of commands that agents ran with their harness' own tools: how many were kept whole."""

from collections import Counter
from collections.abc import Iterator

from sightline.doors.doctor.check_result import CheckResult
from sightline.doors.hooks.before_tool import why_left_alone
from sightline.harnesses import find
from sightline.harnesses.base import Harness
from sightline.records import Buffer
from sightline.store import Store

_COMMANDS = 1_000
_LOOKED_AT = 10_000
_TOLD_REASONS = 5


def check_kept_whole(store: Store) -> Iterator[CheckResult]:
    """For each harness that ran commands: the share of the last ones that is whole, and why the others are not."""
    for harness, buffers in _last_commands(store).items():
        whole = [buffer for buffer in buffers if not buffer.partial and buffer.state == "sealed"]
        failed = [buffer for buffer in buffers if buffer.failed]
        share = len(whole) / len(buffers)
        text = f"{harness.title}: of the last {_counted(buffers)} {len(whole):,} are kept whole ({share:.0%})"
        if failed:
            text += f", of {len(failed):,} that failed {sum(buffer in whole for buffer in failed):,}"
        yield CheckResult("ok" if len(whole) == len(buffers) else "note", text)
        if reasons := Counter(_why(harness, buffer) for buffer in buffers if buffer not in whole):
            yield CheckResult("note", f"{harness.title}: kept in part: {_listed(reasons)}")
        if harness.rewrites and (
            alone := Counter(filter(None, (why_left_alone(harness, one.command) for one in buffers)))
        ):
            piped = len(buffers) - alone.total()
            yield CheckResult(
                "ok", f"{harness.title}: {piped:,} could have pipes of their own; as they are stay: {_listed(alone)}"
            )


def _last_commands(store: Store) -> dict[Harness, list[Buffer]]:
    """The last commands that each harness' own tools ran, newest first."""
    harnesses = {session.name: find(session.harness) for session in store.index.sessions()}
    found: dict[Harness, list[Buffer]] = {}
    for listed in store.listed(_LOOKED_AT):
        buffer, harness = listed.buffer, harnesses.get(listed.buffer.session)
        by_hook = buffer.artifact.startswith(f"{buffer.session}:") and not buffer.origin
        if harness and buffer.kind == "cmd" and by_hook and buffer.state != "running":
            found.setdefault(harness, []).append(buffer)
    return {harness: sorted(all_of_it, key=_age)[:_COMMANDS] for harness, all_of_it in found.items()}


def _age(buffer: Buffer) -> float:
    return -buffer.created


def _why(harness: Harness, buffer: Buffer) -> str:
    """Why a command's output is not whole; where the harness cut it, also why the command had no pipe of ours."""
    if buffer.state == "interrupted":
        return "its end was not told"
    if buffer.partial != harness.cut:
        return buffer.partial
    return f"{harness.cut}, since {why_left_alone(harness, buffer.command) or 'hooks did not rewrite it'}"


def _counted(buffers: list[Buffer]) -> str:
    return f"{len(buffers):,} commands" if len(buffers) > 1 else "command"


def _listed(reasons: Counter[str]) -> str:
    told = [f"{count:,} ({reason})" for reason, count in reasons.most_common(_TOLD_REASONS)]
    more = reasons.total() - sum(count for _, count in reasons.most_common(_TOLD_REASONS))
    return ", ".join([*told, *([f"{more:,} for other reasons"] if more else [])])
