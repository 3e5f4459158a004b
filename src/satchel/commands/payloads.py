"""What may the payload of a request hold? Values that are not nested too deep, and in a batch references.

`{"$ref": "#/items/<id>/data/…", "$default": …}` takes a value from the answer to an earlier item of a batch.
What a reference brings is data and is never resolved again: text of a repository cannot make references.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from satchel.errors import InvalidRequest

MOST_DEPTH = 100  # no request has more than ten levels; Python itself ends at a thousand
_KEYS = ({"$ref"}, {"$ref", "$default"})
_START = "#/items/"


def check_depth(value: Any) -> None:
    """Raise an error for a value of lists and objects that are nested too deep."""
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise too_deep()


def too_deep() -> InvalidRequest:
    """Return the error of a request that is nested too deep."""
    return InvalidRequest(
        f"the request is nested more than {MOST_DEPTH} deep",
        hint="payloads are lists and objects of a few levels",
        details={"max_depth": MOST_DEPTH},
    )


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def resolve(value: Any, answers: Mapping[str, Any]) -> Any:
    """Return the value with its references replaced. `answers` holds the data of the items that succeeded, by
    id. What is taken from there is copied, so that a change of the payload changes no answer."""
    if isinstance(value, list):
        return [resolve(item, answers) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) in _KEYS:
        return _value(value, answers)
    return {key: resolve(item, answers) for key, item in value.items()}


def _value(reference: dict[str, Any], answers: Mapping[str, Any]) -> Any:
    try:
        return deepcopy(_look_up(reference["$ref"], answers))
    except LookupError as error:
        if "$default" in reference:
            return deepcopy(reference["$default"])
        raise InvalidRequest(
            f"$ref {reference['$ref']!r}: {error.args[0]}",
            hint="refer to an earlier item that succeeds, or give a $default",
            details={"ref": reference["$ref"]},
        ) from None


def _look_up(pointer: Any, answers: Mapping[str, Any]) -> Any:
    if not isinstance(pointer, str) or not pointer.startswith(_START):
        raise InvalidRequest(
            f"$ref is {pointer!r}", hint="a $ref has the form #/items/<id>/data/…", details={"ref": pointer}
        )
    item, *steps = (_unescaped(step) for step in pointer.removeprefix(_START).split("/"))
    if not steps or steps[0] != "data":
        raise InvalidRequest(f"$ref is {pointer!r}", hint="a $ref has the form #/items/<id>/data/…")
    if item not in answers:
        raise LookupError(f"no earlier item {item!r} succeeded")
    found = answers[item]
    for step in steps[1:]:
        found = _step(found, step)
    return found


def _step(value: Any, step: str) -> Any:
    if isinstance(value, dict) and step in value:
        return value[step]
    is_place = step.isascii() and step.isdecimal() and (step == "0" or step[0] != "0")
    if isinstance(value, list) and is_place and int(step) < len(value):
        return value[int(step)]
    raise LookupError(f"there is no {step!r}")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
