"""A question as a vector, and how near files come to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from satchel.embedding import pooling
from satchel.embedding.table import load
from satchel.retrieval.corpus import Corpus
from satchel.retrieval.views import View, Views

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Places

_NEAR = 0.4  # cosine; what is less alike shares a subject at most


def question_vector(views: Views, view: View) -> NDArray[np.int8] | None:
    """What the words of a view mean together; None when no model knows any of them."""
    words = load()
    if words is None:
        return None
    weights = dict(zip(views.terms, views.weights[view], strict=True))
    return pooling.question_vector(words, weights)


def nearest(corpus: Corpus, views: Views, count: int) -> Places:
    """The files that come nearest to the title, whatever words they use."""
    asked = question_vector(views, View.TITLE)
    if asked is None or corpus.file_vectors is None:
        return np.zeros(0, np.int64)
    likeness = pooling.similarities(corpus.file_vectors, asked)
    order = np.argsort(-likeness, kind="stable")[:count]
    return order[likeness[order] >= _NEAR].astype(np.int64)
