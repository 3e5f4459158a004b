"""How sure is a mean? Bootstrap over the questions: drawn again with replacement, 10,000 times.

The same scores give the same intervals on every machine: the draws come from a generator whose stream is
fixed by its definition, scores are whole numbers of millionths, and sums of whole numbers have no order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 10_000
FEWEST_PAIRS = 10  # with fewer questions an interval says more than is known
_SEED = 20_240_229  # any; fixed, so that a rerun gives the same interval
_MILLION = 1_000_000
_BLOCK = 500  # resamples at a time, so that a thousand questions take a few megabytes
_TAIL = RESAMPLES // 40  # 2.5 % on each side
_DIGITS = 4


class Verdict(StrEnum):
    """What a comparison says."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference"


class Mean(NamedTuple):
    """A mean over `n` questions with its standard error and 95 % interval; None where one question
    leaves nothing to tell."""

    mean: float
    n: int
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


class Difference(NamedTuple):
    """What one configuration has more than another, over the questions both were asked."""

    ours: float
    theirs: float
    difference: Mean
    verdict: Verdict


def means(values: Mapping[str, Sequence[float]]) -> dict[str, Mean]:
    """The mean of each list of scores; empty lists are left out."""
    return {name: _mean(scores) for name, scores in values.items() if scores}


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """Paired: the same questions, in the same order, on both sides."""
    difference = _mean([one - other for one, other in zip(ours, theirs, strict=True)])
    verdict = Verdict.NO_DIFFERENCE
    if difference.n >= FEWEST_PAIRS and difference.low is not None and difference.high is not None:
        if difference.low > 0:
            verdict = Verdict.BETTER
        elif difference.high < 0:
            verdict = Verdict.WORSE
    return Difference(_plain_mean(ours), _plain_mean(theirs), difference, verdict)


def _plain_mean(scores: Sequence[float]) -> float:
    return round(math.fsum(scores) / len(scores), _DIGITS)


def _mean(scores: Sequence[float]) -> Mean:
    count = len(scores)
    if count < 2:
        return Mean(_plain_mean(scores), count)
    millionths = [round(score * _MILLION) for score in scores]
    total = sum(millionths)
    spread = count * sum(value * value for value in millionths) - total * total  # exact: whole numbers
    error = math.sqrt(spread / (count - 1)) / count / _MILLION
    low, high = _interval(millionths)
    scale = count * _MILLION
    return Mean(
        round(total / scale, _DIGITS),
        count,
        round(error, _DIGITS),
        round(low / scale, _DIGITS),
        round(high / scale, _DIGITS),
    )


def _interval(millionths: Sequence[int]) -> tuple[int, int]:
    """The 2.5 % and 97.5 % points of the resampled sums."""
    import numpy as np

    values = np.array(millionths, np.float64)  # whole numbers: their sums stay exact in any order
    sums = np.concatenate([block @ values for block in _draws(len(millionths))])
    sums.sort()
    return int(sums[_TAIL]), int(sums[-_TAIL - 1])


@lru_cache(maxsize=2)  # all metrics of a group are asked about the same number of questions
def _draws(count: int) -> tuple[NDArray[np.uint16], ...]:
    """How often each question was drawn, a row per resample."""
    import numpy as np

    generator = np.random.PCG64(_SEED)
    blocks = []
    for _ in range(RESAMPLES // _BLOCK):
        raw = generator.random_raw(_BLOCK * count) >> np.uint64(32)
        chosen = ((raw * np.uint64(count)) >> np.uint64(32)).astype(np.int64).reshape(_BLOCK, count)
        chosen += np.arange(_BLOCK)[:, None] * count
        drawn = np.bincount(chosen.ravel(), minlength=_BLOCK * count)
        blocks.append(drawn.reshape(_BLOCK, count).astype(np.uint16))
    return tuple(blocks)
