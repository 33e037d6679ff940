"""An output whose stored bytes were changed, over MCP."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sightline.shape.markers import MARKER


def changed(client: Any, data: bytes) -> Path:
    """Change a byte of the only output, in a server's store."""
    (path,) = client.home.glob("buffers/*/out")
    path.chmod(0o600)
    path.write_bytes(data)
    path.chmod(0o400)
    return Path(path)


def test_a_fresh_capture_holds_what_its_command_wrote_beside_a_changed_twin(connect: Callable[..., Any]) -> None:
    client = connect()
    command = "seq 1 4000"
    fields, _ = client.call("run_command", command=command)
    ref = fields["output_id"]
    path = changed(client, b"X" + b"".join(b"%d\n" % number for number in range(1, 4001))[1:])
    fresh, _ = client.call("run_command", command=command)
    assert "altered" not in fresh
    page, body = client.call("read_output", ref=fresh["output_id"], lines="1-2")
    assert ("altered" not in page, body) == (True, "1\n2\n")
    page, body = client.call("read_output", ref=ref, lines="1-2")
    assert (page["altered"], body) == ("out was changed after its capture", "X\n2\n")
    _, body = client.call("list_outputs")
    assert body.count(" altered ") == 1
    assert path.stat().st_nlink == 1


def test_a_change_between_two_calls_of_one_server_is_noticed(connect: Callable[..., Any]) -> None:
    client = connect()
    client.call("run_command", command="echo short")
    changed(client, b"other\n")
    fields, body = client.call("read_output", ref="@last")
    assert (fields["altered"], body) == ("out was changed after its capture", "other\n")
    fields, _ = client.call("query", pipeline="wc -l @last")
    assert fields["altered"]


def test_a_resource_begins_with_a_marker_where_it_is_altered(connect: Callable[..., Any]) -> None:
    client = connect()
    client.call("run_command", command="seq 3")
    changed(client, b"1\n2\nX\n")
    [content] = client.request("resources/read", uri="sightline://buffers/last")["contents"]
    first, *rest = content["text"].splitlines()
    assert (first, rest) == ("[… altered: out was changed after its capture …]", ["1", "2", "X"])
    assert re.fullmatch(MARKER, first)
