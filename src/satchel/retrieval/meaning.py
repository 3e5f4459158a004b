"""A question as a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from satchel.embedding import pooling
from satchel.embedding.table import load
from satchel.retrieval.views import View, Views

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray


def question_vector(views: Views, view: View) -> NDArray[np.int8] | None:
    """What the words of a view mean together; None when no model knows any of them."""
    words = load()
    if words is None:
        return None
    weights = dict(zip(views.terms, views.weights[view], strict=True))
    return pooling.question_vector(words, weights)
