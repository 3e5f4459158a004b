"""The budget of a pack holds all that a tool sends: text, structured content, and what encloses them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from builders import age, make_tree
from mcp.types import Implementation
from mcp_clients import Agent, agent, spawned

import satchel
from satchel import tokenizers
from satchel.commands.tool_results import result_json
from satchel.rendering.packs import context
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Hint, Response
from satchel.serving.mcp.paging import MAX_RESULT_TOKENS
from satchel.serving.mcp.results import ToolCallResult, run_tool
from satchel.serving.mcp.tools import find_command, parse_tool_call

COUNT = tokenizers.get("o200k").count
PACKS = ("context_pack", "build_context_pack")
SOURCE = Path(satchel.__file__).parent
PARTS = ("packing", "retrieval")  # enough to fill the largest budget
QUESTION = "how is a budget enforced"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {
        path.relative_to(SOURCE).as_posix(): path.read_bytes()
        for part in PARTS
        for path in (SOURCE / part).rglob("*.py")
    }
    return age(make_tree(tmp_path_factory.mktemp("budget"), files))


@pytest.fixture(scope="module")
def connected(root: Path) -> Iterator[Agent]:
    with agent(spawned(root)) as found:
        yield found


def sent(found: Agent, name: str, /, **arguments: Any) -> tuple[Any, str]:
    """A result, and the whole of it as JSON."""
    result = found.run(lambda: found.client.call_tool(name, arguments))
    return result, result.model_dump_json(by_alias=True, exclude_none=True)


@pytest.mark.parametrize("name", PACKS)
@pytest.mark.parametrize("mode", ["facts", "minimal", "full"])
def test_the_whole_result_is_inside_the_budget(connected: Agent, name: str, mode: str) -> None:
    schemas = {tool.name: tool.output_schema for tool in connected.run(connected.client.list_tools).tools}
    for budget in (900, 2_000, 8_000, 16_000):
        result, text = sent(connected, name, query=QUESTION, budget_tokens=budget, response_mode=mode)
        assert not result.is_error and COUNT(text) <= budget
        jsonschema.validate(result.structured_content, schemas[name])
    assert context.read(result.content[0].text).citations


@pytest.mark.parametrize("mode", ["facts", "minimal", "full"])
def test_the_whole_result_of_grep_is_inside_the_budget(connected: Agent, mode: str) -> None:
    for budget in (900, 2_000, 8_000):
        result, text = sent(connected, "grep", pattern="self", budget_tokens=budget, response_mode=mode)
        assert not result.is_error and COUNT(text) <= budget
    assert mode == "full" or COUNT(text) > 0.75 * budget


@pytest.mark.parametrize("mode", ["facts", "full"])
def test_the_budget_that_an_error_of_grep_names_works(connected: Agent, mode: str) -> None:
    refused, _ = sent(connected, "grep", pattern="self", budget_tokens=20, response_mode=mode)
    least = refused.structured_content["error"]["details"]["min_tokens"]
    answered, text = sent(connected, "grep", pattern="self", budget_tokens=least, response_mode=mode)
    assert refused.is_error and not answered.is_error and COUNT(text) <= least


@pytest.mark.parametrize("name", PACKS)
def test_the_budget_is_used(connected: Agent, name: str) -> None:
    _, text = sent(connected, name, query=QUESTION, budget_tokens=3_000)
    assert COUNT(text) > 0.9 * 3_000


@pytest.mark.parametrize("name", PACKS)
def test_an_estimate_keeps_its_headroom_free(connected: Agent, name: str) -> None:
    for tokenizer, budget in (("claude", 3_000), ("chars4", 2_000), ("cl100k", 2_000)):
        counting = tokenizers.get(tokenizer)
        _, text = sent(connected, name, query=QUESTION, budget_tokens=budget, tokenizer=tokenizer)
        assert counting.count(text) <= budget * (1 - counting.headroom)


@pytest.mark.parametrize("name", PACKS)
def test_characters_hold_the_whole_result_too(connected: Agent, name: str) -> None:
    limits = {"max_chars": 9_000} if name == "context_pack" else {"max_chars": 9_000, "budget_tokens": 0}
    result, text = sent(connected, name, query=QUESTION, **limits)
    assert not result.is_error and len(text) <= 9_000


@pytest.mark.parametrize("name", PACKS)
@pytest.mark.parametrize("mode", ["facts", "full"])
def test_the_budget_that_an_error_names_works(connected: Agent, name: str, mode: str) -> None:
    for query in (QUESTION, "why does it fail " * 150):
        given = {"query": query, "response_mode": mode}
        result, _ = sent(connected, name, **given, budget_tokens=5)
        error = result.structured_content["error"]
        least = error["details"]["min_tokens"]
        assert error["code"] == "invalid_budget" and f"budget_tokens={least}" in result.content[0].text
        (following,) = error["next_actions"]
        assert not re.search("budget_counts|reserve_tokens", str(following))
        result, text = sent(connected, name, **following["args"])
        assert not result.is_error and COUNT(text) <= least


@pytest.mark.parametrize("name", PACKS)
def test_no_size_is_stated_of_what_is_not_sent(connected: Agent, name: str) -> None:
    result, _ = sent(connected, name, query=QUESTION)
    assert not re.search(r"'(used_\w+|token_budget_used)'", str(result.structured_content))


def test_a_client_that_gets_only_text_gets_a_budget_of_text(root: Path) -> None:
    with agent(spawned(root), client_info=Implementation(name="claude-code", version="2")) as found:
        for name in PACKS:
            result, _ = sent(found, name, query=QUESTION, budget_tokens=3_000)
            assert result.structured_content is None
            assert 0.9 * 3_000 < COUNT(result.content[0].text) <= 3_000


class WarningDispatcher(Dispatcher):
    """A dispatcher whose index is always being rebuilt by somebody else."""

    def answer(self, *arguments: Any) -> Response:
        warning = Hint("warn", "the index is older than the files: " + "it is being rebuilt, " * 40)
        return msgspec.structs.replace(super().answer(*arguments), hints=[warning])


@pytest.mark.parametrize("name", PACKS)
def test_a_warning_is_inside_the_budget(root: Path, tmp_path: Path, name: str) -> None:
    dispatcher = WarningDispatcher([root], index_dir=tmp_path)
    command = find_command(name)
    assert command is not None

    def ask(budget: int) -> ToolCallResult:
        tool_call = parse_tool_call(command, {"query": QUESTION, "budget_tokens": budget})
        return run_tool(dispatcher, tool_call, Call(seconds=60))

    result = ask(3_000)
    assert "it is being rebuilt" in result.text and not result.is_error
    assert COUNT(result_json(result.text, result.structured)) <= 3_000
    least = ask(5).structured["error"]["details"]["min_tokens"]
    result = ask(least)
    assert not result.is_error and COUNT(result_json(result.text, result.structured)) <= least
    dispatcher.close()


@pytest.mark.parametrize("name", ["symbols", "search", "map"])
def test_a_page_holds_its_structured_content(connected: Agent, name: str) -> None:
    arguments = {
        "symbols": {"name": "", "limit": 5_000},
        "search": {"query": "budget tokens pack index", "k": 100},
        "map": {"budget_tokens": 15_000},
    }
    result, text = sent(connected, name, **arguments[name])
    assert not result.is_error and COUNT(text) <= MAX_RESULT_TOKENS
