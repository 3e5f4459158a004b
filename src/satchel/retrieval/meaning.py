"""A query as a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from satchel.embedding import pooling
from satchel.embedding.word_vectors import load
from satchel.retrieval.query_terms import QueryTerms, Weighting

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray


def query_vector(query_terms: QueryTerms, weighting: Weighting) -> NDArray[np.int8] | None:
    """What the words of a weighting mean together; None when no model knows any of them."""
    words = load()
    if words is None:
        return None
    weights = dict(zip(query_terms.terms, query_terms.weights[weighting], strict=True))
    return pooling.query_vector(words, weights)
