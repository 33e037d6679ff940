"""Cases of gh-aw (K) that its profile decides."""

import hashlib
import json
from pathlib import Path
from typing import Any

from sightline.store.disk.recovery import stream_files
from sightline.store.tools.doctor import examine

PROFILE = "gh-aw"


def test_k11_what_is_cut_lies_in_a_file_named_by_its_content(agent: Any) -> None:
    one, two = (json.dumps({f"key{number}": letter * 9 for number in range(1000)}).encode() for letter in "ab")
    names = []
    for data in (one, one, two):
        fields = agent.say(data).fields
        path = Path(fields["full_output"])
        assert fields["output_files"] == [str(path)]
        assert json.loads(path.read_bytes()) == json.loads(data)
        assert path.name == hashlib.sha256(data).hexdigest() + ".json"
        names.append(path.name)
    assert names[0] == names[1] != names[2]


def test_k11_the_second_name_is_no_stream_and_goes_with_the_buffer(agent: Any) -> None:
    fields = agent.say(b"x" * 9000).fields
    buffer = agent.store.resolve("@last").buffer
    assert [stream for stream, _ in stream_files(agent.store.layout, buffer.name)] == ["out"]
    assert not [finding for finding in examine(agent.store, rebuild=True) if finding[0] == "problem"]
    assert agent.store.remove(buffer, "removed")
    assert not Path(fields["full_output"]).exists()
