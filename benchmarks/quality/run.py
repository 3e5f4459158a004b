"""How good are the answers of the real search, beside others?

    python benchmarks/quality/run.py --queries dev.jsonl --copies COPIES --index INDEXES \\
        --folds folds.json --fast-folds fast_folds.json --out benchmarks/quality/quality.txt

Asks `Engine.search` every question and writes a text to keep in the tree. With folds (of `fit.py`) no
repository is ranked by weights that saw it; without them the weights of the profiles are used, and the text
says so.
`--predictions FILE` also writes the results as JSON lines, for other scorers.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from questions import Group, Question, add_arguments, each, read_groups
from report import Row, text

from satchel.embedding import model_id
from satchel.engine import Engine
from satchel.evaluation import metrics
from satchel.evaluation.metrics import Result
from satchel.evaluation.run import DEPTH
from satchel.settings import FAST, QUALITY

CHARS_PER_TOKEN = 4

Folds = Mapping[str, Mapping[str, float]]
"""Repository → the weights that it is ranked by."""


class Asked(NamedTuple):
    """One question, what was found, and what that is worth."""

    row: Row
    results: tuple[Result, ...]

    def prediction(self) -> bytes:
        """The results as a line for other scorers."""
        case = self.row.case
        spans = [
            {"path": item.path, "start_line": item.start_line, "end_line": item.end_line}
            for item in self.results
        ]
        return msgspec.json.encode(
            {"set": case.set, "repo": case.repo, "query_id": case.id, "results": spans}
        )


def ask(group: Group, *, as_is: bool, folds: Folds, fast_folds: Folds) -> list[Asked]:
    """Every question of a group, in both profiles."""
    quality, fast = group.engines([QUALITY, FAST], as_is=as_is)
    with quality, fast:
        asked = []
        for question in group.questions:
            results, scores = answer(quality, question, folds)
            _, fast_scores = answer(fast, question, fast_folds)
            asked.append(Asked(Row(question.case, scores, fast_scores), results))
        return asked


def answer(engine: Engine, question: Question, folds: Folds) -> tuple[tuple[Result, ...], dict[str, float]]:
    """What is found, and its scores. The first ten are those of an ordinary search; the token budgets
    take more."""
    weights = folds[question.repository] if folds else None
    hits, _ = engine.search(question.case.query, DEPTH, weights=weights)
    results = tuple(
        Result(question.prefix + hit.path, hit.start_line, hit.end_line, hit.text) for hit in hits
    )
    return results, metrics.scores(question.case.gold, results, _tokens)


def _tokens(shown: str) -> float:
    return len(shown) / CHARS_PER_TOKEN


def read_folds(path: Path | None) -> Folds:
    """The weights of each repository; none without a file."""
    return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, float]]) if path else {}


def head(asked: list[Asked], *, unseen: bool, with_history: bool) -> str:
    """What was measured."""
    ranked = "weights fitted without the repository asked" if unseen else "the weights that ship"
    past = "with git history" if with_history else "without git history"
    return f"Satchel's search over {len(asked)} questions. Ranked by {ranked}, {past}; model {model_id()}.\n"


def main() -> None:
    """Ask, score, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    parser.add_argument("--folds", type=Path, help="weights by repository, for the profile quality")
    parser.add_argument("--fast-folds", type=Path, help="the same for the profile fast")
    parser.add_argument("--out", type=Path, help="where the text is kept (default: the terminal)")
    parser.add_argument("--predictions", type=Path, help="write the results of the profile quality here")
    options = parser.parse_args()
    if bool(options.folds) != bool(options.fast_folds):
        parser.error("--folds and --fast-folds go together")
    folds, fast_folds = read_folds(options.folds), read_folds(options.fast_folds)
    work = functools.partial(ask, as_is=options.as_is, folds=folds, fast_folds=fast_folds)
    asked = list(each(work, read_groups(options), options.jobs))
    told = head(asked, unseen=bool(folds), with_history=bool(options.mirror))
    shown = text([item.row for item in asked], told)
    if options.out:
        options.out.write_text(shown, encoding="utf-8")
    else:
        print(shown, end="")
    if options.predictions:
        options.predictions.write_bytes(b"".join(item.prediction() + b"\n" for item in asked))


if __name__ == "__main__":
    main()
