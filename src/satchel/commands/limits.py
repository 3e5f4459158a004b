"""The limits of a pack: one that is given is at least 1, and the error of a smaller one names the least that
works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from satchel.errors import InvalidBudget
from satchel.packing.budget import Size


@contextmanager
def limits(tokens: int | None, chars: int | None) -> Iterator[Size]:
    """What an answer may take, 0 where no limit is given. How much the least answer takes is known when it is
    made, so a limit below 1 is tried as one of 1, which holds no answer."""
    given = {"tokens": tokens, "characters": chars}
    below = {unit: value for unit, value in given.items() if value is not None and value < 1}
    tried = Size(*(0 if value is None else max(value, 1) for value in given.values()))
    try:
        yield tried
    except InvalidBudget as error:
        if not below:
            raise
        told = " and ".join(f"{value:,} {unit}" for unit, value in below.items())
        raise InvalidBudget(
            f"the budget is {told}, which holds no answer", hint=error.hint, details=error.details
        ) from None
