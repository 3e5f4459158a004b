"""A tool call, answered: agent text and small structured content.

The text is what an agent reads: warnings first, then the answer, then how to get the rest. The structured
content has the shape of every other surface's envelope; what the text quotes is not in it twice.
"""

from __future__ import annotations

from typing import Any

import msgspec

from satchel.errors import SatchelError
from satchel.rendering.agent_text import render
from satchel.rendering.packs.quoting import quoted_line
from satchel.serving.agents.answer_parts import facts, ids_of, typed_data
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
from satchel.serving.desk import Desk
from satchel.serving.envelope import Hint, Response, failure
from satchel.types import ResponseMode


class Answer(msgspec.Struct, frozen=True):
    """What is sent back."""

    text: str
    structured: dict[str, Any]
    is_error: bool = False


def answer(desk: Desk, asked: Asked, call: Call) -> Answer:
    """One call, answered; whatever goes wrong is in the answer."""
    try:
        given = read_cursor(asked.cursor) if asked.cursor else None
        response = desk.answer(asked.request, call)
        if isinstance(response.error, dict):
            return told_failure(response)
        data = typed_data(asked.command, response)
        if given is not None:
            check_cursor(given, _cursor(asked, response, data, Place()))
        page = page_of(data, render, Place(given.item, given.character) if given else Place())
        following = write_cursor(_cursor(asked, response, data, page.following)) if page.following else ""
        return _told(asked.mode, response, page, following)
    except SatchelError as error:
        return told_failure(failure(error))


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
    return {"data": facts(data), **hints, "meta": {"index_state": meta["index_state"]}, **more}


def _notes(hints: list[Hint]) -> list[str]:
    return [f"{'warning' if hint.type == 'warn' else 'note'}: {quoted_line(hint.text)}" for hint in hints]


def _next_action(action: dict[str, Any]) -> str:
    arguments = ", ".join(f"{name}={value!r}" for name, value in action["args"].items())
    return f"next: {tool_name(action['tool'])}({quoted_line(arguments)}) — {quoted_line(action['reason'])}"
