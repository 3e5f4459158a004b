"""The events of the file system, in batches.

Three traps of the library below: it forgets its events when it is told to stop, it goes on failing once a
name was no text, and it says nothing when the system's queue was too short. So stopping is the end of a
watcher, a failed one is replaced, and whoever uses one looks at everything after a flood.
"""

from __future__ import annotations

import threading
from typing import Any

from satchel.serving.keeping.places import Places

_STEP_MS = 10  # a batch is complete when nothing came for so long; also how soon a stop is noticed
_MOST_MS = 100  # a batch is given out after this, however much is still coming
_POLL_MS = 300  # where the system has no events the library lists the folders itself, this often


class Unwatchable(Exception):
    """No events can be had, or some were lost."""


class Watcher:
    """Watches the places until it is closed."""

    def __init__(self, places: Places, stop: threading.Event) -> None:
        # The package loads asyncio, so it is imported where something is watched. A server can do without it:
        # it then looks at the folder from time to time, as where the file system gives no events.
        try:
            from watchfiles._rust_notify import RustNotify
        except ImportError:
            raise Unwatchable("the package watchfiles is not installed") from None

        self.places = places
        self._stop = stop
        try:
            self._notify = RustNotify(sorted(places.folders), False, False, _POLL_MS, places.recursive, True)
        except (OSError, RuntimeError) as error:
            raise Unwatchable(str(error)) from error

    def wait(self, milliseconds: int) -> set[tuple[int, str]]:
        """The events that came, or none after so long."""
        try:
            found: Any = self._notify.watch(_MOST_MS, _STEP_MS, milliseconds, self._stop)
        except (OSError, RuntimeError) as error:
            raise Unwatchable(str(error)) from error
        return found if isinstance(found, set) else set()

    def close(self) -> None:
        self._notify.close()
