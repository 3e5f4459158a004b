"""How well a chunk's words fit a question: BM25F over the fields of a chunk.

A term found in a name counts more than in the body, in the body more than in a comment. The
same question gives the same scores on every machine: inverse document frequencies are rounded to
a fixed grid, and everything after that is plain IEEE arithmetic in a fixed order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from satchel.retrieval.corpus import Corpus
from satchel.storage.postings import BODY, COMMENT, FOLDER, NAME, STEM

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

    from satchel.retrieval.corpus import Places
    from satchel.storage.postings import Counts

K1 = 1.2  # how fast repetition stops counting
BODY_B = 0.5  # how much a long chunk is held against it
COMMENT_B = 0.3
WEIGHTS = {"name": 3.0, "stem": 3.0, "body": 1.0, "folder": 1.0, "comment": 0.5}
_IDF_GRID = 1024  # libraries differ in the last bit of a logarithm


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one query term gave each of its chunks."""

    term: str
    places: Places
    packed: Counts
    scores: NDArray[np.float64]


def inverse_document_frequency(document_frequency: int, chunk_count: int) -> float:
    """High for rare terms, never negative, rounded to the grid."""
    ratio = (chunk_count - document_frequency + 0.5) / (document_frequency + 0.5)
    return round(math.log(1.0 + ratio) * _IDF_GRID) / _IDF_GRID


def score_term(corpus: Corpus, term: str, weight: float = 1.0) -> TermScore:
    """The scores of one term over all living chunks that hold it."""
    places, packed = corpus.postings(term)
    body_norm = 1.0 - BODY_B + BODY_B * (corpus.body_lengths[places] / corpus.mean_body_length)
    comment_norm = 1.0 - COMMENT_B + COMMENT_B * (corpus.comment_lengths[places] / corpus.mean_comment_length)
    frequency = WEIGHTS["body"] * BODY.read(packed) / body_norm
    frequency += WEIGHTS["comment"] * COMMENT.read(packed) / comment_norm
    frequency += WEIGHTS["name"] * NAME.read(packed)
    frequency += WEIGHTS["stem"] * STEM.read(packed)
    frequency += WEIGHTS["folder"] * FOLDER.read(packed)
    rarity = inverse_document_frequency(len(places), corpus.chunk_count)
    return TermScore(term, places, packed, weight * rarity * (K1 + 1.0) * frequency / (K1 + frequency))


def score(corpus: Corpus, query_terms: Sequence[str]) -> tuple[NDArray[np.float64], list[TermScore]]:
    """The total of every place, and what each term gave."""
    totals = np.zeros(len(corpus.numbers))
    parts = [score_term(corpus, term) for term in query_terms]
    for part in parts:
        totals[part.places] += part.scores
    return totals, parts
