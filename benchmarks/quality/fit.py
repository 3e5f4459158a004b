"""Dumped signals → the weights of a profile, and how good they are for repositories that they never saw.

    fit.py features.npz --out …/retrieval/weights/quality.json --folds folds.json
    fit.py features.npz --out …/retrieval/weights/fast.json --folds fast_folds.json --without meaning
    fit.py reports.npz --without meaning --prior …/weights/quality.json --l2 4e-3 --out …/weights/reports.json
    fit.py features.npz --out …/retrieval/weights/quality.json --check

Each repository is left out once, under all its sets and from all files, and its questions are ranked by
weights fitted on the rest; then all questions together give the weights that are written. Short questions,
issue reports, the same reports where git history is known (`--with-history`) and the questions of `--extra`
files each count 1 in all, times their factor. With `--balanced` a repository counts by the square root of
its questions: 60 reports of one project teach less than 60 of as many. `--check` writes nothing and says
whether the file is what these signals give.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

import features
from features import Asked, Features
from listwise import Lists, Loss
from questions import SHORT
from report import figures

from satchel import plugins
from satchel.embedding import LEXICAL, model_id
from satchel.evaluation import metrics
from satchel.evaluation.metrics import Result
from satchel.retrieval import ranker

FIRST = 120  # candidates that a fit looks at, beside the answers; the rest are easily told apart
DIGITS = 4  # of a weight
SAME = 0.002  # weights that differ less are the same fit on another machine
BY_HAND = {"definition_symbol": 2.0, "rare_name": 5.0}
"""Signals of questions that are a name. Few questions of the sets are, so a fit makes too little of them."""

Weights = dict[str, float]
Floats = NDArray[np.float64]


class Sort(StrEnum):
    """Sorts of questions that are weighed against each other."""

    SHORT = "short"
    ISSUE = "issue"
    HISTORY = "history"
    EXTRA = "extra"


class Problem:
    """The questions of all files as one fit."""

    def __init__(
        self,
        names: Sequence[str],
        files: Sequence[Features],
        of_all: Sequence[Sort | None],
        l2: float,
        prior: Mapping[str, float] | None = None,
    ) -> None:
        """`of_all` says of which sort the questions of each file are, None where each says it itself."""
        self.names = names
        self.l2 = l2
        self.prior = np.array([(prior or {}).get(name, 0.0) for name in names])
        chosen = [_chosen(file) for file in files]
        self.questions = [
            file.questions[at] for file, (with_gold, _) in zip(files, chosen, strict=True) for at in with_gold
        ]
        self.sorts = [
            sort or sort_of(file.questions[at])
            for file, sort, (with_gold, _) in zip(files, of_all, chosen, strict=True)
            for at in with_gold
        ]
        parts = [_lists(file, names, rows) for file, (_, rows) in zip(files, chosen, strict=True)]
        counts = np.concatenate([part.counts for part in parts])
        self.lists = Lists(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.targets for part in parts]),
            np.cumsum(counts) - counts,
        )

    def fit(self, importance: Floats, start: Floats | None = None) -> Floats:
        """The best weights when each question counts so much."""
        return Loss(self.lists, importance, self.l2, self.prior).minimum(start)

    def named(self, weights: Floats) -> Weights:
        """Weights as they are kept."""
        fitted = zip(self.names, weights, strict=True)
        return {name: BY_HAND.get(name, round(float(value), DIGITS)) for name, value in fitted}


def _chosen(file: Features) -> tuple[list[int], NDArray[np.bool_]]:
    """The questions that can teach something, and the rows of theirs that a fit looks at."""
    owner = np.repeat(np.arange(len(file.counts)), file.counts)
    gold = np.bincount(owner, file.is_gold, len(file.counts))
    rows = (gold[owner] > 0) & ((file.rough < FIRST) | file.is_gold)
    return np.flatnonzero(gold).tolist(), rows


def _lists(file: Features, names: Sequence[str], rows: NDArray[np.bool_]) -> Lists:
    owner = np.repeat(np.arange(len(file.counts)), file.counts)
    gold = np.bincount(owner, file.is_gold, len(file.counts))
    targets = file.is_gold[rows] / gold[owner[rows]]
    starts = np.flatnonzero(np.diff(owner[rows], prepend=-1))
    return Lists(file.columns(names)[rows], targets, starts)


def importance_of(
    sorts: Sequence[Sort], factors: Mapping[Sort, float], repositories: Sequence[str] | None = None
) -> Floats:
    """How much each question counts: the questions of one sort count the factor of their sort in all. With
    `repositories`, those of one repository count by the square root of their number."""
    owners = list(zip(sorts, repositories, strict=True)) if repositories else []
    of_owner = Counter(owners)
    shares = [of_owner[owner] ** -0.5 for owner in owners] or [1.0] * len(sorts)
    totals: dict[Sort, float] = defaultdict(float)
    for sort, share in zip(sorts, shares, strict=True):
        totals[sort] += share
    return np.array([factors[sort] * share / totals[sort] for sort, share in zip(sorts, shares, strict=True)])


def sort_of(question: Asked) -> Sort:
    """Which sort a question of the development set is of."""
    return Sort.SHORT if question.set == SHORT else Sort.ISSUE


def cross_validated(
    problem: Problem, importance: Floats, start: Floats, asked: Features
) -> tuple[dict[str, Weights], dict[str, float]]:
    """For each repository the weights that the others give; and how good they are for its questions."""
    folds = {}
    owners = np.array([question.repository for question in problem.questions])
    for repository in sorted({question.repository for question in asked.questions}):
        others = importance * (owners != repository)
        if not others.any():
            raise SystemExit("there is one repository: nothing is left when it is left out")
        folds[repository] = problem.named(problem.fit(others, start))
    values = asked.columns(problem.names)
    scores = [
        score(asked, values, number, folds[question.repository])
        for number, question in enumerate(asked.questions)
    ]
    groups = [(question.set, question.repository, question.category) for question in asked.questions]
    return folds, figures(groups, scores)


def score(asked: Features, values: Floats, number: int, weights: Weights) -> Mapping[str, float]:
    """How good the ranking of one question's candidates is, file by file: lines come with the real search."""
    start, count = int(asked.starts[number]), int(asked.counts[number])
    rows = slice(start, start + count)
    found = dict(zip(weights, values[rows].T, strict=True))
    order = np.argsort(-ranker.score(found, weights, count), kind="stable")
    results = [Result(asked.paths[start + at], 1, 1, "") for at in order[: max(metrics.CUTOFFS)].tolist()]
    gold = [item._replace(start_line=0, end_line=0) for item in asked.questions[number].gold]
    return metrics.scores(gold, results, len)


