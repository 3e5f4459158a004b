"""A call of the Command API: what its request and its answer look like on every surface, what ends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from satchel.cancellation import CancelToken
from satchel.commands.command import Command
from satchel.commands.freshness import IndexStateItem
from satchel.commands.payloads import check_depth, too_deep
from satchel.commands.session import CallOptions
from satchel.errors import InvalidRequest, SatchelError
from satchel.library.grants import OPERATOR, Caller
from satchel.types import ResponseMode
from satchel.visible_json import compact_bytes

Progress = Callable[[int, int], None]


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a single call may set. It can leave more out; what is indexed it cannot change."""

    profile: str = ""
    ignore: tuple[str, ...] = ()


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call. `payload` holds the fields of the action's request, and `project`: which segment is meant."""

    action: str
    payload: dict[str, Any] = msgspec.field(default_factory=dict)
    options: CallOptions | None = None
    config: Config | None = None

    def __post_init__(self) -> None:
        check_depth(self.payload)


class Hint(msgspec.Struct, frozen=True):
    """Something to know about an answer: info, cache, action, warn or deprecation."""

    type: str
    text: str


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from call to call; `index_state` is null where there is no root, or none was asked for."""

    index_state: IndexStateItem | None = None
    duration_ms: int = 0
    root_fingerprint: str = ""


class Response(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer: `data` as the action's response schema says; `error` is there if the status is error."""

    status: str
    message: str = ""
    error: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    hints: list[Hint]
    next_actions: list[dict[str, Any]]
    data: Any
    meta: Meta


def decode(data: bytes | str) -> Request:
    """Parse a request; raise InvalidRequest that says what is wrong with it."""
    try:
        return msgspec.json.decode(data, type=Request)
    except RecursionError:
        raise too_deep() from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise not_a_request(error) from None


def not_a_request(error: Exception) -> InvalidRequest:
    """Return the error for what cannot be read as a request."""
    return InvalidRequest(
        f"this is no request: {error}",
        hint='a request is {"action": "search", "payload": {"query": "…"}, "options": {}, "config": {}}',
    )


def encode(response: Response) -> bytes:
    """Return the envelope as JSON, in one spelling."""
    return compact_bytes(response)


def failure(error: SatchelError, meta: Meta | None = None, hints: list[Hint] | None = None) -> Response:
    """Return the envelope of an error."""
    return Response(
        status="error",
        message=error.message,
        error=error.as_dict(),
        hints=hints or [],
        next_actions=error.next_actions,
        data=None,
        meta=meta or Meta(),
    )


def without_places(text: str, places: Mapping[str, str]) -> str:
    """Return a text with the names of some places of this machine instead of their paths."""
    for place in sorted(places, key=len, reverse=True):
        for spelled in (place, repr(place)[1:-1]):
            text = text.replace(spelled, places[place])
    return text


def take_mode(command: Command, payload: dict[str, Any]) -> ResponseMode:
    """Take the response mode out of a payload and return it; a command that has one of its own keeps it."""
    has_own = "response_mode" in command.request.__struct_fields__
    given = payload.get("response_mode") if has_own else payload.pop("response_mode", None)
    try:
        return ResponseMode(given) if given is not None else ResponseMode.FACTS
    except ValueError:
        raise InvalidRequest(
            f"response_mode is {given!r}", hint=f"use {', '.join(mode.value for mode in ResponseMode)}"
        ) from None


class Call:
    """One call of one caller: who that is, the token that ends the work, and the function that hears of its
    progress."""

    def __init__(
        self,
        *,
        seconds: float | None = None,
        progress: Progress | None = None,
        caller: Caller = OPERATOR,
    ) -> None:
        self.caller = caller
        self.token = CancelToken(seconds=seconds)
        self.progress: Progress = progress or (lambda done, total: None)
