"""What a surface knows of one call."""

from __future__ import annotations

from collections.abc import Callable

from satchel.cancellation import CancelToken

Progress = Callable[[int, int], None]


class Call:
    """One call of one caller: the token that ends its work, and the function that hears of its progress."""

    def __init__(self, *, seconds: float | None = None, progress: Progress | None = None) -> None:
        self.token = CancelToken(seconds=seconds)
        self.progress: Progress = progress or (lambda done, total: None)
