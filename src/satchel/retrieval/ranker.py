"""Score files by a weighted sum of their signals. The weights are data.

Short queries are ranked by the weights of the profile, reports (a title with a text below it) by weights of
their own: a report says what goes wrong, not where, so that the same signal tells less or more there. On
reports no profile has more signals than another, so one file serves all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel import plugins
from satchel.retrieval.signals.signal import Context

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

REPORTS = "reports"  # the file of weights for reports
REPOSITORIES = "repositories"  # the file of weights of signals that only an index of several repositories has
PASSAGES = "passages"  # the file of weights for the passages of a pack
_WEIGHTS = Path(__file__).parent / "weights"
# The line that a pasted message comes from is the answer, whatever else speaks for other files. This is no
# matter of fitting: few questions of any set hold a message.
_MESSAGES = {"message": 30.0, "message_in_report": 1.0}
_FIXED = {
    "quality": _MESSAGES,
    "fast": _MESSAGES,
    REPORTS: _MESSAGES,
    PASSAGES: {"passage_message": 1.0},
}
_DIGITS = 6  # scores that differ less are equal, and ties break by path


@cache
def weights(profile: str) -> Mapping[str, float]:
    """Return what each signal weighs in a file of weights: that of a profile or one of those named above."""
    fitted = msgspec.json.decode((_WEIGHTS / f"{profile}.json").read_bytes(), type=_Profile).weights
    return {**fitted, **_FIXED.get(profile, {})}


def weights_for(context: Context, profile: str) -> Mapping[str, float]:
    """Return what each signal weighs for the query of a context."""
    own = weights(profile if context.query_terms.all_title else REPORTS)
    return {**own, **weights(REPOSITORIES)} if context.corpus.repositories else own


class _Profile(msgspec.Struct):
    """A file of weights. Its other fields say how the weights were found."""

    weights: dict[str, float]


def signals(context: Context) -> dict[str, Floats]:
    """Return every signal of every candidate."""
    found: dict[str, Floats] = {}
    for name in plugins.names("signal"):
        found.update(plugins.load("signal", name).compute(context))
    return found


def score(found: Mapping[str, Floats], weighed: Mapping[str, float], count: int) -> Floats:
    """Return the weighted sum of signals, added in the order of their names."""
    total = np.zeros(count)
    for name in sorted(weighed):
        if name in found:
            total += weighed[name] * found[name]
    return np.round(total, _DIGITS)
