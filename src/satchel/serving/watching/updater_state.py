"""The state that a refresh loop shares with the threads that ask for a fresh index.

A *cookie* is a numbered file that is written into the index folder: once its own file system event has
arrived, the events of all earlier changes have arrived too. Watchman and git's fsmonitor do the same.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from satchel.indexing.index_state import IndexState


class UpdaterEventKind(StrEnum):
    """The kinds of things that an index updater reports."""

    REFRESH = "refresh"
    NOTE = "note"
    FAILED = "failed"


class UpdaterEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A report of an index updater: a new generation with counts of files, or a note or a failure."""

    event: UpdaterEventKind
    generation: int = 0
    parsed: int = 0
    moved: int = 0
    touched: int = 0
    dropped: int = 0
    duration_ms: int = 0
    text: str = ""


@dataclass(slots=True)
class UpdaterState:
    """The state of one index updater. Every field is read and written under the lock of `condition`."""

    condition: threading.Condition = field(default_factory=threading.Condition)
    last_cookie: int = 0  # the newest cookie that was issued
    requested_cookie: int = 0  # the cookie to issue once `last_cookie` is synced; 0 or older: none
    synced_cookie: int = 0  # changes made before this cookie are indexed, or indexing them was tried
    has_pending_changes: bool = True  # a change is known that is not indexed yet
    refresh_count: int = 0  # generations that this updater wrote
    failure: str = ""  # the message of the last attempt, if it failed
    index_state: IndexState | None = None
    progress: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()  # of the last walk over all files
    stopped: bool = False

    def issue_cookie(self) -> int:
        """Return the number of a new cookie."""
        with self.condition:
            self.last_cookie += 1
            self.condition.notify_all()
            return self.last_cookie

    def join_cookie(self) -> tuple[int, bool]:
        """Return a cookie that covers every change made before now, and whether the caller has to write it.

        A cookie that is under way says nothing about the last moment. All callers that arrive meanwhile
        share the one after it, which the refresh loop writes.
        """
        with self.condition:
            if self.last_cookie > self.synced_cookie:
                self.requested_cookie = self.last_cookie + 1
                return self.requested_cookie, False
            self.last_cookie += 1
            self.condition.notify_all()
            return self.last_cookie, True

    def issue_requested_cookie(self) -> int:
        """Issue the cookie that callers share; return 0 if none is requested or the last is not synced."""
        with self.condition:
            if self.requested_cookie <= self.last_cookie or self.last_cookie > self.synced_cookie:
                return 0
            self.last_cookie = self.requested_cookie
            return self.last_cookie

    def wait_until_synced(self, cookie: int, seconds: float) -> bool:
        """Wait for a cookie to be synced. Return False if that takes longer than `seconds`."""
        with self.condition:
            return self.condition.wait_for(lambda: self.synced_cookie >= cookie or self.stopped, seconds)
