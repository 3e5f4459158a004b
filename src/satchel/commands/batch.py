"""`batch`: several actions in order, one budget over all of them, later ones built on earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from satchel import plugins
from satchel.commands.command import Command
from satchel.commands.json_refs import resolve
from satchel.commands.retrying import with_retry
from satchel.errors import InvalidBudget, InvalidRequest, SatchelError

if TYPE_CHECKING:
    from satchel.commands.session import Session

VERSION = 1
MOST_ITEMS = 64
DEFAULT_CHARS, MOST_CHARS = 20_000, 500_000
_BUDGETS = frozenset({"max_chars", "budget_tokens"})
_TRIES = 3  # of making a pack shorter; one is usual
_MANY_DIGITS = 999_999_999  # stands for any number of characters where its digits are counted


class BatchItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action with a name. Anywhere in its payload `{"$ref": "#/items/<id>/data/…"}` takes a value from the
    answer to an earlier item; beside it, `$default` stands in where there is none."""

    id: str
    action: str
    payload: dict[str, Any] = msgspec.field(default_factory=dict)


class BatchRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    items: Annotated[
        tuple[BatchItem, ...], Meta(description='the actions: [{"id": …, "action": …, "payload": {…}}]')
    ]
    max_chars: Annotated[int, Meta(description="characters the whole answer may take (1 to 500000)")] = (
        DEFAULT_CHARS
    )
    stop_on_error: Annotated[bool, Meta(description="end at the first item that fails")] = False


class BatchAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an item gave: its data, or its error."""

    id: str
    status: str
    message: str = ""
    error: dict[str, Any] | UnsetType = UNSET
    hints: list[dict[str, str]] = msgspec.field(default_factory=list)
    data: Any
    meta: dict[str, Any]


class BatchBudget(msgspec.Struct, frozen=True):
    """`used_chars` is the length of the whole answer as compact JSON."""

    max_chars: int
    used_chars: int
    truncated: bool


class BatchResponse(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    items: list[BatchAnswer]
    budget: BatchBudget
    next_actions: list[dict[str, Any]]


def run(session: Session, request: BatchRequest) -> BatchResponse:
    """Run several actions in one call, in order, inside one budget of characters.

    An item that fails does not stop the others unless that is asked for. A pack without a budget of its own
    gets what is left; an answer that does not fit is replaced by an error that names what it would take.
    """
    _check(request.items, request.max_chars)
    run = _Run(request.max_chars, [item.id.strip() for item in request.items])
    for place, item in enumerate(request.items):
        failed = not run.add(_answer(session, item, run, place), place)
        if failed and request.stop_on_error:
            break
    return run.response()


def _answer(session: Session, item: BatchItem, run: _Run, place: int) -> BatchAnswer:
    name = item.id.strip()
    told = len(session.warnings)
    payload: dict[str, Any] = {}
    try:
        payload = _payload(item, run.data)
        data = _data(session, item.action, payload, run.left(place))
    except SatchelError as error:
        project = {"project": session.project} if session.project else {}
        return _failed(name, with_retry(error, item.action, {**payload, **project}))
    hints = [{"type": "warn", "text": text} for text in session.warnings[told:]]
    return BatchAnswer(id=name, status="ok", hints=hints, data=data, meta={})


def _data(session: Session, action: str, payload: dict[str, Any], left: int) -> Any:
    """What an action gives. A pack that names no budget gets what is left; where its budget counts a text
    that grows when it is written as JSON, it is asked again for as much less as it was too long."""
    command: Command = plugins.load("command", action)
    shared = "max_chars" in command.request.__struct_fields__ and not payload.keys() & _BUDGETS
    if shared:
        payload["max_chars"] = max(left, 1)
    data = msgspec.to_builtins(session.call(action, payload), enc_hook=str)
    for _ in range(_TRIES if shared and not command.counted else 0):
        over = len(msgspec.json.encode(data).decode()) - left
        if over <= 0:
            break
        payload["max_chars"] = max(data["used_chars"] - over, 1)
        data = msgspec.to_builtins(session.call(action, payload), enc_hook=str)
    return data


def _failed(name: str, error: SatchelError) -> BatchAnswer:
    return BatchAnswer(
        id=name, status="error", message=error.message, error=error.as_dict(), data=None, meta={}
    )


class _Run:
    """The answers so far, and the room for those to come: each has at least its error."""

    def __init__(self, max_chars: int, names: Sequence[str]) -> None:
        self.data: dict[str, Any] = {}  # of those that succeeded, for references
        self._max_chars = max_chars
        self._names = names
        self._answers: list[BatchAnswer] = []
        self._truncated = False
        least = _length(_response([self._too_long(place, _MANY_DIGITS) for place in range(len(names))]))
        if least > max_chars:
            raise InvalidBudget(
                f"max_chars is {max_chars}, a batch of {len(names)} items takes at least {least}",
                hint=f"give max_chars {least} or more",
                details={"min_chars": least},
            )

    def left(self, place: int) -> int:
        """Characters that the data of the item at this place may have."""
        empty = BatchAnswer(id=self._names[place], status="ok", data=None, meta={})
        return self._max_chars - self._with(empty, place) + len("null")

    def add(self, answer: BatchAnswer, place: int) -> bool:
        """Take an answer in; one that does not fit is replaced."""
        size = self._with(answer, place)
        if size > self._max_chars and answer.error:  # why it failed is said before what to do about it
            bare = {**answer.error, "next_actions": []}
            size = self._with(answer := msgspec.structs.replace(answer, error=bare), place)
        if size > self._max_chars:
            self._truncated = True
            answer = self._too_long(place, size)
        elif answer.status == "ok":
            self.data[answer.id] = answer.data
        self._answers.append(answer)
        return answer.status == "ok"

    def response(self) -> BatchResponse:
        """The answer, with its own length in it."""
        response = _response(self._answers, self._max_chars, self._truncated)
        while (used := _length(response)) != response.budget.used_chars:
            budget = msgspec.structs.replace(response.budget, used_chars=used)
            response = msgspec.structs.replace(response, budget=budget)
        return response

    def _with(self, answer: BatchAnswer, place: int) -> int:
        """The length of the whole if this answer is in it and all that follow are errors."""
        rest = [self._too_long(later, _MANY_DIGITS) for later in range(place + 1, len(self._names))]
        return _length(_response([*self._answers, answer, *rest]))

    def _too_long(self, place: int, size: int) -> BatchAnswer:
        return _failed(
            self._names[place],
            InvalidBudget(
                f"this answer does not fit: with it the batch has {size} characters",
                hint="give the batch a larger max_chars, or ask for less",
                details={"min_chars": size},
            ),
        )


def _response(
    answers: list[BatchAnswer], max_chars: int = MOST_CHARS, truncated: bool = False
) -> BatchResponse:
    actions = [action for answer in answers if answer.error for action in answer.error["next_actions"]]
    return BatchResponse(
        version=VERSION,
        items=answers,
        budget=BatchBudget(max_chars, _MANY_DIGITS, truncated),
        next_actions=actions,
    )


def _length(response: BatchResponse) -> int:
    return len(msgspec.json.encode(response).decode())


def _check(items: Sequence[BatchItem], max_chars: int) -> None:
    if max_chars > MOST_CHARS:  # too little is said by who knows what the items take at least
        raise InvalidBudget(
            f"max_chars is {max_chars}, it must be from 1 to {MOST_CHARS}", details={"max_chars": MOST_CHARS}
        )
    if not 1 <= len(items) <= MOST_ITEMS:
        raise InvalidRequest(f"a batch has {len(items)} items, it must be from 1 to {MOST_ITEMS}")
    names = [item.id.strip() for item in items]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not all(names):
        raise InvalidRequest(
            f"the id {twice[0]!r} stands twice" if twice else "an item has no id",
            hint="every item has an id of its own",
        )


def _payload(item: BatchItem, answers: Mapping[str, Any]) -> dict[str, Any]:
    """What an item hands to its action: its references resolved, and an object also where it was one whole
    reference."""
    command: Command = plugins.load("command", item.action)
    if command.composes:
        raise InvalidRequest(f"{item.action} cannot stand inside a batch", hint="put its items into this one")
    payload = resolve(item.payload, answers)
    if not isinstance(payload, dict):
        raise InvalidRequest(
            "the payload is no object", hint="refer to an object, or to its fields one by one"
        )
    payload.pop("project", None)  # all items have that of the batch: whoever opened it made sure
    return payload


COMMAND = Command("batch", BatchRequest, BatchResponse, run, fresh=False, counted=True, composes=True)
