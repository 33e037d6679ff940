"""A marker pasted where a ref is wanted means the lines that it stands for."""

import re
from typing import Any

import pytest

from sightline.base.errors import AmbiguousRef
from sightline.verbs.query import query
from sightline.verbs.requests import QueryRequest


def marker_in(reply: Any) -> tuple[str, int, int]:
    found = re.search(r"\[… (\d+)-(\d+)\]", reply.text)
    assert found
    return found[0], int(found[1]), int(found[2])


def test_a_bare_marker_means_the_last_view_that_holds_it(agent: Any) -> None:
    agent.run("seq 5000 8000")
    marker, first, last = marker_in(agent.run("seq 1 3000"))
    assert agent.read(marker).text.splitlines()[0] == str(first)
    answer = query(agent.asking, QueryRequest(f"tail -n 1 '{marker}'"))
    assert answer.text == f"{last}\n"
    assert query(agent.asking, QueryRequest(f"wc -l {marker}")).text.split()[0] == str(last - first + 1)


def test_that_view_may_be_an_older_one(agent: Any) -> None:
    older = agent.run("seq 1 3000")
    marker, first, _ = marker_in(older)
    agent.run("seq -f 'a much longer line %g' 1 3000")
    assert agent.read(marker).text.startswith(f"{first}\n")


def test_a_marker_of_standard_error_leads_there(agent: Any) -> None:
    reply = agent.run("seq 1 3000 >&2")
    found = re.search(r"\[… \.err:(\d+)-\d+\]", reply.text)
    assert found
    assert agent.read(found[0]).text.startswith(f"{found[1]}\n")


def test_a_long_marker_names_its_ref_itself(agent: Any) -> None:
    ref = agent.run("seq 1 3000").fields["output_id"]
    assert agent.read(f"[… 3 lines elided: {ref}:7-9 …]").text == "7\n8\n9\n"
    assert agent.read(f"[… previous line ×2 more: {ref}:7-8 …]").text == "7\n8\n"


def test_a_marker_that_no_view_holds_is_an_error_that_names_candidates(agent: Any) -> None:
    ref = agent.run("seq 1 3000").fields["output_id"]
    with pytest.raises(AmbiguousRef, match=r"no view of this session holds \[… 77-78\]") as raised:
        agent.read("[… 77-78]")
    assert f"{ref}:77-78" in raised.value.hint


def test_in_a_session_without_views_a_short_marker_names_no_invented_ref(agent: Any) -> None:
    with pytest.raises(AmbiguousRef) as raised:
        agent.read("[… 77-78]")
    assert "@" not in raised.value.hint
    assert "list_outputs" in raised.value.hint


def test_a_marker_in_one_line_of_json_opens_what_it_hides(agent: Any) -> None:
    command = (
        """python3 -c 'import json; print(json.dumps({"a": [[n] for n in range(900)], "s": "x" * 9000 + "end"}))'"""
    )
    reply = agent.run(command)
    items = re.search(r"\[… 895 more items elided: (@\S+) \$\.a\[-895:\] …\]", reply.text)
    string = re.search(r"\[… [\d,]+ bytes of this string elided: @\S+ \$\.s …\]", reply.text)
    assert items
    assert string
    assert "[5]" in "".join(agent.read(items[0]).text.split())
    assert agent.read(string[0]).text.endswith("xend")
