"""`batch`: several actions in order, one budget over all of them, later ones built on earlier ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from satchel import plugins
from satchel.commands.command import Command, Group
from satchel.commands.freshness import short_state
from satchel.commands.payloads import resolve
from satchel.errors import Cancelled, InvalidBudget, InvalidRequest, SatchelError, Timeout
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel.commands.session import Session

VERSION = 1
MOST_ITEMS = 64
DEFAULT_CHARS, MOST_CHARS = 20_000, 500_000
_BUDGETS = frozenset({"max_chars", "budget_tokens"})
_PACK, _OTHER = 4, 1  # shares of the room: a pack fills what it gets, others take what they take
_RETRY_SHARE = 10  # packs leave room for the call that has more of it, up to a tenth of all
_TEXT_AS_JSON = 3  # times as long is a pack in text, with its envelope and every line end escaped, at most
_TRIES = 3  # of making a pack shorter; one is usual
_NO_STATE: dict[str, Any] = {"index_state": None}  # of an item that has no room for more
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
    gets what is left, shared with those that follow; an answer that does not fit is replaced by an error that
    names what the batch would take.
    """
    _check(request.items, request.max_chars)
    arguments = msgspec.to_builtins(request) | ({"project": session.project} if session.project else {})
    run = _Run(request.max_chars, request.items, arguments)
    for place, item in enumerate(request.items):
        failed = not run.add(_answer(session, item, run, place), place)
        if failed and request.stop_on_error:
            break
    return run.response(msgspec.to_builtins(short_state(session.state())))


def _answer(session: Session, item: BatchItem, run: _Run, place: int) -> BatchAnswer:
    name = item.id.strip()
    told = len(session.warnings)
    try:
        data = _data(session, item.action, _payload(item, run.data), run, place)
    except (Cancelled, Timeout):  # of the whole batch: nobody waits for the other items
        raise
    except SatchelError as error:
        return _failed(name, error)
    hints = [{"type": "warn", "text": text} for text in session.warnings[told:]]
    return BatchAnswer(id=name, status="ok", hints=hints, data=data, meta=_NO_STATE)


def _data(session: Session, action: str, payload: dict[str, Any], run: _Run, place: int) -> Any:
    """Return the data of an action. A pack that names no budget gets its share of what is left. Where its
    budget counts a text that grows when it is written as JSON, the pack is asked for again, shorter by as
    much as it was too long."""
    if not _shares(action, payload):
        return msgspec.to_builtins(session.call(action, payload), enc_hook=str)
    command: Command = plugins.load("command", action)
    share = run.share(place)
    data = _pack(session, command, payload, run, place)
    for _ in range(0 if command.counted else _TRIES):
        over = len(compact(data)) - max(share, payload["max_chars"])
        if over <= 0:
            break
        payload["max_chars"] = max(data["used_chars"] - over, 1)
        data = msgspec.to_builtins(session.call(action, payload), enc_hook=str)
    return data


def _pack(session: Session, command: Command, payload: dict[str, Any], run: _Run, place: int) -> Any:
    """Return a pack in its share of the room, or in the least that it takes, if there is as much."""
    payload["max_chars"] = max(run.share(place), 1)
    try:
        return msgspec.to_builtins(session.call(command.name, payload), enc_hook=str)
    except InvalidBudget as error:
        least = error.details.get("min_chars", 0) * (1 if command.counted else _TEXT_AS_JSON)
        if least:
            run.needs[place] = least
        if not payload["max_chars"] < least <= run.left(place):
            raise
        payload["max_chars"] = least
        return msgspec.to_builtins(session.call(command.name, payload), enc_hook=str)


def _shares(action: str, payload: Mapping[str, Any]) -> bool:
    """Return whether this is a pack without a budget of its own."""
    command = plugins.find("command", action)
    return (
        command is not None
        and "max_chars" in command.request.__struct_fields__
        and not command.composes
        and not payload.keys() & _BUDGETS
    )


def _failed(name: str, error: SatchelError) -> BatchAnswer:
    return BatchAnswer(
        id=name, status="error", message=error.message, error=error.as_dict(), data=None, meta=_NO_STATE
    )


