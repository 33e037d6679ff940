"""Outputs as resources: listed in pages, read by lines, their refs completed."""

import re
import time
from collections.abc import Sequence

from sightline.base.errors import SightlineError
from sightline.base.records import Buffer
from sightline.base.refs import format_ref, looks_like_a_ref
from sightline.doors.tools.protocol import INVALID_PARAMS, Context, Rejected
from sightline.light.typing_names import Any
from sightline.log.call_names import call_name
from sightline.log.views import Shows
from sightline.shape import markers
from sightline.shape.segments import Segment
from sightline.shape.summary import human_bytes
from sightline.store import Reading, Target
from sightline.verbs.asker import Asker
from sightline.verbs.list_outputs import find_buffers
from sightline.verbs.printable_text import printable
from sightline.verbs.read_output import VERB, read_output
from sightline.verbs.reply import Reply, state_in_words
from sightline.verbs.requests import ListRequest, ReadRequest

BASE = "sightline://buffers/"
TEMPLATES = (BASE + "{ref}", BASE + "{ref}{?from,to}")
PAGE = 100
"""How many resources a page has, and values a completion, of which MCP allows no more."""

_TITLE_CHARACTERS = 100


def templates() -> dict[str, Any]:
    """The result of ``resources/templates/list``."""
    about = {
        TEMPLATES[0]: ("output", "A captured output", "An output by its ref, from its beginning."),
        TEMPLATES[1]: ("output-lines", "Lines of a captured output", "Lines from-to of an output, 1-based, inclusive."),
    }
    return {
        "resourceTemplates": [
            {"uriTemplate": uri, "name": name, "title": title, "description": text, "mimeType": "text/plain"}
            for uri, (name, title, text) in about.items()
        ]
    }


def listed(store: Reading, cursor: Any) -> dict[str, Any]:
    """The result of ``resources/list``: outputs that can be read, most recently used first.

    Args:
        store: the store.
        cursor: where the page begins: that of the page before; None for the first.

    Raises:
        Rejected: the cursor is not one that we gave.
    """
    if cursor is not None and not (isinstance(cursor, str) and re.fullmatch(r"used-[0-9]{1,18}", cursor)):
        raise Rejected(INVALID_PARAMS, "no such cursor")
    if not cursor:
        store.bring_up_to_date()
    page = store.listed(PAGE, before=int(cursor[5:]) if cursor else None)
    result: dict[str, Any] = {"resources": [_resource(item.buffer) for item in page if item.buffer.state != "evicted"]}
    if len(page) == PAGE:
        result["nextCursor"] = f"used-{page[-1].used}"
    return result


def _resource(buffer: Buffer) -> dict[str, Any]:
    title = printable(call_name(buffer))
    stream = _main_stream(buffer)
    info = buffer.stream(stream)
    lines = f"{info.lines:,} line{'' if info.lines == 1 else 's'}"
    others = [format_ref(buffer.name, name) for name in buffer.streams if name != stream]
    beside = f"; beside it {', '.join(others)}" if others else ""
    return {
        "uri": BASE + format_ref(buffer.name, stream).removeprefix("@"),
        "name": format_ref(buffer.name, stream),
        "title": title if len(title) <= _TITLE_CHARACTERS else title[: _TITLE_CHARACTERS - 1] + "…",
        "description": f"{state_in_words(buffer)}, {lines}, {human_bytes(info.bytes)}{beside}",
        "mimeType": "text/plain",
        "size": info.bytes,
        "annotations": {"lastModified": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(buffer.ended or time.time()))},
    }


def _main_stream(buffer: Buffer) -> str:
    """The stream that a buffer is listed by: its first, which for a command that printed errors alone is err."""
    if buffer.kind == "tool":
        return "part.0"
    return "err" if not buffer.stream("out").bytes and buffer.stream("err").bytes else "out"


class ResourceAddress:
    """What a URI names: a ref, and the lines if it has ``from`` or ``to``.

    Raises:
        ValueError: it is not a URI of ours.
    """

    def __init__(self, uri: str) -> None:
        from urllib.parse import parse_qsl, unquote  # 1 MiB, which a server whose client reads no resource saves

        path, _, query = uri.partition("?")
        name = unquote(path.removeprefix(BASE))
        given = dict(parse_qsl(query, keep_blank_values=True))
        if not path.startswith(BASE) or not name or set(given) - {"from", "to"}:
            raise ValueError(uri)
        ref = format_ref(name)
        self.ref = ref if looks_like_a_ref(ref) and not name.startswith("@") else name
        self.first, self.last = (_line_number(given.get(key, "")) for key in ("from", "to"))

    @property
    def lines(self) -> str:
        """The lines as read_output takes them; empty for all."""
        if not self.first and not self.last:
            return ""
        return f"{self.first or 1}-{self.last or ''}"


