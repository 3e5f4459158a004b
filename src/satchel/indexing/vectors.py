"""Compute a vector for each unit and for each file from term counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from satchel.embedding.pooling import normalised, pool, weight_of
from satchel.embedding.word_vectors import UNKNOWN_ROW, WordVectors
from satchel.indexing.posting_run_builder import TermBatch
from satchel.indexing.term_collector import stem_and_folder
from satchel.storage.postings import BODY, COMMENT
from satchel.terms import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Weights of the parts of a file. Its names, path and opening comment together tell more about its subject
# than its text.
_TEXT_WEIGHT, _NAMES_WEIGHT, _PATH_WEIGHT, _OPENING_WEIGHT = 10, 10, 6, 4
_ZERO = np.zeros(1, np.int64)


class FileDescription(msgspec.Struct, frozen=True):
    """What stands for a file beside its text: the names that it defines, its path, and the terms of its
    opening comment."""

    names: tuple[str, ...]
    path: str
    head: tuple[str, ...]


def unit_vectors(words: WordVectors, batch: TermBatch) -> NDArray[np.int8]:
    """Return the vectors of all units of a batch: the weighted mean of the vectors of their words."""
    packed = np.frombuffer(batch.packed, np.uint16)
    counts = BODY.read(packed) + COMMENT.read(packed)
    rows = words.rows(batch.vocabulary)[np.frombuffer(batch.term_ids, np.uint32)]
    return pool(words, rows, weight_of(counts), np.array(batch.sizes, np.int32))


def file_vectors(
    words: WordVectors, units: NDArray[np.int8], unit_counts: Sequence[int], files: Sequence[FileDescription]
) -> NDArray[np.int8]:
    """Return the vector of each file: the weighted mean of its units and its description. Every file must
    have units."""
    starts = np.cumsum([0, *unit_counts[:-1]])
    texts = normalised(np.add.reduceat(units, starts, axis=0, dtype=np.int64))
    names = _pooled(words, (terms(" ".join(file.names)) for file in files))
    paths = _pooled(words, (terms(" ".join(stem_and_folder(file.path))) for file in files))
    heads = _pooled(words, (file.head for file in files))
    parts = ((_TEXT_WEIGHT, texts), (_NAMES_WEIGHT, names), (_PATH_WEIGHT, paths), (_OPENING_WEIGHT, heads))
    return normalised(sum((weight * part.astype(np.int64) for weight, part in parts), _ZERO))


def _pooled(words: WordVectors, bags: Iterable[Iterable[str]]) -> NDArray[np.int8]:
    """Return a vector for each bag of terms; zero if none of its terms is known."""
    lists = [list(bag) for bag in bags]
    rows = words.rows(chain.from_iterable(lists))
    owners = np.repeat(np.arange(len(lists)), list(map(len, lists)))
    known = rows != UNKNOWN_ROW
    distinct, counts = np.unique(owners[known] * len(words.table) + rows[known], return_counts=True)
    sizes = np.bincount(distinct // len(words.table), minlength=len(lists))
    return pool(
        words, (distinct % len(words.table)).astype(np.int32), weight_of(counts), sizes.astype(np.int32)
    )
