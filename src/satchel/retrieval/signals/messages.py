"""Does the file hold the line that a pasted message comes from?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.messages import message_lines, pinned_lines
from satchel.retrieval.signals.signal import Context, SignalGroup

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats


def compute(context: Context) -> dict[str, Floats]:
    """Return how surely each candidate is the source of a message: of a query about it, or of a report."""
    found = {name: np.zeros(context.count) for name in SIGNAL.signals}
    name = "message" if pinned_lines(context.corpus, context.query) else "message_in_report"
    for item in message_lines(context.corpus, context.query):
        at = int(context.local[item.at])
        if at >= 0:
            found[name][at] = max(found[name][at], item.worth)
    return found


SIGNAL = SignalGroup("messages", ("message", "message_in_report"), compute)
