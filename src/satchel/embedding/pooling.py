"""How the words of a unit become one vector, and how alike two vectors are: the same bits on every machine.

A vector enters the index and the order of answers, so no rounding may depend on the processor or on how
a library orders its sums. All sums are therefore sums of whole numbers: as float32 they are exact below
2^24 in any order, which lets them run as fast matrix products. What follows is one correctly rounded
square root, one division and one rounding for each vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from satchel.embedding.word_vectors import UNKNOWN_ROW, WordVectors

if TYPE_CHECKING:  # loading the types of numpy takes a tenth of a short command
    from numpy.typing import NDArray

LENGTH = 127  # of every vector that is not zero: the most that int8 holds
_EXACT = 2**24  # float32 holds every whole number up to here
_MOST_WEIGHT = (_EXACT - 1) // 128  # sum of weights for which no sum of weighted int8 leaves the exact range
_WEIGHTS = np.rint(8 * np.sqrt(np.arange(4096))).astype(np.int32)  # eighths; more occurrences add nothing
_QUERY_STEPS = 1024  # a query's weights as whole numbers, the largest being this
_UNITS_AT_ONCE = 4096  # bounds the memory of the wide sums to a few MB
_VECTORS_AT_ONCE = 4_096  # 2 MB as float32: of Linux, 2.4 ms instead of 5.3 with 32 MB


def weight_of(counts: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return the weights of terms by their counts in a unit: eight times the square root, rounded."""
    weights: NDArray[np.int32] = _WEIGHTS.take(counts, mode="clip")
    return weights


def pool(
    words: WordVectors, rows: NDArray[np.int32], weights: NDArray[np.int32], sizes: NDArray[np.int32]
) -> NDArray[np.int8]:
    """Return one vector for each unit: the next `sizes[i]` entries of `rows` and `weights` belong to unit i.

    Entries with row -1 are ignored; a unit without other entries has the zero vector.
    """
    # About half of the entries count; the others are not worth fetching.
    counting = (rows != UNKNOWN_ROW) & (weights > 0)
    exact_rows, exact_weights = rows[counting], weights[counting]
    before = np.concatenate(([0], np.cumsum(counting)))
    bounds = before[[0, *accumulate(sizes.tolist())]].tolist()
    result = np.empty((len(sizes), words.dimensions), np.int8)
    for first in range(0, len(sizes), _UNITS_AT_ONCE):
        part = bounds[first : first + _UNITS_AT_ONCE + 1]
        entries = slice(part[0], part[-1])
        local = [bound - part[0] for bound in part]
        sums = _unit_sums(words.table, exact_rows[entries], exact_weights[entries], local)
        result[first : first + len(sums)] = normalised(sums)
    return result


def _unit_sums(
    table: NDArray[np.int8], rows: NDArray[np.int32], weights: NDArray[np.int32], bounds: list[int]
) -> NDArray[np.int64]:
    """Return the exact weighted sum of the rows of each unit."""
    # A product for each unit takes 8 µs; one for many units over their distinct rows takes twice as long.
    floats = weights.astype(np.float32)
    sums = np.zeros((len(bounds) - 1, table.shape[1]), np.float32)
    for unit, (start, end) in enumerate(pairwise(bounds)):
        np.dot(floats[start:end], table.take(rows[start:end], axis=0).astype(np.float32), out=sums[unit])
    exact = sums.astype(np.int64)
    totals = np.diff(np.concatenate(([0], np.cumsum(weights, dtype=np.int64)))[bounds])
    for unit in np.flatnonzero(totals > _MOST_WEIGHT).tolist():
        part = slice(bounds[unit], bounds[unit + 1])
        exact[unit] = _wide_sum(table, rows[part], weights[part])
    return exact


def _wide_sum(
    table: NDArray[np.int8], rows: NDArray[np.int32], weights: NDArray[np.integer]
) -> NDArray[np.int64]:
    """Return the weighted sum of rows in 64 bits, halved until its squares can be added without overflow."""
    total = np.zeros(table.shape[1], np.int64)
    for start in range(0, len(rows), _UNITS_AT_ONCE):
        part = slice(start, start + _UNITS_AT_ONCE)
        total += weights[part].astype(np.int64) @ table.take(rows[part], axis=0).astype(np.int64)
    while np.abs(total).max(initial=0) >= _EXACT:
        total >>= 1
    return total


def normalised(sums: NDArray[np.int64]) -> NDArray[np.int8]:
    """Scale sums of whole numbers to vectors of the common length; zero stays zero."""
    squares = np.einsum("ij,ij->i", sums, sums)
    lengths = np.sqrt(np.maximum(squares, 1).astype(np.float64))
    scaled: NDArray[np.float64] = (sums * LENGTH) / lengths[:, None]
    return np.rint(scaled).astype(np.int8)


def query_vector(words: WordVectors, weights: Mapping[str, float]) -> NDArray[np.int8] | None:
    """Return the vector of a query's weighted terms; None if no term with a weight is in the table."""
    known = {words.row(term): weight for term, weight in weights.items() if weight > 0}
    known.pop(UNKNOWN_ROW, None)
    if not known:
        return None
    rows = np.fromiter(known, np.int32)
    shares = np.fromiter(known.values(), np.float64) / max(known.values())
    total = _wide_sum(words.table, rows, np.rint(shares * _QUERY_STEPS).astype(np.int64))
    return normalised(total[None, :])[0] if total.any() else None


def similarities(
    vectors: NDArray[np.int8] | NDArray[np.float32], query: NDArray[np.int8]
) -> NDArray[np.float64]:
    """Return the cosine of each vector with the query's; every vector has the same length by construction."""
    asked = query.astype(np.float32)
    products = np.empty(len(vectors), np.float64)
    for start in range(0, len(vectors), _VECTORS_AT_ONCE):
        part = slice(start, start + _VECTORS_AT_ONCE)
        # Not by BLAS: its threads cost more than they save at these sizes.
        products[part] = np.einsum("ij,j->i", vectors[part].astype(np.float32, copy=False), asked)
    return products / (LENGTH * LENGTH)