def signals_without(groups: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that are not of these groups of signals, as far as there still are such signals."""
    of_group = {group: plugins.load("signal", group).signals for group in plugins.names("signal")}
    kept = {name for group, signals in of_group.items() if group not in groups for name in signals}
    return sorted(kept.intersection(names))


def describe(questions: Sequence[Asked]) -> str:
    """What weights were fitted on, in words."""
    sets = Counter(question.set for question in questions)
    parts = ", ".join(f"{count} {name}" for name, count in sorted(sets.items()))
    return f"{parts} questions of {len({question.repository for question in questions})} repositories"


def differences(path: Path, weights: Weights) -> list[str]:
    """Where a file of weights is not what was fitted."""
    kept = msgspec.json.decode(path.read_bytes())["weights"]
    return [
        f"{name}: the file has {kept.get(name)}, the fit {weights.get(name)}"
        for name in sorted(kept.keys() | weights.keys())
        if abs(kept.get(name, np.inf) - weights.get(name, np.inf)) > SAME
        or (name in kept) != (name in weights)
    ]


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("features", type=Path, help="the dump of the development questions")
    parser.add_argument(
        "--extra", type=Path, action="append", default=[], help="a further dump to learn from"
    )
    parser.add_argument("--with-history", type=Path, help="a dump of its issue reports made with --mirror")
    parser.add_argument("--extra-weight", type=float, default=1.0)
    parser.add_argument("--issue-weight", type=float, default=1.0)
    parser.add_argument("--history-weight", type=float, default=1.0)
    parser.add_argument(
        "--balanced", action="store_true", help="a repository counts by the root of its questions"
    )
    parser.add_argument("--l2", type=float, default=1e-3)
    parser.add_argument("--prior", type=Path, help="a file of weights that the penalty keeps the fit near to")
    parser.add_argument("--without", action="append", default=[], help="a group of signals to leave out")
    parser.add_argument("--out", type=Path, required=True, help="the file of weights")
    parser.add_argument("--folds", type=Path, help="write each repository's weights here, for run.py")
    parser.add_argument("--check", action="store_true", help="compare with the file, write nothing")
    return parser.parse_args()


def main() -> int:
    """Fit, and say how good it is."""
    options = read_arguments()
    asked = features.read(options.features)
    again = [features.read(options.with_history)] if options.with_history else []
    extra = list(map(features.read, options.extra))
    files = [asked, *again, *extra]
    of_all = [None, *[Sort.HISTORY] * len(again), *[Sort.EXTRA] * len(extra)]
    names = signals_without(options.without, [name for file in files for name in file.names])
    prior = msgspec.json.decode(options.prior.read_bytes())["weights"] if options.prior else None
    problem = Problem(names, files, of_all, options.l2, prior)
    factors = {
        Sort.SHORT: 1.0,
        Sort.ISSUE: options.issue_weight,
        Sort.HISTORY: options.history_weight,
        Sort.EXTRA: options.extra_weight,
    }
    owners = [question.repository for question in problem.questions] if options.balanced else None
    importance = importance_of(problem.sorts, factors, owners)
    best = problem.fit(importance)
    if options.check:
        wrong = differences(options.out, problem.named(best))
        print("\n".join(wrong) or "the file holds these weights")
        return int(bool(wrong))
    folds, found = cross_validated(problem, importance, best, asked)
    for known in again:
        with_history = cross_validated(problem, importance, best, known)[1]
        found |= {f"{name} with history": value for name, value in with_history.items()}
    for name, value in found.items():
        print(f"{name:44}{value:.4f}")
    kept = {
        "model": model_id() if any(name.startswith("meaning") for name in names) else LEXICAL,
        "fitted_on": describe(problem.questions),
        "l2": options.l2,
        "factors": {sort: factors[sort] for sort in sorted(set(problem.sorts))},
        **({"balanced": True} if options.balanced else {}),
        **({"prior": options.prior.name} if options.prior else {}),
        "cross_validated": {name: round(value, DIGITS) for name, value in found.items()},
        "weights": problem.named(best),
    }
    options.out.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    if options.folds:
        options.folds.write_bytes(msgspec.json.format(msgspec.json.encode(folds), indent=1) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
