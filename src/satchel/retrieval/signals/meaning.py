"""Does the file speak of what the query is about, even in other words?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from satchel.embedding import pooling
from satchel.retrieval.signals.signal import Context, SignalGroup

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

_ALL_ALIKE = 0.05  # when the best is no further than this above the middle, none stands out


def compute(context: Context) -> dict[str, Floats]:
    # a report names what it is about, and its many words together mean little
    vectors = context.unit_vectors if context.query_terms.all_title else None
    asked = None if vectors is None else context.evidence.postings.title_vector
    likeness = None if asked is None else context.evidence.postings.similarities
    if asked is None or vectors is None or likeness is None:
        return {}
    best = np.maximum.reduceat(pooling.similarities(vectors, asked), context.evidence.unit_starts)
    return {
        "meaning_unit": _spread(best),
        "meaning_file": _spread(likeness[context.evidence.files]),
    }


def _spread(likeness: Floats) -> Floats:
    """How far above the middle of the candidates: 0 there, 1 at the top, at least -1."""
    middle = float(np.sort(likeness)[(len(likeness) - 1) // 2])  # np.median would load numpy.ma: 10 ms
    return np.maximum((likeness - middle) / max(float(likeness.max()) - middle, _ALL_ALIKE), -1.0)


SIGNAL = SignalGroup("meaning", ("meaning_unit", "meaning_file"), compute)
