"""What does an agent receive, and what of it does a budget count?

The result of an agent tool is the text that an agent reads and structured content beside it, which holds the
facts of an answer: what the text does not say already. Which these are is read off the annotations of the
answer, so a new command needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import msgspec

from satchel.commands.command import OfWholeData, SaidInText, Verbatim
from satchel.commands.freshness import IndexStateItem
from satchel.packing.pack import Budget, Pack
from satchel.types import Counted
from satchel.visible_json import compact

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.pack_request import PackRequest

Response = TypeVar("Response", bound=msgspec.Struct)
Answer = TypeVar("Answer")
_HASH = "_hash"
_NOT_FACTS = (Verbatim, SaidInText, OfWholeData)


def facts(answer: Any) -> Any:
    """Return the answer without what the text for agents says already (lines of the repository, names, and
    hashes, which are long), without sizes of data that is not sent, and without the state of the index, which
    stands beside every answer."""
    return _pruned(answer, msgspec.to_builtins(answer))


def result_json(text: str, structured: Any = None) -> str:
    """Return a tool result as it is sent, without what the protocol writes around it."""
    content = {"content": [{"type": "text", "text": text}]}
    return compact(content if structured is None else {**content, "structuredContent": structured})


def counted_form(
    counts: Counted, respond: Callable[[Answer], msgspec.Struct], text_of: Callable[[Answer], str]
) -> Callable[[Answer], str]:
    """Return what writes the text that the budget of an answer counts: its data, the text that agents read,
    or a whole tool result."""
    if counts is Counted.TEXT:
        return text_of
    if counts is Counted.TEXT_AND_FACTS:
        return lambda answer: result_json(text_of(answer), {"data": facts(respond(answer))})
    if counts is Counted.TEXT_AND_DATA:
        return lambda answer: result_json(text_of(answer), {"data": respond(answer)})
    return lambda answer: compact(respond(answer))


def packed_response(
    engine: Engine,
    request: PackRequest,
    counts: Counted,
    respond: Callable[[Pack], Response],
    text_of: Callable[[Pack], str],
) -> Response:
    """Return the response to a request for a pack. Its budget counts what `counts` says; `respond` makes the
    data of a pack, `text_of` the text that agents read, which states no budget."""

    def text(pack: Pack) -> str:
        return text_of(msgspec.structs.replace(pack, budget=Budget(tokenizer=pack.budget.tokenizer)))

    pack = engine.make_pack(request, counted_form(counts, respond, text))
    if counts is Counted.TEXT_AND_DATA:  # then the data says how large it is itself
        pack = request.restated(pack, lambda pack: compact(respond(pack)))
    return respond(pack)


def _pruned(value: Any, told: Any) -> Any:
    if isinstance(value, msgspec.Struct) and isinstance(told, dict):
        left_out = not_facts(type(value))
        kept = {name: part for name, part in told.items() if name not in left_out}
        return {name: _pruned(getattr(value, name, None), part) for name, part in kept.items()}
    if isinstance(value, list | tuple) and isinstance(told, list):
        return [_pruned(item, part) for item, part in zip(value, told, strict=True)]
    if isinstance(value, dict) and isinstance(told, dict):
        return {name: _pruned(value.get(name), part) for name, part in told.items()}
    return told


@cache
def not_facts(kind: type[msgspec.Struct]) -> frozenset[str]:
    """Return the fields of a response that do not stand among its facts."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if _is_left_out(name, hint))


def _is_left_out(name: str, hint: Any) -> bool:
    parts = get_args(hint)
    return name.endswith(_HASH) or any(
        isinstance(part, _NOT_FACTS) or part is IndexStateItem for part in parts
    )
