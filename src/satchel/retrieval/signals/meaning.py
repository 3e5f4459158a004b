"""Is the file near to the query in meaning, even if it uses other words?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from satchel.embedding import pooling
from satchel.retrieval.signals.signal import Context, SignalGroup

if TYPE_CHECKING:
    from satchel.retrieval.corpus import Floats

_ALL_ALIKE = 0.05  # if the best is no further than this above the median, none stands out


def compute(context: Context) -> dict[str, Floats]:
    """Return how near each candidate and its best unit come to a short query in meaning."""
    # A report names what it is about, and its many words together mean little.
    vectors = context.unit_vectors if context.query_terms.all_title else None
    asked = None if vectors is None else context.evidence.postings.title_vector
    similarity = None if asked is None else context.evidence.postings.similarities(context.evidence.files)
    if asked is None or vectors is None or similarity is None:
        return {}
    best = np.maximum.reduceat(pooling.similarities(vectors, asked), context.evidence.unit_starts)
    return {
        "meaning_unit": above_median(best),
        "meaning_file": above_median(similarity),
    }


def above_median(similarity: Floats) -> Floats:
    """Return how far each value is above the median: 0 at the median, 1 at the top, at least -1."""
    # np.median would load numpy.ma, which takes 10 ms.
    middle = float(np.sort(similarity)[(len(similarity) - 1) // 2])
    return np.maximum((similarity - middle) / max(float(similarity.max()) - middle, _ALL_ALIKE), -1.0)


SIGNAL = SignalGroup("meaning", ("meaning_unit", "meaning_file"), compute)
