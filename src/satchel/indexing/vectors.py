"""Term counts → a vector for each unit, and one for each file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np

from satchel.embedding.pooling import normalised, pool, weight_of
from satchel.embedding.table import UNKNOWN_ROW, WordVectors
from satchel.indexing.segment_builder import TermBatch
from satchel.storage.postings import BODY, COMMENT

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unit_vectors(words: WordVectors, batch: TermBatch) -> NDArray[np.int8]:
    """The vectors of all units of a batch: what the words of their text mean together."""
    packed = np.frombuffer(batch.packed, np.uint16)
    counts = BODY.read(packed) + COMMENT.read(packed)
    known = np.fromiter(map(words.row_of.get, batch.vocabulary, repeat(UNKNOWN_ROW)), np.int32)
    rows = known[np.frombuffer(batch.term_ids, np.uint32)]
    return pool(words, rows, weight_of(counts), np.array(batch.sizes, np.int32))


def file_vectors(units: NDArray[np.int8], unit_counts: Sequence[int]) -> NDArray[np.int8]:
    """The direction that the units of each file have in common; every file here has some."""
    starts = np.cumsum([0, *unit_counts[:-1]])
    return normalised(np.add.reduceat(units, starts, axis=0, dtype=np.int64))
