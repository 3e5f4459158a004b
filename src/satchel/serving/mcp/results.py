"""Tool results: text for the agent to read, and small structured content.

The text has warnings first, then the answer, then how to get the rest. The structured content has the shape
of the envelope on every other surface; quoted text is not repeated in it.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from satchel import tokenizers
from satchel.commands.command import Command
from satchel.commands.tool_results import facts, result_json
from satchel.errors import InvalidBudget, SatchelError
from satchel.rendering.agent_text import render
from satchel.rendering.packs.quoting import quoted_line
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Call, Hint, Response, failure
from satchel.serving.mcp.paging import (
    Cursor,
    PageStart,
    ResultPage,
    answer_digest,
    check_cursor,
    decode_cursor,
    encode_cursor,
    make_cursor,
    query_digest,
    take_page,
)
from satchel.serving.mcp.tools import ToolCall, tool_name
from satchel.tokenizers import CharsPerToken
from satchel.types import ResponseMode

_MAX_ATTEMPTS = 8  # to stay inside a budget; one or two are usual
_PROTOCOL_TOKENS = 20  # that MCP writes around text and structured content
_ID_FIELDS = ("chunk_id", "snippet_id", "id")  # `get` finds an item by the first of these that it has


class ToolCallResult(msgspec.Struct, frozen=True):
    """The result of a tool call as it is sent to the client."""

    text: str
    structured: dict[str, Any]
    is_error: bool = False


def run_tool(dispatcher: Dispatcher, tool_call: ToolCall, call: Call) -> ToolCallResult:
    """Run a tool and return its result; errors are results too.

    A budget that an error recommends must hold, so it is tried before it is sent. Where it is short, the
    command is run again with that much less room, and recommends so much more.
    """
    try:
        result = _run_within(dispatcher, tool_call, call)
        shorter = tool_call
        for _ in range(_MAX_ATTEMPTS):
            recommended = _recommended_budget(result) if tool_call.counts_result else {}
            if not recommended:
                break
            tried = _run_within(dispatcher, tool_call.with_fields(**recommended), call)
            missing = _missing_tokens(recommended, tried)
            if not missing:
                break
            shorter = _with_less_room(shorter, missing)
            result = _run_once(dispatcher, shorter, call)
    except SatchelError as error:
        return error_result(failure(error))
    return result


def _run_within(dispatcher: Dispatcher, tool_call: ToolCall, call: Call) -> ToolCallResult:
    """Run the command and return a result within its budget. Warnings and other text around the answer can
    push a result over it. The command is then run again with that much less room."""
    step = before = 0
    for _ in range(_MAX_ATTEMPTS):
        result = _run_once(dispatcher, tool_call, call)
        excess = _excess_tokens(tool_call, result)
        if not excess:
            break
        # A little less room may hold the same items again: then twice as much is taken away.
        step, before = (2 * step if before and excess >= before else excess), excess
        tool_call = _with_less_room(tool_call, step)
    return result


def _with_less_room(tool_call: ToolCall, tokens: int) -> ToolCall:
    return tool_call.with_fields(reserve_tokens=tool_call.request.payload["reserve_tokens"] + tokens)


def _run_once(dispatcher: Dispatcher, tool_call: ToolCall, call: Call) -> ToolCallResult:
    """Run the command once and return one page of its answer."""
    given = decode_cursor(tool_call.cursor) if tool_call.cursor else None
    response = dispatcher.answer(tool_call.request, call)
    if isinstance(response.error, dict):
        return error_result(_without_budget_fields(tool_call, response))
    data = typed_data(tool_call.command, response)
    if given is not None:
        check_cursor(given, _cursor(tool_call, response, data, PageStart()))
    start = PageStart(given.item, given.character) if given else PageStart()

    def structured_content(part: Any) -> Any:
        return _structured(tool_call.mode, response, part, "") if tool_call.with_data else None

    page = take_page(data, render, start, structured_content)
    next_cursor = (
        encode_cursor(_cursor(tool_call, response, data, page.next_start)) if page.next_start else ""
    )
    return _page_result(tool_call.mode, response, page, next_cursor)


def _excess_tokens(tool_call: ToolCall, result: ToolCallResult) -> int:
    """Return by how many tokens a result exceeds the budget of the call; a page has a limit of its own."""
    payload = tool_call.request.payload
    if not tool_call.counts_result or result.is_error or "next_cursor" in result.structured:
        return 0
    sent = result_json(result.text, result.structured) if tool_call.with_data else result.text
    excess = 0
    if budget := payload.get("budget_tokens"):
        tokenizer = tokenizers.get(payload.get("tokenizer") or tokenizers.DEFAULT_BUDGET)
        room = budget - math.ceil(budget * tokenizer.headroom)
        excess = max(excess, tokenizer.count(sent) + _PROTOCOL_TOKENS - room)
    if max_chars := payload.get("max_chars"):
        excess_chars = len(sent) + _PROTOCOL_TOKENS * CharsPerToken.USUAL - max_chars
        excess = max(excess, -(-excess_chars // CharsPerToken.USUAL))
    return excess


def _recommended_budget(result: ToolCallResult) -> dict[str, int]:
    """Return the budget that an error recommends, as fields of a call; nothing for other results."""
    error = result.structured.get("error", {}) if result.is_error else {}
    if error.get("code") != InvalidBudget.code:
        return {}
    fields = {"min_tokens": "budget_tokens", "min_chars": "max_chars"}
    return {field: error["details"][name] for name, field in fields.items() if name in error["details"]}


def _missing_tokens(recommended: dict[str, int], tried: ToolCallResult) -> int:
    """Return by how many tokens a recommended budget is too small, as a call with it showed."""
    further = _recommended_budget(tried)
    missing = {name: value - recommended.get(name, 0) for name, value in further.items()}
    in_chars = -(-missing.get("max_chars", 0) // CharsPerToken.USUAL)
    return max(0, missing.get("budget_tokens", 0), in_chars)


def _without_budget_fields(tool_call: ToolCall, response: Response) -> Response:
    """Return an error whose next calls repeat what the caller gave, without the fields that we added."""
    assert isinstance(response.error, dict)
    if not tool_call.counts_result:
        return response
    added = ("budget_counts", "reserve_tokens")
    actions = [
        {**action, "args": {name: value for name, value in action["args"].items() if name not in added}}
        for action in response.error["next_actions"]
    ]
    return msgspec.structs.replace(response, error={**response.error, "next_actions": actions})


def error_result(response: Response) -> ToolCallResult:
    """Return an error as a tool result, so that the agent can read it and correct its call."""
    assert isinstance(response.error, dict)
    error = response.error
    rows = [*_hint_lines(response.hints), f"error {error['code']}: {quoted_line(error['message'])}"]
    rows += [f"hint: {quoted_line(error['hint'])}"] if error["hint"] else []
    rows += [_next_action_line(action) for action in error["next_actions"]]
    return ToolCallResult("\n".join(rows) + "\n", {"error": error}, is_error=True)


def typed_data(command: Command, response: Response) -> Any:
    """Return the data of a response as the command's type; a worker process hands it over as JSON."""
    data = response.data
    return msgspec.json.decode(data, type=command.response) if isinstance(data, msgspec.Raw) else data


