"""Which weights put the answers first? Listwise softmax cross-entropy with an L2 penalty, by Newton's method.

For one question with candidates x₁…xₙ and weights w, a candidate's share is softmax(w·xᵢ); the loss is how
far these shares are from those of the answers (each answer of a question the same). The loss of all questions
is their weighted mean, plus `l2`·|w - prior|². It is strictly convex: one w is best, wherever the search
starts. The prior is 0, or the weights of an earlier fit whose questions are not there any more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 50  # Newton needs about eight from nothing, three from a near start
_ENOUGH = 1e-12  # what a further step could still take off the loss
_ROUNDING = 1e-13  # two equal losses may differ by so much
_HALVINGS = 30


class Lists(NamedTuple):
    """Candidates of many questions laid end to end; `starts` are where each question's begin."""

    values: Floats
    targets: Floats  # of each candidate: its share of the answers of its question
    starts: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many candidates each question has."""
        return np.diff(self.starts, append=len(self.values))


class Loss:
    """The loss over lists whose questions count differently; a question may count 0."""

    def __init__(self, lists: Lists, importance: Floats, l2: float, prior: Floats | None = None) -> None:
        self.lists = lists
        self.l2 = l2
        self.prior = np.zeros(lists.values.shape[1]) if prior is None else prior
        self.importance = importance / importance.sum()
        self._owner = np.repeat(np.arange(len(lists.starts)), lists.counts)
        self._of_row = self.importance[self._owner]

    def value(self, weights: Floats) -> float:
        """The loss itself."""
        return self._value_and_shares(weights)[0]

    def gradient(self, weights: Floats) -> Floats:
        """Its slope in each weight."""
        return self._gradient(weights, self._value_and_shares(weights)[1])

    def minimum(self, start: Floats | None = None) -> Floats:
        """The weights with the least loss."""
        weights = np.zeros(self.lists.values.shape[1]) if start is None else start.copy()
        value, shares = self._value_and_shares(weights)
        for _ in range(_STEPS):
            gradient = self._gradient(weights, shares)
            step = np.linalg.solve(self._hessian(shares), gradient).astype(np.float64)
            promised = float(gradient @ step) / 2
            if promised < _ENOUGH:
                return weights - step
            weights, value, shares = self._descend(weights, step, value)
        raise ArithmeticError(f"no minimum after {_STEPS} steps: a step still promises {promised:.1e}")

    def _value_and_shares(self, weights: Floats) -> tuple[float, Floats]:
        starts, owner = self.lists.starts, self._owner
        scores = self.lists.values @ weights
        scores -= np.maximum.reduceat(scores, starts)[owner]  # the largest becomes 0: no overflow
        powers = np.exp(scores)
        sums = np.add.reduceat(powers, starts)[owner]
        fit = float((self._of_row * self.lists.targets * (scores - np.log(sums))).sum())
        away = weights - self.prior
        return self.l2 * float(away @ away) - fit, powers / sums

    def _gradient(self, weights: Floats, shares: Floats) -> Floats:
        slope: Floats = self.lists.values.T @ (self._of_row * (shares - self.lists.targets))
        return slope + 2 * self.l2 * (weights - self.prior)

    def _hessian(self, shares: Floats) -> Floats:
        """The weighted mean of the covariances of each question's candidates, and the penalty's part."""
        values = self.lists.values
        second: Floats = values.T @ (values * (self._of_row * shares)[:, None])
        means = np.add.reduceat(values * shares[:, None], self.lists.starts, axis=0)
        second -= (means * self.importance[:, None]).T @ means
        return second + 2 * self.l2 * np.eye(values.shape[1])

    def _descend(self, weights: Floats, step: Floats, value: float) -> tuple[Floats, float, Floats]:
        """A whole step, or the first half of a half … that does not climb."""
        for halving in range(_HALVINGS):
            tried = weights - step / 2**halving
            found, shares = self._value_and_shares(tried)
            if found <= value + _ROUNDING:
                return tried, found, shares
        raise ArithmeticError("no step goes down")
