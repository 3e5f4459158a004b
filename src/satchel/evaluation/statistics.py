"""What do all the answers say together: means with confidence intervals, by group, against a gate?

Intervals come from a bootstrap over the questions: drawn again with replacement, 10,000 times. The same
scores give the same intervals on every machine: the draws come from a generator whose stream is fixed by its
definition, scores are whole numbers of millionths, and sums of whole numbers have no order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from satchel.errors import InvalidRequest
from satchel.evaluation.metrics import METRICS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from satchel.evaluation.run import ScoredAnswer

RESAMPLES = 10_000
FEWEST_PAIRS = 10  # with fewer questions an interval says more than is known
_SEED = 20_240_229  # any; fixed, so that a rerun gives the same interval
_MILLION = 1_000_000
_BLOCK = 500  # resamples at a time, so that a thousand questions take a few megabytes
_TAIL = RESAMPLES // 40  # 2.5 % on each side
_DIGITS = 4
_GATE = re.compile(r"\s*([^\s<>=]+)\s*>=\s*(\d*\.?\d+)\s*")


class ComparisonVerdict(StrEnum):
    """What a comparison of two configurations says."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference"


class Mean(NamedTuple):
    """A mean over `n` questions. Standard error and 95 % interval are None for one question."""

    mean: float
    n: int
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None


class Difference(NamedTuple):
    """How much better one configuration is than another, over the questions that both were asked."""

    ours: float
    theirs: float
    difference: Mean
    verdict: ComparisonVerdict


class MetricGate(NamedTuple):
    """A limit that the mean of a metric must reach."""

    metric: str
    limit: float


class Latency(NamedTuple):
    """How long an ordinary search took with the index loaded: median and 95th percentile in milliseconds."""

    p50: float
    p95: float


def means(values: Mapping[str, Sequence[float]]) -> dict[str, Mean]:
    """Return the mean of each list of scores; empty lists are left out."""
    return {name: _mean(scores) for name, scores in values.items() if scores}


def compare_scores(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """Compare two lists of scores of the same questions, in the same order."""
    difference = _mean([one - other for one, other in zip(ours, theirs, strict=True)])
    verdict = ComparisonVerdict.NO_DIFFERENCE
    if difference.n >= FEWEST_PAIRS and difference.low is not None and difference.high is not None:
        if difference.low > 0:
            verdict = ComparisonVerdict.BETTER
        elif difference.high < 0:
            verdict = ComparisonVerdict.WORSE
    return Difference(_plain_mean(ours), _plain_mean(theirs), difference, verdict)


def summarise(answers: Sequence[ScoredAnswer]) -> dict[str, Mean]:
    """Return the mean of every metric that some question has."""
    return means(
        {name: [answer.scores[name] for answer in answers if name in answer.scores] for name in METRICS}
    )


def groups(answers: Sequence[ScoredAnswer], field: str) -> dict[str, dict[str, Mean]]:
    """Return the means for each value of a field of the cases; the empty name has the cases without one."""
    members: dict[str, list[ScoredAnswer]] = {}
    for answer in answers:
        members.setdefault(getattr(answer.case, field), []).append(answer)
    return {name: summarise(members[name]) for name in sorted(members)}


def latency(answers: Sequence[ScoredAnswer]) -> Latency:
    """Return the median and the 95th percentile of the search times."""
    times = sorted(answer.milliseconds for answer in answers)
    return Latency(*(round(times[min(len(times) - 1, int(len(times) * share))], 2) for share in (0.5, 0.95)))


def read_gate(text: str) -> MetricGate:
    """Parse a gate such as `ndcg@10>=0.8`."""
    found = _GATE.fullmatch(text)
    if found is None:
        raise InvalidRequest(f"{text!r} is no gate", hint="write it as METRIC>=VALUE, such as 'ndcg@10>=0.8'")
    if found[1] not in METRICS:
        raise InvalidRequest(f"{found[1]!r} is no metric", hint=f"known: {', '.join(METRICS)}")
    if float(found[2]) > 1:
        raise InvalidRequest(f"the gate {text!r} can never hold", hint="every metric is between 0 and 1")
    return MetricGate(found[1], float(found[2]))


def _plain_mean(scores: Sequence[float]) -> float:
    return round(math.fsum(scores) / len(scores), _DIGITS)


def _mean(scores: Sequence[float]) -> Mean:
    """Return the mean of scores with its standard error and interval."""
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
    """Return the 2.5 % and 97.5 % points of the resampled sums."""
    import numpy as np

    values = np.array(millionths, np.float64)  # whole numbers: their sums stay exact in any order
    sums = np.concatenate([block @ values for block in _draws(len(millionths))])
    sums.sort()
    return int(sums[_TAIL]), int(sums[-_TAIL - 1])


# All metrics of a group have the same number of questions, so the same draws serve them all.
@lru_cache(maxsize=2)
def _draws(count: int) -> tuple[NDArray[np.uint16], ...]:
    """Return how often each question was drawn, a row per resample."""
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
