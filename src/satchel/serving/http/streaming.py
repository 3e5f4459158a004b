"""Answers that tell their progress first: one JSON object a line, or server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from enum import StrEnum

import msgspec

from satchel.serving.http.calls import Answer, Progress


class Form(StrEnum):
    """How a stream is written; the value is its content type."""

    LINES = "application/x-ndjson"
    EVENTS = "text/event-stream"


def wanted(accept: str) -> Form | None:
    """The stream that an Accept header asks for, if it asks for one."""
    kinds = {kind.partition(";")[0].strip().lower() for kind in accept.split(",")}
    return next((form for form in Form if form in kinds), None)


async def stream(
    form: Form, steps: AsyncGenerator[Progress | Answer, None], done: Callable[[Answer], None]
) -> AsyncIterator[bytes]:
    """`{"progress": {"done", "total"}}` as often as there is news, then `{"response": <envelope>}`."""
    async with aclosing(steps):  # a caller who leaves ends the call
        async for step in steps:
            if isinstance(step, Answer):
                done(step)
                yield _part(form, b"response", step.body)
            else:
                yield _part(form, b"progress", msgspec.json.encode(step._asdict()))


def _part(form: Form, name: bytes, value: bytes) -> bytes:
    line = b'{"%s":%s}' % (name, value)
    return line + b"\n" if form is Form.LINES else b"event: %s\ndata: %s\n\n" % (name, line)
