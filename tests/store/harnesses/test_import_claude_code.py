"""Claude Code's transcripts beyond what was recorded: MCP results, failures, older and printed ones."""

from pathlib import Path

import pytest

from sightline.audit.verdict import verdict_of
from sightline.store import Store
from tests.store.harnesses.past_kit import Claude, Import, buffers, read, views, write_lines

BLOCKS = [{"type": "text", "text": '{"sites": [1, 2, 3]}'}, {"type": "text", "text": "and more"}]
PIXEL = "iVBORw0KGgo="


def test_a_result_of_several_blocks_has_a_stream_for_each(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    use = claude.use(1, name="mcp__weather__sites", input={"city": "Chicago"})
    imported(write_lines(tmp_path / "s.jsonl", use, claude.result(1, BLOCKS, BLOCKS)))
    (buffer,) = buffers(store)
    assert buffer.command == 'mcp__weather__sites {"city":"Chicago"}'
    assert read(store, buffer, "part.0") == b'{"sites": [1, 2, 3]}'
    assert buffer.stream("part.0").mime.startswith("application/json")
    assert read(store, buffer, "part.1") == b"and more"
    assert [text for _, text in views(store)] == ['{"sites": [1, 2, 3]}\nand more']


def test_an_image_is_kept_as_its_bytes(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    use = claude.use(1, name="Read", input={"file_path": "/home/user/pixel.png"})
    told = {"type": "image", "file": {"base64": PIXEL, "type": "image/png"}}
    imported(write_lines(tmp_path / "s.jsonl", use, claude.result(1, [image], told)))
    (buffer,) = buffers(store)
    assert buffer.stream("part.0").mime == "image/png"
    assert read(store, buffer, "part.0") == b"\x89PNG\r\n\x1a\n"
    assert [text for _, text in views(store)] == ["[image/png, 8 bytes]"]


def test_a_picture_that_an_agent_was_shown_is_no_unread_output(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    use = claude.use(1, name="Read", input={"file_path": "/home/user/pixel.png"})
    told = {"type": "image", "file": {"base64": PIXEL, "type": "image/png"}}
    imported(write_lines(tmp_path / "s.jsonl", use, claude.result(1, [image], told)))
    found = verdict_of(store)
    assert (found.captured, found.lines, found.unopened) == (1, 0, 0)
    assert [view.truncated for view, _ in views(store)] == [False]


def test_a_large_mcp_result_is_read_from_where_it_was_kept(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    kept = tmp_path / "5e551011/tool-results/mcp-weather-all-1-a.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("all of it\n" * 20_000)
    said = f"Error: result (200,000 characters) exceeds maximum tokens. Output has been saved to {kept}.\nFormat: …"
    use = claude.use(1, name="mcp__weather__all", input={})
    imported(write_lines(tmp_path / "5e551011.jsonl", use, claude.result(1, said)))
    (buffer,) = buffers(store)
    assert not buffer.is_partial
    assert buffer.lines == 20_000
    (view,) = views(store)
    assert view[1] == said
    assert view[0].truncated


def test_a_result_whose_file_is_gone_is_partial(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    said = "<persisted-output>\nOutput too large (9 MB). Full output saved to: /gone/b1.txt\n\nPreview:\nline 1\n"
    told = {
        "stdout": "line 1\n" * 5000,
        "stderr": "",
        "persistedOutputPath": "/gone/b1.txt",
    }
    imported(write_lines(tmp_path / "s.jsonl", claude.use(1, "make"), claude.result(1, said, told)))
    (buffer,) = buffers(store)
    assert buffer.partial == "the file that the whole was kept in is gone"
    assert buffer.lines == 5000


@pytest.mark.parametrize(
    ("said", "kind", "exit_code"),
    [
        ("Exit code 2\nmake: no rule", "cmd", 2),
        ("Exit code 1", "cmd", 1),
        ("Command timed out after 2m 0.0s\nstarting", "cmd", None),
        ("The user doesn't want to proceed with this tool use.", "tool", None),
    ],
)
def test_a_command_that_failed_is_told_from_one_that_never_ran(
    store: Store, imported: Import, tmp_path: Path, said: str, kind: str, exit_code: int | None
) -> None:
    claude = Claude()
    imported(
        write_lines(tmp_path / "s.jsonl", claude.use(1, "make"), claude.result(1, said, f"Error: {said}", error=True))
    )
    (buffer,) = buffers(store)
    assert (buffer.kind, buffer.exit_code) == (kind, exit_code)
    assert buffer.failed == (bool(exit_code) or said.startswith("Command timed out"))


@pytest.mark.parametrize(
    ("version", "said", "kind"),
    [
        ("1.0.110", "npm error missing script: build", "cmd"),
        ("2.0.11", "(eval):cd:1: no such file or directory: apps", "cmd"),
        ("2.0.11", "Permission to use Bash has been denied.", "tool"),
        ("2.1.329", "a message of its own", "tool"),
    ],
)
def test_versions_that_state_no_exit_code_ran_the_command_that_failed(
    store: Store, imported: Import, tmp_path: Path, version: str, said: str, kind: str
) -> None:
    claude = Claude(version=version)
    result = claude.result(1, said, f"Error: {said}", error=True)
    imported(write_lines(tmp_path / "s.jsonl", claude.use(1, "npm run build"), result))
    (buffer,) = buffers(store)
    assert (buffer.kind, buffer.exit_code, verdict_of(store).failed) == (kind, None, int(kind == "cmd"))


@pytest.mark.parametrize(("out", "failed"), [("fatal: no such remote", 1), ("Now using node v22", 0)])
def test_a_search_behind_a_program_that_complained_has_failed(
    store: Store, imported: Import, tmp_path: Path, out: str, failed: int
) -> None:
    claude = Claude()
    said = f"Exit code 1\n{out}"
    result = claude.result(1, said, f"Error: {said}", error=True)
    imported(write_lines(tmp_path / "s.jsonl", claude.use(1, "git ls-remote origin | rg x"), result))
    assert verdict_of(store).failed == failed


def test_a_code_that_only_tells_is_no_success(store: Store, imported: Import, tmp_path: Path) -> None:
    """A search that found nothing is no error to Claude Code, and has not ended with 0 either."""
    claude = Claude()
    told = {"stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found"}
    imported(write_lines(tmp_path / "s.jsonl", claude.use(1, "grep x y"), claude.result(1, "", told)))
    (buffer,) = buffers(store)
    assert (buffer.kind, buffer.exit_code, buffer.bytes) == ("cmd", None, 0)


def test_both_streams_are_kept_apart_where_a_version_did_so(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude(version="1.0.0")
    told = {"stdout": "out 1\nout 2", "stderr": "err 1", "interrupted": False}
    imported(write_lines(tmp_path / "s.jsonl", claude.use(1, "both"), claude.result(1, "out 1\nout 2\nerr 1", told)))
    (buffer,) = buffers(store)
    assert (read(store, buffer), read(store, buffer, "err")) == (b"out 1\nout 2", b"err 1")
    with_both = store.open_merged(buffer)
    assert with_both.line_count == 3
    with_both.close()
    (view,) = views(store)
    assert view[0].lines_shown == 3
    assert not view[0].truncated


def test_an_output_within_a_line_of_the_answer_is_not_said_to_stand_in_it(
    store: Store, imported: Import, tmp_path: Path
) -> None:
    claude = Claude()
    told = {"stdout": "5", "stderr": "", "interrupted": False}
    imported(write_lines(tmp_path / "s.jsonl", claude.use(1, "count"), claude.result(1, "Exit code 15", told)))
    ((view, _),) = views(store)
    assert (view.shown, view.matched) == ((), ())


def test_what_claude_prints_as_it_goes_is_read_alike(store: Store, imported: Import, tmp_path: Path) -> None:
    begins = {
        "type": "system",
        "subtype": "init",
        "session_id": "5e55",
        "cwd": "/home/user",
        "claude_code_version": "2.1.329",
    }
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "date"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "today"}
    path = write_lines(
        tmp_path / "printed.jsonl",
        begins,
        {"type": "assistant", "session_id": "5e55", "uuid": "a", "message": {"role": "assistant", "content": [use]}},
        {
            "type": "user",
            "session_id": "5e55",
            "uuid": "b",
            "message": {"role": "user", "content": [result]},
            "tool_use_result": {"stdout": "today\n", "stderr": ""},
        },
    )
    imported(path)
    (buffer,) = buffers(store)
    assert (buffer.command, buffer.cwd, buffer.session) == ("date", "/home/user", "claude-code-5e55")
    assert read(store, buffer) == b"today\n"
    assert abs(buffer.created - path.stat().st_mtime) < 1


def test_a_helper_has_a_session_of_its_own(store: Store, imported: Import, tmp_path: Path) -> None:
    main, helper = Claude(), Claude(agentId="a1", isSidechain=True)
    write_lines(tmp_path / "5e551011.jsonl", *main.ran(1, "by the agent\n"))
    write_lines(tmp_path / "5e551011/subagents/agent-a1.jsonl", *helper.ran(2, "by the helper\n"))
    imported(tmp_path)
    assert {buffer.session for buffer in buffers(store)} == {"claude-code-5e551011", "claude-code-5e551011-a1"}


@pytest.mark.parametrize(
    ("content", "lines", "total", "kept"),
    [("a\n", 2, 9, b"a\n\n"), ("a\nb", 2, 9, b"a\nb\n"), ("", 1, 9, b"\n"), ("a\n", 2, 2, b"a\n"), ("a", 1, 1, b"a")],
    ids=["an empty last line", "lines that go on", "one empty line", "the end of the file", "no newline at its end"],
)
def test_each_line_that_was_read_is_kept(
    store: Store, imported: Import, tmp_path: Path, content: str, lines: int, total: int, kept: bytes
) -> None:
    claude = Claude()
    file = {"filePath": "/a.txt", "content": content, "startLine": 1, "numLines": lines, "totalLines": total}
    shown = "\n".join(f"{at}→{line}" for at, line in enumerate(content.split("\n"), 1))
    use = claude.use(1, name="Read", input={"file_path": "/a.txt"})
    imported(write_lines(tmp_path / "s.jsonl", use, claude.result(1, shown, {"type": "text", "file": file})))
    (made,) = buffers(store)
    assert read(store, made) == kept


def test_a_read_without_numbers_of_lines_claims_none(store: Store, imported: Import, tmp_path: Path) -> None:
    claude, file = Claude(), {"filePath": "/a.txt", "content": "a\nb"}
    use = claude.use(1, name="Read", input={"file_path": "/a.txt"})
    imported(write_lines(tmp_path / "s.jsonl", use, claude.result(1, "1→a\n2→b", {"type": "text", "file": file})))
    (made,) = buffers(store)
    assert (made.partial, made.gaps, read(store, made)) == ("which lines were read is not told", (), b"a\nb")


def test_what_went_into_a_filter_was_not_seen(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    imported(write_lines(tmp_path / "s.jsonl", *claude.ran(1, "1\n"), *claude.ran(2, "2\n", "make 2>&1 | tail -2")))
    assert [one.note for one in buffers(store)] == ["merged", "merged; what went into tail was not seen"]


@pytest.mark.parametrize("order", [("main", "helper"), ("helper", "main"), ("main",), ("helper",)], ids=str)
def test_calls_of_a_helper_that_its_parent_tells_too_count_once(
    store: Store, imported: Import, tmp_path: Path, order: tuple[str, ...]
) -> None:
    main, helper = Claude(), Claude(agentId="a1", isSidechain=True)
    records = helper.ran(1, "found\n", "find .") + helper.ran(2, "one\ntwo\n", "cat notes")
    within = [{name: one[name] for name in ("type", "message", "uuid", "timestamp")} for one in records]
    told = [
        {"type": "progress", "uuid": f"p{at}", **main.common, "data": {"type": "agent_progress", **one}}
        for at, one in enumerate({"agentId": "a1", "message": message} for message in within)
    ]
    own = [{name: value for name, value in one.items() if name != "toolUseResult"} for one in records]
    files = {
        "main": write_lines(tmp_path / "s.jsonl", main.use("t", name="Task"), *told, main.result("t", "done")),
        "helper": write_lines(tmp_path / "s" / "subagents" / "agent-a1.jsonl", *own),
    }
    for name in order:
        imported(files[name])
    made = {(one.session, one.command): one.exit_code for one in buffers(store) if one.kind == "cmd"}
    helpers = "claude-code-5e551011-a1"
    assert made == {(helpers, "find ."): 0, (helpers, "cat notes"): 0}
    assert sorted(text for view, text in views(store) if view.session == helpers) == ["found", "one\ntwo"]


def test_helpers_whose_calls_have_equal_ids_are_told_apart(store: Store, imported: Import, tmp_path: Path) -> None:
    main, told = Claude(), []
    for agent in ("a1", "b2"):
        for at, one in enumerate(Claude().ran(1, f"{agent}\n", f"echo {agent}")):
            data = {"type": "agent_progress", "agentId": agent, "message": {**one, "uuid": f"{agent}-{at}"}}
            told.append({"type": "progress", "uuid": f"p-{agent}-{at}", **main.common, "data": data})
    lines = [main.use(1, name="Task"), *told[::2], *told[1::2], main.result(1, "done")]
    imported(write_lines(tmp_path / "s.jsonl", *lines))
    made = {(one.session, one.command): read(store, one) for one in buffers(store) if one.kind == "cmd"}
    assert made == {(f"claude-code-5e551011-{one}", f"echo {one}"): one.encode() + b"\n" for one in ("a1", "b2")}
    assert [one.command.split(" ")[0] for one in buffers(store) if one.kind != "cmd"] == ["Task"]


def test_several_results_on_one_line_are_several_calls(store: Store, imported: Import, tmp_path: Path) -> None:
    claude = Claude()
    both = claude.result(1, "one")
    both["message"]["content"] += claude.result(2, "two")["message"]["content"]
    imported(write_lines(tmp_path / "s.jsonl", claude.use(1, "echo one"), claude.use(2, "echo two"), both))
    assert [(buffer.command, read(store, buffer)) for buffer in buffers(store)] == [
        ("echo one", b"one"),
        ("echo two", b"two"),
    ]


@pytest.mark.parametrize(("asked", "is_cut"), [({"offset": 100, "limit": 3}, False), ({}, True)])
def test_lines_of_a_file_that_were_asked_for_are_no_cut_reply(
    store: Store, imported: Import, tmp_path: Path, asked: dict[str, int], is_cut: bool
) -> None:
    claude = Claude()
    path = {"file_path": "/home/user/a.py"}
    file = {"filePath": "/home/user/a.py", "content": "x\ny\nz", "numLines": 3, "startLine": 100, "totalLines": 500}
    use = claude.use(1, name="Read", input=path | asked)
    shown = "   100\u2192x\n   101\u2192y\n   102\u2192z"
    imported(write_lines(tmp_path / "s.jsonl", use, claude.result(1, shown, {"type": "text", "file": file})))
    assert [view.truncated for view, _ in views(store)] == [is_cut]
    verdict = verdict_of(store)
    assert (verdict.partial, verdict.at_most, verdict.share) == (0, False, 1.0)