def _cursor(tool_call: ToolCall, response: Response, data: Any, start: PageStart) -> Cursor:
    state = response.meta.index_state
    return make_cursor(
        response.meta.root_fingerprint,
        state.index.generation if state is not None else 0,
        query_digest(tool_call.command.name, tool_call.request.payload),
        answer_digest(render(data)),
        start,
    )


def _page_result(
    mode: ResponseMode, response: Response, page: ResultPage, next_cursor: str
) -> ToolCallResult:
    rows = [*_hint_lines(response.hints), *([f"note: {page.note}"] if page.note else [])]
    text = "\n".join([*rows, page.text]) if rows else page.text
    if next_cursor:
        text = f"{text.rstrip(chr(10))}\nmore: call again with cursor={next_cursor}\n"
    return ToolCallResult(text, _structured(mode, response, page.data, next_cursor))


def _structured(mode: ResponseMode, response: Response, data: Any, next_cursor: str) -> dict[str, Any]:
    """Return the structured content of a result, as much of it as the response mode asks for."""
    more = {"next_cursor": next_cursor} if next_cursor else {}
    if mode is ResponseMode.MINIMAL:
        return {"data": {"ids": _item_ids(data)}, **more}
    hints = {"hints": msgspec.to_builtins(response.hints)} if response.hints else {}
    meta = msgspec.to_builtins(response.meta)
    if mode is ResponseMode.FULL:
        return {"data": msgspec.to_builtins(data), **hints, "meta": meta, **more}
    return {"data": facts(data), **hints, "meta": {"index_state": _short_state(meta)}, **more}


def _item_ids(answer: Any) -> list[str]:
    """Return the ids of all items of an answer, in order."""
    if isinstance(answer, msgspec.Struct):
        own = next((name for name in _ID_FIELDS if name in answer.__struct_fields__), None)
        if own is not None:
            return [str(getattr(answer, own))]
        return [found for name in answer.__struct_fields__ for found in _item_ids(getattr(answer, name))]
    if isinstance(answer, list | tuple):
        return [found for item in answer for found in _item_ids(item)]
    return []


def _short_state(meta: dict[str, Any]) -> dict[str, Any] | None:
    """Return the index state without its watermarks, which are long and only useful for comparisons, and
    without where the index is and when it was written, which is of no use to an agent."""
    state = meta["index_state"]
    if state is None:
        return None
    index = {name: value for name, value in state["index"].items() if name in ("exists", "generation")}
    return {**{name: value for name, value in state.items() if name != "project_watermark"}, "index": index}


def _hint_lines(hints: list[Hint]) -> list[str]:
    return [f"{'warning' if hint.type == 'warn' else 'note'}: {quoted_line(hint.text)}" for hint in hints]


def _next_action_line(action: dict[str, Any]) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in action["args"].items())
    return f"next: {tool_name(action['tool'])}({quoted_line(arguments)}) — {quoted_line(action['reason'])}"
