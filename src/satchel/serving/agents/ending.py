"""A server that was told to end does so in time, whatever still runs."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time


def end_within(seconds: float) -> None:
    """Ends the process after that time, if it has not ended by itself. An index is written in transactions,
    so nothing is lost but the work; helper processes would wait for ever for one that is gone."""
    threading.Thread(target=_end, args=(seconds,), daemon=True).start()


def _end(seconds: float) -> None:
    time.sleep(seconds)
    for child in multiprocessing.active_children():
        child.kill()
    os._exit(0)
