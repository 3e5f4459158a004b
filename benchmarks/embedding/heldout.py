"""How well does a table answer for packages that were held out? Measured with the product's own pooling."""

from __future__ import annotations

import zlib

import numpy as np
from dataset import Bags, Dataset
from numpy.typing import NDArray

from satchel.embedding.pooling import pool, weight_of
from satchel.embedding.word_vectors import WordVectors

HELD_OUT = 32  # one package in so many
ASKED = 3000  # held-out pairs, each the wrong answer to all others
SEED = 5


def split(dataset: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs to train on, and a sample of the pairs of packages held out."""
    # by its name, so that a package is held out of every set, however many others are mined
    names = enumerate(dataset.packages)
    held_packages = [number for number, name in names if zlib.crc32(name.encode()) % HELD_OUT == 0]
    is_held = np.isin(dataset.package_of, held_packages)
    held = np.random.default_rng(SEED).permutation(np.flatnonzero(is_held))[:ASKED]
    return np.flatnonzero(~is_held), np.sort(held)


def report(dataset: Dataset, held: NDArray[np.int64], words: WordVectors) -> str:
    """Mean reciprocal rank of the right answer, in all and by kind of pair and language."""
    said = _pooled(words, dataset.said, held).astype(np.float32)
    about = _pooled(words, dataset.about, held).astype(np.float32)
    scores = said @ about.T
    ranks = 1 + (scores > np.diag(scores)[:, None]).sum(axis=1)
    lines = [f"held-out MRR {np.mean(1 / ranks):.3f}, first {np.mean(ranks == 1):.3f} of {len(held)}"]
    for labels in (dataset.kinds, dataset.languages):
        own = np.array(labels)[held]
        parts = [
            (int((own == label).sum()), str(label), float(np.mean(1 / ranks[own == label])))
            for label in set(own)
        ]
        lines.append(
            " · ".join(f"{label} {mean:.3f} ({count})" for count, label, mean in sorted(parts, reverse=True))
        )
    return "\n".join(lines)


def _pooled(words: WordVectors, bags: Bags, pairs: NDArray[np.int64]) -> NDArray[np.int8]:
    entries, sizes = bags.chosen(pairs)
    weights = weight_of(bags.weights[entries].astype(np.int64))
    return pool(words, bags.rows[entries], weights, sizes.astype(np.int32))
