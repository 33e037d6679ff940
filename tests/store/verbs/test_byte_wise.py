"""Programs that count or copy bytes get a JSON result as it was sent, in queries and in commands."""

import hashlib
from typing import Any

import pytest

from sightline.base.records import Buffer
from sightline.capture.result import ResultBlock, capture_result
from sightline.verbs.query import query
from sightline.verbs.requests import QueryRequest

DATA = b'{"a": [1, 2, 3], "b": "text"}'


@pytest.fixture
def ref(agent: Any) -> str:
    buffer = capture_result(agent.store, [ResultBlock([DATA])], command="t", cwd="/", session="s")
    assert isinstance(buffer, Buffer)
    return buffer.ref


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("wc -c {}", f"{len(DATA)}"),
        ("cat {} | wc -c", f"{len(DATA)}"),
        ("head -c 7 {}", '{"a": ['),
        ("tail -c 7 {}", '"text"}'),
        ("cat {} | cat | head -c 7", '{"a": ['),
        ("cut -b 1-7 {}", '{"a": ['),
        ("head -n 2 {}", '{\n  "a": ['),
        ("grep -c a {}", "1"),
        ("wc -l {}", "8"),
    ],
)
def test_bytes_are_those_that_were_sent_and_lines_those_of_views(agent: Any, ref: str, asked: str, told: str) -> None:
    text = asked.format(ref)
    for reply in (agent.deliver(query(agent.asking, QueryRequest(text))), agent.run(text)):
        assert reply.text.split(" @")[0].split(" /")[0].strip() == told


@pytest.mark.parametrize(
    "command", ["sha256sum {}", "sha256sum < {}", "cat {} | sha256sum", 'x=$(sha256sum "{}"); echo $x']
)
def test_a_hash_is_that_of_the_bytes_sent(agent: Any, ref: str, command: str) -> None:
    assert agent.run(command.format(ref)).text.split()[0] == hashlib.sha256(DATA).hexdigest()


def test_one_command_gets_both_forms(agent: Any, ref: str) -> None:
    told = agent.run(f"wc -c < {ref}; wc -l < {ref}; cmp {ref} {ref} && echo same").text
    assert told.split() == [str(len(DATA)), "8", "same"]
