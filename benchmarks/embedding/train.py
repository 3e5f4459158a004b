"""Pairs → the table of word vectors that ships with the package.

    python train.py PAIRS_FOLDER TARGET_FILE [--dimensions 128] [--words 30000] [--epochs 8]

What is said and what it is about are each a weighted mean of word vectors; training pulls the two of a
pair together and pushes those of other pairs in the batch apart (InfoNCE, in both directions). Batches
are made of groups from one package, so that telling packages apart is not enough. One thread and a fixed
seed, so that a run can be repeated.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

from dataset import Bags, Dataset, read_dataset
from heldout import report, split

from satchel.embedding.word_vectors import WordVectors, write

SEED = 20
BATCH = 1536
GROUP = 64  # pairs of one package that stand together in a batch
SCALE = 20.0  # sharpness of the softmax over cosines
LEARNING_RATE = 3e-3  # falls to nothing in a straight line
DROPPED_SAID, DROPPED_ABOUT = 0.1, 0.2  # share of terms left out of a bag, so that no single one carries it
CLIPPED = 0.9998  # share of the numbers that the one int8 scale covers


def batches(
    dataset: Dataset, pairs: NDArray[np.int64], random: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """All pairs once, in batches of groups."""
    borders = np.flatnonzero(np.diff(dataset.package_of[pairs])) + 1
    groups = []
    for own in np.split(pairs, borders):
        mixed = random.permutation(own)
        groups += [mixed[start : start + GROUP] for start in range(0, len(mixed), GROUP)]
    batch: list[NDArray[np.int64]] = []
    for number in random.permutation(len(groups)):
        batch.append(groups[number])
        if sum(map(len, batch)) >= BATCH:
            yield np.concatenate(batch)
            batch = []


class Model(torch.nn.Module):
    """The table, and bags of its rows as unit vectors."""

    def __init__(self, start: NDArray[np.float32]) -> None:
        super().__init__()
        self.table = torch.nn.EmbeddingBag(*start.shape, mode="sum")
        self.table.weight.data = torch.from_numpy(start)

    def vectors(
        self, bags: Bags, pairs: NDArray[np.int64], dropped: float, random: np.random.Generator
    ) -> torch.Tensor:
        """One unit vector for each pair's bag, terms weighted by the square root of their count."""
        entries, sizes = bags.chosen(pairs)
        weights = np.sqrt(bags.weights[entries])
        weights[(random.random(len(entries)) < dropped) & (np.repeat(sizes, sizes) > 4)] = 0
        offsets = torch.from_numpy(np.cumsum(sizes) - sizes)
        rows = torch.from_numpy(bags.rows[entries].astype(np.int64))
        pooled = self.table(rows, offsets, per_sample_weights=torch.from_numpy(weights))
        return torch.nn.functional.normalize(pooled, dim=1)


def loss_of(
    model: Model, dataset: Dataset, pairs: NDArray[np.int64], random: np.random.Generator
) -> torch.Tensor:
    """How badly each pair is found among the batch; another pair that says the same is no wrong answer."""
    said = model.vectors(dataset.said, pairs, DROPPED_SAID, random)
    about = model.vectors(dataset.about, pairs, DROPPED_ABOUT, random)
    scores = said @ about.T * SCALE
    same = torch.from_numpy(dataset.same_said[pairs])
    others = (same[:, None] == same[None, :]).fill_diagonal_(False)
    scores = scores.masked_fill(others, -1e4)
    right = torch.arange(len(pairs))
    entropy = torch.nn.functional.cross_entropy
    return (entropy(scores, right) + entropy(scores.T, right)) / 2


def start_table(dataset: Dataset, dimensions: int, random: np.random.Generator) -> NDArray[np.float32]:
    """Random directions, rare words longer."""
    occurrences = np.bincount(dataset.about.rows, minlength=len(dataset.vocabulary))
    lengths = np.log(len(dataset.package_of) / (occurrences + 10.0)).clip(0.3)
    table = random.standard_normal((len(occurrences), dimensions)) / np.sqrt(dimensions)
    return (table * (lengths / lengths.mean())[:, None]).astype(np.float32)


def train(dataset: Dataset, pairs: NDArray[np.int64], dimensions: int, epochs: int) -> NDArray[np.float32]:
    """The trained table."""
    random = np.random.default_rng(SEED)
    model = Model(start_table(dataset, dimensions, random))
    optimiser = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    steps = epochs * (len(pairs) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(0.0, 1 - step / steps))
    started = time.monotonic()
    for epoch in range(epochs):
        losses = []
        for batch in batches(dataset, pairs, random):
            optimiser.zero_grad()
            loss = loss_of(model, dataset, batch, random)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        print(
            f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, {time.monotonic() - started:.0f} s", flush=True
        )
    return model.table.weight.detach().numpy()


def quantised(table: NDArray[np.float32]) -> NDArray[np.int8]:
    """Whole numbers on one scale; the few numbers beyond it are cut."""
    scale = np.quantile(np.abs(table), CLIPPED) / 127
    return np.rint(np.clip(table / scale, -127, 127)).astype(np.int8)


def main() -> None:
    """Read, train, write, and say how well held-out packages are answered."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--words", type=int, default=30_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--model-id", default="satchel-words-1")
    options = parser.parse_args()
    torch.set_num_threads(1)
    dataset = read_dataset(options.pairs, options.words)
    training, held = split(dataset)
    print(f"{len(dataset.packages)} packages, {len(dataset.vocabulary)} words, {len(training)} pairs")
    joined = "\n".join(dataset.vocabulary).encode()

    def said(table: NDArray[np.float32]) -> str:
        return report(dataset, held, WordVectors(options.model_id, quantised(table), joined))

    untrained = start_table(dataset, options.dimensions, np.random.default_rng(SEED))
    print("before training (equal words alone):", said(untrained).partition("\n")[0], flush=True)
    table = train(dataset, training, options.dimensions, options.epochs)
    write(options.target, options.model_id, dataset.vocabulary, quantised(table))
    print(said(table))


if __name__ == "__main__":
    main()
