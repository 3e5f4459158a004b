"""Questions → the signals of all their candidates, for `fit.py`.

    python benchmarks/quality/dump.py --queries dev.jsonl --copies COPIES --index INDEXES --out features.npz

Nothing is ranked here: a candidate's signals do not depend on weights, so one dump serves any number of fits.
"""

from __future__ import annotations

import argparse
import functools
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import features
from features import Asked, Looked
from questions import Group, Question, add_arguments, each, read_groups

from satchel.engine import Engine
from satchel.evaluation.cases import PathMapping, is_indexed
from satchel.retrieval import ranker
from satchel.retrieval.candidates import CANDIDATES
from satchel.retrieval.filters import Filters
from satchel.retrieval.search import gather_evidence
from satchel.settings import QUALITY


def look(group: Group, *, as_is: bool) -> list[Looked]:
    """A close look at each question of a group."""
    (engine,) = group.engines([QUALITY], as_is=as_is)
    with engine:
        indexed = {record.path for record in engine.corpus().files}
        return [look_at(engine, indexed, question) for question in group.questions]


def look_at(engine: Engine, indexed: set[str], question: Question) -> Looked:
    """The candidates of one question and their signals; a question may have none."""
    case = question.case
    mapping = PathMapping(prefix=question.prefix)
    missing = {gold.path: None for gold in case.gold if not is_indexed(indexed, mapping, gold)}
    asked = Asked(
        case.set,
        case.repo,
        question.repository,
        case.id,
        case.category,
        case.language,
        case.gold,
        tuple(missing),
    )
    context = gather_evidence(engine.corpus(), case.query, Filters(), CANDIDATES)
    if context is None:
        return Looked(asked, [], np.zeros(0, bool), {})
    paths = [question.prefix + record.path for record in context.records]
    is_gold = np.array([any(gold.is_at(path) for gold in case.gold) for path in paths])
    signals = ranker.signals(context)
    return Looked(asked, paths, is_gold, {name: signals[name].astype(np.float32) for name in signals})


def main() -> None:
    """Look, and keep what was seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    groups = read_groups(options)
    looked = list(each(functools.partial(look, as_is=options.as_is), groups, options.jobs))
    features.write(options.out, looked)
    found = sum(bool(item.is_gold.any()) for item in looked)
    missing = sum(len(item.asked.not_indexed) for item in looked)
    print(
        f"{len(looked)} questions, {sum(len(item.paths) for item in looked)} candidates;"
        f" an answer is among them for {found}; {missing} answers are not indexed"
    )


if __name__ == "__main__":
    main()
