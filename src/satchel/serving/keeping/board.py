"""What the keeper's thread and those who ask tell each other."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from satchel.indexing.freshness import IndexState


class HappenedKind(StrEnum):
    """What a keeper has to say."""

    REFRESH = "refresh"
    NOTE = "note"
    FAILED = "failed"


class Happened(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a keeper did or met: a new generation, in numbers of files, or a text."""

    event: HappenedKind
    generation: int = 0
    parsed: int = 0
    moved: int = 0
    touched: int = 0
    dropped: int = 0
    duration_ms: int = 0
    text: str = ""


@dataclass(slots=True)
class Board:
    """Everything here is read and written under the lock of `changed`."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    asked: int = 0  # the last ticket that was given out
    wanted: int = 0  # the ticket that is to follow the one under way
    settled: int = 0  # up to this ticket all is indexed, or was tried
    behind: bool = True  # a change is known that is not indexed
    performed: int = 0  # generations that this keeper wrote
    failure: str = ""  # of the last attempt
    state: IndexState | None = None
    progress: tuple[int, int] | None = None
    ended: bool = False

    def ask(self) -> int:
        """A new ticket."""
        with self.changed:
            self.asked += 1
            self.changed.notify_all()
            return self.asked

    def join(self) -> tuple[int, bool]:
        """A ticket for all that happened before now, and whether the caller has to write it. One that is
        under way says nothing of the last moment, so all who come meanwhile share the next."""
        with self.changed:
            if self.asked > self.settled:
                self.wanted = self.asked + 1
                return self.wanted, False
            self.asked += 1
            self.changed.notify_all()
            return self.asked, True

    def next_wanted(self) -> int:
        """The ticket that somebody waits for and nobody wrote yet, if the last one is settled; else 0."""
        with self.changed:
            if self.wanted <= self.asked or self.asked > self.settled:
                return 0
            self.asked = self.wanted
            return self.asked

    def wait_for(self, ticket: int, seconds: float) -> bool:
        """Whether the ticket was settled in time."""
        with self.changed:
            return self.changed.wait_for(lambda: self.settled >= ticket or self.ended, seconds)
