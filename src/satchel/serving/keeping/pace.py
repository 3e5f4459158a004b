"""When is it time to work? Soon after a change, but never all the time; and now and then without one."""

from __future__ import annotations

import time
from collections.abc import Set

_IDLE_SECONDS = 30.0  # between looks at everything, although nothing was heard of
_SECOND_LOOK_SECONDS = (
    2.5  # after work: a time stamp proves nothing for two seconds, and an event may be lost
)
_LOOK_SHARE = 50  # a look that takes long is taken so seldom that it takes a fiftieth of the time,
_POLL_SHARE = 10  # or a tenth where there are no events
_REST_SHARE = 2  # rests are twice as long as the work before
_LONGEST_REST_SECONDS = 0.4  # an edit is to be found within a second
_STREAK_SECONDS = 1.5  # work on the same files that follows so soon belongs to one streak
_LONG_STREAK = 10  # from here on something is written all the time, a log perhaps
_STREAK_REST_SECONDS = 4.0  # until those files are looked at again
_BUSY_SECONDS = 0.05  # another process is writing; each time in a row it is given twice as long
_LONGEST_BUSY_SECONDS = 2.0
_FAILED_SECONDS = 2.0  # before the same is tried again
_NEVER = float("inf")


class Pace:
    """The clock of one keeper. All times are of the monotonic clock."""

    def __init__(self, poll_seconds: float) -> None:
        self.poll_seconds = poll_seconds  # between looks where there are no events; 0: none unasked
        self.has_events = False
        self._rest_until = 0.0
        self._busy_until = 0.0
        self._busy_seconds = _BUSY_SECONDS
        self._streak_until = 0.0
        self._streak = 0
        self._last_paths: Set[str] = frozenset()
        self._next_look = _NEVER
        self._look_seconds = 0.0

    def may_work(self, paths: Set[str], *, everything: bool, asked: bool) -> bool:
        """Whether the rest is over, for a change of this kind; who waits for an answer ends it."""
        now = time.monotonic()
        if asked or now < self._busy_until:
            return now >= self._busy_until
        restless = not everything and paths <= self._last_paths
        return now >= (self._streak_until if restless else self._rest_until)

    def looks_are_due(self) -> bool:
        """Whether everything has to be looked at, whatever was heard."""
        return time.monotonic() >= max(self._next_look, self._busy_until)

    def looked(self, seconds: float, *, for_nothing: bool) -> None:
        """Everything was looked at. If there was nothing new, the next look has time."""
        self._look_seconds = seconds
        self._busy_seconds = _BUSY_SECONDS
        if for_nothing:
            self._next_look = time.monotonic() + self._interval()

    def busy(self) -> None:
        """Nothing could be done because another process writes: perhaps a first index, which takes long."""
        self._busy_seconds = min(_LONGEST_BUSY_SECONDS, self._busy_seconds * 2)
        self._busy_until = time.monotonic() + self._busy_seconds

    def failed(self) -> None:
        """The same will be tried again."""
        self._rest_until = self._streak_until = time.monotonic() + _FAILED_SECONDS
        self._next_look = max(self._next_look, self._rest_until)

    def worked(self, seconds: float, paths: Set[str]) -> None:
        """Files were indexed just now: these, or all."""
        now = time.monotonic()
        soon = now - seconds - max(self._rest_until, self._streak_until) < _STREAK_SECONDS
        self._streak = self._streak + 1 if soon and paths and paths <= self._last_paths else 0
        self._rest_until = now + min(_LONGEST_REST_SECONDS, seconds * _REST_SHARE)
        restless = self._streak > _LONG_STREAK
        self._streak_until = now + _STREAK_REST_SECONDS if restless else self._rest_until
        self._last_paths = frozenset(paths)
        self._next_look = now + min(self._interval(), _SECOND_LOOK_SECONDS) if self.poll_seconds else _NEVER

    def _interval(self) -> float:
        if not self.poll_seconds:
            return _NEVER
        if self.has_events:
            return max(_IDLE_SECONDS, self._look_seconds * _LOOK_SHARE)
        return max(self.poll_seconds, self._look_seconds * _POLL_SHARE)
