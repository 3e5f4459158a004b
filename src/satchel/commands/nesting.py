"""How deep may the values of a request be nested? What is copied, resolved and encoded here calls itself."""

from __future__ import annotations

from typing import Any

from satchel.errors import InvalidRequest

MOST_DEPTH = 100  # no request has more than ten; Python itself ends at a thousand


def check_depth(value: Any) -> None:
    """Raise an error for a value of lists and objects that are nested too deep."""
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise too_deep()


def too_deep() -> InvalidRequest:
    """Return the error of a request that is nested too deep, found by a look at it or by a reader of JSON."""
    return InvalidRequest(
        f"the request is nested more than {MOST_DEPTH} deep",
        hint="payloads are lists and objects of a few levels",
        details={"max_depth": MOST_DEPTH},
    )


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
