"""Sessions form trees: which came from which, with the evidence, and what each cost by itself."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sightline.audit.cost import Cost, cost_report, tree_costs
from sightline.audit.lineage import Edge, edges_of, tree_rows
from sightline.log.log_index import rebuild_views
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, Import, Rollout, write_lines

PARENT, FORK, HELPER, REVIEW = (f"0000000{number}-0000-0000-0000-000000000000" for number in (1, 2, 3, 4))


def counted(rollout: Rollout, total: int) -> Rollout:
    usage = {"input_tokens": total, "cached_input_tokens": 0, "output_tokens": 0, "reasoning_output_tokens": 0}
    info = {"total_token_usage": usage, "last_token_usage": usage}
    rollout.lines.append(rollout.line("event_msg", type="token_count", info=info))
    return rollout


def costs(store: Store) -> dict[str, Cost]:
    return {row.name: row.cost for row in cost_report(store, "session").rows}


def test_a_fork_and_a_helper_of_codex_name_their_parent(store: Store, imported: Import, tmp_path: Path) -> None:
    parent = counted(Rollout(PARENT).ran("call_1", "make"), 100)
    parent.write(tmp_path)
    counted(Rollout(FORK, forked_from_id=PARENT).copy(parent).ran("call_2", "make test"), 150).write(tmp_path)
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1, "agent_nickname": "Ada"}}}
    counted(Rollout(HELPER, source=spawn).copy(parent).ran("call_3", "make doc"), 120).write(tmp_path)
    imported(tmp_path)
    edges = edges_of(store)
    assert edges[f"codex-{FORK}"] == Edge(f"codex-{PARENT}", "fork", "stated")
    assert edges[f"codex-{HELPER}"] == Edge(f"codex-{PARENT}", "spawn", "stated", "Ada")
    assert f"codex-{PARENT}" not in edges
    own = costs(store)
    assert {name: cost.fresh for name, cost in own.items()} == {
        f"codex-{PARENT}": 100,
        f"codex-{FORK}": 50,
        f"codex-{HELPER}": 20,
    }
    assert tree_costs(own, edges)[f"codex-{PARENT}"].fresh == 170


def test_edges_outlive_the_index_and_a_second_import(store: Store, imported: Import, tmp_path: Path) -> None:
    Rollout(FORK, forked_from_id=PARENT).ran("call_2", "make test").write(tmp_path)
    imported(tmp_path)
    before = edges_of(store)
    rebuild_views(store)
    (tmp_path / "again").mkdir()
    Rollout(FORK, forked_from_id=PARENT).ran("call_2", "make test").ran("call_3", "ls").write(tmp_path / "again")
    imported(tmp_path / "again")
    assert edges_of(store) == before == {f"codex-{FORK}": Edge(f"codex-{PARENT}", "fork", "stated")}


def test_a_review_without_a_parent_is_matched_by_time_or_unknown(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    busy = Rollout(PARENT).ran("call_1", "make")
    busy.now += 100
    busy.ran("call_2", "make").write(tmp_path)
    review = Rollout(REVIEW, busy.now - 50, source={"subagent": "review"})
    review.ran("call_3", "git diff").write(tmp_path)
    imported(tmp_path)
    name = f"codex-{REVIEW}"
    assert edges_of(store)[name] == Edge(f"codex-{PARENT}", "review", "matched by time")
    second = Rollout(FORK).ran("call_4", "make")
    second.now += 100
    second.ran("call_5", "make").write(tmp_path)
    imported(tmp_path)
    assert edges_of(store)[name] == Edge("", "review")
    assert edges_of(store)[name].in_words() == "review of an unknown session"


def test_a_helper_of_claude_code_names_its_call_even_below_another_helper(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    claude = Claude("aaaa0000-0000-0000-0000-000000000000")
    task, nested = "task_of_the_agent_itself_01", "task_of_the_first_helper_02"
    lines = [claude.use(task, name="Task", input={"prompt": "look"}), claude.result(task, "done")]
    write_lines(tmp_path / f"{claude.common['sessionId']}.jsonl", *lines)
    folder = tmp_path / claude.common["sessionId"] / "subagents"
    for agent, use, inner, above in (("a1", task, nested, {}), ("a2", nested, "the_last_one", {"parentAgentId": "a1"})):
        helper = Claude(claude.common["sessionId"], agentId=agent, isSidechain=True)
        calls = [helper.use(inner, name="Task", input={"prompt": "on"}), helper.result(inner, "ok")]
        write_lines(folder / f"agent-{agent}.jsonl", *calls)
        (folder / f"agent-{agent}.meta.json").write_text(
            json.dumps({"agentType": "Explore", "toolUseId": f"toolu_{use}", **above})
        )
    imported(tmp_path)
    edges = edges_of(store)
    own = f"claude-code-{claude.common['sessionId']}"
    by_parent = {one.parent: (name, one) for name, one in edges.items()}
    first, edge = by_parent[own]
    assert edge == Edge(own, "spawn", "stated", "Explore", f"toolu_{task}")
    second, edge = by_parent[first]
    assert [(row.name, row.depth) for row in tree_rows([own, first, second], edges)] == [
        (own, 0),
        (first, 1),
        (second, 2),
    ]


def test_a_fork_and_a_team_of_claude_code(store: Store, imported: Import, tmp_path: Path) -> None:
    copied = {"forkedFrom": {"sessionId": "aaaa", "messageUuid": "a1"}}
    fork = Claude("bbbb")
    lines = [{**one, **copied} for one in fork.ran(1, "ok\n")]
    write_lines(tmp_path / "bbbb.jsonl", *lines, *fork.ran(2, "ok\n", "./own"))
    lead, member = Claude("cccc", teamName="blue"), Claude("dddd", teamName="blue", agentName="tester")
    write_lines(tmp_path / "cccc.jsonl", *lead.ran(3, "ok\n"))
    write_lines(tmp_path / "dddd.jsonl", *member.ran(4, "ok\n"))
    imported(tmp_path)
    assert edges_of(store) == {
        "claude-code-bbbb": Edge("claude-code-aaaa", "fork", "stated"),
        "claude-code-dddd": Edge("claude-code-cccc", "team", "stated", "tester", "", "blue"),
    }


def test_a_child_whose_parent_is_not_there_is_a_root_that_says_so(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    Rollout(FORK, forked_from_id=PARENT).ran("call_2", "make test").write(tmp_path)
    imported(tmp_path)
    edges, name = edges_of(store), f"codex-{FORK}"
    assert [tuple(row) for row in tree_rows([name], edges)] == [(name, 0)]
    assert edges[name].in_words() == f"forked from codex-{PARENT} (stated)"


NUMBERS = st.dictionaries(st.integers(0, 8), st.integers(0, 9))


def _edges(parents: dict[int, int]) -> dict[str, Edge]:
    return {str(child): Edge(str(parent), "fork", "stated") for child, parent in parents.items()}


@given(NUMBERS)
def test_a_tree_holds_each_session_once_even_where_edges_form_a_circle(parents: dict[int, int]) -> None:
    names = [str(number) for number in range(9)]
    assert sorted(row.name for row in tree_rows(names, _edges(parents))) == names


@given(NUMBERS, NUMBERS)
def test_sums_of_trees_hold_no_request_twice(parents: dict[int, int], tokens: dict[int, int]) -> None:
    edges = _edges({child: parent for child, parent in parents.items() if parent > child})
    names = [str(number) for number in range(9)]
    own: dict[str, Any] = {str(name): Cost(fresh=count) for name, count in tokens.items()}
    sums = tree_costs(own, edges)
    roots = [row.name for row in tree_rows([*names, "9"], edges) if row.depth == 0]
    assert sum(sums[name].fresh for name in roots if name in sums) == sum(tokens.values())
