"""The mined pairs as arrays of table rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Entries = tuple[tuple[int, int], ...]  # row and count
LEAST_PACKAGES = 3  # a word of fewer packages is a project's own
LEAST_ABOUT = 4  # known terms of what a pair is about


@dataclass(frozen=True, slots=True)
class Bags:
    """Weighted bags of rows, one after the other: bag i is entries starts[i] to starts[i + 1]."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]  # of what is said: 1; of what it is about: how often each term occurs

    def chosen(self, bags: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The entries of some bags, and how many entries each has."""
        sizes = self.starts[bags + 1] - self.starts[bags]
        ends = np.cumsum(sizes)
        offsets = np.repeat(self.starts[bags] - (ends - sizes), sizes)
        return np.arange(ends[-1]) + offsets, sizes


@dataclass(frozen=True, slots=True)
class Dataset:
    """Pairs of all packages, those of one package together."""

    vocabulary: list[str]  # sorted
    packages: list[str]
    package_of: NDArray[np.int32]
    kinds: list[str]
    languages: list[str]
    said: Bags
    about: Bags
    same_said: NDArray[np.int64]  # equal numbers: the same words are said


def read_dataset(folder: Path, vocabulary_size: int) -> Dataset:
    """All pairs of the folder over its most widespread words, exact repetitions left out."""
    files = sorted(folder.glob("*.tsv"))
    vocabulary = _vocabulary(files, vocabulary_size)
    row_of = {term: row for row, term in enumerate(vocabulary)}
    # keyed by content: a copy of a file in another package gives its pairs only once
    found: dict[tuple[Entries, Entries], tuple[int, str, str]] = {}
    for package, path in enumerate(files):
        for kind, language, said_text, about_text in _lines(path):
            said = _known(row_of, ((term, "1") for term in said_text.split(" ")))
            about = _known(row_of, (_term_and_count(entry) for entry in about_text.split(" ")))
            if said and len(about) >= LEAST_ABOUT:
                found.setdefault((said, about), (package, kind, language))
    numbers: dict[Entries, int] = {}
    return Dataset(
        vocabulary,
        [path.stem for path in files],
        np.array([package for package, _, _ in found.values()], np.int32),
        [kind for _, kind, _ in found.values()],
        [language for _, _, language in found.values()],
        _bags([said for said, _ in found]),
        _bags([about for _, about in found]),
        np.array([numbers.setdefault(tuple(sorted(said)), len(numbers)) for said, _ in found], np.int64),
    )


def _lines(path: Path) -> Iterator[list[str]]:
    return (line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line)


def _term_and_count(entry: str) -> tuple[str, str]:
    term, _, count = entry.rpartition(":")
    return term, count


def _known(row_of: dict[str, int], entries: Iterable[tuple[str, str]]) -> Entries:
    return tuple((row_of[term], int(count)) for term, count in entries if term in row_of)


def _vocabulary(files: list[Path], size: int) -> list[str]:
    packages: Counter[str] = Counter()
    for path in files:
        terms: set[str] = set()
        for _, _, said, about in _lines(path):
            terms.update(said.split(" "))
            terms.update(_term_and_count(entry)[0] for entry in about.split(" "))
        packages.update(terms)
    ranked = sorted((-count, term) for term, count in packages.items() if count >= LEAST_PACKAGES)
    return sorted(term for _, term in ranked[:size])


def _bags(found: list[Entries]) -> Bags:
    starts = np.concatenate(([0], np.cumsum([len(entries) for entries in found])))
    flat = np.array([entry for entries in found for entry in entries], np.int32)
    return Bags(starts.astype(np.int64), flat[:, 0], flat[:, 1].astype(np.float32))
