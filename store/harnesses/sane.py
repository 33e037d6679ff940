"""Bounds for what transcripts say: ids, times and codes that every record, table and clock can hold. Pure."""

from sightline.disk.hashing import sha256_hex
from sightline.harnesses.past import PastCall, PastSession
from sightline.harnesses.transcript import plain

ID_CHARACTERS = 200
_NAME_CHARACTERS = 200
_LAST_SECOND = 253_402_300_799.0  # of the year 9999
_LARGEST_CODE = (1 << 31) - 1


def sane_session(session: PastSession, otherwise: float) -> PastSession:
    """A session whose fields can be kept; a time that can be none is the other one."""
    return session._replace(
        id=_id(session.id),
        client=_name(session.client),
        cwd=_name(session.cwd, 4096),
        started=_time(session.started, otherwise),
        agent=_id(session.agent),
    )


def sane_call(call: PastCall, otherwise: float) -> PastCall:
    """A call likewise; its answer never comes before it was asked."""
    asked = _time(call.asked, otherwise)
    code = call.exit_code
    return call._replace(
        id=_id(call.id),
        use=_id(call.use),
        asked=asked,
        answered=max(asked, _time(call.answered, asked)),
        tool=_name(call.tool) or "tool",
        cwd=_name(call.cwd, 4096),
        inner=tuple(sane_call(one, otherwise) for one in call.inner),
        exit_code=code if isinstance(code, int) and not isinstance(code, bool) and abs(code) <= _LARGEST_CODE else None,
    )


def _id(text: str) -> str:
    """A short id as it is; of a longer one its hash."""
    text = _name(text, len(text) * 8)
    return text if len(text) <= ID_CHARACTERS else sha256_hex(text.encode())


def _name(text: str, most: int = _NAME_CHARACTERS) -> str:
    return plain(text[:most]).replace("\0", "\\x00")


def _time(seconds: float, otherwise: float) -> float:
    return seconds if 0 < seconds <= _LAST_SECOND else otherwise