class _Run:
    """The answers so far, and the room that is left for those to come, which is at least that of an error."""

    def __init__(self, max_chars: int, items: Sequence[BatchItem], arguments: dict[str, Any]) -> None:
        self.data: dict[str, Any] = {}  # of those that succeeded, for references
        self.needs: dict[int, int] = {}  # by place, the characters of data that an item had no room for
        self._max_chars = max_chars
        self._names = [item.id.strip() for item in items]
        self._packs = [_shares(item.action, item.payload) for item in items]
        self._arguments = arguments
        self._retry_size = _size(self._retry(_MANY_DIGITS))
        self._answers: list[BatchAnswer] = []
        least = _length(_response([self._too_long(place, _MANY_DIGITS) for place in range(len(items))]))
        if least > max_chars:
            raise InvalidBudget(
                f"max_chars is {max_chars}, a batch of {len(items)} items takes at least {least}",
                hint=f"give max_chars {least} or more",
                details={"min_chars": least},
            )

    def left(self, place: int) -> int:
        """Return how many characters the data of the item at this place may have."""
        empty = BatchAnswer(id=self._names[place], status="ok", data=None, meta=_NO_STATE)
        return self._max_chars - self._with(empty, place) + len("null")

    def share(self, place: int) -> int:
        """Return how many of these a pack may take, so that the items after it find room too."""
        kept = self._retry_size if self._retry_size * _RETRY_SHARE <= self._max_chars else 0
        return (self.left(place) - kept) * _PACK // self._weight(place)

    def add(self, answer: BatchAnswer, place: int) -> bool:
        """Add an answer, or an error if it does not fit; return whether the item succeeded."""
        starved = bool(answer.error) and place in self.needs
        size = self._with(answer, place)
        if size > self._max_chars and answer.error:  # why it failed is said before what to do about it
            bare = {**answer.error, "next_actions": []}
            size = self._with(answer := msgspec.structs.replace(answer, error=bare), place)
        if size > self._max_chars or starved:
            if not starved:
                self.needs[place] = size - self._max_chars + self.left(place)
            answer = self._too_long(place, _MANY_DIGITS)
        elif answer.status == "ok":
            self.data[answer.id] = answer.data
        self._answers.append(answer)
        return answer.status == "ok"

    def response(self, state: dict[str, Any]) -> BatchResponse:
        """Return the whole answer, which states its own length; where an item had no room, with the call that
        has it. Each item tells the state of the index as far as there is room for that."""
        starved = [place for place, answer in enumerate(self._answers) if self._is_starved(place, answer)]
        response = _response(self._answers, self._max_chars, bool(starved))
        if starved:
            least = self._least()
            for place in starved:
                self._answers[place] = self._too_long(place, least)
            response = _response(self._answers, self._max_chars, True)
            actions = [*response.next_actions, self._retry(least)]
            longer = msgspec.structs.replace(response, next_actions=actions)
            response = longer if _length(longer) <= self._max_chars else response
        response = self._with_state(response, state)
        while (used := _length(response)) != response.budget.used_chars:
            budget = msgspec.structs.replace(response.budget, used_chars=used)
            response = msgspec.structs.replace(response, budget=budget)
        return response

    def _with_state(self, response: BatchResponse, state: dict[str, Any]) -> BatchResponse:
        """Return the answer with its state, which takes no room from data: the first items have it, until the
        batch is full."""
        more = _size(state) - len("null")
        count = max(self._max_chars - _length(response), 0) // more
        items = [
            msgspec.structs.replace(item, meta={"index_state": state}) if place < count else item
            for place, item in enumerate(response.items)
        ]
        return msgspec.structs.replace(response, items=items)

    def _retry(self, least: int) -> dict[str, Any]:
        arguments = {**self._arguments, "max_chars": least}
        return {"tool": "batch", "args": arguments, "reason": f"max_chars {least} can be used"}

    def _is_starved(self, place: int, answer: BatchAnswer) -> bool:
        return place in self.needs and answer.status == "error"

    def _least(self) -> int:
        """Return the smallest max_chars that is sure to hold every item that had no room. Packs fill whatever
        they get: of each character more, `passed` reaches the next item, less what is `taken` before it."""
        least, passed = 0, 1.0
        taken: float = _length(_response(self._errors())) + self._retry_size
        for place, answer in enumerate(self._answers):
            weight, need = self._weight(place), self.needs.get(place, 0)
            if self._packs[place]:
                wanted, rest = need * weight / _PACK + 1, 1 - _PACK / weight
            else:
                taken += max(need, 0 if answer.error else _size([answer.data, answer.hints]))
                wanted, rest = 0, 1
            if need:
                least = max(least, math.ceil((wanted + taken) / passed))
            passed, taken = passed * rest, taken * rest
        return min(least, MOST_CHARS)

    def _weight(self, place: int) -> int:
        return sum(_PACK if pack else _OTHER for pack in self._packs[place:])

    def _errors(self) -> list[BatchAnswer]:
        return [self._too_long(place, _MANY_DIGITS) for place in range(len(self._names))]

    def _with(self, answer: BatchAnswer, place: int) -> int:
        """Return the length of the whole if this answer is in it and all that follow are errors."""
        return _length(_response([*self._answers, answer, *self._errors()[place + 1 :]]))

    def _too_long(self, place: int, least: int) -> BatchAnswer:
        return _failed(
            self._names[place],
            InvalidBudget(
                f"this answer does not fit: the batch takes max_chars {least}",
                hint="give the batch a larger max_chars, or ask for less",
                details={"min_chars": least},
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
    return _size(response)


def _size(value: Any) -> int:
    return len(compact(value))


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
    """Return the payload of an item with its references resolved; also a payload that was one whole reference
    is an object."""
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


COMMAND = Command(
    "batch",
    BatchRequest,
    BatchResponse,
    run,
    fresh=False,
    counted=True,
    takes_session=True,
    composes=True,
    group=Group.SERVE,
)
