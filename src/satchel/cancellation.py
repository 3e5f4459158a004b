"""When is work no longer wanted? The token that long work polls."""

from __future__ import annotations

import time

from satchel.errors import Cancelled, Timeout


class CancelToken:
    """Says when work is no longer wanted: once it was cancelled, or after a deadline.

    Whoever starts the work hands it the token, and may cancel it from any thread. The work calls `check`
    between two steps, where it can end and lose nothing. A token without a deadline that nobody cancels lets
    the work run to its end.
    """

    def __init__(self, *, seconds: float | None = None, parent: CancelToken | None = None) -> None:
        """Make a token with a deadline in so many seconds; it is cancelled together with its `parent`."""
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self._parent = parent
        self._cancelled = False

    def cancel(self) -> None:
        """Say that nobody waits for the work any more."""
        self._cancelled = True

    @property
    def is_cancelled(self) -> bool:
        """Return whether this token or its parent was cancelled."""
        return self._cancelled or (self._parent is not None and self._parent.is_cancelled)

    @property
    def is_expired(self) -> bool:
        """Return whether the deadline of this token or of its parent has passed."""
        passed = self.deadline is not None and time.monotonic() > self.deadline
        return passed or (self._parent is not None and self._parent.is_expired)

    def limited_to(self, seconds: float) -> CancelToken:
        """Return a token for a part of the work, which has a deadline of its own."""
        return CancelToken(seconds=seconds, parent=self)

    def check(self) -> None:
        """Raise Cancelled or Timeout if the work is no longer wanted."""
        if self.is_cancelled:
            raise Cancelled("the call was cancelled")
        if self.is_expired:
            raise Timeout("the time for this call is over", hint="ask for less, or wait longer")
