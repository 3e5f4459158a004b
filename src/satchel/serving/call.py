"""What a surface knows of one call, and how the call hears that nobody waits for it any more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from satchel.errors import Cancelled, Timeout

Progress = Callable[[int, int], None]


class Call:
    """What a surface knows of a call: until when it waits, whether it is still there, who hears of steps."""

    def __init__(self, *, seconds: float | None = None, progress: Progress | None = None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds
        self.cancelled = threading.Event()
        self._progress = progress

    def check(self) -> None:
        """Ends the call if nobody waits for it any more."""
        if self.cancelled.is_set():
            raise Cancelled("the call was cancelled")
        if self.end is not None and time.monotonic() > self.end:
            raise Timeout("the time for this call is over", hint="ask for less, or wait longer")

    def progress(self, done: int, total: int) -> None:
        """Heard between two steps of long work, which can end there and lose nothing."""
        self.check()
        if self._progress is not None:
            self._progress(done, total)
