"""The dump: the signals of every candidate of every question, in one .npz file that holds no pickle.

names      the signals, sorted
values     a row for each candidate, a column for each signal; 0 where a signal was absent
is_gold    whether a candidate is an answer
rough      the candidate's place among its question's in a first rough order, from 0
counts     how many candidates each question has; they follow each other
paths      their paths as UTF-8, each ended by a zero byte
questions  set, repository, category and gold of each question as JSON
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from satchel.evaluation.cases import Gold

_ENCODING = ("utf-8", "surrogateescape")  # names of files may be any bytes


class Asked(msgspec.Struct, frozen=True):
    """A question without its text; `not_indexed` are answers that no search can find."""

    set: str
    repo: str
    repository: str
    id: str
    category: str
    language: str
    gold: tuple[Gold, ...]
    not_indexed: tuple[str, ...] = ()


class Looked(NamedTuple):
    """What a close look at one question gave."""

    asked: Asked
    paths: list[str]
    is_gold: NDArray[np.bool_]
    signals: Mapping[str, NDArray[np.float32]]


class Features(NamedTuple):
    """A dump, read."""

    names: tuple[str, ...]
    values: NDArray[np.float32]
    is_gold: NDArray[np.bool_]
    rough: NDArray[np.int32]
    counts: NDArray[np.int64]
    paths: list[str]
    questions: list[Asked]

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first row of each question."""
        return np.cumsum(self.counts) - self.counts

    def columns(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The values of some signals; one that this dump does not know is 0."""
        table = np.zeros((len(self.values), len(names)))
        for column, name in enumerate(names):
            if name in self.names:
                table[:, column] = self.values[:, self.names.index(name)]
        return table


_ROUGH = {"unit_blend": 1.0, "units_blend": 1.0, "unit_title": 1.0, "test": -1.0}
"""The first order: by words alone, tests later. It only decides which candidates a fit looks at."""


def write(path: Path, looked: Sequence[Looked]) -> None:
    """Keep a dump. The same looks give the same arrays."""
    names = sorted({name for item in looked for name in item.signals})
    arrays = {
        "names": np.array(names),
        "values": np.concatenate([_table(item, names) for item in looked]),
        "is_gold": np.concatenate([item.is_gold for item in looked]),
        "rough": np.concatenate([_rough(item) for item in looked]),
        "counts": np.array([len(item.paths) for item in looked], np.int64),
        "paths": _bytes("".join(f"{path}\0" for item in looked for path in item.paths).encode(*_ENCODING)),
        "questions": _bytes(msgspec.json.encode([item.asked for item in looked])),
    }
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read(path: Path) -> Features:
    """A dump that was kept."""
    with np.load(path, allow_pickle=False) as kept:
        return Features(
            tuple(kept["names"].tolist()),
            kept["values"],
            kept["is_gold"],
            kept["rough"],
            kept["counts"],
            kept["paths"].tobytes().decode(*_ENCODING).split("\0")[:-1],
            msgspec.json.decode(kept["questions"].tobytes(), type=list[Asked]),
        )


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def _table(item: Looked, names: Sequence[str]) -> NDArray[np.float32]:
    absent = np.zeros(len(item.paths), np.float32)
    return np.stack([item.signals.get(name, absent) for name in names], axis=1)


def _rough(item: Looked) -> NDArray[np.int32]:
    """Where each candidate stands; equals stay in the order of their paths."""
    score = np.zeros(len(item.paths), np.float32)
    for name, worth in _ROUGH.items() if item.signals else ():
        score += worth * item.signals[name]
    place = np.empty(len(item.paths), np.int32)
    place[np.argsort(-score, kind="stable")] = np.arange(len(item.paths))
    return place
