"""A tool call, answered: agent text and small structured content.

The text is what an agent reads: warnings first, then the answer, then how to get the rest. The structured
content has the shape of every other surface's envelope; what the text quotes is not in it twice.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from satchel import tokenizers
from satchel.commands.tool_results import facts, result_json
from satchel.errors import InvalidBudget, SatchelError
from satchel.packing.budget import CHARS_PER_TOKEN
from satchel.rendering.agent_text import render
from satchel.rendering.packs.quoting import quoted_line
from satchel.serving.agents.answer_parts import ids_of, typed_data
from satchel.serving.agents.arguments import Asked, tool_name
from satchel.serving.agents.paging import (
    Cursor,
    Page,
    Place,
    answer_digest,
    check_cursor,
    new_cursor,
    page_of,
    question_digest,
    read_cursor,
    write_cursor,
)
from satchel.serving.call import Call
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.envelope import Hint, Response, failure
from satchel.types import ResponseMode

_TRIES = 4  # of answering inside a budget; one is usual
_ENCLOSING_TOKENS = 20  # what the protocol writes around text and structured content


class Answer(msgspec.Struct, frozen=True):
    """What is sent back."""

    text: str
    structured: dict[str, Any]
    is_error: bool = False


def answer(dispatcher: Dispatcher, asked: Asked, call: Call) -> Answer:
    """One call, answered; whatever goes wrong is in the answer. A result that is over its budget because of
    what stands around the answer (warnings above all) is asked for again with so much less room."""
    try:
        for _ in range(_TRIES):
            told = _answer(dispatcher, asked, call)
            over = _over(asked, told)
            if not over and asked.whole and (named := _named_budget(told)):
                with_it = asked.with_fields(**named)  # the budget that an error names is tried before
                over = _over(with_it, _answer(dispatcher, with_it, call))
            if not over:
                break
            asked = asked.with_fields(reserve_tokens=asked.request.payload["reserve_tokens"] + over)
    except SatchelError as error:
        return told_failure(failure(error))
    return told


def _answer(dispatcher: Dispatcher, asked: Asked, call: Call) -> Answer:
    given = read_cursor(asked.cursor) if asked.cursor else None
    response = dispatcher.answer(asked.request, call)
    if isinstance(response.error, dict):
        return told_failure(_without_our_fields(asked, response))
    data = typed_data(asked.command, response)
    if given is not None:
        check_cursor(given, _cursor(asked, response, data, Place()))
    start = Place(given.item, given.character) if given else Place()

    def beside(part: Any) -> Any:
        return _structured(asked.mode, response, part, "") if asked.with_data else None

    page = page_of(data, render, start, beside)
    following = write_cursor(_cursor(asked, response, data, page.following)) if page.following else ""
    return _told(asked.mode, response, page, following)


def _over(asked: Asked, told: Answer) -> int:
    """By how many tokens a result is over the budget that was asked for; a page has a limit of its own."""
    payload = asked.request.payload
    if not asked.whole or told.is_error or "next_cursor" in told.structured:
        return 0
    sent = result_json(told.text, told.structured) if asked.with_data else told.text
    over = 0
    if budget := payload.get("budget_tokens"):
        tokenizer = tokenizers.get(payload.get("tokenizer") or tokenizers.DEFAULT_BUDGET)
        room = budget - math.ceil(budget * tokenizer.headroom)
        over = max(over, tokenizer.count(sent) + _ENCLOSING_TOKENS - room)
    if chars := payload.get("max_chars"):
        over = max(over, -(-(len(sent) + _ENCLOSING_TOKENS * CHARS_PER_TOKEN - chars) // CHARS_PER_TOKEN))
    return over


def _named_budget(told: Answer) -> dict[str, int]:
    """The budget that an error says to give, as fields of the call."""
    error = told.structured.get("error", {}) if told.is_error else {}
    if error.get("code") != InvalidBudget.code:
        return {}
    fields = {"min_tokens": "budget_tokens", "min_chars": "max_chars"}
    return {field: error["details"][name] for name, field in fields.items() if name in error["details"]}


def _without_our_fields(asked: Asked, response: Response) -> Response:
    """An error whose next calls say only what the caller said, and not how we count it."""
    assert isinstance(response.error, dict)
    if not asked.whole:
        return response
    ours = ("budget_counts", "reserve_tokens")
    actions = [
        {**action, "args": {name: value for name, value in action["args"].items() if name not in ours}}
        for action in response.error["next_actions"]
    ]
    return msgspec.structs.replace(response, error={**response.error, "next_actions": actions})


def told_failure(response: Response) -> Answer:
    """An error as a result: the agent can read it and do better."""
    assert isinstance(response.error, dict)
    error = response.error
    rows = [*_notes(response.hints), f"error {error['code']}: {quoted_line(error['message'])}"]
    rows += [f"hint: {quoted_line(error['hint'])}"] if error["hint"] else []
    rows += [_next_action(action) for action in error["next_actions"]]
    return Answer("\n".join(rows) + "\n", {"error": error}, is_error=True)


def _cursor(asked: Asked, response: Response, data: Any, place: Place) -> Cursor:
    state = response.meta.index_state
    return new_cursor(
        response.meta.root_fingerprint,
        state.index.generation if state is not None else 0,
        question_digest(asked.command.name, asked.request.payload),
        answer_digest(render(data)),
        place,
    )


def _told(mode: ResponseMode, response: Response, page: Page, cursor: str) -> Answer:
    rows = [*_notes(response.hints), *([f"note: {page.note}"] if page.note else [])]
    text = "\n".join([*rows, page.text]) if rows else page.text
    if cursor:
        text = f"{text.rstrip(chr(10))}\nmore: call again with cursor={cursor}\n"
    return Answer(text, _structured(mode, response, page.data, cursor))


def _structured(mode: ResponseMode, response: Response, data: Any, cursor: str) -> dict[str, Any]:
    more = {"next_cursor": cursor} if cursor else {}
    if mode is ResponseMode.MINIMAL:
        return {"data": {"ids": ids_of(data)}, **more}
    hints = {"hints": msgspec.to_builtins(response.hints)} if response.hints else {}
    meta = msgspec.to_builtins(response.meta)
    if mode is ResponseMode.FULL:
        return {"data": msgspec.to_builtins(data), **hints, "meta": meta, **more}
    return {"data": facts(data), **hints, "meta": {"index_state": _short_state(meta)}, **more}


def _short_state(meta: dict[str, Any]) -> dict[str, Any] | None:
    """The state of the index without its watermarks, which are long: of use to who compares two of them."""
    state = meta["index_state"]
    if state is None:
        return None
    index = {name: value for name, value in state["index"].items() if name != "watermark"}
    return {**{name: value for name, value in state.items() if name != "project_watermark"}, "index": index}


def _notes(hints: list[Hint]) -> list[str]:
    return [f"{'warning' if hint.type == 'warn' else 'note'}: {quoted_line(hint.text)}" for hint in hints]


def _next_action(action: dict[str, Any]) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in action["args"].items())
    return f"next: {tool_name(action['tool'])}({quoted_line(arguments)}) — {quoted_line(action['reason'])}"
