"""Questions with known answers → what the signals of a passage weigh when a pack is filled.

    passages.py dump --queries dev.jsonl --copies COPIES --index INDEXES --folds folds.json --out passages.npz
    passages.py fit passages.npz --extra more.npz --folds folds.json --all-folds all_folds.json \\
        --out …/retrieval/weights/passages.json

A passage's share of the answer is the softmax of its weighted signals over all passages; the weights make
these shares as near as can be to the lines that the answer has in each. Where an answer names only files, its
passages share as the weights found so far say: it teaches which files hold answers, not which lines.
`dump` keeps the signals, each repository's files ranked by weights that never saw it. `fit` leaves each
repository out once, says how likely the true answers then are, and writes the weights of all questions
together; `--all-folds` joins those of each repository with its weights of files, for `packs.py`.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

from fit import Sort
from fit import importance_of as weighed
from listwise import Lists, Loss
from questions import SHORT, Group, Question, add_arguments, each, read_groups
from run import Folds, read_folds

from satchel.engine import Engine
from satchel.evaluation.cases import Gold
from satchel.retrieval import candidates, ranker
from satchel.retrieval.filters import Filters
from satchel.retrieval.passage_signals import RankedPassage
from satchel.retrieval.passages import passages_of_best_files
from satchel.retrieval.search import gather_evidence
from satchel.settings import QUALITY

FILES = 20  # that passages are looked at of
DIGITS = 4  # of a weight
ROUNDS = 4  # of sharing and fitting; later ones change nothing that counts

Floats = NDArray[np.float64]


class Looked(NamedTuple):
    """The signals of a question's passages, and the share of the answer's lines that each holds."""

    repository: str
    set: str
    has_lines: bool
    values: dict[str, NDArray[np.float32]]
    targets: Floats


class PassageLists(NamedTuple):
    """Many questions laid end to end, as they are kept."""

    names: list[str]
    repositories: list[str]
    sets: list[str]
    has_lines: NDArray[np.bool_]
    lists: Lists


def look(group: Group, *, as_is: bool, folds: Folds) -> list[Looked]:
    """A close look at each question of a group."""
    (engine,) = group.engines([QUALITY], as_is=as_is)
    with engine:
        return [looked for question in group.questions if (looked := look_at(engine, question, folds))]


def look_at(engine: Engine, question: Question, folds: Folds) -> Looked | None:
    """The passages of one question; None if none of them is of the answer."""
    context = gather_evidence(engine.corpus(), question.case.query, Filters(), candidates.CANDIDATES)
    if context is None:
        return None
    weights = folds.get(question.repository) or ranker.weights_for(context, QUALITY)
    passages, signals, _ = passages_of_best_files(context, ranker.signals(context), weights, FILES, FILES)
    has_lines = any(gold.start_line for gold in question.case.gold)
    held = [
        float(sum(_held(gold, passage, has_lines) for gold in question.case.gold if gold.is_at(path)))
        for passage in passages
        for path in (question.prefix + context.records[passage.at].path,)
    ]
    if not any(held):
        return None
    values = {name: signals[name].astype(np.float32) for name in sorted(signals)}
    return Looked(question.repository, question.case.set, has_lines, values, np.array(held) / sum(held))


def _held(gold: Gold, passage: RankedPassage, has_lines: bool) -> int:
    """How many lines of an answer a passage holds; without lines all passages of its file hold the same."""
    if not has_lines:
        return 1
    return max(
        0, min(gold.end_line, passage.span.last_line) - max(gold.start_line, passage.span.first_line) + 1
    )


def write(path: Path, found: Sequence[Looked]) -> None:
    """Keep what was seen."""
    names = list(found[0].values)
    np.savez_compressed(
        path,
        names=np.array(names),
        repositories=np.array([item.repository for item in found]),
        sets=np.array([item.set for item in found]),
        has_lines=np.array([item.has_lines for item in found]),
        counts=np.array([len(item.targets) for item in found]),
        values=np.concatenate([np.stack([item.values[name] for name in names], 1) for item in found]),
        targets=np.concatenate([item.targets for item in found]),
    )


def read(path: Path) -> PassageLists:
    """What was kept."""
    with np.load(path) as kept:
        counts = kept["counts"]
        lists = Lists(
            kept["values"].astype(np.float64), kept["targets"].astype(np.float64), np.cumsum(counts) - counts
        )
        names, repositories, sets = (kept[name].tolist() for name in ("names", "repositories", "sets"))
        return PassageLists(names, repositories, sets, kept["has_lines"], lists)


def joined(files: Sequence[PassageLists], without: Sequence[str]) -> PassageLists:
    """Several files as one, some signals left out."""
    names = [name for name in files[0].names if name not in without]
    columns = [[file.names.index(name) for name in names] for file in files]
    counts = np.concatenate([file.lists.counts for file in files])
    lists = Lists(
        np.concatenate([file.lists.values[:, at] for file, at in zip(files, columns, strict=True)]),
        np.concatenate([file.lists.targets for file in files]),
        np.cumsum(counts) - counts,
    )
    repositories = [name for file in files for name in file.repositories]
    sets = [name for file in files for name in file.sets]
    return PassageLists(names, repositories, sets, np.concatenate([file.has_lines for file in files]), lists)


def likelihood(passages: PassageLists, number: int, weights: Floats) -> float:
    """The mean logarithm of the shares that these weights give to the true lines of a question."""
    start = int(passages.lists.starts[number])
    rows = slice(start, start + int(passages.lists.counts[number]))
    scores = passages.lists.values[rows] @ weights
    scores -= scores.max()
    targets = passages.lists.targets[rows]
    return float((targets * (scores - np.log(np.exp(scores).sum()))).sum())


def shared(passages: PassageLists, weights: Floats) -> PassageLists:
    """The same, the passages of answers without lines sharing as these weights say."""
    targets = passages.lists.targets.copy()
    for number in np.flatnonzero(~passages.has_lines).tolist():
        start = int(passages.lists.starts[number])
        rows = slice(start, start + int(passages.lists.counts[number]))
        scores = passages.lists.values[rows] @ weights
        shares = np.exp(scores - scores.max()) * (targets[rows] > 0)
        targets[rows] = shares / shares.sum()
    return passages._replace(lists=passages.lists._replace(targets=targets))


def importance_of(passages: PassageLists, own: int, options: argparse.Namespace) -> Floats:
    """Short questions, reports and the questions of further dumps each count 1 in all, times their factor."""
    sorts = [
        Sort.EXTRA if number >= own else Sort.SHORT if name == SHORT else Sort.ISSUE
        for number, name in enumerate(passages.sets)
    ]
    factors = {Sort.SHORT: options.short_weight, Sort.ISSUE: 1.0, Sort.EXTRA: options.extra_weight}
    return weighed(sorts, factors)


def fit(options: argparse.Namespace) -> None:
    """Fit, say how likely the true answers are, write."""
    files = [read(path) for path in (options.passages, *options.extra)]
    own = len(files[0].sets)
    passages = joined(files, options.without)
    importance = importance_of(passages, own, options)
    known = msgspec.json.decode(options.prior.read_bytes())["weights"] if options.prior else {}
    prior = np.array([known.get(name, 0.0) for name in passages.names])
    best = Loss(passages.lists, importance * passages.has_lines, options.l2, prior).minimum()
    for _ in range(ROUNDS):
        passages = shared(passages, best)
        best = Loss(passages.lists, importance, options.l2, prior).minimum(best)
    owners = np.array(passages.repositories)
    folds: dict[str, Floats] = {}
    for repository in sorted(set(passages.repositories[:own])):
        others = importance * (owners != repository)
        folds[repository] = Loss(passages.lists, others, options.l2, prior).minimum(best)
    found: dict[str, list[float]] = defaultdict(list)
    for number in range(own):
        found[passages.sets[number]].append(likelihood(passages, number, folds[owners[number]]))
    told = {name: round(sum(values) / len(values), DIGITS) for name, values in sorted(found.items())}
    print("mean log likelihood of the true passages, repository left out:", told)
    weights = _named(passages, best)
    for name, value in sorted(weights.items(), key=lambda item: item[1]):
        print(f"{name:28}{value:8.3f}")
    sets = Counter(passages.sets)
    kept = {
        "fitted_on": ", ".join(f"{count} {name}" for name, count in sorted(sets.items()))
        + f" questions of {len(set(passages.repositories))} repositories",
        "l2": options.l2,
        "factors": {"extra": options.extra_weight, "issue": 1.0, "short": options.short_weight},
        "cross_validated": told,
        "weights": weights,
    }
    options.out.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    if options.all_folds:
        of_files: Mapping[str, Mapping[str, float]] = read_folds(options.folds)
        every = {
            repository: {**of_files[repository], **_named(passages, folds.get(repository, best))}
            for repository in sorted(of_files)
        }
        options.all_folds.write_bytes(msgspec.json.format(msgspec.json.encode(every), indent=1) + b"\n")


def _named(passages: PassageLists, weights: Floats) -> dict[str, float]:
    return {name: round(float(value), DIGITS) for name, value in zip(passages.names, weights, strict=True)}


def dump(options: argparse.Namespace) -> None:
    """Look, and keep what was seen."""
    folds = read_folds(options.folds)
    groups = read_groups(options)
    found = list(each(functools.partial(look, as_is=options.as_is, folds=folds), groups, options.jobs))
    write(options.out, found)
    print(f"{len(found)} questions, {sum(len(item.targets) for item in found)} passages")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(required=True)
    step = steps.add_parser("dump", help="the signals of the passages of every question")
    add_arguments(step)
    step.add_argument("--folds", type=Path, help="weights of files by repository, of fit.py")
    step.add_argument("--out", type=Path, required=True)
    step.set_defaults(run=dump)
    step = steps.add_parser("fit", help="the weights that these signals give")
    step.add_argument("passages", type=Path, help="the dump of the development questions")
    step.add_argument("--extra", type=Path, action="append", default=[], help="a further dump to learn from")
    step.add_argument("--extra-weight", type=float, default=1.0)
    step.add_argument("--short-weight", type=float, default=1.0)
    step.add_argument("--prior", type=Path, help="a file of weights that the penalty keeps the fit near to")
    step.add_argument("--without", action="append", default=[], help="a signal to leave out")
    step.add_argument("--l2", type=float, default=1e-3)
    step.add_argument("--folds", type=Path, help="weights of files by repository")
    step.add_argument("--all-folds", type=Path, help="write the weights of files and passages here")
    step.add_argument("--out", type=Path, required=True, help="the file of weights")
    step.set_defaults(run=fit)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