def _line_number(text: str) -> int:
    if text and not (text.isascii() and text.isdigit() and int(text)):
        raise ValueError(text)
    return int(text or 0)


def address_of(uri: Any, context: Context) -> ResourceAddress:
    """What a URI names. Raises Rejected for a URI that is not ours."""
    try:
        return ResourceAddress(uri)
    except (ValueError, AttributeError):
        raise context.not_found(f"Resource not found: {str(uri)[:200]}", {"uri": str(uri)[:200]}) from None


def target_of(asking: Asker, address: ResourceAddress, uri: str, context: Context) -> Target:
    """The stream that a URI names. Raises Rejected if there is no such stream, or no longer."""
    try:
        return asking.resolve(address.ref)
    except SightlineError as error:
        raise context.not_found(": ".join(filter(None, (error.message, error.hint))), {"uri": uri}) from None


def read(asking: Asker, uri: str, context: Context) -> Reply:
    """Lines of an output as the text of a resource: one page of them, and a marker for the rest.

    Raises:
        Rejected: there is no such resource, or no such lines.
    """
    address = address_of(uri, context)
    target = target_of(asking, address, uri, context)
    request = ReadRequest(target.ref, lines=address.lines or _written(target))
    logged = {**request.logged(), "resource": uri}
    if not address.lines and not target.first and _is_empty(target):
        return Reply({}, (), Shows(VERB, logged, refs=(target.buffer.name,)))
    try:
        reply = read_output(asking, request)
    except SightlineError as error:
        raise Rejected(INVALID_PARAMS, f"{error.message}: {error.hint}", {"uri": uri}) from None
    body = reply.body
    if altered := asking.store.checked(target.buffer).altered:  # a resource has no fields
        body = (Segment(markers.altered(altered) + "\n"), *body)
    last, end = _last_line(reply), int(reply.fields["total_lines"])
    wanted = min((address.last if address.lines else target.last) or end, end)
    if last < wanted:
        body = (*body, Segment(markers.elision(target.ref, last + 1, wanted) + "\n"))
    return reply._replace(body=body, shows=reply.shows._replace(request=logged))


def _is_empty(target: Target) -> bool:
    return not (target.buffer if target.stream == "all" else target.buffer.stream(target.stream)).bytes


def _written(target: Target) -> str:
    return f"{target.first}-{target.last or ''}" if target.first else "1-"


def _last_line(reply: Reply) -> int:
    return int(str(reply.fields.get("lines", "0")).rpartition("-")[2])


def contents(uri: str, text: str) -> dict[str, Any]:
    """The result of ``resources/read``."""
    return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}


def completed(store: Reading, params: dict[str, Any]) -> dict[str, Any]:
    """The result of ``completion/complete``: refs that begin with the typed text, else those whose command contains it.

    Raises:
        Rejected: there is nothing of the kind to complete.
    """
    reference, argument = params.get("ref"), params.get("argument")
    if not isinstance(reference, dict) or not isinstance(argument, dict):
        raise Rejected(INVALID_PARAMS, "ref and argument are objects")
    if reference.get("type") != "ref/resource" or reference.get("uri") not in TEMPLATES:
        raise Rejected(INVALID_PARAMS, f"nothing to complete: {str(reference)[:200]}", {"templates": list(TEMPLATES)})
    typed = argument.get("value")
    names = _refs_like(store, typed) if argument.get("name") == "ref" and isinstance(typed, str) else ()
    return {"completion": {"values": list(names[:PAGE]), "total": len(names), "hasMore": len(names) > PAGE}}


def _refs_like(store: Reading, typed: str) -> Sequence[str]:
    buffers = [item.buffer for item in store.listed(10 * PAGE) if item.buffer.state != "evicted"]
    begin = typed.removeprefix("@")
    names = [buffer.name for buffer in buffers if buffer.name.startswith(begin)]
    if names or not typed.strip():
        return names
    like = find_buffers(store, ListRequest(match=typed, limit=PAGE))
    return [buffer.name for buffer in like if buffer.state != "evicted"]
