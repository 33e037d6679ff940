"""The page for those who build agents in Python: what it shows runs as it is, against scripted models."""

import asyncio
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the tests lie outside a checkout")

BUILD = "seq 1 9000; echo 'src/a.c:12: error: no luck'; exit 3"
CALLS = [("run_command", {"command": BUILD}), ("query", {"pipeline": "grep -c error @last"})]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "root"))
    monkeypatch.setenv("SIGHTLINE_SESSION", tmp_path.name)
    monkeypatch.chdir(tmp_path)


def run(heading: str) -> dict[str, Any]:
    """The names that the examples under a heading leave; of the first part where it is empty."""
    parts = re.split(r"^## (.*)$", PAGE.read_text(), flags=re.MULTILINE)
    text = dict(zip(["", *parts[1::2]], parts[::2], strict=True))[heading]
    names: dict[str, Any] = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)  # without our own `from __future__`
    return names


def check(replies: list[str]) -> None:
    view, count = replies
    assert view.startswith("[output_id=@cmd_")
    assert "no luck" in view
    assert count == "1\n"


def test_the_first_examples_hold(capsys: pytest.CaptureFixture[str]) -> None:
    run("")
    assert "no luck" in capsys.readouterr().out


def test_a_plain_loop_answers_a_model() -> None:
    calls = iter(CALLS)
    check(run("A plain loop")["solve"](lambda said: next(calls, None), "why?")[1:])


def test_pydantic_ai_answers_a_model() -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    read: list[str] = []

    def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        read.extend(part.content for part in messages[-1].parts if part.part_kind == "tool-return")
        said = sum(message.kind == "response" for message in messages)
        return ModelResponse(parts=[ToolCallPart(*CALLS[said])] if said < len(CALLS) else [TextPart("no luck")])

    agent = run("Pydantic AI")["agent"]
    with agent.override(model=FunctionModel(script)):
        assert asyncio.run(agent.run("why?")).output == "no luck"  # run_sync leaves its event loop open
    check(read)


def test_langchain_answers_a_model() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, on newer Pythons
        pytest.importorskip("langchain_core")
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage, ToolMessage

        answers = [
            AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": str(number)}])
            for number, (name, arguments) in enumerate(CALLS)
        ]
        model = GenericFakeChatModel(messages=iter([*answers, AIMessage("no luck")]))
        told, messages = run("LangChain")["solve"](model, "why?")
    assert told == "no luck"
    check([message.content for message in messages if isinstance(message, ToolMessage)])
