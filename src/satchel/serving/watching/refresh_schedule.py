"""When a refresh is due: soon after a change, never all the time, and now and then without a change."""

from __future__ import annotations

import time
from collections.abc import Set

_IDLE_SECONDS = 30.0  # between checks of all files while no event arrives and nobody asks
# Between checks while somebody asks, and how much of the time they take then. The system reports no write
# through a hard link outside the folder or through a memory mapping, so an answer should not rest on a check
# of half a minute ago; but whoever asks waits for the check (20 to 30 ms in Django).
_ASKED_SECONDS = 0.5
_ASKED_SHARE = 100
# A time stamp proves nothing for two seconds, and an event may be lost: everything is checked after work.
_SECOND_CHECK_SECONDS = 2.5
# A check that takes long runs so seldom that it takes a fiftieth of the time, or a tenth without events.
_CHECK_SHARE = 50
_POLL_SHARE = 10
_REST_SHARE = 2  # the rest after a refresh is twice as long as the refresh
_MAX_REST_SECONDS = 0.4  # an edit is to be found within a second
_STREAK_SECONDS = 1.5  # a refresh of the same files that follows this soon continues a streak
_LONG_STREAK = 10  # from here on a file is written all the time, a log perhaps
_STREAK_REST_SECONDS = 4.0  # until the files of a long streak are refreshed again
_BUSY_SECONDS = 0.05  # another process writes the index; the wait doubles each time in a row
_MAX_BUSY_SECONDS = 2.0
_FAILED_SECONDS = 2.0  # before a failed refresh is tried again
_NEVER = float("inf")


class RefreshSchedule:
    """Decides when the next refresh is due. All times are of the monotonic clock."""

    def __init__(self, poll_seconds: float) -> None:
        self.poll_seconds = poll_seconds  # between checks where there are no events; 0: no check unasked
        self.has_events = False
        self._rest_until = 0.0
        self._busy_until = 0.0
        self._busy_seconds = _BUSY_SECONDS
        self._streak_until = 0.0
        self._streak = 0
        self._last_paths: Set[str] = frozenset()
        self._last_check = -_NEVER
        self._next_check = _NEVER
        self._check_seconds = 0.0

    def may_refresh(self, paths: Set[str], *, everything: bool, is_awaited: bool) -> bool:
        """Return whether the rest after the last refresh is over; a waiting caller cuts it short."""
        now = time.monotonic()
        if is_awaited or now < self._busy_until:
            return now >= self._busy_until
        same_files = not everything and paths <= self._last_paths
        return now >= (self._streak_until if same_files else self._rest_until)

    def is_check_due(self, *, is_awaited: bool) -> bool:
        """Return whether all files have to be checked, whatever events arrived; earlier if a caller waits."""
        due = self._next_check
        if is_awaited and self.has_events and self.poll_seconds:
            due = min(due, self._last_check + max(_ASKED_SECONDS, self._check_seconds * _ASKED_SHARE))
        return time.monotonic() >= max(due, self._busy_until)

    def record_check(self, seconds: float, *, found_nothing: bool) -> None:
        """Record that all files were checked. If nothing was new, the next check is a whole interval away."""
        self._check_seconds = seconds
        self._busy_seconds = _BUSY_SECONDS
        self._last_check = time.monotonic()
        if found_nothing:
            self._next_check = self._last_check + self._interval()

    def record_busy(self) -> None:
        """Record that another process writes the index: perhaps a first build, which takes long."""
        self._busy_seconds = min(_MAX_BUSY_SECONDS, self._busy_seconds * 2)
        self._busy_until = time.monotonic() + self._busy_seconds

    def record_failure(self) -> None:
        """Record that a refresh failed and is to be tried again."""
        self._rest_until = self._streak_until = time.monotonic() + _FAILED_SECONDS
        self._next_check = max(self._next_check, self._rest_until)

    def record_refresh(self, seconds: float, paths: Set[str]) -> None:
        """Record that a refresh of `paths` ended just now; no paths stand for all files."""
        now = time.monotonic()
        soon = now - seconds - max(self._rest_until, self._streak_until) < _STREAK_SECONDS
        self._streak = self._streak + 1 if soon and paths and paths <= self._last_paths else 0
        self._rest_until = now + min(_MAX_REST_SECONDS, seconds * _REST_SHARE)
        is_long = self._streak > _LONG_STREAK
        self._streak_until = now + _STREAK_REST_SECONDS if is_long else self._rest_until
        self._last_paths = frozenset(paths)
        self._next_check = now + min(self._interval(), _SECOND_CHECK_SECONDS) if self.poll_seconds else _NEVER

    def _interval(self) -> float:
        """Return the seconds between two checks of all files while nothing changes."""
        if not self.poll_seconds:
            return _NEVER
        if self.has_events:
            return max(_IDLE_SECONDS, self._check_seconds * _CHECK_SHARE)
        return max(self.poll_seconds, self._check_seconds * _POLL_SHARE)
